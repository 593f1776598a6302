"""Which chunks of a large index are scored in full, so that the best of all are among them.

Recency, importance and keywords of every chunk are known before a vector is looked at. Only the
cosine is not, and the nearest vectors bound it: what is not among them has at most the cosine of
the last of them. So every chunk has a score that it cannot exceed. Those are scored that are
nearest, and then the most promising of the others, until no chunk that is left could still be
among the best. The first places are therefore those of scoring everything, but for what the
vector index itself gets wrong: a near vector in a list that it did not look into, and the error
of 8-bit codes.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.core.scoring import Scores

Ids = NDArray[np.int64]

NEAREST = 1_000
"""So many nearest vectors are asked for; more would lower the bound on the others' cosine."""

BATCH = 2_000
"""So many of the most promising are scored first, twice as many each time after."""

MOST = 40_000
"""No more are scored for one question, about 30 ms; ``at_most`` says what can be lost then."""

FEW = 20_000
"""If the filters let no more chunks through than this, all of them are scored."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """How many of the best places, and of the best groups by their best place, have to be there."""

    places: int
    groups: int


@dataclass(frozen=True, slots=True)
class Chosen:
    """``places`` to score, ascending. ``at_most`` is how far a chunk that was left out could be
    above the last of the wanted: 0 if none of them can be among the best."""

    places: Ids
    at_most: float


def choose(
    limit: Scores, near: Ids, score: Callable[[Ids], Scores], group: Ids, wanted: Wanted
) -> Chosen:
    """Choose so that what is wanted is among the chosen.

    ``limit``, shape (n,), is what each of n places scores at most, -inf where it is no hit at
    all. ``near`` are places that are taken in any case; ``score`` tells the true scores of some
    places, each asked for once; ``group``, shape (n,), says what belongs together (a note's
    chunks).
    """
    taken = np.zeros(len(limit), dtype=bool)
    best = _Best(wanted)
    batch = near[limit[near] > -np.inf]
    size, left = BATCH, MOST
    while len(batch) or size == BATCH:
        taken[batch] = True
        best.add(group[batch], score(batch))
        batch = _promising(limit, taken, best.least, min(size, left))
        size, left = 2 * size, left - len(batch)
    rest = _promising(limit, taken, best.least, 1)
    beyond = float(limit[rest[0]]) - best.least if len(rest) else 0.0
    return Chosen(np.flatnonzero(taken), beyond)


def _promising(limit: Scores, taken: NDArray[np.bool_], least: float, count: int) -> Ids:
    """At most ``count`` places that are not taken and could reach ``least``: the highest."""
    places = np.flatnonzero((limit >= least) & (limit > -np.inf) & ~taken)
    if not count:
        return places[:0]
    if len(places) > count:
        places = places[np.argpartition(limit[places], len(places) - count)[-count:]]
    return places


class _Best:
    """The best scores so far, and the least of them that is wanted."""

    def __init__(self, wanted: Wanted) -> None:
        self._wanted = wanted
        self._scores = np.zeros(0)
        self._groups = np.zeros(0, dtype=np.int64)
        self._group_scores = np.zeros(0)

    @property
    def least(self) -> float:
        """The lowest score of what is wanted; -inf while that is not all there."""
        if len(self._scores) < self._wanted.places or len(self._groups) < self._wanted.groups:
            return -np.inf
        return float(min(self._scores[-1], self._group_scores[-1]))

    def add(self, groups: Ids, scores: Scores) -> None:
        there = scores > -np.inf
        groups, scores = groups[there], scores[there]
        self._scores = -np.sort(-np.concatenate([self._scores, scores]))[: self._wanted.places]
        groups = np.concatenate([self._groups, groups])
        scores = np.concatenate([self._group_scores, scores])
        order = np.lexsort((-scores, groups))
        first = order[np.flatnonzero(np.diff(groups[order], prepend=-1))]
        kept = first[np.argsort(-scores[first], kind="stable")][: self._wanted.groups]
        self._groups, self._group_scores = groups[kept], scores[kept]


def places_of(rows: Ids, row_of: Ids, order: Ids) -> Ids:
    """The chunks whose vector is one of ``rows``; several chunks may share one.

    ``row_of``, shape (n,), is each chunk's row; ``order`` is ``argsort(row_of, stable)``.
    """
    low = np.searchsorted(row_of, rows, side="left", sorter=order)
    high = np.searchsorted(row_of, rows, side="right", sorter=order)
    counts = high - low
    starts = np.repeat(low - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts)
    return order[starts + np.arange(int(counts.sum()))]
