"""Words for the keyword scores of a palace in Milvus, cut by SQLite itself, and their statistics.

BM25 needs to know in how many of all units, or notes, a word occurs. Those numbers stand in
*pages*, one for all words with the same beginning (its *key*) or some for very many, so that a
question fetches a few small rows. Mined files are counted apart from notes, as in the catalog:
their words stand on pages of their own, and in dimensions of their own in sparse vectors, so that
one search scores both.
"""

import contextlib
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memory_palace.core import bm25
from memory_palace.core.text import is_mined, sha256
from memory_palace.index import schema
from memory_palace.index.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Level:
    """One of the catalog's keyword tables, and what a word counts in each of its columns.

    ``number`` is its place among :data:`LEVELS`. Its rows are units or whole files, of notes or
    of mined files.
    """

    number: int
    table: str
    weights: Mapping[str, float]
    of_units: bool
    mined: bool


_UNIT = dict(zip(("title", "heading", "tags", "body"), schema.COLUMN_WEIGHTS, strict=True))
_FILE = {"title": 1.0, "tags": 1.0, "body": 1.0}
UNITS = Level(0, schema.WORDS[0], _UNIT, of_units=True, mined=False)
NOTES = Level(1, schema.WORDS[1], _FILE, of_units=False, mined=False)
MINED_UNITS = Level(2, schema.MINED_WORDS[0], _UNIT, of_units=True, mined=True)
MINED_FILES = Level(3, schema.MINED_WORDS[1], _FILE, of_units=False, mined=True)
LEVELS = (UNITS, NOTES, MINED_UNITS, MINED_FILES)

Counts = tuple[int, int]
"""How many units, and how many files."""

_PAGE_BYTES = 30_000
"""A page has no more, if it has several words: Milvus takes twice as much in one text."""

_MOST_PAGES = 4096

_NO_WORD = 1e-6
_MINED = "/"  # no word begins so


def levels_of(path: str) -> tuple[Level, Level]:
    """The levels of a file's units and of itself."""
    return (MINED_UNITS, MINED_FILES) if is_mined(path) else (UNITS, NOTES)


def dimension_of(word: str, mined: bool = False) -> int:
    """Where a word stands in sparse vectors. Two may meet: more candidates, no other order."""
    return zlib.crc32((_MINED * mined + word).encode("utf-8")) % (2**32 - 3) + 1


def key_of(word: str, mined: bool = False) -> str:
    """The beginning that words of one page share: two letters, or one that is not Latin."""
    return _MINED * mined + (word[:2] if word[:1].isascii() else word[:1])


def page_of(word: str, pages: Mapping[str, int], mined: bool = False) -> tuple[str, int]:
    """The page on which a word stands: its key and number, where ``pages`` are how many a key
    has (none said: one)."""
    key = key_of(word, mined)
    return key, zlib.crc32(word.encode("utf-8")) % pages.get(key, 1)


def page_id(palace: str, key: str, number: int) -> str:
    """The id of a page's row; keys have any characters, ids have not."""
    return f"{palace}/{sha256(key)[:16]}/{number}"


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of each level: how many rows, and how many words together (``lengths``); and of keys with
    several pages, how many."""

    rows: tuple[int, ...] = (0,) * len(LEVELS)
    lengths: tuple[int, ...] = (0,) * len(LEVELS)
    pages: Mapping[str, int] = field(default_factory=dict)

    @property
    def units(self) -> int:
        """How many there are, of notes and of mined files."""
        return self.rows[UNITS.number] + self.rows[MINED_UNITS.number]

    def average(self, level: Level) -> float:
        """The mean number of words of a level's row."""
        return self.lengths[level.number] / max(self.rows[level.number], 1)


@dataclass(frozen=True, slots=True)
class Counted:
    """A catalog's statistics, and its pages: {page: {word: units and files that have it}}."""

    statistics: Statistics
    pages: dict[tuple[str, int], dict[str, Counts]] = field(default_factory=dict)


def count(catalog: Catalog) -> Counted:
    """Count every word of a catalog; its connection must be allowed to write."""
    rows = [catalog.count(f"{level.table}_docsize") for level in LEVELS]
    lengths: list[int] = []
    pages: dict[str, int] = {}
    made: dict[tuple[str, int], dict[str, Counts]] = {}
    for of_units, of_files in ((UNITS, NOTES), (MINED_UNITS, MINED_FILES)):
        by_key: dict[str, dict[str, Counts]] = defaultdict(dict)
        with _vocabulary(catalog, of_units) as units, _vocabulary(catalog, of_files) as files:
            for name in (units, files):
                total = catalog.db.execute(f"SELECT coalesce(sum(cnt), 0) FROM {name}").fetchone()
                lengths.append(int(total[0]))
            for word, *counts in catalog.db.execute(
                f"""SELECT term, sum(u), sum(f) FROM (
                        SELECT term, doc AS u, 0 AS f FROM {units}
                        UNION ALL SELECT term, 0, doc FROM {files}) GROUP BY term"""
            ):
                by_key[key_of(word, of_units.mined)][word] = (counts[0], counts[1])
        for key, words in by_key.items():
            split = _in_pages(words)
            if len(split) > 1:
                pages[key] = len(split)
            made.update({(key, number): page for number, page in enumerate(split) if page})
    return Counted(Statistics(tuple(rows), tuple(lengths), pages), made)


def _in_pages(words: Mapping[str, Counts]) -> list[dict[str, Counts]]:
    """The words of a key on as many pages as they need, as :func:`page_of` finds them."""
    pages = 1
    while True:
        split: list[dict[str, Counts]] = [{} for _ in range(pages)]
        sizes = [0] * pages
        for word, counts in words.items():
            number = zlib.crc32(word.encode("utf-8")) % pages
            split[number][word] = counts
            sizes[number] += len(word.encode("utf-8")) + len(str(counts)) + 4
        if pages == _MOST_PAGES or all(
            size <= _PAGE_BYTES or len(page) == 1 for size, page in zip(sizes, split, strict=True)
        ):
            return split
        pages *= 2


@contextlib.contextmanager
def _vocabulary(catalog: Catalog, level: Level) -> Iterator[str]:
    name = f"temp.vocabulary_{level.table}"
    catalog.db.execute(f"CREATE VIRTUAL TABLE {name} USING fts5vocab(main, {level.table}, row)")
    try:
        yield name
    finally:
        catalog.db.execute(f"DROP TABLE {name}")


def in_memory() -> sqlite3.Connection:
    """An empty catalog's tables in memory."""
    db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
    schema.make(db)
    return db


class Scratch:
    """A catalog's keyword table in memory: it cuts texts into the same words."""

    def __init__(self, level: Level) -> None:
        self.level = level
        self._db = in_memory()
        self._db.execute(f"CREATE VIRTUAL TABLE instances USING fts5vocab({level.table}, instance)")

    def sparse(self, rows: Sequence[Sequence[str]], average: float) -> list[dict[int, float]]:
        """Each row of columns as a sparse vector: BM25 of each word but for the word's weight.

        Its inner product with the weights of a question's words is its score, as far as
        ``average`` is the mean length of all rows.
        """
        self._fill(rows)
        frequencies: list[dict[str, float]] = [defaultdict(float) for _ in rows]
        lengths = [0] * len(rows)
        for word, place, column, times in self._db.execute(
            "SELECT term, doc, col, count(*) FROM instances GROUP BY term, doc, col"
        ):
            frequencies[place][word] += self.level.weights[column] * times
            lengths[place] += times
        mined = self.level.mined
        return [
            _sparse(*counted, average, mined) for counted in zip(frequencies, lengths, strict=True)
        ]

    def words(self, text: str) -> list[str]:
        """The words of a text as they are indexed, in order."""
        self._fill([[*[""] * (len(self.level.weights) - 1), text]])
        return [row[0] for row in self._db.execute('SELECT term FROM instances ORDER BY "offset"')]

    def matching(self, rows: Sequence[Sequence[str]], expression: str) -> int:
        """How many of the rows an FTS5 expression matches."""
        self._fill(rows)
        name = self.level.table
        found = self._db.execute(f"SELECT count(*) FROM {name} WHERE {name} MATCH ?", (expression,))
        return int(found.fetchone()[0])

    def _fill(self, rows: Sequence[Sequence[str]]) -> None:
        name, columns = self.level.table, ", ".join(self.level.weights)
        marks = ", ".join("?" for _ in self.level.weights)
        self._db.execute(f"DELETE FROM {name}")
        self._db.executemany(
            f"INSERT INTO {name} (rowid, {columns}) VALUES (?, {marks})",
            [(place, *row) for place, row in enumerate(rows)],
        )


def _sparse(
    frequencies: Mapping[str, float], length: int, average: float, mined: bool
) -> dict[int, float]:
    found: dict[int, float] = {}
    held_back = bm25.K1 * (1.0 - bm25.B + bm25.B * length / max(average, 1.0))
    for word, frequency in frequencies.items():
        value = frequency * (bm25.K1 + 1.0) / (frequency + held_back)
        place = dimension_of(word, mined)
        found[place] = max(value, found.get(place, 0.0))
    return found or {0: _NO_WORD}
