"""Hits that say nearly the same."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.search import alike
from support.palaces import Palace


def at(*degrees: float) -> list[np.ndarray]:
    """Vectors of length 1 in these directions."""
    angles = np.radians(degrees)
    return list(np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32))


def test_what_is_nearly_the_same_folds_into_the_first() -> None:
    """From a cosine of 0.95 on, which are 18 degrees; the first that is near enough counts."""
    zero, ten, seventeen, nineteen, ninety = at(0, 10, 17, 19, 90)
    assert alike.folds(seventeen, [ninety, zero]) == 1
    assert alike.folds(nineteen, [ninety, zero]) is None
    assert alike.folds(ten, [zero, seventeen]) == 0
    assert alike.folds(zero, []) is None


def test_without_a_vector_nothing_is_known_to_be_the_same() -> None:
    """Neither of a hit nor of those before it."""
    (zero,) = at(0)
    assert alike.folds(None, [zero]) is None
    assert alike.folds(zero, [None]) is None
    assert alike.folds(zero, [None, zero]) == 1


def test_diversity_moves_what_is_alike_back() -> None:
    """At 0 the order is that of the scores; the more, the later comes a hit like the first."""
    score, vectors = np.array([0.9, 0.8, 0.5]), np.stack(at(0, 20, 90))
    assert alike.diverse(score, vectors, 3, 0.0) == [0, 1, 2]
    assert alike.diverse(score, vectors, 3, 0.5) == [0, 2, 1]
    assert alike.diverse(score, vectors, 2, 0.5) == [0, 2]
    assert alike.diverse(score, np.zeros((3, 2), dtype=np.float32), 3, 0.9) == [0, 1, 2]


@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 180)), min_size=1, max_size=12),
    st.integers(1, 12),
    st.floats(0, 1),
)
@MODEST
def test_diverse_is_maximal_marginal_relevance(
    hits: list[tuple[float, float]], most: int, weight: float
) -> None:
    """Each choice has the largest value by the definition, worked out anew from all before it."""
    score = [s for s, _ in hits]
    vectors = at(*(angle for _, angle in hits))
    chosen = alike.diverse(np.array(score), np.stack(vectors), most, weight)
    assert len(chosen) == len(set(chosen)) == min(most, len(hits))
    for n, best in enumerate(chosen):

        def value(one: int, before: list[int] = chosen[:n]) -> float:
            near = max((float(vectors[one] @ vectors[other]) for other in before), default=0.0)
            return (1 - weight) * score[one] - weight * max(near, 0.0)

        rest = [value(one) for one in range(len(hits)) if one not in chosen[:n]]
        assert value(best) == pytest.approx(max(rest), abs=1e-6)


COPIES = {
    "a": "---\npriority: high\n---\namber boats lie in the harbour",
    "b": "amber boats lie in the harbour",
    "c": "---\npriority: low\n---\n\namber boats lie in the harbour",
    "d": "amber is a stone that floats, found by the sea after a storm",
}


def test_near_identical_hits_become_one_that_names_the_others(palace: Palace) -> None:
    """With path and lines, and they take no hit's place."""
    palace.notes(**COPIES)
    palace.index()
    one, two = palace.hits("amber boats", top_k=2)
    assert (one.path, two.path) == ("palace/a.md", "palace/d.md")
    assert sorted((s.path, s.start, s.end) for s in one.same) == [
        ("palace/b.md", 1, 1),
        ("palace/c.md", 5, 5),
    ]
    assert two.same == ()


@pytest.mark.parametrize("top_k", [1, 2])
def test_the_twin_of_the_last_hit_is_named(palace: Palace, top_k: int) -> None:
    """What is the same as the last hit that is wanted comes after it, and is no further hit."""
    palace.notes(a=COPIES["a"], b=COPIES["b"], d=COPIES["d"])
    palace.index()
    first, *rest = palace.hits("amber boats", top_k=top_k)
    assert [same.path for same in first.same] == ["palace/b.md"]
    assert [hit.path for hit in rest] == ["palace/d.md"][: top_k - 1]


def test_what_is_filtered_out_is_not_named(palace: Palace) -> None:
    """Folding comes after the filters."""
    palace.notes(topics__a=COPIES["a"], topics__b=COPIES["b"], other__c=COPIES["b"])
    palace.index()
    (hit,) = palace.hits("amber", rooms=("topics",))
    assert [same.path for same in hit.same] == ["palace/topics/b.md"]


def test_nothing_is_folded_without_vectors(keyword_palace: Palace) -> None:
    """Words alone do not say that two texts are the same."""
    keyword_palace.notes(**COPIES)
    keyword_palace.index()
    assert len(keyword_palace.hits("amber boats")) == 4


def test_diverse_hits_through_a_query(palace: Palace) -> None:
    """Off by default; turned up, a hit of another subject comes before one like the first."""
    palace.notes(
        a="---\npriority: high\n---\namber boats copper harbour",
        b="---\npriority: high\n---\namber boats copper lantern",
        c="---\npriority: low\n---\namber violin",
    )
    palace.index()
    assert sorted(palace.paths("amber boats copper", top_k=2)) == ["a", "b"]
    first, second = palace.paths("amber boats copper", top_k=2, diverse=0.7)
    assert first in ("a", "b") and second == "c"
