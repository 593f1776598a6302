"""Scores that units of Milvus have at least and at most."""

import math

import numpy as np
import pytest

from memory_palace.core import keywords
from memory_palace.core.relevance import Scale
from memory_palace.core.weights import Weights
from memory_palace.search import bands
from memory_palace.search.bounds import Bounds, Depth, Sought, Unit
from memory_palace.search.query import Query
from memory_palace.search.question import Question
from support.palaces import NOW


def sought(text: str = "alpha", vector: bool = True, **more: object) -> Sought:
    """A question with one word, and a vector."""
    given = np.array([1.0, 0.0], dtype=np.float32) if vector else None
    question = Question(keywords.parse(text), given)
    return Sought(Query(text), question, Scale(floor=0.3), {1: 1.0}, {1: 1.0}, **more)  # type: ignore[arg-type]


def depth(*units: Unit, **more: float) -> Depth:
    """The one band of all, searched down to some scores."""
    made = Depth(bands.every(Weights()), 2, {unit.id: unit for unit in units})
    for name, value in more.items():
        setattr(made, name, value)
    return made


def unit(name: str, **told: float) -> Unit:
    """A unit of now, of middling importance, and what the searches told of it."""
    return Unit(f"p/{name}", NOW.timestamp(), "medium", **told)


@pytest.mark.parametrize(
    ("told", "below"),
    [({}, True), ({"cosine": 0.5}, True), ({"cosine": 0.5, "keyword": 3.0, "note": 2.0}, False)],
)
def test_what_is_not_told_lies_between_nothing_and_the_last(
    told: dict[str, float], below: bool
) -> None:
    """With all of it told, a unit's score is known."""
    bounds = Bounds(sought(), Weights(), NOW)
    one = unit("n/0", **told)
    ((_, most),) = bounds.at_most(depth(one, cosine=0.5, keyword=3.0, note=2.0))
    (least,) = bounds._at_least([one])
    assert least < most if below else least == pytest.approx(most)


def test_least_is_the_score_of_the_last_that_is_wanted() -> None:
    """Of units and of notes; without so many, nothing is too low."""
    wanted = sought()
    many = [unit(f"n{n}/0", cosine=n / 1000, keyword=1.0, note=0.0) for n in range(wanted.units)]
    bounds = Bounds(wanted, Weights(), NOW)
    assert bounds.least([depth(*many)]) == pytest.approx(min(bounds._at_least(many)))
    assert bounds.least([depth(*many[1:])]) == -1.0
    one_note = [unit(f"n/{n}", cosine=n / 1000, keyword=1.0) for n in range(wanted.units)]
    assert bounds.least([depth(*one_note)]) == -1.0


def test_units_without_evidence_are_not_counted() -> None:
    """They are no hits: what comes behind them may be one."""
    wanted = sought()
    many = [unit(f"n{n}/0", cosine=0.2, keyword=0.0) for n in range(wanted.units)]
    assert Bounds(wanted, Weights(), NOW).least([depth(*many)]) == -1.0


@pytest.mark.parametrize(
    ("ended", "done"),
    [
        ({"cosine": math.nan, "keyword": 0.0}, True),
        ({"cosine": 0.2, "keyword": 0.0}, True),
        ({"cosine": 0.4, "keyword": 0.0}, False),
        ({"cosine": 0.2, "keyword": 1.0}, False),
        ({"cosine": math.nan, "keyword": 1.0}, False),
    ],
)
def test_a_band_is_done_when_nothing_is_left_that_could_be_a_hit(
    ended: dict[str, float], done: bool
) -> None:
    """Everything was found, or the rest is far and has none of the words."""
    left = Bounds(sought(), Weights(), NOW).of_the_rest(depth(**ended))
    assert (left == -1.0) == done
    assert done or left >= 0.5  # recency and importance at their best


def test_words_that_may_be_less_than_they_seem_are_not_relied_on() -> None:
    """A unit may have the words of a phrase apart."""
    one = unit("n/0", cosine=0.5, keyword=3.0, note=2.0)
    known = Bounds(sought(), Weights(), NOW)._at_least([one])[0]
    assert Bounds(sought(plain=False), Weights(), NOW)._at_least([one])[0] < known


def test_what_a_question_leaves_out_is_looked_for_on_top() -> None:
    """So many units may stand before the first hit."""
    assert sought(left_out=7).units == sought().units + 7
