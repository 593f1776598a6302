"""How well a chunk answers a question: dense and keyword evidence, its own and its note's.

Every part is absolute, on a scale from 0 to 1 that no other hit moves: a common word is never a
perfect match. What is not there (no vector, no token vectors) is left out of the mean. All
arrays have shape (n,), dtype float64. The shares are those that found most on conversations and
on our own notes (bench/README.md has what each of them brings).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.core.scoring import Scores
from memory_palace.core.weights import KEYWORD_HALF

KEYWORD = 1.0
"""The share of the chunk's own keywords."""
NOTE_KEYWORD = 0.5
"""The share of the whole note's keywords: its other sections speak for a chunk."""
DENSE = 0.5
"""The share of the cosine of question and chunk."""
LATE = 0.75
"""The share of late interaction: the question's words against the chunk's, in their context."""
NOTE_LATE = 1.0
"""The share of late interaction with the note, each word where the note answers it best."""

LATE_LOW, LATE_HIGH = 0.25, 0.60
"""Late interactions that count 0 and 1: of unrelated texts, and of one that says the same."""

LOW, HIGH = 0.10, 0.90
"""Means of the parts between which most hits lie. They are spread out, so that relevance weighs
what it should beside recency and importance, which use their whole scale."""
EDGE = 0.05
"""What is left below LOW and above HIGH, so that no order is lost there."""
STEEPNESS = (1.0 - 2.0 * EDGE) / (HIGH - LOW)
"""How much relevance grows with the mean, between LOW and HIGH."""

NAME = 0.5
"""How far a definition's name that is all that is asked for takes its relevance towards 1."""

LINE_LATE = 0.20
"""A line's share of late interaction. A line is a list item, a turn, a small section."""
LINE_WORDS = 0.10
"""The share of the question's words, by their rarity, that stand in the line."""
LINE_CHUNK = 0.80
"""The share of the chunk around the line."""
LINE_LENGTH = 0.05
"""The share of its length: a line of a few words is rarely an answer."""
LONG_LINE = 400
"""Characters from which on a line is long enough."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for each chunk. ``cosine``, ``late`` and ``note_late`` are NaN where there are
    no vectors to compare; ``keyword`` and ``note_keyword`` are BM25, 0 where no word occurs."""

    cosine: Scores
    keyword: Scores
    note_keyword: Scores
    late: Scores
    note_late: Scores


@dataclass(frozen=True, slots=True)
class Scale:
    """An embedder's cosines: below ``floor`` is no evidence; ``low`` counts 0 and ``high`` 1."""

    floor: float = 1.0
    low: float = 0.0
    high: float = 1.0


def cosine_term(cosine: Scores, scale: Scale) -> Scores:
    """The cosine on the embedder's scale, in [0, 1]; NaN stays."""
    return np.clip((cosine - scale.low) / (scale.high - scale.low), 0.0, 1.0)


def keyword_term(bm25: Scores) -> Scores:
    """b / (b + 6), in [0, 1), for a BM25 score b ≥ 0."""
    return bm25 / (bm25 + KEYWORD_HALF)


def late_term(late: Scores) -> Scores:
    """Late interaction on its scale, in [0, 1]; NaN stays."""
    return np.clip((late - LATE_LOW) / (LATE_HIGH - LATE_LOW), 0.0, 1.0)


def relevance(found: Evidence, scale: Scale) -> Scores:
    """The weighted mean of what is there, spread out in [0, 1]: see LOW, HIGH and EDGE."""
    mean = weighted(
        (KEYWORD, keyword_term(found.keyword)),
        (NOTE_KEYWORD, keyword_term(found.note_keyword)),
        (DENSE, cosine_term(found.cosine, scale)),
        (LATE, late_term(found.late)),
        (NOTE_LATE, late_term(found.note_late)),
    )
    return spread(mean)


def spread(mean: Scores) -> Scores:
    """Relevance from the mean of the parts: larger for a larger mean, 0 for 0 and 1 for 1."""
    return np.interp(mean, (0.0, LOW, HIGH, 1.0), (0.0, EDGE, 1.0 - EDGE, 1.0))


def with_name(relevance: Scores, name: Scores) -> Scores:
    """Relevance taken towards 1 as far as a definition's name is asked for: ``name``, 0 to 1."""
    return relevance + NAME * name * (1.0 - relevance)


def line_relevance(late: Scores, words: Scores, chunk: Scores, length: Scores) -> Scores:
    """A line's: its own late interaction (NaN: none), its share of the question's words, the
    relevance of the chunk around it, and its length in characters."""
    return weighted(
        (LINE_LATE, late_term(late)),
        (LINE_WORDS, words),
        (LINE_CHUNK, chunk),
        (LINE_LENGTH, np.minimum(length, LONG_LINE) / LONG_LINE),
    )


def weighted(*parts: tuple[float, Scores]) -> Scores:
    """The mean of (share, values), where values that are NaN do not count."""
    total = np.zeros_like(parts[0][1])
    shares = np.zeros_like(total)
    for share, values in parts:
        there = ~np.isnan(values)
        total += np.where(there, share * values, 0.0)
        shares += share * there
    return total / np.maximum(shares, 1e-12)


def evidence(cosine: Scores, bm25: Scores, floor: float) -> NDArray[np.bool_]:
    """True where a chunk has a keyword of the question, or a cosine of at least ``floor``."""
    return (bm25 > 0.0) | (np.nan_to_num(cosine, nan=-1.0) >= floor)
