"""Score every chunk that the filters let through, and put them in order.

Nothing is cut before it is scored: the first k are the first k of all.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import keywords, relevance, scoring
from memory_palace.core.scoring import Scores, Weights
from memory_palace.index.catalog import Catalog
from memory_palace.index.vectors import VectorFile
from memory_palace.search.query import Query, where


@dataclass(slots=True)
class Candidates:
    """All chunks that pass the filters, as arrays of shape (n,), best first after ranking."""

    chunk: NDArray[np.int64]
    file: NDArray[np.int64]
    cosine: Scores
    keyword: Scores
    semantic: Scores
    recency: Scores
    importance: Scores
    score: Scores

    def take(self, order: NDArray[np.int64]) -> "Candidates":
        """The same chunks in another order, or some of them."""
        return Candidates(*(getattr(self, name)[order] for name in self.__dataclass_fields__))

    def __len__(self) -> int:
        return len(self.chunk)


def rank(
    catalog: Catalog,
    vectors: VectorFile | None,
    question: Sequence[float] | NDArray[np.float32] | None,
    query: Query,
    weights: Weights,
    floor: float,
    now: datetime,
) -> Candidates:
    """Every chunk with evidence, in the order of the compound score (``raw``: of the cosine).

    ``question`` is the query's vector, shape (d,), or None for keywords only. Equal scores are
    ordered by path and line. Without words every chunk that passes the filters counts.
    """
    condition, values = where(query)
    files = catalog.db.execute(
        f"SELECT id, time, priority FROM files WHERE {condition} ORDER BY path", values
    ).fetchall()
    chunks = catalog.db.execute(
        f"""SELECT c.id, c.file_id, coalesce(v.id, -1) FROM chunks c
            LEFT JOIN vectors v ON v.key = c.key AND c.key != ''
            WHERE c.file_id IN (SELECT id FROM files WHERE {condition}) ORDER BY c.file_id, c.id""",
        values,
    ).fetchall()
    table = np.array(chunks, dtype=np.int64).reshape(-1, 3)
    place = {row[0]: n for n, row in enumerate(files)}
    at = np.array([place[int(f)] for f in table[:, 1]], dtype=np.int64)
    recent, important = _file_scores(files, weights, now)
    cosine = _cosines(vectors, question, table[:, 2])
    keyword = _bm25(catalog, query.text, table[:, 0])
    if query.text:
        semantic = relevance.semantic(cosine, keyword)
        proven = relevance.evidence(cosine, keyword, floor)
    else:
        semantic = np.full(len(table), scoring.SEMANTIC_WITHOUT_WORDS)
        proven = np.ones(len(table), dtype=bool)
    score = scoring.compound(semantic, recent[at], important[at], weights)
    found = Candidates(
        *(table[:, 0], table[:, 1], cosine, keyword, semantic, recent[at], important[at], score)
    )
    first = np.nan_to_num(cosine, nan=-1.0) if query.raw else score
    order = np.lexsort((table[:, 0], at, -first))
    return found.take(order[proven[order]])


def _file_scores(
    files: Sequence[tuple[int, float | None, str | None]], weights: Weights, now: datetime
) -> tuple[Scores, Scores]:
    times = np.array([np.nan if row[1] is None else row[1] for row in files], dtype=np.float64)
    age_days = (now.timestamp() - times) / 86400.0
    important = np.array([scoring.importance(row[2]) for row in files], dtype=np.float64)
    return scoring.recency(age_days, weights.half_life_days), important


def _cosines(
    vectors: VectorFile | None,
    question: Sequence[float] | NDArray[np.float32] | None,
    ids: NDArray[np.int64],
) -> Scores:
    """The cosine of each chunk's vector with the question; NaN where there is none."""
    cosines = np.full(len(ids), np.nan)
    if vectors is None or question is None or not len(vectors):
        return cosines
    stored = vectors.ids()
    order = np.argsort(stored, kind="stable")
    spot = np.searchsorted(stored, ids, sorter=order)
    spot[spot == len(stored)] = 0
    rows = order[spot]
    there = stored[rows] == ids
    dots = vectors.matrix() @ np.asarray(question, dtype=np.float32)
    cosines[there] = dots[rows[there]]
    return cosines


def _bm25(catalog: Catalog, text: str, chunk_ids: NDArray[np.int64]) -> Scores:
    """FTS5's BM25 of each chunk for any of the words, 0 where none occurs; larger is better."""
    scores = np.zeros(len(chunk_ids))
    expression = keywords.fts_expression(text)
    if not expression or not len(chunk_ids):
        return scores
    rows = catalog.db.execute(
        "SELECT rowid, -bm25(words) FROM words WHERE words MATCH ?", (expression,)
    ).fetchall()
    if not rows:
        return scores
    found = np.array(rows, dtype=np.float64)
    order = np.argsort(chunk_ids, kind="stable")
    spot = np.searchsorted(chunk_ids, found[:, 0].astype(np.int64), sorter=order)
    spot[spot == len(chunk_ids)] = 0
    places = order[spot]
    there = chunk_ids[places] == found[:, 0].astype(np.int64)
    # FTS5 gives terms that stand in more than half of the rows a weight next to nothing.
    scores[places[there]] = np.maximum(found[there, 1], 1e-9)
    return scores
