"""Whole-file writes that are there or not there, never in between."""

import contextlib
import glob
import os
import secrets
import stat
from pathlib import Path

from memory_palace.core.errors import BadInput, Changed

ANY = object()
"""Whatever the file holds now may be replaced."""

_NEW = os.O_RDWR | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def read_or_none(path: Path) -> bytes | None:
    """The file's bytes, or None if there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def write(path: Path, data: bytes, expected: object = ANY) -> None:
    """Replace ``path`` by ``data``: temp file in the same directory, fsync, rename.

    With ``expected`` (the bytes that the caller read, None for no file) the write is refused
    with :class:`Changed` if the file is no longer that. The file's mode is kept. Raises
    :class:`BadInput` if ``path`` is a symbolic link or no regular file.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = _mode(path)
    name = path.parent / f".{path.name[:40]}.{secrets.token_hex(6)}.tmp"
    # The system takes the umask off a new file's mode: asking for the umask would set it, for
    # every thread. What replaces a file is nobody else's until it has that file's mode.
    handle = os.open(name, _NEW, 0o666 if mode is None else 0o600)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(name, mode)
        if expected is not ANY and read_or_none(path) != expected:
            raise Changed(f"{path.name} changed underneath: nothing was written; run it again")
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(name)
        raise
    _sync_directory(path.parent)


def tidy(path: Path) -> None:
    """Remove what a killed :func:`write` of ``path`` left. For whoever holds the writer lock."""
    for left in path.parent.glob(f".{glob.escape(path.name[:40])}.*.tmp"):
        with contextlib.suppress(OSError):
            left.unlink()


def _mode(path: Path) -> int | None:
    """The mode of the file that is to be replaced, None if there is none."""
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return None
    if stat.S_ISLNK(mode):
        # Whoever wrote the link chose where it leads; replacing it would undo that unasked.
        raise BadInput(f"{path} is a symbolic link: replace it by the file itself")
    if not stat.S_ISREG(mode):
        raise BadInput(f"{path} is not a regular file: move it away")
    return stat.S_IMODE(mode)


def _sync_directory(directory: Path) -> None:
    """Make the rename durable where the system can."""
    if os.name != "posix":
        return
    with contextlib.suppress(OSError):
        handle = os.open(directory, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
