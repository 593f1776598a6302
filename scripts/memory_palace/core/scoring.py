"""Compound score = 0.5 × relevance + 0.25 × recency + 0.25 × importance, over arrays.

All arrays have shape (n,), dtype float64, one element a chunk.
"""

import numpy as np
from numpy.typing import NDArray

from memory_palace.core.weights import IMPORTANCE, IMPORTANCE_ABSENT, RECENCY_UNKNOWN, Weights

__all__ = [
    "IMPORTANCE",
    "IMPORTANCE_ABSENT",
    "RECENCY_UNKNOWN",
    "RELEVANCE_WITHOUT_WORDS",
    "Scores",
    "compound",
    "importance",
    "recency",
]

Scores = NDArray[np.float64]

RELEVANCE_WITHOUT_WORDS = 0.5


def recency(age_days: Scores, half_life_days: float) -> Scores:
    """0.5^(age / half-life); 1 for the future, 0.5 for no age (NaN)."""
    decayed = np.power(0.5, np.maximum(age_days, 0.0) / half_life_days)
    return np.where(np.isnan(age_days), RECENCY_UNKNOWN, decayed)


def importance(priority: str | None) -> float:
    """The importance of a note of this priority."""
    return IMPORTANCE.get(priority or "", IMPORTANCE_ABSENT)


def compound(relevant: Scores, recent: Scores, important: Scores, weights: Weights) -> Scores:
    """The weighted sum that orders hits."""
    return weights.semantic * relevant + weights.recency * recent + weights.importance * important
