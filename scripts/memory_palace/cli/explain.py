"""``palace query --explain``: what the score of a hit is made of, as points that add up to it."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from memory_palace.core import dates, relevance
from memory_palace.core.keywords import Asked
from memory_palace.core.problems import printable
from memory_palace.core.relevance import Scale
from memory_palace.core.weights import Weights
from memory_palace.search import superseded
from memory_palace.search.hits import Hit, Parts


@dataclass(frozen=True, slots=True)
class Row:
    """One part of a score: ``share`` × ``value`` = ``points``, and what it was measured from.

    ``share`` is that of the whole score. ``points`` alone for what is taken off.
    """

    part: str
    share: float | None
    value: float | None
    points: float
    measured: str = ""


def scale_of(embedder: str) -> Scale:
    """The scale of an embedder's cosines, by its name."""
    from memory_palace.embed import bge_m3, e5

    for model in (bge_m3, e5):
        if embedder == model.NAME:
            return Scale(model.FLOOR, model.LOW, model.HIGH)
    return Scale()


def explain(
    hit: Hit, weights: Weights, scale: Scale, lines: bool = False, digits: int = 3
) -> list[Row]:
    """The parts of the score of a hit (with ``lines``: of a line), in points of ``digits`` digits
    that add up to the score as it is printed, so the last digit of one may be off by one."""
    parts = hit.parts
    before = parts.relevance
    if parts.superseded and not lines:
        before /= superseded.RELEVANCE
    towards = 0.0 if lines else relevance.NAME * parts.name
    unnamed = (before - towards) / (1.0 - towards)
    steepness = 1.0
    if lines:
        shares = _of_a_line(hit)
    elif parts.cosine is None and not parts.keyword > 0.0:  # no evidence: nothing was asked for
        shares = [_Share("no words", 1.0, before)]
    else:
        shares, steepness = _of_a_chunk(parts, scale), relevance.STEEPNESS
    total = sum(share.share for share in shares) / steepness
    rows = [
        _row(one.part, weights.semantic * one.share / total, one.value, one.measured)
        for one in shares
    ]
    edge = relevance.EDGE
    counts = f"means of {relevance.LOW} to {relevance.HIGH} count {edge} to {1.0 - edge}"
    rows += _taken("scale", weights.semantic * unnamed - sum(row.points for row in rows), counts)
    asked = f"{parts.name:.3f} of name and question"
    rows += _taken("name", weights.semantic * (before - unnamed), asked)
    halved = weights.semantic * (parts.relevance - before)
    rows += _taken("superseded", halved, f"relevance × {superseded.RELEVANCE}")
    day = dates.local_day(hit.date) if hit.date else "no time"
    rows.append(_row("recency", weights.recency, parts.recency, day))
    level = hit.priority or "no priority"
    rows.append(_row("importance", weights.importance, parts.importance, level))
    behind = hit.score - sum(row.points for row in rows)
    after = "its successor" if parts.superseded else "those looked at more closely"
    rows += _taken("behind", behind, f"comes after {after}")
    points = settled([row.points for row in rows], hit.score, digits)
    return [replace(row, points=rounded) for row, rounded in zip(rows, points, strict=True)]


def _taken(part: str, points: float, measured: str) -> list[Row]:
    """A row for what is added or taken off as a whole, if that is anything."""
    return [Row(part, None, None, points, measured)] if abs(points) > 5e-7 else []


@dataclass(frozen=True, slots=True)
class _Share:
    """A part of the relevance, in the words of :class:`Row`; shares are those of relevance."""

    part: str
    share: float
    value: float
    measured: str = ""


def _of_a_chunk(parts: Parts, scale: Scale) -> list[_Share]:
    """What is there of the five parts of a chunk's relevance."""
    terms = ", ".join(map(printable, parts.terms)) or "no term"
    shares = [
        _Share(
            "keyword",
            relevance.KEYWORD,
            _keyword(parts.keyword),
            f"BM25 {parts.keyword:.2f}: {terms}",
        )
    ]
    if not math.isnan(parts.note_keyword):
        value = _keyword(parts.note_keyword)
        measured = f"BM25 {parts.note_keyword:.2f}"
        shares.append(_Share("note's keyword", relevance.NOTE_KEYWORD, value, measured))
    if parts.cosine is not None:
        value = float(relevance.cosine_term(np.array([parts.cosine]), scale)[0])
        shares.append(_Share("cosine", relevance.DENSE, value, f"cosine {parts.cosine:.3f}"))
    for name, share, late in (
        ("late", relevance.LATE, parts.late),
        ("note's late", relevance.NOTE_LATE, parts.note_late),
    ):
        if late is not None:
            shares.append(_Share(name, share, _late(late), f"late interaction {late:.3f}"))
    return shares


def _of_a_line(hit: Hit) -> list[_Share]:
    shares = []
    if hit.parts.late is not None:
        measured = f"late interaction {hit.parts.late:.3f}"
        shares.append(_Share("late", relevance.LINE_LATE, _late(hit.parts.late), measured))
    length = min(len(hit.text), relevance.LONG_LINE) / relevance.LONG_LINE
    measured = f"{len(hit.text)} characters"
    shares.append(_Share("length", relevance.LINE_LENGTH, length, measured))
    rest = relevance.LINE_WORDS + relevance.LINE_CHUNK
    terms = ", ".join(map(printable, hit.parts.terms)) or "no term"
    # Which of both it comes from, a hit does not tell: it is what the others leave.
    total = rest + sum(one.share for one in shares)
    left = hit.parts.relevance * total - sum(one.share * one.value for one in shares)
    value = max(left / rest, 0.0)
    return [*shares, _Share("words, chunk", rest, value, f"the chunk has {terms}")]


def _keyword(bm25: float) -> float:
    return float(relevance.keyword_term(np.array([bm25]))[0])


def _late(late: float) -> float:
    return float(relevance.late_term(np.array([late]))[0])


def _row(part: str, share: float, value: float, measured: str) -> Row:
    return Row(part, share, value, share * value, measured)


def settled(points: Sequence[float], total: float, digits: int) -> list[float]:
    """``points``, which add up to ``total``, each rounded to ``digits`` digits so that they add up
    to the rounded total (the largest remainders are rounded up)."""
    unit = 10**digits
    least = [math.floor(value * unit) for value in points]
    missing = round(round(total, digits) * unit) - sum(least)
    by_rest = sorted(range(len(points)), key=lambda n: least[n] - points[n] * unit)
    for n in by_rest[: max(missing, 0)]:
        least[n] += 1
    return [value / unit for value in least]


def as_lines(rows: Sequence[Row], score: float) -> list[str]:
    """The rows as an aligned table, the score below it."""
    width = max(len(row.part) for row in rows)
    lines = []
    for row in rows:
        made = " " * 13
        if row.share is not None and row.value is not None:
            made = f"{row.share:.3f} × {row.value:.3f}"
        lines.append(f"{row.part:<{width}}  {made} = {row.points:6.3f}  {row.measured}".rstrip())
    return [*lines, f"{'score':<{width}}  {'':13} = {score:6.3f}"]


def as_list(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """The rows as JSON writes them."""
    return [
        {
            "part": row.part,
            "share": _six(row.share),
            "value": _six(row.value),
            "points": row.points,
            "measured": row.measured,
        }
        for row in rows
    ]


def _six(value: float | None) -> float | None:
    return None if value is None else round(value, 6)


def looked_up(asked: Asked) -> str:
    """Which terms of a question were looked up, and which were excluded, as a line."""
    said = ", ".join(term.text for term in asked.terms) or "no term"
    without = ", ".join(term.text for term in asked.excluded)
    return f"looked up: {said}" + (f"; excluded: {without}" if without else "")
