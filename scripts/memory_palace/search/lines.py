"""The lines of the best chunks: list items, turns of a conversation, small sections.

A short line says little by itself; its chunk and its note speak for it too.
"""

from dataclasses import dataclass

import numpy as np

from memory_palace.core import relevance, scoring, tokens
from memory_palace.core.scoring import Scores
from memory_palace.core.text import short_id
from memory_palace.core.weights import Weights
from memory_palace.index import scratch
from memory_palace.index.catalog import Catalog
from memory_palace.search import closer, superseded
from memory_palace.search.question import Question
from memory_palace.search.rank import Ranked


@dataclass(frozen=True, slots=True)
class Line:
    """A line of the chunk at ``place`` in the table. ``late`` is None where there is none."""

    place: int
    id: str
    start: int
    end: int
    text: str
    late: float | None
    relevance: float
    score: float


def lines(catalog: Catalog, ranked: Ranked, question: Question, weights: Weights) -> list[Line]:
    """The lines of the chunks that were looked at, best first; equal ones by place.

    A chunk that is one thing is one line.
    """
    parts = [part for i in range(len(ranked.best)) for part in _parts(catalog, ranked, i)]
    if not parts:
        return []
    words = _words(catalog, question, [part.text for part in parts])
    at = np.array([part.place for part in parts], dtype=np.int64)
    late = np.array([np.nan if part.late is None else part.late for part in parts])
    length = np.array([float(len(part.text)) for part in parts])
    close = relevance.line_relevance(late, words, ranked.relevance[at], length)
    score = scoring.compound(close, ranked.recency[at], ranked.importance[at], weights)
    file = ranked.table.file[at]
    score = superseded.behind(score, file, np.ones(len(at), dtype=bool), ranked.table.older)
    order = np.lexsort((np.arange(len(parts)), -score))
    return [
        Line(p.place, p.id, p.start, p.end, p.text, p.late, float(close[n]), float(score[n]))
        for n, p in ((n, parts[n]) for n in order.tolist())
    ]


def best_line(
    catalog: Catalog, ranked: Ranked, question: Question, place: int
) -> tuple[int, int] | None:
    """The first and last line of the part of a chunk that answers best, if that can be told."""
    at = np.searchsorted(ranked.best, place)
    if at == len(ranked.best) or ranked.best[at] != place:
        return None
    parts = _parts(catalog, ranked, int(at))
    if len(parts) < 2:
        return None
    expressions = [term.expression for term in question.asked.terms]
    has = scratch.matching([tokens.indexable(part.text) for part in parts], expressions)
    late = np.array([np.nan if part.late is None else part.late for part in parts])
    words = has.mean(axis=0) if expressions else np.zeros(len(parts))
    close = relevance.weighted(
        (relevance.LINE_LATE, relevance.late_term(late)), (relevance.LINE_WORDS, words)
    )
    best = parts[int(np.argmax(close))]
    return (best.start, best.end) if close.any() else None


@dataclass(frozen=True, slots=True)
class _Part:
    place: int
    id: str
    start: int
    end: int
    text: str
    late: float | None


def _parts(catalog: Catalog, ranked: Ranked, i: int) -> list[_Part]:
    """The lines of the i-th chunk that was looked at."""
    place = int(ranked.best[i])
    chunk_id, start, end, text, embedded, units = catalog.db.execute(
        'SELECT chunk_id, start, "end", text, embedded, units FROM chunks WHERE id = ?',
        (int(ranked.table.chunk[place]),),
    ).fetchone()
    found = closer.units_of(units)
    if not found:
        late = None if ranked.looked is None else ranked.looked.late[i]
        return [_Part(place, chunk_id, start, end, text, _number(late))]
    said = text.split("\n")
    parts = []
    for n, (unit, span) in enumerate(zip(found, closer.spans(found, len(embedded)), strict=True)):
        late = None if ranked.looked is None else ranked.looked.line(i, *span)
        inside = "\n".join(said[unit.start - start : unit.end - start + 1])
        name = short_id(chunk_id, str(n))
        parts.append(_Part(place, name, unit.start, unit.end, inside, _number(late)))
    return parts


def _number(late: float | None) -> float | None:
    return None if late is None or np.isnan(late) else float(late)


def _words(catalog: Catalog, question: Question, texts: list[str]) -> Scores:
    """The share of the question's terms that stand in each text, weighted by their rarity."""
    expressions = [term.expression for term in question.asked.terms]
    if not expressions:
        return np.zeros(len(texts))
    spread = np.array([catalog.spread(e) for e in expressions], dtype=np.float64)
    count, total = spread[:, 0], spread[:, 1]
    rarity = np.log1p((total - count + 0.5) / (count + 0.5))
    share = rarity @ scratch.matching([tokens.indexable(text) for text in texts], expressions)
    return np.asarray(share / rarity.sum(), dtype=np.float64)
