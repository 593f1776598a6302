"""Dates in questions, and the ways to write them."""

import sqlite3
from contextlib import closing

import pytest

from memory_palace.core.datewords import dates_in, in_words, spellings
from memory_palace.core.keywords import parse


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("on 8 May 2023?", [(2023, 5, 8)]),
        ("on the 8th of May, 2023", [(2023, 5, 8)]),
        ("May 8th, 2023", [(2023, 5, 8)]),
        ("Sept. 3", [(0, 9, 3)]),
        ("in may 2023", [(2023, 5, 0)]),
        ("2023-05-08 and 2023-05", [(2023, 5, 8), (2023, 5, 0)]),
        ("2023年5月8日", [(2023, 5, 8)]),
        ("2023年5月", [(2023, 5, 0)]),
        ("from 1 to 3 March, or 2 may", [(0, 3, 3)]),
        ("you may 2 or 3", []),
        ("12023-05-08, v2023-05, 2023-13-01", []),
        ("may, march 20000, 45 May", []),
        ("2023-05-08T10:00", []),
        ("on 11.05.2023.", [(2023, 5, 11)]),
        ("11.5.2023, 31.12.1999", [(2023, 5, 11), (1999, 12, 31)]),
        ("32.05.2023, 11.13.2023, 0.5.2023, 11.05.20231, 11.05.23", []),
        ("v11.05.2023, 1.11.05.2023, 11.05.2023.4, 11.05.2023-1, 11/05/2023", []),
    ],
)
def test_dates_in(text: str, said: list[tuple[int, int, int]]) -> None:
    """A month with a day or a year, as words or as numbers."""
    assert [(date.year, date.month, date.day) for date in dates_in(text)] == said


def test_spellings_of_a_day() -> None:
    """As numbers, and with the month's names on both sides of the day."""
    (date,) = dates_in("3 Sep 2023")
    made = {" ".join(way) for way in spellings(date)}
    assert {"2023 09 03", "3 september 2023", "sept 3rd 2023", "2023 年 9 月 3 日"} <= made
    assert len(made) == 31


def test_a_day_is_found_however_a_text_writes_it() -> None:
    """The phrases that FTS5 makes of the usual ways; each once."""
    (date,) = dates_in("11.05.2023")
    made = [" ".join(way) for way in spellings(date)]
    assert {"11 05 2023", "11 5 2023", "05 11 2023", "5 11 2023", "2023 05 11"} <= set(made)
    assert {"may 11 2023", "may 11th 2023", "11 may 2023", "11th of may 2023"} <= set(made)
    assert len(set(made)) == len(made) == 11


def test_without_a_year_no_numbers_are_turned_round() -> None:
    """`11 05` alone is too often something else."""
    (date,) = dates_in("11 May")
    made = {" ".join(way) for way in spellings(date)}
    assert {"05 11", "11th of may", "may 11"} <= made
    assert not {"11 05", "11 5", "5 11"} & made


@pytest.mark.parametrize("asked", ["11.05.2023", "11.5.2023", "May 11, 2023", "2023-05-11"])
def test_one_term_finds_that_day_in_a_text_and_no_other(asked: str) -> None:
    """In the keyword index itself, one row a way of writing."""
    same = (
        *("11.05.2023", "11.5.2023", "11/05/2023", "05/11/2023", "5/11/2023", "2023-05-11"),
        *("May 11, 2023", "May 11th, 2023", "11 May 2023", "the 11th of May 2023", "11 May, 2023"),
    )
    other = ("12.05.2023", "05/12/2023", "11.06.2023", "11 May 2024", "May 1, 2023", "1.05.2023")
    with closing(sqlite3.connect(":memory:")) as base:
        base.execute("CREATE VIRTUAL TABLE notes USING fts5(text)")
        base.executemany("INSERT INTO notes VALUES (?)", [(text,) for text in (*same, *other)])
        term = parse(asked).terms[0]
        rows = base.execute("SELECT text FROM notes WHERE notes MATCH ?", (term.expression,))
        assert {text for (text,) in rows} == set(same)
    assert term.text == asked


def test_spellings_of_a_month() -> None:
    """The same without a day."""
    (date,) = dates_in("June 2023")
    assert [" ".join(way) for way in spellings(date)] == [
        *("2023 06", "2023 年 6 月", "june 2023", "jun 2023"),
    ]


def test_in_words() -> None:
    """Both as numbers and as words, for the index."""
    assert in_words(2023, 5, 8) == "2023-05-08 8 May 2023"
