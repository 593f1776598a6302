"""Databases of other programs are read as they are now."""

import contextlib
import sqlite3
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput
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


def test_text_that_is_not_utf_8_spoils_no_row(tmp_path: Path) -> None:
    """Its bytes are read as U+FFFD; the database is closed afterwards."""
    path = tmp_path / "a.db"
    with contextlib.closing(sqlite3.connect(path)) as writer:
        writer.execute("CREATE TABLE t (a)")
        writer.execute("INSERT INTO t VALUES (CAST(x'61FF62' AS TEXT))")
        writer.commit()
    with foreign.opened(path, "name another") as database:
        assert database.execute("SELECT a FROM t").fetchall() == [("a\ufffdb",)]
    with pytest.raises(sqlite3.ProgrammingError):
        database.execute("SELECT a FROM t")


def test_what_is_no_database_is_not_opened(tmp_path: Path) -> None:
    """What is wanted instead is said."""
    path = tmp_path / "a.db"
    path.write_bytes(b"x" * 100)
    with pytest.raises(BadInput, match="is no SQLite database: name another"):
        foreign.opened(path, "name another").__enter__()


@pytest.mark.parametrize(
    ("column", "found"),
    [
        ('{"a": 1}', {"a": 1}),
        (b'{"a": 1}', {"a": 1}),
        ("[1]", {}),
        ("{", {}),
        ("[" * 100_000, {}),
        (b"\xff", {}),
        (None, {}),
        (7, {}),
    ],
)
def test_a_column_has_an_object_or_none(column: object, found: dict[str, int]) -> None:
    """Whatever else stands there is empty."""
    assert foreign.record(column) == found
