"""Bands of standing, and conditions as Milvus reads them."""

import sqlite3
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core.weights import Weights
from memory_palace.index.milvus_rows import UNDATED
from memory_palace.search import bands as banded
from memory_palace.search.query import Query
from support.palaces import NOW

PRIORITIES = st.sampled_from([None, "high", "medium", "low", "urgent"])
DAYS = st.one_of(st.none(), st.floats(-400, 4000))
WEIGHTS = st.builds(
    Weights,
    recency=st.sampled_from([0.0, 0.01, 0.25, 1.0]),
    importance=st.sampled_from([0.0, 0.25, 1.0]),
    half_life_days=st.sampled_from([0.5, 30.0, 3000.0]),
)


def lies_in(condition: str, priority: str | None, seconds: float) -> bool:
    """Whether a note meets a band's condition, by SQLite, which reads its words alike."""
    for milvus, sqlite in (("[", "("), ("]", ")"), ('"', "'")):
        condition = condition.replace(milvus, sqlite)
    db = sqlite3.connect(":memory:")
    row = db.execute(
        f"SELECT {condition} FROM (SELECT ? AS priority, ? AS time)", (priority or "", seconds)
    )
    return bool(row.fetchone()[0])


@settings(max_examples=200, deadline=None)
@given(WEIGHTS, DAYS, PRIORITIES, st.integers(1, 8))
def test_every_note_is_in_the_one_band_of_its_standing(
    weights: Weights, days: float | None, priority: str | None, count: int
) -> None:
    """Whatever the weights, no note is in two bands or in none."""
    bands = banded.bands(weights, NOW, count)
    seconds = UNDATED if days is None else NOW.timestamp() - days * 86400.0
    found = [band for band in bands if lies_in(band.condition, priority, seconds)]
    assert len(found) == 1
    standing = banded.standing([seconds], [priority], weights, NOW)[0]
    assert found[0].low - 1e-9 <= standing <= found[0].high + 1e-9


def test_bands_come_highest_first_and_leave_no_gap() -> None:
    """Each begins where the one before it ends."""
    bands = banded.bands(Weights(), NOW)
    assert len(bands) == banded.BANDS
    assert [band.low for band in bands[:-1]] == [band.high for band in bands[1:]]
    assert bands[0].high == pytest.approx(0.5)
    assert bands[-1].low == 0.0


def test_without_weights_there_is_one_band() -> None:
    """Where recency and importance count nothing, all notes are alike."""
    (band,) = banded.bands(Weights(recency=0.0, importance=0.0), NOW)
    assert (band.low, band.high) == (0.0, 0.0)


def test_filters_become_one_condition() -> None:
    """All filters together, rooms by their whole folders, days by their seconds."""
    day = datetime(2026, 11, 1, tzinfo=UTC)
    query = Query(
        types=("rule",),
        priorities=("high", "low"),
        rooms=("topics/",),
        tags=("#x",),
        since=day,
        until=day + timedelta(days=1),
    )
    assert banded.condition("ada", query) == (
        'palace == "ada" and type in ["rule"] and priority in ["high", "low"] and '
        'array_contains_any(rooms, ["palace/topics/", "room:topics/"]) and '
        'array_contains_any(tags, ["x"]) and '
        f"time >= {day.timestamp()!r} and time <= {day.timestamp() + 86400!r} and "
        f"time > {UNDATED / 10!r}"
    )
    assert banded.condition("ada", Query()) == 'palace == "ada"'


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a", '"a"'),
        ('a"b', '"a\\"b"'),
        ("a\\", '"a\\\\"'),
        ("é中", '"é中"'),
        ("a\nb\0", '"a\ufffdb\ufffd"'),
    ],
)
def test_a_text_cannot_leave_its_quotes(text: str, written: str) -> None:
    """A filter's value is a value, whatever is in it."""
    assert banded.literal(text) == written
