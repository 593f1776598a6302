"""Vectors as a search reads them: all cosines, those of some rows, or the nearest few.

A *row* is a place in the order of ``ids()``. Two kinds of files answer alike: every vector as it
was made (exact), or 8-bit codes in an inverted file that is mapped into memory, not read.
"""

from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from memory_palace.embed.port import Vectors
from memory_palace.index import vectors

Rows = NDArray[np.int64]
Cosines = NDArray[np.float32]
Question = NDArray[np.float32]
"""Shape (d,), length 1."""

_COPIED = 8  # to copy rows together takes longer than to go over so many times as many

_HEADER = 37
_ID_MAPS = (b"IxMp", b"IxM2")
_FLAT = b"IxFI"


class Nearest(Protocol):
    """The vectors of one generation, for readers."""

    @property
    def dimension(self) -> int: ...

    def __len__(self) -> int: ...

    def ids(self) -> Rows:
        """The id of each row, shape (n,)."""
        ...

    def cosines(self, question: Question) -> Cosines:
        """The cosine of every row, shape (n,)."""
        ...

    def cosines_of(self, question: Question, rows: Rows) -> Cosines:
        """The cosines of some rows, in their order."""
        ...

    def vectors_of(self, rows: Rows) -> Vectors:
        """Some rows' vectors, shape (len(rows), d)."""
        ...

    def nearest(
        self, question: Question, count: int, among: Rows | None = None
    ) -> tuple[Rows, Cosines]:
        """At most ``count`` rows of the highest cosine, best first; ``among`` only if given."""
        ...


def open_to_read(folder: Path, generation: int) -> Nearest:
    """The vectors of ``generation``. Raises OSError if they are missing, cut short or not ours."""
    path = folder / vectors.file_name(generation)
    with path.open("rb") as file:
        kind = file.read(4)
    if kind in _ID_MAPS:
        return Matrix.read(path)
    from memory_palace.index.lists import Lists

    return Lists.open(path)


class Matrix:
    """Every vector as it was made, in memory; read without FAISS, whose import takes 80 ms."""

    def __init__(self, ids: Rows, matrix: Vectors) -> None:
        self._ids = ids
        self._matrix = matrix

    @classmethod
    def read(cls, path: Path) -> "Matrix":
        """Raises OSError for what is not a flat FAISS index with ids."""
        # Two headers (kind, int32 dimension, int64 count, …), a count of floats, the floats, a
        # count of ids, the ids.
        with path.open("rb") as file:
            head = file.read(2 * _HEADER + 8)
            if len(head) < 2 * _HEADER + 8 or head[_HEADER : _HEADER + 4] != _FLAT:
                raise OSError("cut short or not a vector file")
            dimension = int.from_bytes(head[4:8], "little")
            count = int.from_bytes(head[8:16], "little")
            floats = int.from_bytes(head[2 * _HEADER :], "little")
            size = path.stat().st_size
            if floats != dimension * count or size != len(head) + 4 * floats + 8 + 8 * count:
                raise OSError("cut short or not a vector file")
            matrix = np.empty((count, dimension), dtype=np.float32)
            ids = np.empty(count, dtype=np.int64)
            # Not mapped: the floats start at an odd place, and every product would copy them.
            file.readinto(matrix.reshape(-1).view(np.uint8).data)
            file.read(8)
            file.readinto(ids.view(np.uint8).data)
        return cls(ids, matrix)

    @property
    def dimension(self) -> int:
        return int(self._matrix.shape[1])

    def __len__(self) -> int:
        return len(self._ids)

    def ids(self) -> Rows:
        return self._ids

    def cosines(self, question: Question) -> Cosines:
        return self._matrix @ question

    def cosines_of(self, question: Question, rows: Rows) -> Cosines:
        if len(rows) * _COPIED > len(self):
            return self.cosines(question)[rows]
        return self._matrix[rows] @ question

    def vectors_of(self, rows: Rows) -> Vectors:
        return self._matrix[rows]

    def nearest(
        self, question: Question, count: int, among: Rows | None = None
    ) -> tuple[Rows, Cosines]:
        if among is None:
            return highest(np.arange(len(self), dtype=np.int64), self.cosines(question), count)
        return highest(among, self.cosines_of(question, among), count)


def highest(rows: Rows, cosines: Cosines, count: int) -> tuple[Rows, Cosines]:
    """The ``count`` rows of the highest cosines, best first; equal ones by row."""
    if count < len(rows):
        kept = np.argpartition(cosines, len(rows) - count)[len(rows) - count :]
        rows, cosines = rows[kept], cosines[kept]
    order = np.lexsort((rows, -cosines))
    return rows[order], cosines[order]
