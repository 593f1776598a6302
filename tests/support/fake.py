"""A deterministic embedder for unit tests: words hashed into a few dimensions."""

import hashlib
from collections.abc import Sequence

import numpy as np

from memory_palace.core.keywords import terms
from memory_palace.embed.port import Fingerprint, Vectors, unit
from memory_palace.embed.registry import Choice


class FakeEmbedder:
    """Texts with words in common have a positive cosine. ``embedded`` records every passage."""

    def __init__(self, dimension: int = 256, salt: str = "") -> None:
        self.dimension = dimension
        self.salt = salt
        self.embedded: list[str] = []

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        self.embedded.extend(texts)
        return self._embed(texts)

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        return self._embed(texts)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            for word in terms(text):
                digest = hashlib.sha256((self.salt + word).encode()).digest()
                row[digest[0] % self.dimension] += 1.0
                row[digest[1] % self.dimension] += 0.5
        return unit(rows)


def fake_choice(embedder: FakeEmbedder | None = None, floor: float = 0.2) -> Choice:
    """A registry choice that loads ``embedder`` (a new one if none is given)."""
    made = embedder or FakeEmbedder()
    fingerprint = Fingerprint("fake", made.salt or "1", made.dimension, 512, "sum")
    return Choice("fake", "fake", "", fingerprint, floor, lambda: made)
