"""What of an index does not depend on the question, as arrays; and what a question finds in it."""

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import scoring
from memory_palace.core.scoring import Scores
from memory_palace.index.catalog import Catalog
from memory_palace.index.columns import integers
from memory_palace.index.nearest import Nearest
from memory_palace.index.schema import COLUMN_WEIGHTS, MINED_WORDS, WORDS
from memory_palace.search import superseded
from memory_palace.search.postings import Apart, OwnScores, Postings, Words
from memory_palace.search.query import Query, where
from memory_palace.search.question import Question

Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]

_COLUMNS = dict(zip(("title", "heading", "tags", "body"), COLUMN_WEIGHTS, strict=True))
_FILTERS_KEPT = 16

_NOTE_COLUMNS = {"title": 1.0, "tags": 1.0, "body": 1.0}


@dataclass(frozen=True, slots=True)
class Table:
    """The arrays of one catalog, or of some of its chunks.

    Over chunks, shape (n,), file by file in the order of their paths: ``chunk`` row ids, ``file``
    places in the file arrays, ``vector`` ids and ``row`` of the vectors (-1: none), ``by_row``
    the order of ``row``. Over files, shape (m,): ``file_id``, ``time`` in seconds (NaN: none),
    ``importance``. ``older`` has the places of files and of their successors, shape (s, 2).
    ``word_at`` is the place here of each row of ``words`` (-1: not here), ``note_at`` likewise
    among the files. ``let`` keeps which files the last filters let through.
    """

    chunk: Ids
    file: Ids
    vector: Ids
    row: Ids
    by_row: Ids
    file_id: Ids
    time: Scores
    importance: Scores
    older: Ids
    vectors: Nearest | None
    words: Words
    word_at: Ids
    note_words: Words
    note_at: Ids
    let: dict[tuple[object, ...], Flags] = field(default_factory=dict)

    def only(self, chosen: Ids) -> "Table":
        """The same with some of the chunks; ``chosen`` are their places, ascending."""
        here = np.full(len(self.chunk), -1, dtype=np.int64)
        here[chosen] = np.arange(len(chosen))
        files = np.zeros(len(self.file_id), dtype=bool)
        files[self.file[chosen]] = True
        return replace(
            self,
            chunk=self.chunk[chosen],
            file=self.file[chosen],
            vector=self.vector[chosen],
            row=self.row[chosen],
            by_row=np.argsort(self.row[chosen], kind="stable"),
            older=self.older[files[self.older[:, 0]]],
            word_at=np.where(self.word_at < 0, -1, here[self.word_at]),
        )


def read(catalog: Catalog, vectors: Nearest | None) -> Table:
    """Read the arrays out of a catalog."""
    files = catalog.db.execute("SELECT id, time, priority FROM files ORDER BY path").fetchall()
    file_id = np.array([row[0] for row in files], dtype=np.int64)
    rows = integers(
        catalog.db,
        ("c.id", "c.file_id", "coalesce(v.id, -1)"),
        "chunks c LEFT JOIN vectors v ON v.key = c.key AND c.key != ''",
    )
    file = places(file_id, rows[:, 1])
    order = np.lexsort((rows[:, 0], file))
    chunk, file = rows[order, 0], file[order]
    vector = rows[order, 2] if vectors is not None else np.full(len(rows), -1, dtype=np.int64)
    row = places(vectors.ids(), vector) if vectors is not None else vector
    words: Words = OwnScores(np.sort(chunk), catalog.keyword)
    note_words: Words = OwnScores(np.sort(file_id), catalog.note_keyword)
    if not catalog.scores_words:
        tables = (WORDS, MINED_WORDS) if catalog.count(f"{MINED_WORDS[1]}_docsize") else (WORDS,)
        words = Apart([Postings(catalog.db, name, _COLUMNS) for name, _ in tables])
        note_words = Apart([Postings(catalog.db, name, _NOTE_COLUMNS) for _, name in tables])
    return Table(
        chunk=chunk,
        file=file,
        vector=vector,
        row=row,
        by_row=np.argsort(row, kind="stable"),
        file_id=file_id,
        time=np.array([np.nan if row[1] is None else row[1] for row in files], dtype=np.float64),
        importance=np.array([scoring.importance(row[2]) for row in files], dtype=np.float64),
        older=superseded.pairs(catalog, [row[0] for row in files]),
        vectors=vectors,
        words=words,
        word_at=places(chunk, words.rows),
        note_words=note_words,
        note_at=places(file_id, note_words.rows),
    )


def places(among: Ids, wanted: Ids) -> Ids:
    """Where each of ``wanted`` stands in ``among``; -1 where it does not."""
    if not len(among):
        return np.full(len(wanted), -1, dtype=np.int64)
    order = np.argsort(among, kind="stable")
    spots = np.searchsorted(among, wanted, sorter=order)
    spots[spots == len(among)] = 0
    found = order[spots]
    return np.where(among[found] == wanted, found, -1)


def passing(among: Table, catalog: Catalog, query: Query) -> Flags:
    """Which chunks the filters let through."""
    condition, values = where(query)
    if condition == "1":
        return np.ones(len(among.chunk), dtype=bool)
    key = condition, *values
    if key not in among.let:
        found = integers(catalog.db, ("id",), f"files WHERE {condition}", values)[:, 0]
        let = np.zeros(len(among.file_id), dtype=bool)
        let[places(among.file_id, found)] = True
        if len(among.let) >= _FILTERS_KEPT:
            among.let.clear()
        among.let[key] = let
    return np.asarray(among.let[key][among.file], dtype=bool)


def cosines(among: Table, question: Question, chosen: Ids | None = None) -> Scores:
    """The cosine of each chunk's vector with the question; NaN where there is none.

    ``chosen`` are the places of the chunks, all of them if it is None.
    """
    row = among.row if chosen is None else among.row[chosen]
    found = np.full(len(row), np.nan)
    if among.vectors is None or question.vector is None or not len(among.vectors):
        return found
    there = np.flatnonzero(row >= 0)
    rows = row[there]
    if len(rows) * 2 > len(among.vectors):
        found[there] = among.vectors.cosines(question.vector)[rows]
    else:
        found[there] = among.vectors.cosines_of(question.vector, rows)
    return found


def keywords(among: Table, question: Question) -> tuple[Scores, Flags]:
    """Each chunk's BM25, summed over the terms, and which terms it has, shape (terms, n)."""
    total = np.zeros(len(among.chunk))
    matched = np.zeros((len(question.asked.terms), len(among.chunk)), dtype=bool)
    for number, term in enumerate(question.asked.terms):
        at, scores = _found(among.words, among.word_at, term.expression)
        total[at] += scores
        matched[number, at] = True
    return total, matched


def note_keywords(among: Table, question: Question) -> Scores:
    """The BM25 of each file as a whole, shape (m,)."""
    total = np.zeros(len(among.file_id))
    for term in question.asked.terms:
        at, scores = _found(among.note_words, among.note_at, term.expression)
        total[at] += scores
    return total


def excluded(among: Table, question: Question) -> Flags:
    """Which chunks have a term that the question excludes."""
    out = np.zeros(len(among.chunk), dtype=bool)
    for term in question.asked.excluded:
        out[_found(among.words, among.word_at, term.expression)[0]] = True
    return out


def _found(postings: Words, place_of: Ids, expression: str) -> tuple[Ids, Scores]:
    found = postings.of(expression)
    at = place_of[found.places]
    there = at >= 0
    return at[there], found.scores[there].astype(np.float64)
