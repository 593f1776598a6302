"""SQLite databases of other programs: read, and nothing is left beside them."""

import os
from pathlib import Path
from urllib.parse import quote

_MAGIC = b"SQLite format 3\0"
_WAL_AT = 18  # a byte of the head: 2 for a database that is written by way of a log beside it


def address(path: Path) -> str:
    """The URI by which ``path`` is read; empty if it is no SQLite database. Raises OSError.

    To read one with a log, SQLite makes files beside it. Where nobody has it open and its log is
    empty, it is read without: a program that opens it now writes to its log first.
    """
    with path.open("rb") as file:
        head = file.read(_WAL_AT + 1)
    if not head.startswith(_MAGIC):
        return ""
    place = f"file:{quote(str(path.absolute()))}?mode=ro"
    alone = head[_WAL_AT:] == b"\2" and not any(
        _is_there(f"{path}-{log}") for log in ("shm", "wal")
    )
    return f"{place}&immutable=1" if alone else place


def way_out(error: Exception, otherwise: str) -> str:
    """What to do about ``error``, which SQLite gave: a database that another program writes to can
    be read later, any other one ``otherwise``."""
    if "locked" in str(error):
        return "another program writes to it: close that, or run this again"
    return otherwise


def _is_there(name: str) -> bool:
    """True for a file with something in it."""
    return os.path.exists(name) and os.path.getsize(name) > 0
