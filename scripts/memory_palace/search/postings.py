"""Which rows have a word, and its BM25 there: from FTS5's tables, read fast.

FTS5's ``bm25()`` takes about 5 µs a row, most of it to look up the row's length. Here lengths are
read once for all rows, and the places of a word come out of SQLite as one string: 0.5 µs a
place, so that words of a tenth of a million chunks can be asked for. Needs, beside an FTS5 table
``words``, a table ``words_places`` made by ``fts5vocab(words, instance)``.
"""

import re
import sqlite3
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import bm25
from memory_palace.core.scoring import Scores
from memory_palace.index.columns import numbers

Ids = NDArray[np.int64]
_NONE: Ids = np.zeros(0, dtype=np.int64)

COUNTED_MOST = 20_000
"""A word that more rows have counts once in each column of a row, however often it stands there:
its weight is small then, and the count takes four times as long to read. (Of a million generated
chunks, that changed no first ten of 25 questions, and a compound score by 0.04 at most.)"""

PHRASES_MOST = 2_000
"""The same for several words side by side, which take longer still."""

KEPT_BYTES = 32 * 2**20
"""So much of what has been read is kept for the next questions."""

_PHRASE = re.compile(r'"((?:[^"]|"")*)"(\*?)')


@dataclass(frozen=True, slots=True)
class Posting:
    """Rows that have a term: ``places`` in :attr:`Postings.rows`, ascending, and the BM25 that
    the term adds there, float32. ``counted`` is False if it counts once a column."""

    places: Ids
    scores: NDArray[np.float32]
    counted: bool


class Words(Protocol):
    """One level of a catalog's keywords: of its chunks, or of its notes."""

    rows: Ids
    """The row ids that :attr:`Posting.places` are places in, ascending."""

    def of(self, expression: str) -> Posting:
        """Where an FTS5 expression holds."""
        ...


class OwnScores:
    """The words of a catalog that scores them itself: see ``gathered``."""

    def __init__(self, rows: Ids, score: Callable[[str], list[tuple[int, float]]]) -> None:
        self.rows = rows
        self._score = score

    def of(self, expression: str) -> Posting:
        found = np.array(self._score(expression), dtype=np.float64).reshape(-1, 2)
        found = found[np.argsort(found[:, 0])]
        at = np.searchsorted(self.rows, found[:, 0].astype(np.int64))
        return Posting(at, found[:, 1].astype(np.float32), True)


class Postings:
    """One FTS5 table of a catalog, for as long as the catalog's read transaction lasts.

    ``rows`` are its row ids, ascending, and ``lengths`` how many words each has, shape (n,).
    """

    def __init__(self, db: sqlite3.Connection, table: str, weights: Mapping[str, float]) -> None:
        """``weights`` of the table's columns, all of them in their order, as for ``bm25()``.

        The columns' names must differ in their second letters.
        """
        self._db = db
        self._table = table
        self._weights = dict(weights)
        self._tokens = _Tokens(_tokenizer(db, table))
        self.rows, self.lengths = _lengths(db, table, len(weights))
        self._average = float(self.lengths.mean()) if len(self.lengths) else 0.0
        self._kept: OrderedDict[tuple[str, str], Posting] = OrderedDict()
        self._kept_bytes = 0

    def of(self, expression: str) -> Posting:
        """Where an FTS5 expression of phrases holds, any of them if there are several.

        Phrases (words or beginnings of words too) are in double quotes, as in ``"a"`` or
        ``("a b" OR "c"*)``; each adds its BM25. Without words it holds nowhere.
        """
        found = [self._phrase(*phrase) for phrase in _PHRASE.findall(expression)]
        if len(found) == 1:
            return found[0]
        places = np.concatenate([_NONE, *(one.places for one in found)])
        scores = np.concatenate([np.zeros(0, np.float32), *(one.scores for one in found)])
        places, scores = _summed(places, scores)
        return Posting(places, scores, all(one.counted for one in found))

    def _phrase(self, text: str, star: str) -> Posting:
        found = self._kept.pop((text, star), None)
        if found is None:
            found = self._read(text, star)
            self._kept_bytes += found.places.nbytes + found.scores.nbytes
        self._kept[text, star] = found
        while self._kept_bytes > KEPT_BYTES:
            _, gone = self._kept.popitem(last=False)
            self._kept_bytes -= gone.places.nbytes + gone.scores.nbytes
        return found

    def _read(self, text: str, star: str) -> Posting:
        phrase = f'"{text}"{star}'
        tokens = self._tokens.of(text.replace('""', '"'))
        if not tokens:
            return Posting(_NONE, np.zeros(0, dtype=np.float32), True)
        single = len(tokens) == 1
        counted = self._few(phrase, COUNTED_MOST if single else PHRASES_MOST)
        if counted and not single:
            return self._ranked(phrase)
        if counted:
            places, frequency = self._instances(tokens[0], bool(star))
        else:
            places, frequency = self._columns(phrase)
        weight = bm25.rarity(len(self.rows), len(places))
        scores = bm25.contributions(frequency, self.lengths[places], self._average, weight)
        return Posting(places, scores.astype(np.float32), counted)

    def _few(self, phrase: str, most: int) -> bool:
        (found,) = self._db.execute(
            f"""SELECT count(*) FROM (
                    SELECT 1 FROM {self._table} WHERE {self._table} MATCH ? LIMIT ?)""",
            (phrase, most + 1),
        ).fetchone()
        return bool(found <= most)

    def _ranked(self, phrase: str) -> Posting:
        """From FTS5's own scores: it alone knows how often words stand side by side."""
        weights = "".join(f", {float(weight)}" for weight in self._weights.values())
        found = self._db.execute(
            f"""SELECT rowid, -bm25({self._table}{weights}) FROM {self._table}
                WHERE {self._table} MATCH ? ORDER BY rowid""",
            (phrase,),
        ).fetchall()
        rows = np.array([row for row, _ in found], dtype=np.int64)
        scores = np.array([score for _, score in found], dtype=np.float64)
        all_rows = len(self.rows)
        scores *= bm25.rarity(all_rows, len(rows)) / bm25.idf(all_rows, len(rows))
        return Posting(np.searchsorted(self.rows, rows), scores.astype(np.float32), True)

    def _instances(self, token: str, prefix: bool) -> tuple[Ids, Scores]:
        """Every place of a token: the second letters of the columns' names all differ."""
        which = "term >= ? AND term <= ?" if prefix else "term = ?"
        values = (token, token + "\U0010ffff") if prefix else (token,)
        rows, columns = self._db.execute(
            f"SELECT group_concat(doc), group_concat(col) FROM {self._table}_places WHERE {which}",
            values,
        ).fetchone()
        if not rows:
            return _NONE, np.zeros(0)
        names = np.frombuffer(f",{columns}".encode("ascii"), dtype=np.uint8)
        weight_of = np.zeros(256)
        for name, weight in self._weights.items():
            weight_of[ord(name[1])] = weight
        weights = weight_of[names[np.flatnonzero(names == ord(",")) + 2]]
        at = np.searchsorted(self.rows, numbers(rows))
        return _summed(at, weights)

    def _columns(self, phrase: str) -> tuple[Ids, Scores]:
        frequency = np.zeros(len(self.rows))
        for name, weight in self._weights.items():
            (rows,) = self._db.execute(
                f"SELECT group_concat(rowid) FROM {self._table} WHERE {self._table} MATCH ?",
                (f"{name} : {phrase}",),
            ).fetchone()
            if rows:
                frequency[np.searchsorted(self.rows, numbers(rows))] += weight
        places = np.flatnonzero(frequency)
        return places, frequency[places]


class Apart:
    """Several tables as one: each is scored by itself. No row id is in two of them."""

    def __init__(self, parts: Sequence[Words]) -> None:
        self._parts = parts
        self.rows = np.sort(np.concatenate([part.rows for part in parts]))
        self._at = [np.searchsorted(self.rows, part.rows) for part in parts]

    def of(self, expression: str) -> Posting:
        found = [part.of(expression) for part in self._parts]
        places = [at[one.places] for at, one in zip(self._at, found, strict=True)]
        order = np.argsort(np.concatenate(places), kind="stable")
        return Posting(
            np.concatenate(places)[order],
            np.concatenate([one.scores for one in found])[order],
            all(one.counted for one in found),
        )


def _summed(places: Ids, scores: NDArray[Any]) -> tuple[Ids, NDArray[Any]]:
    """Each place once, ascending, with the sum of its scores."""
    if len(places) and np.any(places[1:] < places[:-1]):
        order = np.argsort(places, kind="stable")
        places, scores = places[order], scores[order]
    first = np.flatnonzero(np.diff(places, prepend=-1))
    return places[first], np.add.reduceat(scores, first) if len(first) else scores


def _tokenizer(db: sqlite3.Connection, table: str) -> str:
    (made,) = db.execute("SELECT sql FROM sqlite_master WHERE name = ?", (table,)).fetchone()
    found = re.search(r"""tokenize\s*=\s*(["'])(.*?)\1""", made)
    return found[2] if found else "unicode61"


def _lengths(db: sqlite3.Connection, table: str, columns: int) -> tuple[Ids, Ids]:
    """The row ids of an FTS5 table, ascending, and how many words each row has.

    FTS5 keeps them as one variable-length integer a column: seven bits a byte, high bits first,
    and the top bit on all bytes but the last.
    """
    rows, sizes = db.execute(
        f"""SELECT group_concat(id), group_concat(hex(sz), '')
            FROM (SELECT id, sz FROM {table}_docsize ORDER BY id)"""
    ).fetchone()
    if not rows:
        return _NONE, _NONE
    data = np.frombuffer(bytes.fromhex(sizes), dtype=np.uint8)
    ends = np.flatnonzero(data < 0x80)
    starts = np.concatenate([[0], ends[:-1] + 1])
    number = np.repeat(np.arange(len(ends)), ends - starts + 1)
    shift = 7 * (ends[number] - np.arange(len(data)))
    values = np.bincount(number, (data & 0x7F).astype(np.int64) << shift)
    return numbers(rows), values.astype(np.int64).reshape(-1, columns).sum(axis=1)


class _Tokens:
    """FTS5's own tokenizer, asked through a table in memory."""

    def __init__(self, tokenize: str) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        quoted = tokenize.replace('"', '""')
        self._db.execute(f'CREATE VIRTUAL TABLE texts USING fts5(text, tokenize = "{quoted}")')
        self._db.execute("CREATE VIRTUAL TABLE places USING fts5vocab(texts, instance)")

    def of(self, text: str) -> list[str]:
        self._db.execute("BEGIN")
        self._db.execute("INSERT INTO texts VALUES (?)", (text,))
        found = self._db.execute("SELECT term FROM places ORDER BY offset").fetchall()
        self._db.execute("ROLLBACK")
        return [row[0] for row in found]
