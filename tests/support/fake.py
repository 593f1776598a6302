"""A deterministic embedder for unit tests: words hashed into a few dimensions."""

import hashlib
import re
from collections.abc import Sequence

import numpy as np

from memory_palace.core import late
from memory_palace.core.keywords import terms
from memory_palace.embed.port import Fingerprint, Tokens, Vectors, unit
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


class TokenFake(FakeEmbedder):
    """The same with a vector for each word that says something, the same in any context.

    A word's vector has components of one size, so that nothing is lost when only their signs are
    kept: cosine 1 with itself, near 0 with any other word.
    """

    def passages_and_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        return self.embed_passages(texts), [self._tokens(text) for text in texts]

    def queries_and_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        return self.embed_queries(texts), [self._tokens(text) for text in texts]

    def _tokens(self, text: str) -> Tokens:
        spans = [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)] or [(0, 0)]
        kept = [spans[n] for n in late.telling(text, spans)]
        rows = [self.word_vector(text[slice(*span)].lower()) for span in kept]
        return Tokens(np.stack(rows), np.array([start for start, _ in kept], dtype=np.uint32))

    def word_vector(self, word: str) -> Vectors:
        """Shape (dimension,), length 1."""
        digest = hashlib.shake_256((self.salt + word).encode()).digest(self.dimension // 8)
        signs = np.unpackbits(np.frombuffer(digest, dtype=np.uint8)).astype(np.float32) * 2 - 1
        return np.asarray(signs / np.sqrt(self.dimension), dtype=np.float32)


def fake_choice(embedder: FakeEmbedder | None = None, floor: float = 0.2) -> Choice:
    """A registry choice that loads ``embedder`` (a new one if none is given)."""
    made = embedder or FakeEmbedder()
    fingerprint = Fingerprint("fake", made.salt or "1", made.dimension, 512, "sum")
    return Choice("fake", "fake", "", fingerprint, floor, lambda: made)
