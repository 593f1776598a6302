"""SQLite databases of other programs: read, and nothing is left beside them."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

from memory_palace.core.errors import BadInput

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


@contextlib.contextmanager
def opened(path: Path, wanted: str) -> Iterator[sqlite3.Connection]:
    """The database at ``path``, closed afterwards; text that is not UTF-8 has U+FFFD in it.

    Raises :class:`BadInput` if it is none, with what is ``wanted``; OSError, sqlite3.Error.
    """
    place = address(path)
    if not place:
        raise BadInput(f"{path} is no SQLite database: {wanted}")
    with contextlib.closing(sqlite3.connect(place, uri=True, timeout=5)) as database:
        database.text_factory = lambda data: data.decode("utf-8", "replace")
        yield database


def record(column: object) -> dict[str, Any]:
    """The JSON object in a column; an empty one for anything else."""
    try:
        found = json.loads(column) if isinstance(column, str | bytes) else {}
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def way_out(error: Exception, otherwise: str) -> str:
    """What to do about ``error``, which SQLite gave: a database that another program writes to can
    be read later, any other one ``otherwise``."""
    if "locked" in str(error):
        return "another program writes to it: close that, or run this again"
    return otherwise


def _is_there(name: str) -> bool:
    """True for a file with something in it."""
    return os.path.exists(name) and os.path.getsize(name) > 0
