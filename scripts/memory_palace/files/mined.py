"""What was read of a project's files: ``.palace/mine/<name>.json``, so that a file that has not
changed is not opened again. Derived: without it every file is read once more."""

import contextlib
import json
import os
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core import dates, mining
from memory_palace.core.diff import FileStat, is_settled
from memory_palace.files import atomic, read, roots

TEXT, REPLACED, BINARY, UNREADABLE = "text", "replaced", "binary", "unreadable"
"""What a file is: text, text with bytes that are not UTF-8, no text, not to be read."""

_FORMAT = 1
_MOST_BYTES = 256 * 1024 * 1024


class Seen(NamedTuple):
    """A file as it was when it was read, and what it is."""

    size: int
    mtime_ns: int
    inode: int
    what: str
    settled: bool = True

    def holds(self, now: FileStat) -> bool:
        """True if ``now`` is the file as it was read."""
        return self.settled and self.is_like(now)

    def is_like(self, now: FileStat) -> bool:
        """True if ``now`` has the same size, time and inode."""
        return (self.size, self.mtime_ns, self.inode) == (now.size, now.mtime_ns, now.inode)


def _path(name: str) -> str:
    return f"{roots.DERIVED}/mine/{name}.json"


def load(root: Path, name: str) -> dict[str, Seen]:
    """{path in the project: what was read}; empty if there is none, or none that can be used."""
    try:
        held = _held(root, name)
        return {path: Seen(*row) for path, row in held["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        return {}


def newest(root: Path, name: str) -> str:
    """When the project was last mined here, ``2026-11-29T20:15:03Z``; empty if never."""
    try:
        found = _held(root, name)["at"]
    except (ValueError, KeyError, TypeError):
        return ""
    return found if isinstance(found, str) and dates.parse(found) else ""


def _held(root: Path, name: str) -> dict[str, Any]:
    got = read.read_bytes(root, _path(name), _MOST_BYTES, "this file")
    held = {} if isinstance(got, read.Unreadable) else json.loads(got[0])
    if not isinstance(held, dict) or held.get("format") != _FORMAT:
        raise ValueError("of another format")
    found: dict[str, Any] = held
    return found


def keep(root: Path, name: str, seen: Mapping[str, Seen], at: datetime | None = None) -> None:
    """Keep what was read, and when the project was mined (None: as before). A disk that cannot
    keep it costs time only."""
    stamp = dates.stamp(at) if at else newest(root, name)
    if at is None and seen == load(root, name):
        return
    held = {"format": _FORMAT, "at": stamp, "files": seen}
    with contextlib.suppress(OSError):
        atomic.write(roots.inside(root, _path(name)), json.dumps(held).encode("ascii"))


def forget(root: Path, name: str) -> None:
    """Let go of what was read of a project."""
    with contextlib.suppress(FileNotFoundError):
        os.unlink(roots.inside(root, _path(name)))


def look(top: Path, file: FileStat, now_ns: int) -> Seen:
    """Read a file of the project at ``top`` and say what it is; never waits on a pipe."""
    got = read.read_bytes(top, file.path, mining.MOST_BYTES, "a mined file")
    if isinstance(got, read.Unreadable):
        return Seen(file.size, file.mtime_ns, file.inode, UNREADABLE, False)
    data, info = got
    what = BINARY
    if mining.is_text(data):
        what = TEXT
        try:
            data.decode("utf-8")
        except UnicodeDecodeError:
            what = REPLACED
    # A file that was written while it was read is looked at again.
    whole = len(data) == info.size and is_settled(info.mtime_ns, now_ns)
    return Seen(info.size, info.mtime_ns, info.inode, what, whole)
