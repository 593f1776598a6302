"""From cosine, BM25 and late interaction to relevance, and to what counts as found."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core import relevance
from memory_palace.core.relevance import Evidence, Scale

NAN = float("nan")
COSINES = st.one_of(st.just(NAN), st.floats(-1, 1))
BM25 = st.floats(0, 1e4)
SHARES = (
    relevance.KEYWORD,
    relevance.NOTE_KEYWORD,
    relevance.DENSE,
    relevance.LATE,
    relevance.NOTE_LATE,
)


def spread(value: float, low: float, high: float) -> float:
    """From 0 at ``low`` to 1 at ``high``; NaN stays."""
    return value if math.isnan(value) else min(max((value - low) / (high - low), 0.0), 1.0)


def late_term(late: float) -> float:
    """What a late interaction counts."""
    return spread(late, relevance.LATE_LOW, relevance.LATE_HIGH)


def found(*rows: tuple[float, float, float, float, float]) -> Evidence:
    """Of each chunk cosine, keyword, note keyword, late, note late."""
    return Evidence(*(np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)))


@pytest.mark.parametrize(
    ("cosine", "term"), [(-1, 0), (-0.1, 0), (0, 0), (0.4, 0.4), (1, 1), (1.1, 1)]
)
def test_the_cosine_is_clamped(cosine: float, term: float) -> None:
    """Opposite is as good as unrelated, and rounding never gives more than 1."""
    assert relevance.cosine_term(np.array([float(cosine)]), Scale()).tolist() == [term]


@pytest.mark.parametrize(
    ("cosine", "term"), [(0.5, 0), (0.7, 0), (0.75, 0.25), (0.8, 0.5), (0.9, 1), (1.0, 1)]
)
def test_an_embedders_cosines_have_a_scale_of_their_own(cosine: float, term: float) -> None:
    """What counts 0 and what counts 1 differ from model to model."""
    scale = Scale(floor=0.8, low=0.7, high=0.9)
    assert relevance.cosine_term(np.array([cosine]), scale)[0] == pytest.approx(term)


@pytest.mark.parametrize(("bm25", "term"), [(0, 0), (2, 0.25), (6, 0.5), (18, 0.75), (594, 0.99)])
def test_the_keyword_term_is_absolute(bm25: float, term: float) -> None:
    """b / (b + 6), whatever else is on the page."""
    alone = relevance.keyword_term(np.array([float(bm25)]))
    beside = relevance.keyword_term(np.array([float(bm25), 1000.0]))
    assert alone[0] == beside[0] == term


@given(st.floats(0, 1e6), st.floats(0, 1e6))
@MODEST
def test_a_better_keyword_score_is_never_worse(one: float, other: float) -> None:
    """The term rises with the score, and stays below 1."""
    low, high = relevance.keyword_term(np.array(sorted([one, other])))
    assert 0 <= low <= high < 1


@pytest.mark.parametrize(("share", "term"), [(-1, 0), (0, 0), (0.25, 0.25), (1, 1), (2, 1)])
def test_the_late_term_has_its_scale(share: float, term: float) -> None:
    """From what unrelated texts have to what one has that says the same."""
    late = relevance.LATE_LOW + share * (relevance.LATE_HIGH - relevance.LATE_LOW)
    assert relevance.late_term(np.array([late]))[0] == pytest.approx(term)


def test_terms_without_a_value_stay_without() -> None:
    """No vector is no evidence for and none against."""
    assert math.isnan(relevance.cosine_term(np.array([NAN]), Scale())[0])
    assert math.isnan(relevance.late_term(np.array([NAN]))[0])


def expected_spread(mean: float) -> float:
    """Steep between LOW and HIGH, flat but rising outside."""
    low, high, edge = relevance.LOW, relevance.HIGH, relevance.EDGE
    if mean < low:
        return edge * mean / low
    if mean > high:
        return 1.0 - edge * (1.0 - mean) / (1.0 - high)
    return edge + (1.0 - 2.0 * edge) * (mean - low) / (high - low)


@given(st.lists(st.floats(0.0, 1.0), min_size=2, max_size=20, unique=True))
def test_no_order_is_lost_by_spreading(means: list[float]) -> None:
    """A better mean is a better relevance, at both ends too."""
    ordered = np.sort(np.round(np.array(means), 6))
    assert (np.diff(relevance.spread(np.unique(ordered))) > 0.0).all()


@given(st.lists(st.tuples(COSINES, BM25, st.one_of(st.just(NAN), BM25), COSINES, COSINES)))
@MODEST
def test_relevance_is_the_spread_mean_of_what_is_there(
    rows: list[tuple[float, float, float, float, float]],
) -> None:
    """Each chunk by itself, whatever stands beside it; between 0 and 1."""
    if not rows:
        return
    got = relevance.relevance(found(*rows), Scale())
    for value, (cosine, keyword, note, late, note_late) in zip(got.tolist(), rows, strict=True):
        terms = (
            keyword / (keyword + 6),
            note / (note + 6),
            spread(cosine, 0.0, 1.0),
            late_term(late),
            late_term(note_late),
        )
        there = [(s, t) for s, t in zip(SHARES, terms, strict=True) if not math.isnan(t)]
        mean = sum(s * t for s, t in there) / sum(s for s, _ in there)
        assert value == pytest.approx(expected_spread(mean), abs=1e-9)
        assert 0.0 <= value <= 1.0


@pytest.mark.parametrize("name", [field.name for field in fields(Evidence)])
def test_more_evidence_of_any_kind_is_more_relevance(name: str) -> None:
    """Every part counts, all else being equal."""
    less = found((0.4, 3.0, 3.0, 0.4, 0.4))
    more = replace(less, **{name: getattr(less, name) + 0.1})
    assert relevance.relevance(more, Scale())[0] > relevance.relevance(less, Scale())[0]


def test_words_and_meaning_count_together() -> None:
    """Both are better than either, and a chunk without a vector is not punished for it."""
    both, words, meaning, no_vector = relevance.relevance(
        found(
            (0.8, 6.0, 6.0, NAN, NAN),
            (0.0, 6.0, 6.0, NAN, NAN),
            (0.8, 0.0, 0.0, NAN, NAN),
            (NAN, 6.0, 6.0, NAN, NAN),
        ),
        Scale(),
    )
    assert both > words and both > meaning
    assert no_vector > words


def test_where_nothing_is_there_relevance_is_0() -> None:
    """And no division by zero."""
    nothing = np.array([NAN, NAN])
    assert relevance.weighted((1.0, nothing), (0.5, nothing)).tolist() == [0.0, 0.0]


@pytest.mark.parametrize("late", [-0.1, 0.3, 0.9, NAN])
@pytest.mark.parametrize("words", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("chunk", [0.0, 0.6])
@pytest.mark.parametrize("length", [0.0, 100.0, 400.0, 4000.0])
def test_a_lines_relevance(late: float, words: float, chunk: float, length: float) -> None:
    """Its own match, its words, the chunk around it and its length, by their shares."""
    terms = (
        (relevance.LINE_LATE, late_term(late)),
        (relevance.LINE_WORDS, words),
        (relevance.LINE_CHUNK, chunk),
        (relevance.LINE_LENGTH, min(length / relevance.LONG_LINE, 1.0)),
    )
    there = [(share, term) for share, term in terms if not math.isnan(term)]
    wanted = sum(share * term for share, term in there) / sum(share for share, _ in there)
    parts = (np.array([part]) for part in (late, words, chunk, length))
    assert relevance.line_relevance(*parts)[0] == pytest.approx(wanted)


@pytest.mark.parametrize(
    ("cosine", "bm25", "floor", "found"),
    [
        (0.3, 0.0, 0.3, True),
        (0.29, 0.0, 0.3, False),
        (0.29, 0.1, 0.3, True),
        (NAN, 0.0, 0.3, False),
        (NAN, 0.0, -0.5, False),
        (NAN, 2.0, 0.3, True),
        (-1.0, 0.0, 0.0, False),
    ],
)
def test_evidence(cosine: float, bm25: float, floor: float, found: bool) -> None:
    """A word of the question, or a cosine of at least the floor; no vector is no evidence."""
    assert relevance.evidence(np.array([cosine]), np.array([bm25]), floor).tolist() == [found]
