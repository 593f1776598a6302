"""Read one text file of the palace, safely: a regular file inside the root, UTF-8, bounded."""

import os
import stat
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core.diff import FileStat
from memory_palace.core.problems import Problem
from memory_palace.core.text import digest, is_mined

MOST_BYTES = 10 * 1024 * 1024
"""A larger note is reported and not indexed."""

_LATEST_NS = 2**63 - 1  # of a time that the catalog holds: the year 2262


@dataclass(frozen=True, slots=True)
class Text:
    """A file's text, the SHA-256 of its bytes, and the stat it was read under."""

    text: str
    sha256: str
    stat: FileStat


@dataclass(frozen=True, slots=True)
class Unreadable:
    """Why a file gives no text. ``content`` is True if its bytes are at fault, False if it could
    not be reached: then what was known of it still stands. ``sha256`` is that of bytes that were
    read, else empty."""

    problem: Problem
    content: bool
    sha256: str = ""


def read(root: Path, path: str) -> Text | Unreadable:
    """The text of ``path`` (relative to ``root``, or a mined project's file), or what is wrong
    with it."""
    if is_mined(path):
        from memory_palace.files import project_text

        return project_text.read_text(root, path)
    got = read_bytes(root, path)
    if isinstance(got, Unreadable):
        return got
    data, info = got
    nul = data.find(b"\0")
    if nul >= 0:
        line = data.count(b"\n", 0, nul) + 1
        what = "binary (a NUL byte): keep it outside the palace, or without .md"
        return _fault(path, line, what, digest(data))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        what = f"not UTF-8 (byte 0x{data[error.start]:02x}): save it as UTF-8"
        return _fault(path, line, what, digest(data))
    return Text(text, digest(data), info)


def file_stat(path: str, info: os.stat_result) -> FileStat:
    """``info`` as it is compared. Windows tells the inode of an open file and not that of one
    that is listed, so there it is 0: unknown."""
    modified = max(min(info.st_mtime_ns, _LATEST_NS), -_LATEST_NS)
    return FileStat(path, info.st_size, modified, 0 if os.name == "nt" else info.st_ino)


def read_bytes(
    root: Path, path: str, most: int = MOST_BYTES, what: str = "a note"
) -> tuple[bytes, FileStat] | Unreadable:
    """The bytes of ``path`` and its stat; never blocks on a pipe, never follows a last link.

    More than ``most`` bytes are a fault; ``what`` says whose limit that is.
    """
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
    flags |= getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(root / path, flags)
        try:
            info = os.fstat(handle)
            if not stat.S_ISREG(info.st_mode):
                return _fault(path, None, "not a regular file: move it away")
            if info.st_size > most:
                unit, name = (2**20, "MB") if most >= 2**20 else (2**10, "KB")
                said = f"{info.st_size / unit:.0f} {name}, {what} may have {most // unit}: split it"
                return _fault(path, None, said)
            with os.fdopen(handle, "rb", closefd=False) as file:
                data = file.read(most + 1)
        finally:
            os.close(handle)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        problem = Problem(path, None, f"cannot be read ({reason}): check it and its permissions")
        return Unreadable(problem, content=False)
    return data, file_stat(path, info)


def _fault(path: str, line: int | None, message: str, sha256: str = "") -> Unreadable:
    return Unreadable(Problem(path, line, message), content=True, sha256=sha256)
