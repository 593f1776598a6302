"""What a unit in Milvus scores at least and at most, as far as its searches have told.

It is the score before the closer look: the one that decides which units get one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from memory_palace.core import relevance
from memory_palace.core.relevance import Evidence, Scale
from memory_palace.core.scoring import Scores
from memory_palace.core.weights import Weights
from memory_palace.index import milvus_rows as rows
from memory_palace.index.milvus_client import MOST_ROWS
from memory_palace.search import bands, closer, rerank
from memory_palace.search.bands import Band
from memory_palace.search.query import Query
from memory_palace.search.question import Question

_SPARE = 10  # more than is wanted: some may be gone from their files, or alike


@dataclass(frozen=True, slots=True)
class Sought:
    """A question in the forms that Milvus takes: words of units and of notes with their weights.

    ``plain`` tells that the words stand by themselves, so that their weights give the score and
    no more than it. ``left_out`` is how many units may be found and be no hits: the question
    excludes them, or they are alike, or gone.
    """

    query: Query
    question: Question
    scale: Scale
    words: dict[int, float]
    note_words: dict[int, float]
    plain: bool = True
    left_out: int = 0

    @property
    def units(self) -> int:
        """How many units are wanted: all that the ranking looks at more closely."""
        return closer.most(self.query.top_k) + _SPARE + self.left_out

    @property
    def notes(self) -> int:
        """How many notes are wanted: all of which the ranking looks at a unit more closely."""
        wider = [closer.CANDIDATES] * bool(self.query.diverse)
        wider += [rerank.CANDIDATES] * self.query.rerank
        return max(closer.most_notes(self.query.top_k), *wider, 0) + _SPARE + self.left_out


@dataclass(slots=True)
class Unit:
    """What was told of a unit. ``cosine`` is NaN without a vector; None is not known."""

    id: str
    time: float
    priority: str | None
    cosine: float | None = None
    keyword: float | None = None
    note: float | None = None


@dataclass(slots=True)
class Depth:
    """How far down a band has been searched. What was not found has at most this ``cosine``
    (NaN: no vector), this ``keyword``, and as a note, this ``note``."""

    band: Band
    limit: int
    units: dict[str, Unit] = field(default_factory=dict)
    cosine: float = math.nan
    keyword: float = 0.0
    note: float = 0.0


class Bounds:
    """Scores of units for one question at one time."""

    def __init__(self, sought: Sought, weights: Weights, now: datetime) -> None:
        self._sought = sought
        self._weights = weights
        self._now = now

    def least(self, depths: Sequence[Depth]) -> float:
        """The score that the last wanted unit, and the last wanted note, have at least; -1 if
        there are not so many."""
        scores: list[float] = []
        notes: dict[str, float] = {}
        for depth in depths:
            told = [unit for unit in depth.units.values() if self._is_hit(unit)]
            for unit, score in zip(told, self._at_least(told), strict=True):
                scores.append(score)
                note = rows.note_of(unit.id)
                notes[note] = max(score, notes.get(note, -1.0))
        lasts = (
            (sorted(scores), self._sought.units),
            (sorted(notes.values()), self._sought.notes),
        )
        return min(some[-wanted] if len(some) >= wanted else -1.0 for some, wanted in lasts)

    def _is_hit(self, unit: Unit) -> bool:
        near = unit.cosine is not None and unit.cosine >= self._sought.scale.floor
        return near or (unit.keyword or 0.0) > 0.0

    def _at_least(self, units: Sequence[Unit]) -> list[float]:
        if not units:
            return []
        plain = float(self._sought.plain)
        lowest = 0.0 if self._sought.question.vector is not None else math.nan
        cosine = np.array([lowest if u.cosine is None else u.cosine for u in units])
        keyword = plain * np.array([u.keyword or 0.0 for u in units])
        note = plain * np.array([u.note or 0.0 for u in units])
        return list(self._compound(units, cosine, keyword, note))

    def at_most(self, depth: Depth) -> list[tuple[Unit, float]]:
        """Each unit that was found, with the score that it has at most."""
        units = list(depth.units.values())
        if not units:
            return []
        cosine = np.array([depth.cosine if u.cosine is None else u.cosine for u in units])
        keyword = np.array([depth.keyword if u.keyword is None else u.keyword for u in units])
        note = np.array([depth.note if u.note is None else u.note for u in units])
        return list(zip(units, self._compound(units, cosine, keyword, note).tolist(), strict=True))

    def of_the_rest(self, depth: Depth) -> float:
        """The score that a hit of the band that was not found has at most; -1 if there is none."""
        whole = math.isnan(depth.cosine) and not depth.keyword
        far = not depth.keyword and depth.cosine < self._sought.scale.floor
        if whole or far or depth.limit >= MOST_ROWS:
            return -1.0
        # A unit without a vector has the mean of its words alone.
        cosine = np.array([depth.cosine, math.nan])
        keyword, note = np.full(2, depth.keyword), np.full(2, depth.note)
        most = float(self._relevance(cosine, keyword, note).max())
        return self._weights.semantic * most + depth.band.high

    def _compound(
        self, units: Sequence[Unit], cosine: Scores, keyword: Scores, note: Scores
    ) -> Scores:
        times, priorities = [unit.time for unit in units], [unit.priority for unit in units]
        standing = bands.standing(times, priorities, self._weights, self._now)
        return self._weights.semantic * self._relevance(cosine, keyword, note) + standing

    def _relevance(self, cosine: Scores, keyword: Scores, note: Scores) -> Scores:
        none = np.full(len(cosine), math.nan)
        if self._sought.query.without & {"keyword", "context"}:
            note = none
        found = Evidence(cosine, keyword, note, none, none)
        return relevance.relevance(found, self._sought.scale)
