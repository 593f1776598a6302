"""Vectors of memories of one line, and which of them is nearest to a text.

The vectors are derived: they lie in ``.palace/memory/vectors.sqlite``, keyed by text and embedder.
"""

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

from memory_palace.core.errors import PalaceError
from memory_palace.embed.port import Embedder, Vectors
from memory_palace.embed.registry import Choice
from memory_palace.files import roots
from memory_palace.index.progress import Progress, Silent

_BATCH = 64
_ASKED = 500
_FEW = 20
_MOST = 200_000


class Entries:
    """Vectors of short texts by one embedder, kept from run to run."""

    def __init__(self, root: Path, choice: Choice, progress: Progress | None = None) -> None:
        self._root = root
        self._choice = choice
        self._progress = progress or Silent()
        self._model: Embedder | None = None

    @property
    def usable(self) -> bool:
        """False where there is no embedder: then only equal texts are alike."""
        return self._choice.load is not None

    def of(self, texts: Sequence[str]) -> Vectors:
        """One vector a text: float32, shape (n, d), rows of length 1.

        Raises :class:`Missing` if the embedder cannot be loaded.
        """
        keys = [self._key(text) for text in texts]
        with contextlib.ExitStack() as stack:
            kept = stack.enter_context(self._kept())
            known = self._whole(_known(kept, keys))
            missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
            wanted = list(missing.items())
            self._progress.start("memories", len(wanted))
            for start in range(0, len(wanted), _BATCH):
                batch = wanted[start : start + _BATCH]
                made = self._embed([text for _, text in batch])
                for (key, _), vector in zip(batch, made, strict=True):
                    known[key] = vector.tobytes()
                _keep(kept, [(key, known[key]) for key, _ in batch])
                self._progress.advance(len(batch))
            self._progress.stop()
        rows = [np.frombuffer(known[key], dtype=np.float32) for key in keys]
        return np.vstack(rows) if rows else np.empty((0, 0), dtype=np.float32)

    def missing(self, texts: Sequence[str]) -> list[str]:
        """Those of ``texts`` that have no vector yet, each once."""
        keys = dict(zip(map(self._key, texts), texts, strict=True))
        with self._kept() as kept:
            known = self._whole(_known(kept, list(keys)))
        return [text for key, text in keys.items() if key not in known]

    def nearest(self, text: str, others: Sequence[str]) -> list[tuple[int, float]]:
        """(place, cosine) of the nearest few of ``others``, nearest first.

        Empty, with a line that says so, if the embedder cannot be loaded: a memory is written all
        the same.
        """
        if not others or not self.usable:
            return []
        try:
            vectors = self.of([text, *others])
        except PalaceError as error:
            self._progress.say(f"only equal texts are found: {error}")
            return []
        cosines = vectors[1:] @ vectors[0]
        best = np.argsort(-cosines, kind="stable")[:_FEW]
        return [(int(place), float(cosines[place])) for place in best]

    def _embed(self, texts: list[str]) -> Vectors:
        if self._model is None:
            assert self._choice.load is not None, "ask `usable` first"
            self._model = self._choice.load()
        return np.ascontiguousarray(self._model.embed_passages(texts), dtype=np.float32)

    def _whole(self, rows: dict[bytes, bytes]) -> dict[bytes, bytes]:
        # A damaged store must cost no more than time.
        fingerprint = self._choice.fingerprint
        size = 4 * fingerprint.dimension if fingerprint else 0
        return {key: row for key, row in rows.items() if len(row) == size}

    def _key(self, text: str) -> bytes:
        whole = f"{self._choice.fingerprint}\x1f{text}".encode("utf-8", "surrogatepass")
        return hashlib.sha256(whole).digest()[:16]

    @contextlib.contextmanager
    def _kept(self) -> Iterator[sqlite3.Connection | None]:
        """The store, or None where it cannot be used: it only saves work."""
        try:
            path = roots.inside(self._root, f"{roots.MEMORY}/vectors.sqlite")
            path.parent.mkdir(parents=True, exist_ok=True)
            store = sqlite3.connect(path, timeout=5)
        except (OSError, sqlite3.Error):
            yield None
            return
        try:
            try:
                store.execute("PRAGMA synchronous=OFF")
                store.execute("CREATE TABLE IF NOT EXISTS vectors (key BLOB PRIMARY KEY, row BLOB)")
                (count,) = store.execute("SELECT count(*) FROM vectors").fetchone()
                if count > _MOST:
                    store.execute("DELETE FROM vectors")
                    store.commit()
            except sqlite3.Error:
                store.close()
                with contextlib.suppress(OSError):
                    path.unlink()
                yield None
                return
            yield store
        finally:
            store.close()


def _known(store: sqlite3.Connection | None, keys: Sequence[bytes]) -> dict[bytes, bytes]:
    found: dict[bytes, bytes] = {}
    if store is None:
        return found
    with contextlib.suppress(sqlite3.Error):
        for start in range(0, len(keys), _ASKED):
            some = keys[start : start + _ASKED]
            marks = ",".join("?" * len(some))
            found.update(
                store.execute(f"SELECT key, row FROM vectors WHERE key IN ({marks})", some)
            )
    return found


def _keep(store: sqlite3.Connection | None, rows: Sequence[tuple[bytes, bytes]]) -> None:
    if store is not None:
        with contextlib.suppress(sqlite3.Error), store:
            store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
