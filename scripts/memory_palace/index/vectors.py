"""The vectors in FAISS: written whole, ids that stay.

The catalog's ``vectors`` table gives every distinct embedded text an id; the FAISS file holds the
row of that id. A file is written whole under a new generation's name, then the catalog commits
the generation together with the ids: a reader sees the old pair or the new one. Up to
``EXACT_MOST`` vectors are kept as they were made, more as 8-bit codes (see ``approximate``).
Readers use ``nearest``.
"""

import contextlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.embed.port import Vectors
from memory_palace.files import atomic
from memory_palace.index import approximate

EXACT_MOST = 200_000
"""Up to so many vectors are kept as they were made and compared one by one."""

_STEM = "vectors-"
_SUFFIX = ".faiss"


def file_name(generation: int) -> str:
    """The name of a generation's file."""
    return f"{_STEM}{generation:08d}{_SUFFIX}"


def size(folder: Path, generation: int) -> int:
    """Bytes of a generation's file; 0 if it is not there."""
    try:
        return (folder / file_name(generation)).stat().st_size
    except OSError:
        return 0


def latest(folder: Path) -> int:
    """The highest generation that a file in ``folder`` has; 0 if there is none."""
    names = (path.name for path in folder.glob(f"{_STEM}*{_SUFFIX}"))
    numbers = [name.removeprefix(_STEM).removesuffix(_SUFFIX) for name in names]
    return max((int(number) for number in numbers if number.isdigit()), default=0)


class VectorFile:
    """The vectors of one generation, in memory, to be changed and saved as the next."""

    def __init__(self, index: Any) -> None:
        self._index = index

    @classmethod
    def empty(cls, dimension: int) -> "VectorFile":
        import faiss

        return cls(faiss.IndexIDMap(faiss.IndexFlatIP(dimension)))

    @classmethod
    def open(cls, folder: Path, generation: int) -> "VectorFile":
        """Raises OSError if the file is missing, cut short or no index of ours."""
        import faiss

        # FAISS's own file functions take no name that is not UTF-8 and tell no reason.
        data = np.fromfile(folder / file_name(generation), dtype=np.uint8)
        try:
            index: Any = faiss.deserialize_index(data)
        except RuntimeError:
            raise OSError("cut short or not a vector file") from None
        if isinstance(index, faiss.IndexIVFScalarQuantizer):
            return cls(index)
        inner: Any = faiss.downcast_index(index.index) if hasattr(index, "index") else None
        if not isinstance(inner, faiss.IndexFlat) or inner.ntotal != index.ntotal:
            raise OSError("not an index of this toolkit")
        return cls(index)

    @property
    def dimension(self) -> int:
        return int(self._index.d)

    @property
    def exact(self) -> bool:
        """True if the vectors are kept as they were made."""
        return hasattr(self._index, "id_map")

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def ids(self) -> NDArray[np.int64]:
        """The ids, shape (n,), in the order of :meth:`matrix`."""
        import faiss

        if not self.exact:
            return approximate.ids_of(self._index)
        return faiss.vector_to_array(self._index.id_map)

    def matrix(self) -> Vectors:
        """All vectors, shape (n, d). If exact, a view that lives as long as this object."""
        import faiss

        if not self.exact:
            return approximate.matrix_of(self._index)
        inner: Any = faiss.downcast_index(self._index.index)
        if not inner.ntotal:
            return np.zeros((0, self.dimension), dtype=np.float32)
        view = faiss.rev_swig_ptr(inner.get_xb(), inner.ntotal * inner.d)
        return view.reshape(inner.ntotal, inner.d)

    def add(self, ids: Sequence[int], vectors: Vectors) -> None:
        """Add one vector an id; ids must be new."""
        if len(ids):
            self._index.add_with_ids(vectors, np.asarray(ids, dtype=np.int64))

    def remove(self, ids: Sequence[int]) -> None:
        """Take vectors out; the others keep their ids."""
        if len(ids):
            self._index.remove_ids(np.asarray(ids, dtype=np.int64))

    def save(self, folder: Path, generation: int) -> None:
        """Write the file of ``generation``, complete or not at all. Raises OSError.

        What has grown past ``EXACT_MOST`` becomes approximate first, and is trained again when it
        has outgrown its training: some ten seconds for each hundred thousand vectors.
        """
        import faiss

        if len(self) > EXACT_MOST and (self.exact or approximate.outgrown(self._index)):
            self._index = approximate.build(self.ids(), self.matrix())
        data: Any = faiss.serialize_index(self._index)
        atomic.write(folder / file_name(generation), data.data)  # no second copy of it all


def tidy(folder: Path, keep: int) -> None:
    """Remove the files of other generations than ``keep`` and the one before it.

    A reader that has just read the catalog may still be about to open the previous file.
    """
    kept = {file_name(keep), file_name(keep - 1)}
    for path in [*folder.glob(f"{_STEM}*"), *folder.glob(f".{_STEM}*.tmp")]:
        if path.name not in kept:
            with contextlib.suppress(OSError):
                path.unlink()
