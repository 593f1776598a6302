"""Columns come out of the catalog as they are stored."""

import sqlite3

import pytest

from memory_palace.index import columns


@pytest.fixture
def db() -> sqlite3.Connection:
    """A table of three rows and two columns."""
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER)")
    made.executemany("INSERT INTO t VALUES (?, ?)", [(1, -1), (5, 2**53), (9, 0)])
    return made


def test_the_columns_are_those_of_the_rows(db: sqlite3.Connection) -> None:
    """Negative and large numbers too, and what an expression gives."""
    assert columns.integers(db, ["id", "n"], "t").tolist() == [[1, -1], [5, 2**53], [9, 0]]
    assert columns.integers(db, ["id + 1"], "t WHERE n > ?", (-1,)).tolist() == [[6], [10]]


def test_no_rows_are_an_array_of_none(db: sqlite3.Connection) -> None:
    """Of the right width."""
    assert columns.integers(db, ["id", "n"], "t WHERE id > 9").shape == (0, 2)


def test_a_null_is_refused_and_not_left_out_in_silence(db: sqlite3.Connection) -> None:
    """It would shift the numbers of one column against the other."""
    db.execute("INSERT INTO t VALUES (10, NULL)")
    with pytest.raises(ValueError, match="same shape"):
        columns.integers(db, ["id", "n"], "t")
