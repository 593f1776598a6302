"""What every embedder offers, and the fingerprint that ties vectors to the one that made them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import chunk

Vectors = NDArray[np.float32]


class Embedder(Protocol):
    """Text to vectors: float32, shape (n, ``dimension``), each row of length 1."""

    @property
    def dimension(self) -> int: ...

    def embed_passages(self, texts: Sequence[str]) -> Vectors:
        """One vector a text that is to be found."""
        ...

    def embed_queries(self, texts: Sequence[str]) -> Vectors:
        """One vector a question."""
        ...


@dataclass(frozen=True, slots=True)
class Tokens:
    """The vectors of those of a text's tokens that say something, each in its context.

    ``vectors`` is float32, shape (n, d), rows of length 1; ``starts``, shape (n,), is where each
    token starts in the text, in characters.
    """

    vectors: Vectors
    starts: NDArray[np.uint32]


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that gives the vectors of single tokens from the same run of its model."""

    def passages_and_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        """What :meth:`embed_passages` gives, and each text's tokens."""
        ...

    def queries_and_tokens(self, texts: Sequence[str]) -> tuple[Vectors, list[Tokens]]:
        """What :meth:`embed_queries` gives, and each question's tokens."""
        ...


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """All that must be equal for two vectors to be comparable.

    ``max_length`` counts tokens; ``weights`` is a file hash or a revision.
    """

    name: str
    weights: str
    dimension: int
    max_length: int
    pooling: str
    prefix: str = ""

    def __str__(self) -> str:
        parts = (
            self.name,
            self.weights,
            self.dimension,
            self.max_length,
            self.pooling,
            self.prefix,
        )
        return "/".join([*(str(part) for part in parts), f"chunks-{chunk.VERSION}"])


def unit(vectors: NDArray[np.floating]) -> Vectors:
    """The rows of ``vectors`` scaled to length 1; a zero row stays zero."""
    rows = np.asarray(vectors, dtype=np.float32)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.ascontiguousarray(rows / np.maximum(norms, 1e-12))
