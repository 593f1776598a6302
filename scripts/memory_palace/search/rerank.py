"""The order that a reranker gives to the first hits."""

from collections.abc import Sequence
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

CANDIDATES = 30
"""Hits, by compound score, that a reranker reads: any of them can come first. Each costs a run of
a large model, so not more than that."""

_T = TypeVar("_T")


def reordered(hits: Sequence[_T], scores: NDArray[np.floating]) -> list[_T]:
    """``hits`` by the reranker's ``scores`` (shape (n,) for the first n hits), best first.

    Those n alone change places; hits after them stay behind. Equal scores keep their order, and
    a score that is no number counts least. Raises ValueError if there are more scores than hits.
    """
    if len(scores) > len(hits):
        raise ValueError(f"{len(scores)} scores for {len(hits)} hits")
    order = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")
    return [*(hits[n] for n in order), *hits[len(scores) :]]
