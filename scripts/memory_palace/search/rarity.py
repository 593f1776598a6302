"""How rare the words of a question are among all units, or files, of a palace in Milvus.

An FTS5 phrase is a word, words in a row, or (with a `*`) a beginning; what it matches is counted
over the whole palace, as the local keyword index would count it.
"""

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from memory_palace.core import bm25
from memory_palace.index import milvus_rows as rows
from memory_palace.index import milvus_texts as texts
from memory_palace.index import milvus_words as words
from memory_palace.index.milvus import Stamp
from memory_palace.index.milvus_client import MOST_ROWS, Client, Row
from memory_palace.index.milvus_words import Counts, Level, Scratch

_PHRASE = re.compile(r'"((?:[^"]|"")*)"(\*?)')
_MOST_READ = 2000
"""Rows that are read to count in how many words stand in a row."""

_MOST_BEGINNING = 50
"""Words with the same beginning that are looked for, the most frequent ones."""


def phrases(expressions: Iterable[str]) -> list[str]:
    """The phrases that FTS5 expressions are made of: each adds to the score by itself."""
    return [found.group() for text in expressions for found in _PHRASE.finditer(text)]


def summed(weights: Iterable[Mapping[int, float]]) -> dict[int, float]:
    """Several :meth:`Rarity.weights` as one sparse vector."""
    total: dict[int, float] = defaultdict(float)
    for one in weights:
        for place, weight in one.items():
            total[place] += weight
    return dict(total)


class Pages:
    """A palace's counts of words, fetched as they are needed."""

    def __init__(self, client: Client, palace: str, pages: Mapping[str, int]) -> None:
        self._client = client
        self._palace = palace
        self._count = pages
        self._pages: dict[str, dict[str, Counts]] = {}

    def look_up(self, wanted: Iterable[str], level: Level) -> None:
        """Fetch the counts of these words at once."""
        pages = {self._page(word, level) for word in wanted}
        missing = [page for page in pages if page not in self._pages]
        if not missing:
            return
        self._pages.update({page: {} for page in missing})
        for row in self._client.get(rows.WORDS, missing, ["id", "record"]):
            self._pages[row["id"]] = texts.unpacked(row["record"])

    def count(self, word: str, level: Level) -> int:
        """How many rows of a level have the word."""
        self.look_up([word], level)
        return _of(level, self._pages[self._page(word, level)].get(word, (0, 0)))

    def beginning(self, start: str, level: Level) -> dict[str, int]:
        """{word: rows} of the words that begin so, the most frequent ones."""
        key = words.key_of(start, level.mined)
        alike = f'key == "{key}"'
        if len(start) == 1 and start.isascii():
            alike = f'key like "{key}%"'
        found: dict[str, int] = {}
        mine = f'palace == "{self._palace}" and {alike}'
        for row in self._client.query(rows.WORDS, mine, ["record"]):
            page: dict[str, Counts] = texts.unpacked(row["record"])
            of_level = {w: _of(level, c) for w, c in page.items() if w.startswith(start)}
            found |= {word: count for word, count in of_level.items() if count}
        order = sorted(found, key=lambda word: (-found[word], word))
        return {word: found[word] for word in order[:_MOST_BEGINNING]}

    def _page(self, word: str, level: Level) -> str:
        return words.page_id(self._palace, *words.page_of(word, self._count, level.mined))


def _of(level: Level, counts: Counts) -> int:
    units, files = counts
    return int(units if level.of_units else files)


class Rarity:
    """Counts of one level. ``rows`` is how many there are, ``average`` their mean length."""

    def __init__(
        self, client: Client, palace: str, stamp: Stamp, pages: Pages, level: Level
    ) -> None:
        self._client = client
        self._palace = palace
        self._pages = pages
        self._level = level
        self._scratch = Scratch(level)
        self._collection = rows.units_name(stamp.dimension) if level.of_units else rows.NOTES
        self._having: dict[str, int] = {}
        self._words: dict[str, tuple[list[str], bool]] = {}
        self.rows = stamp.statistics.rows[level.number]
        self.average = stamp.statistics.average(level)

    def look_up(self, expressions: Iterable[str]) -> None:
        """Fetch at once what the calls below need of these FTS5 expressions."""
        wanted: set[str] = set()
        for phrase in phrases(expressions):
            found, beginning = self._parsed(phrase)
            wanted.update(found[: -1 if beginning else None])
        if self.rows:
            self._pages.look_up(wanted, self._level)

    def having(self, phrase: str) -> int:
        """How many rows an FTS5 phrase matches: a word, a beginning (`*`), words in a row."""
        if phrase not in self._having:
            self._having[phrase] = self._count_having(phrase) if self.rows else 0
        return self._having[phrase]

    def _count_having(self, phrase: str) -> int:
        found, beginning = self._parsed(phrase)
        if beginning and len(found) == 1:
            counts = self._pages.beginning(found[0], self._level)
            if len(counts) > 1 and sum(counts.values()) <= MOST_ROWS:
                return len(self._with_any(counts, MOST_ROWS, ["id"]))
            return min(sum(counts.values()), self.rows)
        if len(found) == 1:
            return self._pages.count(found[0], self._level)
        whole = found[:-1] if beginning else found
        return self._in_a_row(phrase, whole) if whole else 0

    def weights(self, expressions: Iterable[str]) -> dict[int, float]:
        """A question as a sparse vector. Its inner product with that of a row is about the row's
        BM25; with words in a row, or a beginning, it is that or more."""
        weights: dict[int, float] = defaultdict(float)
        for phrase in phrases(expressions):
            having = self.having(phrase)
            if not having:
                continue
            weight = bm25.rarity(max(self.rows, having), having)
            found, beginning = self._parsed(phrase)
            if beginning and len(found) == 1:
                share, spread = weight, list(self._pages.beginning(found[0], self._level))
            else:
                spread = found[:-1] if beginning else found
                share = weight / len(spread)
            for word in spread:
                weights[words.dimension_of(word, self._level.mined)] += share
        return dict(weights)

    def _parsed(self, phrase: str) -> tuple[list[str], bool]:
        """The words of a phrase as they are indexed, and whether the last is a beginning."""
        if phrase not in self._words:
            match = _PHRASE.fullmatch(phrase)
            text, star = match.groups() if match else ("", "")
            self._words[phrase] = (self._scratch.words(text.replace('""', '"')), bool(star))
        return self._words[phrase]

    def _in_a_row(self, phrase: str, found: Sequence[str]) -> int:
        counts = {word: self._pages.count(word, self._level) for word in found}
        rarest = min(counts, key=lambda word: counts[word])
        count = counts[rarest]
        if not count:
            return 0
        name = "record" if self._level.of_units else "words"
        read = self._with_any([rarest], min(count, _MOST_READ), [name])
        columns = [
            texts.unpacked(row[name])["words"]
            if self._level.of_units
            else texts.columns_joined(row[name])
            for row in read
        ]
        matching = self._scratch.matching(columns, phrase)
        return math.ceil(matching * count / max(len(read), 1))

    def _with_any(self, found: Iterable[str], limit: int, fields: Sequence[str]) -> list[Row]:
        vector = {words.dimension_of(word, self._level.mined): 1.0 for word in found}
        mine = f'palace == "{self._palace}"'
        hits = self._client.search(self._collection, "sparse", vector, mine, limit, fields)
        return [row for score, row in hits if score > 0.0]
