"""The order that a reranker gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.search.rerank import reordered


def test_the_reranker_alone_decides() -> None:
    """The last candidate can become the first."""
    assert reordered(["a", "b", "c"], np.array([0.1, 0.2, 0.9])) == ["c", "b", "a"]


def test_equal_scores_keep_their_order() -> None:
    """Where the reranker sees no difference, the compound score's order stands."""
    assert reordered(["a", "b", "c", "d"], np.array([0.5, 0.7, 0.5, 0.7])) == ["b", "d", "a", "c"]


def test_hits_without_a_score_stay_behind() -> None:
    """What the reranker did not read follows, in its order."""
    assert reordered(["a", "b", "c", "d"], np.array([0.0, 0.1])) == ["b", "a", "c", "d"]
    assert reordered(["a", "b"], np.array([])) == ["a", "b"]


def test_a_score_that_is_no_number_counts_least() -> None:
    """A model that overflowed puts nothing first."""
    assert reordered(["a", "b", "c"], np.array([np.nan, 0.0, 1.0])) == ["c", "b", "a"]


def test_more_scores_than_hits_are_a_mistake() -> None:
    """The lists belong together."""
    with pytest.raises(ValueError, match="2 scores for 1 hits"):
        reordered(["a"], np.array([0.1, 0.2]))


@given(st.lists(st.floats(0, 1), max_size=40), st.integers(0, 10))
def test_no_hit_is_lost(scores: list[float], more: int) -> None:
    """All hits come back once, the scored ones by falling score."""
    hits = list(range(len(scores) + more))
    found = reordered(hits, np.array(scores))
    assert sorted(found) == hits
    head = [scores[n] for n in found[: len(scores)]]
    assert head == sorted(head, reverse=True)
