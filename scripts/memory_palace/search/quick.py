"""Notes that fit a text, by keywords alone and within milliseconds: SQLite and no more.

For hooks, which start a process each. The ranking is that of a search without vectors, but for
the evidence of the whole note: half of it BM25, the rest recency and importance with the default
weights. What is found has to prove itself (``core/proof.py``) and to stand in its file still.
"""

import json
import math
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import (
    excerpts,
    keywords,
    private_spans,
    proof,
    rarity,
    stopwords,
    tokens,
    weights,
)
from memory_palace.core.keywords import Term
from memory_palace.core.proof import Weighed
from memory_palace.files import read, roots, tree
from memory_palace.index import opening, schema, scratch

MOST_ROWS = 20_000
"""Rows that are scored, the rarest words' first: about a millisecond a thousand."""

CANDIDATES = 60
"""Chunks that are looked at more closely."""

NEARLY_BEST = 0.6
"""What has less of the best chunk's BM25 is not shown beside it."""

WAIT_SECONDS = 0.2
"""How long a writer is waited for; readers of a write-ahead log do not wait at all."""


class Found(NamedTuple):
    """A chunk of a note that fits. ``start``, ``end`` and ``text`` are its best lines, ``whole``
    is all of it; lines count from 1, inclusive. ``time`` is in seconds, UTC; ``successor`` the
    path of the note that superseded this one."""

    path: str
    id: str
    heading: tuple[str, ...]
    start: int
    end: int
    text: str
    whole: str
    time: float | None
    score: float
    successor: str = ""


class _Row(NamedTuple):
    file: int
    path: str
    sha256: str
    time: float | None
    priority: str | None
    id: str
    heading: str
    start: int
    text: str


class Quick:
    """The open catalog of a palace; close it. ``rows`` counts its chunks without those of mined
    files, whose words are elsewhere."""

    def __init__(self, root: Path) -> None:
        """Raises :class:`Missing` if there is no usable index, :class:`BadInput` if a symbolic
        link leads to it."""
        self._root = root
        folder = roots.index_folder(root)
        self._db = opening.to_read(folder / opening.MAIN, WAIT_SECONDS)
        try:
            self._db.execute("BEGIN")  # one state for all questions
            (self.rows,) = self._db.execute("SELECT count(*) FROM words_docsize").fetchone()
        except sqlite3.DatabaseError as error:
            self.close()
            raise opening.Damaged(f"the index is damaged ({error})") from None

    def close(self) -> None:
        self._db.close()

    def weighed(self, terms: Sequence[Term]) -> Weighed:
        """The words of a question, by how many chunks have each. Raises :class:`Missing`."""
        most = proof.common_from(self.rows) + 1
        return proof.weighed(self.rows, [self._having(term, most) for term in terms])

    def notes(
        self,
        terms: Sequence[Term],
        asked: Weighed,
        now: datetime,
        most: int,
        left_out: Callable[[str, str], bool] = lambda path, text: False,
    ) -> list[Found]:
        """The best chunk of each note that proves itself, best first.

        ``left_out`` says of (path, text) what is not wanted. Raises :class:`Missing`.
        """
        try:
            scored = self._of_notes(self._scored(terms, asked))
            successors = successors_of(self._db, {row.file for _, row in scored})
        except sqlite3.DatabaseError as error:
            raise opening.Damaged(f"the index is damaged ({error})") from None
        wanted = [(bm25, row) for bm25, row in scored if not left_out(row.path, row.text)]
        # The best that stands in its file and proves itself is the measure for the others.
        proven = (bm25 for bm25, row in wanted if self._proven(row, terms, asked))
        least = NEARLY_BEST * next(proven, math.inf)
        ranked = [
            (_compound(bm25, row, now, row.file in successors), row)
            for bm25, row in wanted
            if bm25 >= least
        ]
        ranked.sort(key=lambda pair: (-pair[0], pair[1].path, pair[1].start))
        found: dict[str, Found] = {}
        for score, row in ranked:
            if len(found) == most:
                break
            if row.path in found or successors.get(row.file, "") in found:
                continue
            lines = self._proven(row, terms, asked)
            if lines is not None:
                heading, shown = lines
                successor = successors.get(row.file, "")
                found[row.path] = Found(
                    row.path, row.id, heading, *shown, row.text, row.time, score, successor
                )
        return list(found.values())

    def _proven(
        self, row: _Row, terms: Sequence[Term], asked: Weighed
    ) -> tuple[tuple[str, ...], excerpts.Excerpt] | None:
        """Headings and best lines of a chunk as it stands now; None if that proves nothing."""
        stands = as_it_stands(self._root, row.path, row.sha256, row.text, row.start)
        if stands is None:
            return None
        here, file = stands
        shown = private_spans.of_chunk(file, here, row.text, json.loads(row.heading))
        if shown is None:
            return None
        text, heading = shown
        lines = best_lines(text, here, heading, terms, asked)
        return (heading, lines.shown) if lines.proven else None

    def _having(self, term: Term, most: int) -> int:
        """How many rows have a term; no more than ``most`` are counted."""
        try:
            (count,) = self._db.execute(
                "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ? LIMIT ?)",
                (term.expression, most),
            ).fetchone()
        except sqlite3.DatabaseError as error:
            raise opening.Damaged(f"the index is damaged ({error})") from None
        return int(count)

    def _scored(self, terms: Sequence[Term], asked: Weighed) -> list[tuple[int, float]]:
        """(row, BM25) of the chunks that prove themselves, best first."""
        scores: dict[int, float] = {}
        has: dict[int, list[int]] = {}
        left = MOST_ROWS
        columns = ", ".join(map(str, schema.COLUMN_WEIGHTS))
        for place in sorted(range(len(terms)), key=lambda place: asked.having[place]):
            having = asked.having[place]
            if not having or not asked.weights[place] or having > left:
                continue
            left -= having
            # FTS5's own weight of a word is none in a palace of a few notes.
            factor = asked.weights[place] / rarity.idf(self.rows, having)
            for row, score in self._db.execute(
                f"SELECT rowid, -bm25(words, {columns}) FROM words WHERE words MATCH ?",
                (terms[place].expression,),
            ):
                scores[row] = scores.get(row, 0.0) + factor * score
                has.setdefault(row, []).append(place)
        proven = [(row, score) for row, score in scores.items() if asked.proves(has[row])]
        proven.sort(key=lambda pair: (-pair[1], pair[0]))
        return proven

    def _of_notes(self, scored: Sequence[tuple[int, float]]) -> list[tuple[float, _Row]]:
        """(BM25, row) of the first chunks that are of notes, not observed."""
        found: list[tuple[float, _Row]] = []
        for first in range(0, len(scored), CANDIDATES):
            some = scored[first : first + CANDIDATES]
            rows = self._rows([place for place, _ in some])
            found += [
                (bm25, row)
                for (_, bm25), row in zip(some, rows, strict=True)
                if not tree.is_ledger(row.path)
            ]
            if len(found) >= CANDIDATES:
                break
        return found[:CANDIDATES]

    def _rows(self, places: Sequence[int]) -> list[_Row]:
        """The chunks at these rows, in this order."""
        found = self._db.execute(
            """SELECT f.id, f.path, f.sha256, f.time, f.priority, c.chunk_id, c.heading, c.start,
                      c.text
               FROM json_each(?) w JOIN chunks c ON c.id = w.value JOIN files f ON f.id = c.file_id
               ORDER BY w.key""",
            (json.dumps(list(places)),),
        )
        return [_Row(*row) for row in found]


def successors_of(db: sqlite3.Connection, files: Iterable[int]) -> dict[int, str]:
    """{file: path of the note that supersedes it} of those that are superseded."""
    listed = json.dumps(sorted(files))
    said = db.execute(
        """SELECT l.file_id, l.path FROM links l
           WHERE l.key = 'superseded_by' AND l.path IS NOT NULL
                 AND l.file_id IN (SELECT value FROM json_each(?))""",
        (listed,),
    ).fetchall()
    said += db.execute(
        """SELECT t.id, s.path FROM links l JOIN files t ON t.path = l.path
           JOIN files s ON s.id = l.file_id
           WHERE l.key = 'supersedes' AND t.id != s.id
                 AND t.id IN (SELECT value FROM json_each(?))""",
        (listed,),
    ).fetchall()
    return {file: path for file, path in said if path}


class Lines(NamedTuple):
    """The best lines of a chunk, and whether they, with its headings, prove it by themselves."""

    shown: excerpts.Excerpt
    proven: bool


def best_lines(
    text: str,
    first: int,
    heading: Sequence[str],
    terms: Sequence[Term],
    asked: Weighed,
    best: tuple[int, int] | None = None,
) -> Lines:
    """The lines of a chunk that have most of the question's words; ``first`` is the chunk's first
    line in its file. Words that stand far from each other are no proof. ``best`` are the lines
    that answer best by another measure: among equals they come first."""
    parts = excerpts.pieces(text) or [excerpts.Piece(0, text.strip())]
    indexed = [tokens.indexable(part.text) for part in parts]
    above = len(parts)
    indexed.append(tokens.indexable(" ".join(heading)))
    worth = [0.0] * len(indexed)
    has: list[set[int]] = [set() for _ in indexed]
    for place, having in enumerate(scratch.places(indexed, [t.expression for t in terms])):
        for number in having:
            worth[number] += asked.weights[place]
            has[number].add(place)
    if best is not None:
        for number, part in enumerate(parts):
            worth[number] += float(best[0] <= first + part.line <= best[1])
    shown = excerpts.excerpt(parts, worth[:above], first)
    inside = [
        has[number]
        for number, part in enumerate(parts)
        if shown.start <= first + part.line <= shown.end
    ]
    return Lines(shown, asked.proves(set().union(has[above], *inside)))


def terms_of(question: str) -> tuple[Term, ...]:
    """The words of a question, as the index is asked for them; stop words are none, even alone."""
    found = keywords.parse(question).terms
    return tuple(term for term in found if not stopwords.is_stop(term.text, True))


def as_it_stands(
    root: Path, path: str, sha256: str, text: str, start: int
) -> tuple[int, str] | None:
    """The line at which a chunk's ``text`` starts in its file now, and all of the file; None if it
    is not there.

    ``sha256`` is the file's when the chunk was at line ``start``.
    """
    got = read.read(root, path)
    if isinstance(got, read.Unreadable):
        return None
    if got.sha256 == sha256:
        return start, got.text
    at = f"\n{got.text}\n".find(f"\n{text}\n") if text else -1  # whole lines
    return None if at < 0 else (got.text.count("\n", 0, at) + 1, got.text)


def _compound(bm25: float, row: _Row, now: datetime, superseded: bool) -> float:
    shares = weights.Weights()
    relevance = bm25 / (bm25 + weights.KEYWORD_HALF) * (weights.SUPERSEDED if superseded else 1.0)
    recent = weights.RECENCY_UNKNOWN
    if row.time is not None:
        days = max(now.timestamp() - row.time, 0.0) / 86_400.0
        recent = 0.5 ** (days / shares.half_life_days)
    important = weights.IMPORTANCE.get(row.priority or "", weights.IMPORTANCE_ABSENT)
    return shares.semantic * relevance + shares.recency * recent + shares.importance * important
