"""A large index narrowed down to the chunks among which the best of all are (``candidates``)."""

from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory_palace.core import relevance, scoring
from memory_palace.core.relevance import Evidence, Scale
from memory_palace.core.scoring import Scores
from memory_palace.core.weights import Weights
from memory_palace.index import vectors
from memory_palace.index.catalog import Catalog
from memory_palace.search import candidates, table
from memory_palace.search.candidates import Wanted
from memory_palace.search.query import Query
from memory_palace.search.question import Question
from memory_palace.search.table import Flags, Ids, Table


def narrowed(
    among: Table,
    catalog: Catalog,
    question: Question,
    query: Query,
    weights: Weights,
    scale: Scale,
    now: datetime,
    wanted: Wanted,
) -> Table:
    """The part of ``among`` that is to be scored in full; ``wanted`` is in it."""
    if len(among.chunk) <= candidates.FEW:
        return among
    allowed = table.passing(among, catalog, query) & ~table.excluded(among, question)
    if np.count_nonzero(allowed) <= candidates.FEW:
        return among.only(np.flatnonzero(allowed))
    known = _known(among, question, query, weights, now, allowed)
    scorer = _Scorer(among, question, weights, scale, known)
    near, bound = (_NONE, -1.0) if "dense" in query.without else scorer.near(wanted.places)
    if query.raw:  # what has a word and no vector comes after all that have one
        bare = np.flatnonzero(allowed & (among.row < 0) & (known.keyword > 0.0))
        return among.only(np.union1d(near, bare))
    limit = scorer.limit(bound)
    limit[near] = np.inf
    chosen = candidates.choose(limit, near, scorer.score, among.file, wanted)
    if chosen.at_most > 0.0 and len(among.chunk) <= vectors.EXACT_MOST:
        return among
    return among.only(_with_successors(among, chosen.places))


_NONE: Ids = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class _Known:
    """What is known of every chunk before its vector is looked at, shape (n,): whether it may be
    a hit, what recency and importance add to its score, and the BM25 of itself and its note."""

    allowed: Flags
    strength: Scores
    keyword: Scores
    note_keyword: Scores
    dense: bool


def _known(
    among: Table, question: Question, query: Query, weights: Weights, now: datetime, allowed: Flags
) -> _Known:
    recent = scoring.recency((now.timestamp() - among.time) / 86400.0, weights.half_life_days)
    strength = weights.recency * recent + weights.importance * among.importance
    keyword = np.zeros(len(among.chunk))
    note_keyword = np.full(len(among.file_id), np.nan)
    if "keyword" not in query.without:
        keyword, _ = table.keywords(among, question)
        if "context" not in query.without:
            note_keyword = table.note_keywords(among, question)
    dense = "dense" not in query.without
    return _Known(allowed, strength[among.file], keyword, note_keyword[among.file], dense)


class _Scorer:
    """The scores of :mod:`rank` before its closer look, for any chunks of a large table."""

    def __init__(
        self, among: Table, question: Question, weights: Weights, scale: Scale, known: _Known
    ) -> None:
        self._among = among
        self._question = question
        self._weights = weights
        self._scale = scale
        self._known = known
        self._asked = bool(question.asked.terms) or question.vector is not None

    def near(self, wanted: int) -> tuple[Ids, float]:
        """Chunks of the nearest vectors, ``wanted`` or more, and the cosine that no other chunk
        exceeds."""
        among, vectors, vector = self._among, self._among.vectors, self._question.vector
        if vectors is None or vector is None or not len(vectors):
            return _NONE, -1.0
        rows = None
        if not self._known.allowed.all():
            there = np.zeros(len(vectors) + 1, dtype=bool)
            there[among.row[self._known.allowed]] = True
            rows = np.flatnonzero(there[:-1])  # the last stands for those without a vector
        found, cosines = vectors.nearest(vector, max(candidates.NEAREST, wanted), rows)
        near = candidates.places_of(found, among.row, among.by_row)
        return near[self._known.allowed[near]], float(cosines[-1]) if len(cosines) else -1.0

    def limit(self, bound: float) -> Scores:
        """What each chunk scores at most if its cosine is at most ``bound``."""
        known = self._known
        if not self._asked:
            everywhere = np.arange(len(known.allowed))
            return np.where(known.allowed, self.score(everywhere), -np.inf)
        # Of most chunks nothing speaks but perhaps the cosine: they are no hits if that is below
        # the floor, and have the same relevance else.
        limit = np.full(len(known.allowed), -np.inf)
        likely = known.keyword > 0.0
        if bound >= self._scale.floor:
            without = known.note_keyword[:1] * 0.0  # NaN where notes' keywords do not count
            best = self._relevance(np.array([bound]), np.zeros(1), without)
            limit = np.where(
                known.allowed, known.strength + self._weights.semantic * best[0], -np.inf
            )
            likely = likely | (known.note_keyword > 0.0)
        places = np.flatnonzero(likely & known.allowed)
        limit[places] = self._compound(
            places, np.where(self._among.row[places] >= 0, bound, np.nan)
        )
        return limit

    def score(self, places: Ids) -> Scores:
        """What chunks score by their vectors and words; -inf without evidence."""
        if not self._asked:
            relevant = np.full(len(places), scoring.RELEVANCE_WITHOUT_WORDS)
            return self._known.strength[places] + self._weights.semantic * relevant
        cosine = np.full(len(places), np.nan)
        if self._known.dense:
            cosine = table.cosines(self._among, self._question, places)
        proven = relevance.evidence(cosine, self._known.keyword[places], self._scale.floor)
        return np.where(proven, self._compound(places, cosine), -np.inf)

    def _compound(self, places: Ids, cosine: Scores) -> Scores:
        known = self._known
        close = self._relevance(cosine, known.keyword[places], known.note_keyword[places])
        return known.strength[places] + self._weights.semantic * close

    def _relevance(self, cosine: Scores, keyword: Scores, note_keyword: Scores) -> Scores:
        none = np.full(len(cosine), np.nan)
        found = Evidence(cosine, keyword, note_keyword, none, none)
        return relevance.relevance(found, self._scale)


def _with_successors(among: Table, chosen: Ids) -> Ids:
    """The chosen with all of the notes that supersede theirs: they are compared with them."""
    files = np.zeros(len(among.file_id), dtype=bool)
    files[among.file[chosen]] = True
    more = np.zeros(len(files), dtype=bool)
    while True:
        new = among.older[files[among.older[:, 0]], 1]
        if files[new].all():
            break
        files[new] = more[new] = True
    if not more.any():
        return chosen
    return np.union1d(chosen, np.flatnonzero(more[among.file]))
