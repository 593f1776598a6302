"""Opens the catalog's file, with SQLite alone: what only looks up words needs no more of it."""

import os
import sqlite3
from collections.abc import Callable
from pathlib import Path

from memory_palace.core.errors import Missing

FORMAT = "3"
"""Raise it when the tables change: an index of another format is rebuilt."""

MAIN = "catalog.sqlite"
BASEMENT = "basement.sqlite"
WAIT_SECONDS = 10.0
"""How long a connection waits for a writer by default."""


class Damaged(Missing):
    """The catalog cannot be used as it is; it can always be made anew. ``reason`` says why."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"{reason}: run `palace index`")
        self.reason = reason


def to_write(path: Path) -> sqlite3.Connection:
    """A connection to the catalog at ``path``. Raises :class:`Damaged` if it is not usable."""
    if not path.is_file():
        raise Damaged("there is no index yet")
    return _checked(lambda: connect(path))


def to_read(path: Path, wait_seconds: float = WAIT_SECONDS) -> sqlite3.Connection:
    """Like :func:`to_write`, without the right to write; works on a read-only disk too.

    A catalog whose first build has not been committed yet counts as damaged.
    """
    if not path.is_file():
        raise Damaged("there is no index yet")
    # Readers of a write-ahead log need its shared-memory file, which a read-only or a full disk
    # refuses: then the file is read as it is, unless the log holds what the file does not.
    writable = os.access(path.parent, os.W_OK) and os.access(path, os.W_OK)
    mode = "mode=rw" if writable else "mode=ro"
    try:
        connection = _checked(lambda: connect(path, mode, wait_seconds))
    except Damaged:
        raise
    except Missing:
        log = path.with_name(path.name + "-wal")
        if not writable and log.is_file() and log.stat().st_size:
            raise
        connection = _checked(lambda: connect(path, "immutable=1", wait_seconds))
    connection.execute("PRAGMA query_only = ON")
    if not meta(connection, "complete"):
        connection.close()
        raise Damaged("the index is not complete")
    return connection


def connect(
    path: Path, mode: str = "mode=rwc", wait_seconds: float = WAIT_SECONDS
) -> sqlite3.Connection:
    """A connection with the catalog's settings, nothing checked. Raises sqlite3.Error."""
    quoted = str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    connection = sqlite3.connect(
        f"file:{quoted}?{mode}",
        uri=True,
        isolation_level=None,
        timeout=wait_seconds,
        check_same_thread=False,
    )
    connection.execute("PRAGMA foreign_keys = ON")
    # FULL: what a commit refers to (vector files) must not outlive the commit in a power cut.
    connection.execute("PRAGMA synchronous = FULL")
    connection.execute("PRAGMA temp_store = MEMORY")
    return connection


def meta(connection: sqlite3.Connection, key: str, default: str = "") -> str:
    """A value that the catalog keeps about itself."""
    row = connection.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
    return str(row[0]) if row else default


def _checked(made: Callable[[], sqlite3.Connection]) -> sqlite3.Connection:
    connection = None
    try:
        connection = made()
        found = meta(connection, "format")
    except sqlite3.DatabaseError as error:
        if connection:
            connection.close()
        if isinstance(error, sqlite3.OperationalError) and "no such table" not in str(error):
            raise Missing(
                f"the index cannot be opened ({error}): check the disk and run this again"
            ) from None
        raise Damaged(f"the index is damaged ({error})") from None
    if found != FORMAT:
        connection.close()
        raise Damaged(f"the index has format {found or 'none'}, not {FORMAT}")
    return connection
