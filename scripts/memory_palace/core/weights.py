"""How much each part of the compound score counts."""

from dataclasses import dataclass

IMPORTANCE = {"high": 1.0, "medium": 0.6, "low": 0.3}
IMPORTANCE_ABSENT = 0.5
RECENCY_UNKNOWN = 0.5

KEYWORD_HALF = 6.0
"""The BM25 score that counts one half."""

SUPERSEDED = 0.5
"""What is left of a superseded note's relevance."""


@dataclass(frozen=True, slots=True)
class Weights:
    """``semantic`` is the weight of relevance; recency has halved after ``half_life_days``."""

    semantic: float = 0.5
    recency: float = 0.25
    importance: float = 0.25
    half_life_days: float = 30.0
