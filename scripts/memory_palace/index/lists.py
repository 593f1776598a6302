"""The reader's side of an approximate vector file: mapped into memory, not read."""

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.embed.port import Vectors
from memory_palace.index.nearest import Cosines, Question, Rows, highest

PROBED = 0.05
"""The share of the lists that a search looks into."""

PROBED_MOST = 0.25
"""The same where it may use only some of the vectors, so that it finds as many."""

PROBED_LEAST = 48
"""And at least so many lists."""

GATHERED_MOST = 60_000
"""Up to so many rows are compared one by one instead of through the lists (about 20 ms)."""

_BLOCK = 2_048


def _faiss() -> Any:
    """FAISS, imported late; its stubs do not know half of it."""
    import faiss

    return faiss


class Lists:
    """The inverted file of :mod:`approximate`: only what is looked at comes into memory."""

    def __init__(self, index: Any, mapped: NDArray[np.uint8]) -> None:
        faiss = _faiss()
        self._index = index
        trained = faiss.vector_to_array(index.sq.trained)
        self._least, self._step = trained[: index.d], trained[index.d :] / np.float32(255.0)
        lists: Any = faiss.downcast_InvertedLists(index.invlists).lists
        ids, places = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        for n in range(index.nlist):
            one = lists.at(n)
            end = one.offset + one.capacity * index.d
            if one.size and end + 8 * one.size > len(mapped):
                raise OSError("cut short or not a vector file")
            places.append(one.offset + index.d * np.arange(one.size, dtype=np.int64))
            ids.append(mapped[end : end + 8 * one.size].view(np.int64))
        self._ids = np.concatenate(ids)
        self._places = np.concatenate(places)
        self._by_id = np.argsort(self._ids)
        # Any place of the file as the start of a code: rows are then picked by place.
        self._codes = np.lib.stride_tricks.sliding_window_view(mapped, index.d)

    @classmethod
    def open(cls, path: Path) -> "Lists":
        """Raises OSError if the file is missing, cut short or no index of ours."""
        faiss = _faiss()
        with path.open("rb") as file:
            try:
                # FAISS takes no name that is not UTF-8.
                name = f"/dev/fd/{file.fileno()}" if os.name == "posix" else str(path)
                index: Any = faiss.read_index(name, faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
            except RuntimeError:
                raise OSError("cut short or not a vector file") from None
            if not isinstance(index, faiss.IndexIVFScalarQuantizer):
                raise OSError("not an index of this toolkit")
            return cls(index, np.memmap(file, dtype=np.uint8, mode="r"))

    @property
    def dimension(self) -> int:
        return int(self._index.d)

    def __len__(self) -> int:
        return len(self._ids)

    def ids(self) -> Rows:
        return self._ids

    def cosines(self, question: Question) -> Cosines:
        return self.cosines_of(question, np.arange(len(self), dtype=np.int64))

    def cosines_of(self, question: Question, rows: Rows) -> Cosines:
        scaled = self._step * question
        # The middle of each step stands for it.
        base = np.float32(self._least @ question + 0.5 * scaled.sum())
        found = np.empty(len(rows), dtype=np.float32)
        for start in range(0, len(rows), _BLOCK):
            codes = self._codes[self._places[rows[start : start + _BLOCK]]]
            found[start : start + _BLOCK] = codes.astype(np.float32) @ scaled
        return found + base

    def vectors_of(self, rows: Rows) -> Vectors:
        codes = self._codes[self._places[rows]].astype(np.float32)
        rows_made: Vectors = (codes + np.float32(0.5)) * self._step + self._least
        return rows_made

    def nearest(
        self, question: Question, count: int, among: Rows | None = None
    ) -> tuple[Rows, Cosines]:
        if among is not None and len(among) <= GATHERED_MOST:
            return highest(among, self.cosines_of(question, among), count)
        faiss = _faiss()
        share = 1.0 if among is None else len(among) / len(self)
        probed = max(
            round(min(PROBED / share, max(PROBED, PROBED_MOST)) * self._index.nlist), PROBED_LEAST
        )
        wanted = None
        if among is not None:
            bits = np.zeros(int(self._ids.max()) + 1, dtype=bool)
            bits[self._ids[among]] = True
            wanted = faiss.IDSelectorBitmap(np.packbits(bits, bitorder="little"))
        settings = faiss.SearchParametersIVF(nprobe=probed, sel=wanted)
        asked = np.ascontiguousarray(question, dtype=np.float32)[None]
        cosines, ids = self._index.search(asked, min(count, len(self)), params=settings)
        found = ids[0] >= 0
        rows = self._by_id[np.searchsorted(self._ids, ids[0][found], sorter=self._by_id)]
        return rows, cosines[0][found]
