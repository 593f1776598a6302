"""Hits that say nearly the same: folded into one, or spread apart."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.core.scoring import Scores

NEARLY_THE_SAME = 0.95
"""The cosine of two chunks from which on they count as one."""

Vectors = NDArray[np.float32]


def folds(vector: Vectors | None, kept: Sequence[Vectors | None]) -> int | None:
    """Which of ``kept`` a chunk with this vector, shape (d,), is nearly the same as, if any."""
    if vector is None:
        return None
    for n, other in enumerate(kept):
        if other is not None and float(vector @ other) >= NEARLY_THE_SAME:
            return n
    return None


def diverse(score: Scores, vectors: Vectors, most: int, weight: float) -> list[int]:
    """An order of at most ``most`` of n hits, each chosen for its score and for being unlike
    those before it: the largest (1 - weight) × score - weight × highest cosine to a chosen one
    (maximal marginal relevance, Carbonell and Goldstein 1998).

    ``score`` has shape (n,), ``vectors`` shape (n, d); a row of zeros is like nothing.
    """
    left = list(range(len(score)))
    chosen: list[int] = []
    nearest = np.zeros(len(score))
    while left and len(chosen) < most:
        value = (1.0 - weight) * score[left] - weight * nearest[left]
        best = left[int(np.argmax(value))]
        chosen.append(best)
        left.remove(best)
        nearest = np.maximum(nearest, vectors @ vectors[best])
    return chosen
