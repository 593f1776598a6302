"""BM25 from counts: FTS5's, but for the weight of a word that many rows have.

With :func:`idf` the numbers are those of ``-bm25(table, weights…)`` of SQLite, which a test
holds; scores are made with :func:`rarity` in its place. Arrays have shape (n,), one element a
row of text.
"""

import numpy as np
from numpy.typing import NDArray

from memory_palace.core.rarity import LEAST_IDF, idf, rarity
from memory_palace.core.scoring import Scores

__all__ = ["K1", "LEAST_IDF", "B", "contributions", "frequency", "idf", "rarity"]

K1 = 1.2
"""How soon more of the same word stops counting; FTS5 has it fixed."""

B = 0.75
"""How much a long row is held back; FTS5 has it fixed."""


def contributions(
    frequency: Scores, length: NDArray[np.int64], average: float, weight: float
) -> Scores:
    """What one word adds to the score of each row; 0 where it does not occur.

    ``frequency`` is how often it occurs, each occurrence counted by its column's weight;
    ``length`` is in words, over all columns; ``average`` is the mean length of all rows;
    ``weight`` comes from :func:`rarity` or :func:`idf`.
    """
    held_back = K1 * (1.0 - B + B * length / max(average, 1e-9))
    return weight * frequency * (K1 + 1.0) / (frequency + held_back)


def frequency(score: Scores, length: NDArray[np.int64], average: float, weight: float) -> Scores:
    """How often a word occurs, from what it adds to the score: :func:`contributions` backwards.

    It turns scores of a part of the rows, which know their own ``average`` and ``weight`` only,
    into those of all rows.
    """
    share = score / weight
    held_back = K1 * (1.0 - B + B * length / max(average, 1e-9))
    return share * held_back / (K1 + 1.0 - share)
