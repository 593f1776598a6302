"""Words for the keyword scores of a palace in Milvus, cut by SQLite itself, and their statistics.

BM25 needs to know in how many of all units, or notes, a word occurs. Those numbers stand in
*pages*, one for all words with the same beginning (its *key*), so that a question fetches a few
small rows.
"""

import contextlib
import sqlite3
import zlib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from memory_palace.core import bm25
from memory_palace.core.text import sha256
from memory_palace.index import schema
from memory_palace.index.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Level:
    """One of the catalog's keyword tables, and what a word counts in each of its columns.

    ``number`` is its place among :data:`LEVELS`.
    """

    number: int
    table: str
    weights: Mapping[str, float]


_COLUMNS = ("title", "heading", "tags", "body")
UNITS = Level(0, "words", dict(zip(_COLUMNS, schema.COLUMN_WEIGHTS, strict=True)))
NOTES = Level(1, "note_words", {"title": 1.0, "tags": 1.0, "body": 1.0})
LEVELS = (UNITS, NOTES)

Counts = tuple[int, int]
"""How many rows of each level."""

_PAGED = 100_000
"""Words of a palace for which one page a key is enough."""

_NO_WORD = 1e-6


def dimension_of(word: str) -> int:
    """Where a word stands in sparse vectors. Two may meet: more candidates, no other order."""
    return zlib.crc32(word.encode("utf-8")) % (2**32 - 3) + 1


def key_of(word: str) -> str:
    """The beginning that words of one page share: two letters, or one that is not Latin."""
    return word[:2] if word[:1].isascii() else word[:1]


def page_of(word: str, pages: int) -> tuple[str, int]:
    """The page on which a word stands, where a key has so many pages."""
    return key_of(word), zlib.crc32(word.encode("utf-8")) % pages


def page_id(palace: str, key: str, number: int) -> str:
    """The id of a page's row; keys have any characters, ids have not."""
    return f"{palace}/{sha256(key)[:16]}/{number}"


@dataclass(frozen=True, slots=True)
class Statistics:
    """Of all units and of all notes: how many, and how many words together (``lengths``); and how
    many pages a key has."""

    rows: Counts = (0, 0)
    lengths: Counts = (0, 0)
    pages: int = 1

    def average(self, level: Level) -> float:
        """The mean number of words of a unit, or note."""
        return self.lengths[level.number] / max(self.rows[level.number], 1)


@dataclass(frozen=True, slots=True)
class Counted:
    """A catalog's statistics, and its pages: {page: {word: units and notes that have it}}."""

    statistics: Statistics
    pages: dict[tuple[str, int], dict[str, Counts]] = field(default_factory=dict)


def count(catalog: Catalog) -> Counted:
    """Count every word of a catalog; its connection must be allowed to write."""
    with _vocabulary(catalog, UNITS) as of_units, _vocabulary(catalog, NOTES) as of_notes:
        totals = [
            catalog.db.execute(f"SELECT count(*), coalesce(sum(cnt), 0) FROM {name}").fetchone()
            for name in (of_units, of_notes)
        ]
        pages = 1
        while pages * _PAGED < max(distinct for distinct, _ in totals):
            pages *= 2
        made: dict[tuple[str, int], dict[str, Counts]] = defaultdict(dict)
        for word, units, notes in catalog.db.execute(
            f"""SELECT term, sum(u), sum(n) FROM (
                    SELECT term, doc AS u, 0 AS n FROM {of_units}
                    UNION ALL SELECT term, 0, doc FROM {of_notes}) GROUP BY term"""
        ):
            made[page_of(word, pages)][word] = (units, notes)
    rows = (catalog.count(UNITS.table), catalog.count(NOTES.table))
    return Counted(Statistics(rows, (totals[0][1], totals[1][1]), pages), made)


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
        return [_sparse(*counted, average) for counted in zip(frequencies, lengths, strict=True)]

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


def _sparse(frequencies: Mapping[str, float], length: int, average: float) -> dict[int, float]:
    found: dict[int, float] = {}
    held_back = bm25.K1 * (1.0 - bm25.B + bm25.B * length / max(average, 1.0))
    for word, frequency in frequencies.items():
        value = frequency * (bm25.K1 + 1.0) / (frequency + held_back)
        place = dimension_of(word)
        found[place] = max(value, found.get(place, 0.0))
    return found or {0: _NO_WORD}
