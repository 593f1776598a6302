"""Databases of other programs are read as they are now."""

import contextlib
import sqlite3
from pathlib import Path

from memory_palace.files import foreign


def asked(path: Path) -> list[int]:
    """What the table holds."""
    with contextlib.closing(sqlite3.connect(foreign.address(path), uri=True)) as database:
        return [row[0] for row in database.execute("SELECT a FROM t")]


def test_what_another_program_has_just_written_counts(tmp_path: Path) -> None:
    """While it has the database open, what stands in its log is read too."""
    path = tmp_path / "a b#c.db"
    with contextlib.closing(sqlite3.connect(path)) as writer:
        writer.execute("PRAGMA journal_mode=WAL")
        writer.execute("CREATE TABLE t (a)")
        writer.execute("INSERT INTO t VALUES (1)")
        writer.commit()
        assert asked(path) == [1]
        writer.execute("INSERT INTO t VALUES (2)")
        writer.commit()
        assert asked(path) == [1, 2]
    assert asked(path) == [1, 2]
    assert list(tmp_path.iterdir()) == [path]


def test_what_is_no_database_has_no_address(tmp_path: Path) -> None:
    """Nothing is opened then."""
    path = tmp_path / "a.db"
    for data in (b"", b"SQLite", b"x" * 100):
        path.write_bytes(data)
        assert foreign.address(path) == ""
