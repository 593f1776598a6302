"""Phase 2 of indexing: a vector for every chunk's text that has none yet.

Batches are saved as they come: a run that is killed loses seconds of work, and the next one goes
on from there.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from memory_palace.core import late
from memory_palace.core.text import MINED
from memory_palace.embed.port import Embedder, TokenEmbedder, Tokens, Vectors
from memory_palace.embed.registry import Choice
from memory_palace.files import tree
from memory_palace.index import vectors
from memory_palace.index.catalog import Catalog
from memory_palace.index.progress import Progress
from memory_palace.index.vectors import VectorFile

BATCH = 64
"""Texts given to the embedder at once."""

Packed = tuple[bytes, bytes]
"""Where a text's tokens start, and the signs of their vectors, as the catalog has them."""

_SAVE_EVERY_SECONDS = 5.0
_SAVING_SHARE = 20.0  # a save waits until this many times its own duration has passed


@dataclass(frozen=True, slots=True)
class Filled:
    """How many texts were embedded, and how many are left."""

    embedded: int
    pending: int


def whole(folder: Path, catalog: Catalog) -> bool:
    """True if the vector file has the size it was saved with (or there are no vectors)."""
    if not catalog.count("vectors"):
        return True
    size = vectors.size(folder, int(catalog.meta("generation", "0")))
    return str(size) == catalog.meta("vector_bytes")


def pending_count(
    folder: Path, catalog: Catalog, fingerprint: str, notes_only: bool = False
) -> int:
    """Distinct texts without a vector of this fingerprint; with ``notes_only`` without what was
    observed in sessions."""
    if catalog.meta("fingerprint") != fingerprint or not whole(folder, catalog):
        query = "SELECT count(DISTINCT key) FROM chunks WHERE key != ''"
    else:
        query = (
            "SELECT count(DISTINCT key) FROM chunks WHERE key != '' "
            "AND key NOT IN (SELECT key FROM vectors)"
        )
    if notes_only:
        query += f" AND file_id NOT IN (SELECT id FROM files WHERE path GLOB '{tree.LEDGERS}')"
    return int(catalog.db.execute(query).fetchone()[0])


def fill(
    folder: Path, catalog: Catalog, choice: Choice, progress: Progress, most: int | None = None
) -> Filled:
    """Embed what has no vector, drop vectors that nothing refers to. The caller holds the lock.

    With ``most``, nothing is embedded if more texts than that are waiting.
    """
    if choice.load is None:
        return Filled(0, 0)
    fingerprint = str(choice.fingerprint)
    embedder = None
    if catalog.meta("fingerprint") not in ("", fingerprint):
        embedder = choice.load()  # before the old vectors go: it may not load
    _adopt(catalog, fingerprint, progress)
    waiting = _waiting(catalog)
    orphans = _orphans(catalog)
    if most is not None and len(waiting) > most:
        return Filled(0, len(waiting))
    if not waiting and not orphans and whole(folder, catalog):
        return Filled(0, 0)
    store = _open(folder, catalog, choice, progress)
    if store is None:
        store, waiting, orphans = _fresh(catalog, choice), _waiting(catalog), []
    writer = _Writer(folder, catalog, store)
    writer.drop(orphans)
    if waiting:
        progress.start("vectors", len(waiting))
        try:
            _embed(embedder or choice.load(), waiting, writer, progress)
        finally:
            progress.stop()
    writer.save()
    return Filled(len(waiting), 0)


def _embed(
    embedder: Embedder, waiting: Sequence[tuple[str, str]], writer: "_Writer", progress: Progress
) -> None:
    try:
        for start in range(0, len(waiting), BATCH):
            batch = waiting[start : start + BATCH]
            keys, texts = zip(*batch, strict=True)
            if isinstance(embedder, TokenEmbedder):
                writer.add(keys, *embedder.passages_and_tokens(texts))
            else:
                writer.add(keys, embedder.embed_passages(texts))
            progress.advance(len(batch))
    except KeyboardInterrupt:
        if not writer.saving:
            writer.save()
        raise


class _Writer:
    """Collects vectors and saves file and catalog together, not too often."""

    def __init__(self, folder: Path, catalog: Catalog, store: VectorFile) -> None:
        self.folder = folder
        self.catalog = catalog
        self.store = store
        self.made: list[tuple[Sequence[str], Vectors, list[Packed]]] = []
        self.dropped: list[int] = []
        self.saving = False
        self.saved_at = time.monotonic()
        self.wait = _SAVE_EVERY_SECONDS

    def add(self, keys: Sequence[str], rows: Vectors, tokens: Sequence[Tokens] = ()) -> None:
        packed = [(t.starts.tobytes(), late.pack(t.vectors).tobytes()) for t in tokens]
        self.made.append((keys, rows, packed))  # in one step: an interrupt finds all or nothing
        if time.monotonic() - self.saved_at > self.wait:
            self.save()

    def drop(self, ids: Sequence[int]) -> None:
        self.dropped.extend(ids)

    def save(self) -> None:
        """One new generation with all that has come since the last."""
        if not self.made and not self.dropped:
            return
        self.saving = True  # stays so if the save fails: what it was half through is not repeated
        started = time.monotonic()
        generation = int(self.catalog.meta("generation", "0")) + 1
        db = self.catalog.db
        with self.catalog.transaction():
            db.executemany("DELETE FROM vectors WHERE id = ?", [(i,) for i in self.dropped])
            self.store.remove(self.dropped)
            ids = [
                db.execute("INSERT INTO vectors (key) VALUES (?)", (key,)).lastrowid or 0
                for keys, _, _ in self.made
                for key in keys
            ]
            if ids:
                self.store.add(ids, np.concatenate([rows for _, rows, _ in self.made]))
                packed = [pair for _, _, pairs in self.made for pair in pairs]
                if packed:
                    db.executemany(
                        "INSERT INTO tokens (id, starts, bits) VALUES (?, ?, ?)",
                        [(i, *pair) for i, pair in zip(ids, packed, strict=True)],
                    )
            self.store.save(self.folder, generation)
            self.catalog.set_meta("generation", str(generation))
            self.catalog.set_meta("vector_bytes", str(vectors.size(self.folder, generation)))
        vectors.tidy(self.folder, generation)
        self.made, self.dropped, self.saving = [], [], False
        self.saved_at = time.monotonic()
        self.wait = max(_SAVE_EVERY_SECONDS, _SAVING_SHARE * (self.saved_at - started))


def _adopt(catalog: Catalog, fingerprint: str, progress: Progress) -> None:
    """Vectors of another embedder are never mixed with this one's: they go."""
    before = catalog.meta("fingerprint")
    if before == fingerprint:
        return
    if before and catalog.count("vectors"):
        progress.say(
            f"embedder changed from {_name(before)} to {_name(fingerprint)}: vectors are made anew"
        )
    with catalog.transaction():
        catalog.db.execute("DELETE FROM vectors")
        catalog.set_meta("fingerprint", fingerprint)


def _name(fingerprint: str) -> str:
    return "/".join(fingerprint.split("/")[:2])


def _open(folder: Path, catalog: Catalog, choice: Choice, progress: Progress) -> VectorFile | None:
    """The current vectors; None if they are damaged. An empty store where there are none."""
    if not catalog.count("vectors"):
        return _fresh(catalog, choice)
    try:
        store = VectorFile.open(folder, int(catalog.meta("generation", "0")))
        ids = {row[0] for row in catalog.db.execute("SELECT id FROM vectors")}
        if len(store) == len(ids) and set(store.ids().tolist()) == ids:
            return store
        reason = "does not match the catalog"
    except OSError as error:
        reason = str(error).splitlines()[0][:120]
    progress.say(f"the vector file is damaged ({reason}): vectors are made anew")
    return None


def _fresh(catalog: Catalog, choice: Choice) -> VectorFile:
    assert choice.fingerprint is not None
    with catalog.transaction():
        catalog.db.execute("DELETE FROM vectors")
    return VectorFile.empty(choice.fingerprint.dimension)


def _waiting(catalog: Catalog) -> list[tuple[str, str]]:
    """(key, text) of what has no vector, in the order of the notes, mined files last."""
    return catalog.db.execute(
        f"""SELECT c.key, c.embedded FROM chunks c JOIN files f ON f.id = c.file_id
            WHERE c.key != '' AND c.key NOT IN (SELECT key FROM vectors)
            GROUP BY c.key ORDER BY min(f.path GLOB '{MINED}*'), min(c.id)"""
    ).fetchall()


def _orphans(catalog: Catalog) -> list[int]:
    rows = catalog.db.execute("SELECT id FROM vectors WHERE key NOT IN (SELECT key FROM chunks)")
    return [row[0] for row in rows]
