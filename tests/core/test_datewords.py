"""Dates in questions, and the ways to write them."""

import pytest

from memory_palace.core.datewords import dates_in, in_words, spellings


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
    assert len(made) == 20


def test_spellings_of_a_month() -> None:
    """The same without a day."""
    (date,) = dates_in("June 2023")
    assert [" ".join(way) for way in spellings(date)] == [
        *("2023 06", "2023 年 6 月", "june 2023", "jun 2023"),
    ]


def test_in_words() -> None:
    """Both as numbers and as words, for the index."""
    assert in_words(2023, 5, 8) == "2023-05-08 8 May 2023"
