"""Whole-file writes that are there or not there, never in between."""

import contextlib
import glob
import os
import tempfile
from pathlib import Path

from memory_palace.core.errors import Changed

ANY = object()
"""Whatever the file holds now may be replaced."""


def read_or_none(path: Path) -> bytes | None:
    """The file's bytes, or None if there is no such file."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def write(path: Path, data: bytes, expected: object = ANY) -> None:
    """Replace ``path`` by ``data``: temp file in the same directory, fsync, rename.

    With ``expected`` (the bytes that the caller read, None for no file) the write is refused
    with :class:`Changed` if the file is no longer that. The file's mode is kept.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(prefix=f".{path.name[:40]}.", suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, _mode(path))
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


def _mode(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except FileNotFoundError:
        umask = os.umask(0)
        os.umask(umask)
        return 0o666 & ~umask


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
