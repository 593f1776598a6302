"""How well a chunk answers a question, from its cosine and its keyword score.

All arrays have shape (n,), dtype float64.
"""

import numpy as np

from memory_palace.core.scoring import Scores

KEYWORD_HALF = 6.0
"""The BM25 score that counts one half: the scale is absolute, so a common word stays weak."""


def cosine_term(cosine: Scores) -> Scores:
    """The cosine, clamped to [0, 1]."""
    return np.clip(cosine, 0.0, 1.0)


def keyword_term(bm25: Scores) -> Scores:
    """b / (b + 6), in [0, 1), for a BM25 score b ≥ 0."""
    return bm25 / (bm25 + KEYWORD_HALF)


def semantic(cosine: Scores, bm25: Scores) -> Scores:
    """The semantic term: the cosine where there is one (not NaN), the keyword term elsewhere."""
    return np.where(np.isnan(cosine), keyword_term(bm25), cosine_term(cosine))


def evidence(cosine: Scores, bm25: Scores, floor: float) -> np.ndarray:
    """True where a chunk has a keyword of the question, or a cosine of at least ``floor``."""
    return (bm25 > 0.0) | (np.nan_to_num(cosine, nan=-1.0) >= floor)
