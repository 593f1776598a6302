"""A palace of any size with its catalog, made from a seed without an embedder or a parser.

Words follow Zipf's law, stop words first, and every chunk belongs to a cluster that has words and
a region of the vector space of its own: keywords and vectors agree about as much as in real
notes. Vectors come in blocks, so that a million of them need not be in memory at once.
"""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.core.diff import Known
from memory_palace.index.catalog import Catalog, ChunkRow, FileRow

DIMENSION = 384
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
CHUNKS_A_NOTE = 4
QUESTION_COSINE = 0.65
"""How near a question is to the chunk that it was made from: as measured with MiniLM."""

STOP_WORDS = (
    "a about after all an and are as at be been but by can could did do for from had has have he "
    "her him his how i if in into is it its me more most my no not of on one or other our out "
    "over she so some such than that the their them then there these they this to up was we were "
    "what when which while who will with would you your"
).split()

_VOCABULARY = 150_000
_CHUNKS_A_CLUSTER = 120
_OWN_WORDS = 40
_OWN_SHARE = 0.2
_BLOCK = 20_000
_PRIORITIES = ("high", "medium", "medium", "low", None, None, None, None)
_TYPES = ("palace", "palace", "palace", "palace", "session", "diary", "principle", "card")
_ROOMS = [f"project_rooms/p{n}" for n in range(50)] + ["topics", "reflection_wing/principles"]

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Question:
    """A question made of some words of a chunk, and its vector, shape (d,)."""

    text: str
    vector: Vectors


class Corpus:
    """``chunks`` chunks; the same seed gives the same ones."""

    def __init__(self, chunks: int, seed: int = 7, dimension: int = DIMENSION) -> None:
        self.chunks = chunks
        self.seed = seed
        self.dimension = dimension
        dice = np.random.default_rng([seed, 1])
        self._words = _vocabulary(dice)
        odds = 1.0 / (np.arange(len(self._words)) + 2.7) ** 1.05
        self._sums = np.cumsum(odds / odds.sum())
        self._clusters = max(chunks // _CHUNKS_A_CLUSTER, 4)
        # Neighbouring dimensions of real embeddings differ in weight: few carry most.
        self._scale = (1.0 / np.sqrt(1.0 + np.arange(dimension) / 24.0)).astype(np.float32)
        themes = self._normal(dice, max(self._clusters // 40, 4))
        at = dice.integers(0, len(themes), self._clusters)
        self._centers = _unit(0.6 * themes[at] + 0.8 * self._normal(dice, self._clusters))
        common = dice.integers(400, 5_000, (self._clusters, _OWN_WORDS // 2))
        rare = dice.integers(5_000, len(self._words), (self._clusters, _OWN_WORDS // 2))
        self._own = np.concatenate([common, rare], axis=1)

    def vectors(self) -> Iterator[Vectors]:
        """All vectors, in blocks of shape (≤ 20,000, d), in the order of the chunks."""
        for start in range(0, self.chunks, _BLOCK):
            yield self._block(start)[0]

    def texts(self) -> Iterator[list[str]]:
        """The texts of the chunks, in the same blocks."""
        for start in range(0, self.chunks, _BLOCK):
            dice = np.random.default_rng([self.seed, 3, start])
            of = self._cluster_of(start)
            length = np.clip(dice.lognormal(3.9, 0.5, len(of)), 8, 200).astype(np.int64)
            total = int(length.sum())
            word = np.searchsorted(self._sums, dice.random(total))
            own = dice.random(total) < _OWN_SHARE
            cluster = np.repeat(of, length)[own]
            # The first of a cluster's words are the most frequent in it.
            pick = (_OWN_WORDS * dice.random(len(cluster)) ** 2).astype(np.int64)
            word[own] = self._own[cluster, pick]
            named = self._words[np.minimum(word, len(self._words) - 1)].tolist()
            ends = np.cumsum(length).tolist()
            yield [" ".join(named[a:b]) for a, b in zip([0, *ends], ends, strict=False)]

    def questions(self, count: int, seed: int = 11) -> list[Question]:
        """Questions of three to six words of a chunk each, with two stop words."""
        dice = np.random.default_rng([self.seed, seed])
        wanted = np.sort(dice.integers(0, self.chunks, count))
        made = []
        texts, start = self.texts(), 0
        for block in texts:
            here = wanted[(wanted >= start) & (wanted < start + len(block))]
            vectors = self._block(start)[0] if len(here) else None
            for place in here:
                words = [
                    w for w in dict.fromkeys(block[place - start].split()) if w not in STOP_WORDS
                ]
                some = dice.permutation(len(words))[: dice.integers(3, 7)]
                text = f"what did {' '.join(words[n] for n in some)}?"
                assert vectors is not None
                noise = self._normal(dice, 1)[0]
                near = vectors[place - start]
                aside = noise - (noise @ near) * near
                vector = QUESTION_COSINE * near + np.sqrt(1 - QUESTION_COSINE**2) * _unit(aside)
                made.append(Question(text, vector.astype(np.float32)))
            start += len(block)
        return [made[n] for n in dice.permutation(len(made))]

    def _cluster_of(self, start: int) -> NDArray[np.int64]:
        dice = np.random.default_rng([self.seed, 2, start])
        return dice.integers(0, self._clusters, min(_BLOCK, self.chunks - start))

    def _block(self, start: int) -> tuple[Vectors, NDArray[np.int64]]:
        of = self._cluster_of(start)
        dice = np.random.default_rng([self.seed, 4, start])
        return _unit(0.75 * self._centers[of] + 0.66 * self._normal(dice, len(of))), of

    def _normal(self, dice: np.random.Generator, rows: int) -> Vectors:
        return _unit(dice.standard_normal((rows, self.dimension), dtype=np.float32) * self._scale)


def _unit(rows: Vectors) -> Vectors:
    made: Vectors = rows / np.linalg.norm(rows, axis=-1, keepdims=True)
    return made.astype(np.float32, copy=False)


def _vocabulary(dice: np.random.Generator) -> NDArray[np.object_]:
    """Made-up words of two to four syllables, all different; the most frequent are stop words.

    From the 50th on every second one is: as in English, where `time` and `people` stand among
    them, in every tenth text.
    """
    syllables = [c + v for c in "bdfgklmnprstvz" for v in "aeiou"]
    made: dict[str, None] = {}
    while len(made) < _VOCABULARY:
        for parts in dice.integers(0, len(syllables), (_VOCABULARY, 4)):
            made["".join(syllables[p] for p in parts[: 2 + parts[3] % 3])] = None
    words = list(made)[:_VOCABULARY]
    for place, word in enumerate(STOP_WORDS):
        words[place if place < 50 else 2 * place - 50] = word
    return np.array(words, dtype=object)


def fill_catalog(catalog: Catalog, corpus: Corpus, root: Path | None = None) -> None:
    """Put the notes of ``corpus`` into an empty catalog; with ``root``, write their files too."""
    dice = np.random.default_rng([corpus.seed, 5])
    notes = chunks = 0
    for block in corpus.texts():
        with catalog.transaction():
            for first in range(0, len(block), CHUNKS_A_NOTE):
                parts = block[first : first + CHUNKS_A_NOTE]
                notes += 1
                _put(catalog, root, dice, notes, chunks, parts)
                chunks += len(parts)
    with catalog.transaction():
        catalog.set_meta("complete", "1")


def _put(
    catalog: Catalog,
    root: Path | None,
    dice: np.random.Generator,
    number: int,
    chunks: int,
    parts: list[str],
) -> None:
    """One note with its chunks, as the Markdown of the file would give it."""
    age = float(dice.exponential(300.0)) if dice.random() < 0.9 else float(dice.random())
    time = round(NOW.timestamp() - age * 86_400.0)
    priority = _PRIORITIES[dice.integers(len(_PRIORITIES))]
    kind = _TYPES[dice.integers(len(_TYPES))]
    tag = f"tag{int(200 * dice.random() ** 3)}"
    path = f"palace/{_ROOMS[dice.integers(len(_ROOMS))]}/{number // 500}/n{number}.md"
    title = " ".join([*parts[0].split()[:3], str(number)])
    lines = ["---", f"created: {datetime.fromtimestamp(time, UTC):%Y-%m-%dT%H:%M:%SZ}"]
    lines += [f"type: {kind}", f"tags: [{tag}]"]
    lines += [f"priority: {priority}"] if priority else []
    lines += ["---", f"# {title}", ""]
    rows = []
    for ordinal, text in enumerate(parts):
        start = len(lines) + 1
        lines += [f"## Part {ordinal}", "", text, ""]
        heading = (title, f"Part {ordinal}")
        key = hashlib.sha256(b"%d" % (chunks + ordinal)).hexdigest()
        words = (title, f"Part {ordinal}", tag, text)
        rows.append(
            ChunkRow(
                key[:12], 0, heading, start, start + 2, "\n".join(lines[-4:-1]), text, key, words
            )
        )
    data = "\n".join(lines).encode()
    known = Known(path, *_written(root, path, data), hashlib.sha256(data).hexdigest(), True)
    said = json.dumps([True, kind, priority])
    row = FileRow(known, title, said, kind, priority, time, "created", (tag,), (), "[[], []]")
    catalog.put_file(row, rows, ())


def _written(root: Path | None, path: str, data: bytes) -> tuple[int, int, int]:
    """Size, mtime in nanoseconds and inode of a file, after writing it."""
    if root is None:
        return len(data), 0, 0
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(data)
    info = place.stat()
    return info.st_size, info.st_mtime_ns, info.st_ino
