"""Recency, importance and their sum with relevance."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core import scoring
from memory_palace.core.weights import Weights

AGES = st.floats(0, 3650)
UNIT = st.floats(0, 1)


@pytest.mark.parametrize(
    ("age", "value"),
    [
        (0.0, 1.0),
        (15.0, 2**-0.5),
        (30.0, 0.5),
        (60.0, 0.25),
        (300.0, 2.0**-10),
        (-5.0, 1.0),
        (-1e9, 1.0),
        (float("nan"), 0.5),
        (1e9, 0.0),
    ],
)
def test_recency_is_a_half_life(age: float, value: float) -> None:
    """After 30 days it is a half; it is 1 in the future, and 0.5 where no time is known."""
    (found,) = scoring.recency(np.array([age]), 30.0)
    assert found == pytest.approx(value, abs=1e-15)


@given(AGES, st.floats(0.5, 400))
@MODEST
def test_a_half_life_halves(age: float, half_life: float) -> None:
    """From any age, one half-life later recency is a half of what it was."""
    now, later = scoring.recency(np.array([age, age + half_life]), half_life)
    assert later == pytest.approx(now / 2, rel=1e-9, abs=1e-300)


@given(st.lists(AGES, min_size=2))
@MODEST
def test_what_is_newer_is_never_less_recent(ages: list[float]) -> None:
    """Recency falls with age and stays between 0 and 1."""
    found = scoring.recency(np.array(sorted(ages)), 30.0)
    assert np.all(np.diff(found) <= 0)
    assert np.all((found >= 0) & (found <= 1))


@pytest.mark.parametrize(
    ("priority", "value"),
    [("high", 1.0), ("medium", 0.6), ("low", 0.3), (None, 0.5), ("", 0.5), ("other", 0.5)],
)
def test_importance(priority: str | None, value: float) -> None:
    """The table of the design; anything else counts as absent."""
    assert scoring.importance(priority) == value


def test_the_published_weights() -> None:
    """0.5 relevance, 0.25 recency, 0.25 importance, 30 days."""
    assert Weights() == Weights(0.5, 0.25, 0.25, 30.0)


@pytest.mark.parametrize(
    ("relevant", "recent", "important", "score"),
    [
        (1, 1, 1, 1.0),
        (0, 0, 0, 0.0),
        (1, 0, 0, 0.5),
        (0, 1, 0, 0.25),
        (0, 0, 1, 0.25),
        (0.75, 0.5, 0.5, 0.625),
        (0.5, 1, 0.5, 0.625),
    ],
)
def test_compound(relevant: float, recent: float, important: float, score: float) -> None:
    """0.5 x relevance + 0.25 x recency + 0.25 x importance, to the last bit."""
    parts = (np.array([float(part)]) for part in (relevant, recent, important))
    assert scoring.compound(*parts, Weights()).tolist() == [score]


@given(st.lists(st.tuples(UNIT, UNIT, UNIT), min_size=1), st.tuples(UNIT, UNIT, UNIT))
@MODEST
def test_compound_is_the_weighted_sum_of_each_row(
    rows: list[tuple[float, float, float]], weights: tuple[float, float, float]
) -> None:
    """Every element is computed from its own parts only, with the weights given."""
    parts = (np.array(column) for column in zip(*rows, strict=True))
    found = scoring.compound(*parts, Weights(*weights))
    a, b, c = weights
    assert found.tolist() == [a * x + b * y + c * z for x, y, z in rows]
