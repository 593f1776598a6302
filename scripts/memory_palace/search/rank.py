"""Score every chunk that the filters let through, and put them in order.

Nothing is cut before it is scored: the first k are the first k of all.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import keywords, relevance, scoring
from memory_palace.core.scoring import Scores, Weights
from memory_palace.index.catalog import Catalog
from memory_palace.index.vectors import VectorFile
from memory_palace.search.hits import Hit, Parts
from memory_palace.search.query import Query, where

Ids = NDArray[np.int64]

_FIRST_SORTED = 256
"""So many of the best are put in order first; the rest only if they are asked for."""


@dataclass(frozen=True, slots=True)
class Table:
    """What of the index does not depend on the question, as arrays.

    Over chunks, shape (n,): ``chunk`` row ids ascending, ``file`` places in the file arrays,
    ``row`` of the vector matrix (-1: none). Over files in the order of their paths, shape (m,):
    ``file_id``, ``time`` in seconds (NaN: none), ``importance``.
    """

    chunk: Ids
    file: Ids
    row: Ids
    file_id: Ids
    time: Scores
    importance: Scores
    vectors: VectorFile | None


@dataclass(frozen=True, slots=True)
class Ranked:
    """The scores of every chunk of a :class:`Table`, and which of them are hits."""

    table: Table
    cosine: Scores
    keyword: Scores
    semantic: Scores
    recency: Scores
    importance: Scores
    score: Scores
    first: Scores
    proven: NDArray[np.bool_]

    def in_order(self) -> Iterator[int]:
        """Places in the table of all hits, best first; equal scores by path, then line."""
        places = np.flatnonzero(self.proven)
        if len(places) > _FIRST_SORTED:
            values = self.first[places]
            least = np.partition(values, -_FIRST_SORTED)[-_FIRST_SORTED]
            yield from self._sorted(places[values >= least])
            places = places[values < least]
        yield from self._sorted(places)

    def _sorted(self, places: Ids) -> Iterator[int]:
        order = np.lexsort((self.table.chunk[places], self.table.file[places], -self.first[places]))
        return iter(places[order].tolist())


def table(catalog: Catalog, vectors: VectorFile | None) -> Table:
    """Read the arrays out of a catalog."""
    files = catalog.db.execute("SELECT id, time, priority FROM files ORDER BY path").fetchall()
    chunks = catalog.db.execute(
        """SELECT c.id, c.file_id, coalesce(v.id, -1) FROM chunks c
           LEFT JOIN vectors v ON v.key = c.key AND c.key != '' ORDER BY c.id"""
    ).fetchall()
    rows = np.array(chunks, dtype=np.int64).reshape(-1, 3)
    file_id = np.array([row[0] for row in files], dtype=np.int64)
    return Table(
        chunk=rows[:, 0],
        file=_places(file_id, rows[:, 1]),
        row=_matrix_rows(vectors, rows[:, 2]),
        file_id=file_id,
        time=np.array([np.nan if row[1] is None else row[1] for row in files], dtype=np.float64),
        importance=np.array([scoring.importance(row[2]) for row in files], dtype=np.float64),
        vectors=vectors,
    )


def _places(among: Ids, wanted: Ids) -> Ids:
    """Where each of ``wanted`` stands in ``among``; -1 where it does not."""
    if not len(among):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(among, kind="stable")
    spots = np.searchsorted(among, wanted, sorter=order)
    spots[spots == len(among)] = 0
    found = order[spots]
    return np.where(among[found] == wanted, found, -1)


def _matrix_rows(vectors: VectorFile | None, ids: Ids) -> Ids:
    if vectors is None:
        return np.full(len(ids), -1, dtype=np.int64)
    return _places(vectors.ids(), ids)


def rank(
    among: Table,
    catalog: Catalog,
    question: Sequence[float] | NDArray[np.float32] | None,
    query: Query,
    weights: Weights,
    floor: float,
    now: datetime,
) -> Ranked:
    """Score every chunk; a hit passes the filters and has evidence.

    The order is that of the compound score (``raw``: of the cosine). ``question`` is the query's
    vector, shape (d,), or None for keywords only. Without words every chunk that passes counts.
    """
    age_days = (now.timestamp() - among.time) / 86400.0
    recent = scoring.recency(age_days, weights.half_life_days)[among.file]
    important = among.importance[among.file]
    cosine = _cosines(among, question)
    keyword = _bm25(catalog, query.text, among.chunk)
    passing = _passing(among, catalog, query)
    if query.text:
        semantic = relevance.semantic(cosine, keyword)
        proven = passing & relevance.evidence(cosine, keyword, floor)
    else:
        semantic = np.full(len(among.chunk), scoring.SEMANTIC_WITHOUT_WORDS)
        proven = passing
    score = scoring.compound(semantic, recent, important, weights)
    first = np.nan_to_num(cosine, nan=-1.0) if query.raw else score
    return Ranked(among, cosine, keyword, semantic, recent, important, score, first, proven)


@dataclass(frozen=True, slots=True)
class Single:
    """One chunk's scores, for text that is read from its file instead of the index."""

    parts: Parts
    score: float

    def proven(self, floor: float) -> bool:
        """True if it has evidence, as for the chunks of a :class:`Table`."""
        cosine = np.array([np.nan if self.parts.cosine is None else self.parts.cosine])
        return bool(relevance.evidence(cosine, np.array([self.parts.keyword]), floor)[0])


def score_one(
    cosine: float | None,
    keyword: float,
    time: float | None,
    priority: str | None,
    query: Query,
    weights: Weights,
    now: datetime,
) -> Single:
    """The same scores as :func:`rank` gives, for one chunk."""
    age_days = np.array([np.nan if time is None else (now.timestamp() - time) / 86400.0])
    recent = scoring.recency(age_days, weights.half_life_days)
    important = np.array([scoring.importance(priority)])
    semantic = np.array([scoring.SEMANTIC_WITHOUT_WORDS])
    if query.text:
        cosines = np.array([np.nan if cosine is None else cosine])
        semantic = relevance.semantic(cosines, np.array([keyword]))
    score = scoring.compound(semantic, recent, important, weights)
    parts = Parts(float(semantic[0]), float(recent[0]), float(important[0]), cosine, keyword)
    return Single(parts, float(score[0]))


def order_key(hit: Hit, raw: bool) -> float:
    """What hits are ordered by, largest first: the score, or for ``raw`` the cosine."""
    return hit.score if not raw else -1.0 if hit.parts.cosine is None else hit.parts.cosine


def _passing(among: Table, catalog: Catalog, query: Query) -> NDArray[np.bool_]:
    condition, values = where(query)
    if condition == "1":
        return np.ones(len(among.chunk), dtype=bool)
    rows = catalog.db.execute(f"SELECT id FROM files WHERE {condition}", values).fetchall()
    passing = np.isin(among.file_id, np.array([row[0] for row in rows], dtype=np.int64))
    return np.asarray(passing[among.file], dtype=bool)


def _cosines(among: Table, question: Sequence[float] | NDArray[np.float32] | None) -> Scores:
    """The cosine of each chunk's vector with the question; NaN where there is none."""
    cosines = np.full(len(among.chunk), np.nan)
    if among.vectors is None or question is None or not len(among.vectors):
        return cosines
    dots = among.vectors.matrix() @ np.asarray(question, dtype=np.float32)
    there = among.row >= 0
    cosines[there] = dots[among.row[there]]
    return cosines


def _bm25(catalog: Catalog, text: str, chunks: Ids) -> Scores:
    """FTS5's BM25 of each chunk for any of the words, 0 where none occurs; larger is better."""
    scores = np.zeros(len(chunks))
    expression = keywords.fts_expression(text)
    if not expression or not len(chunks):
        return scores
    rows = catalog.db.execute(
        "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?", (expression,)
    ).fetchall()
    if rows:
        found = np.array(rows, dtype=np.float64)
        ids = found[:, 0].astype(np.int64)
        places = np.minimum(np.searchsorted(chunks, ids), len(chunks) - 1)
        known = chunks[places] == ids
        places, found = places[known], found[known]
        # FTS5 gives terms that stand in more than half of the rows a weight next to nothing.
        scores[places] = np.maximum(found[:, 1], 1e-9)
    return scores
