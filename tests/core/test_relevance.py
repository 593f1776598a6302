"""From cosine and BM25 to the semantic term, and to what counts as found."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core import relevance

NAN = float("nan")


@pytest.mark.parametrize(
    ("cosine", "term"), [(-1, 0), (-0.1, 0), (0, 0), (0.4, 0.4), (1, 1), (1.1, 1)]
)
def test_the_cosine_is_clamped(cosine: float, term: float) -> None:
    """Opposite is as good as unrelated, and rounding never gives more than 1."""
    assert relevance.cosine_term(np.array([float(cosine)])).tolist() == [term]


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


def test_the_cosine_goes_before_keywords() -> None:
    """Keywords stand in only where there is no vector, and a cosine of 0 is one."""
    found = relevance.semantic(
        np.array([0.8, 0.0, -0.5, NAN, NAN]), np.array([6.0, 6.0, 6.0, 6.0, 0.0])
    )
    assert found.tolist() == [0.8, 0.0, 0.0, 0.5, 0.0]


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
