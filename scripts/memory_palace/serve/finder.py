"""Finds memories for a session's events with the warm searcher's model, beside keywords."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import dates, private_spans, report_near, strength
from memory_palace.core.errors import PalaceError
from memory_palace.core.events import PATH
from memory_palace.core.keywords import Term
from memory_palace.core.memories import Memory
from memory_palace.core.proof import Weighed
from memory_palace.core.topics import Entry
from memory_palace.embed.port import Vectors
from memory_palace.embed.registry import Choice
from memory_palace.files import read
from memory_palace.index.scratch import Texts
from memory_palace.memory import glance
from memory_palace.memory import state as states
from memory_palace.memory.alike import Entries
from memory_palace.memory.glance import Lines
from memory_palace.search import quick
from memory_palace.search.hits import Hit
from memory_palace.search.query import Query
from memory_palace.search.searcher import Searcher
from memory_palace.serve.stamps import Stamp
from memory_palace.session.finding import (
    About,
    Piece,
    digest,
    holds_entries,
    note_key,
    of_entry,
)

ENTRY_COSINE = report_near.PROMPT
"""An entry joins from this cosine with the prompt on."""

FILE_COSINE = report_near.FILES
"""An entry is about a file from this cosine with its path on."""

RELEVANT = 0.37
"""A note fits from this relevance on (0 to 1, as a search has it; bench/README.md)."""

CLEAR = 0.10
"""Or if its cosine is so far above the embedder's floor: there may be no word in common."""

NEARLY_BEST = 0.10
"""What is so much less relevant than the most relevant that fits is not shown beside it."""

AT_ONCE = 32
"""So many entries without a vector are embedded while an event waits; more of them behind it."""

MORE_HITS = 3
"""So many more hits are asked for than notes: topic entries are among them."""

_FILES_KEPT = 1_000


class Late(Exception):
    """Whoever asked has given up."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The entries of a palace as they stood under these stamps."""

    marks: tuple[Stamp, ...]
    lines: Lines
    memories: dict[str, Memory]


class Known:
    """The entries of one palace and their vectors, read again when their files change."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._read: _Read | None = None
        self._words: Texts | None = None
        self._name = ""
        self._store: Entries | None = None
        self._vectors: Vectors | None = None
        self._files: dict[str, NDArray[np.float32]] = {}

    def lines(self, now: datetime) -> Lines:
        """The live entries. Raises :class:`PalaceError` if the log cannot be read."""
        marks = self._marks()
        if self._read is None or self._read.marks != marks:
            found = states.load(self._root, now, git_seconds=glance.BLAME_SECONDS)
            live = (pair for pair in found.entries.items() if not pair[1].archived)
            shown = tuple(glance.without_private(live, found.texts))
            self._read = _Read(marks, Lines(shown, found.texts), {m.id: m for m in found.live})
            self._vectors = None
            if self._words is not None:
                self._words.close()
            self._words = None
        return self._read.lines

    def words(self) -> Texts:
        """What the entries of :meth:`lines` say, to look words up in."""
        if self._words is None:
            self._words = glance.words_of(self._read.lines if self._read else Lines((), {}))
        return self._words

    def standing(self, key: str, now: datetime) -> Memory | None:
        """The memory, if it is active or provisional at ``now``."""
        memory = self._read.memories.get(key) if self._read else None
        if memory is None or (memory.forgotten and not memory.safe):
            return None
        stands = memory.safe or strength.lifecycle(memory.strength_at(now)) in strength.STANDING
        return memory if stands else None

    def vectors(self, choice: Choice) -> Vectors | None:
        """A row an entry, in the order of :meth:`lines`; None without an embedder, and while more
        than :data:`AT_ONCE` lack one: :meth:`embed_some` makes them meanwhile."""
        store = self._fitting(choice)
        if store is None or self._read is None:
            return None
        if self._vectors is None:
            texts = [entry.text for _, entry in self._read.lines.pairs]
            if len(store.missing(texts)) > AT_ONCE:
                return None
            self._vectors = store.of(texts)
        return self._vectors

    def embed_some(self, choice: Choice) -> None:
        """Make vectors of a few entries that lack one, if they have been asked for."""
        store = self._fitting(choice)
        if store is not None and self._read is not None and self._vectors is None:
            missing = store.missing([entry.text for _, entry in self._read.lines.pairs])
            store.of(missing[:AT_ONCE])

    def _fitting(self, choice: Choice) -> Entries | None:
        if choice.load is None:
            return None
        if self._store is None or self._name != str(choice.fingerprint):
            self._store, self._name = Entries(self._root, choice), str(choice.fingerprint)
            self._vectors, self._files = None, {}
        return self._store

    def of_file(self, path: str, choice: Choice) -> NDArray[np.float32]:
        """The vector of a path, shape (d,)."""
        if path not in self._files:
            assert choice.load is not None
            if len(self._files) >= _FILES_KEPT:
                self._files.clear()
            self._files[path] = choice.load().embed_passages([path])[0]
        return self._files[path]

    def _marks(self) -> tuple[Stamp, ...]:
        paths = [*states.topic_files(self._root), PATH]
        return tuple((path, *_stamp(f"{self._root}/{path}")) for path in paths)


class Finder:
    """The finder of one event, with the warm searcher.

    Every method raises :class:`Late` after the moment ``until`` (seconds, UTC).
    """

    def __init__(
        self, root: Path, searcher: Searcher, known: Known, now: datetime, until: float
    ) -> None:
        self._root = root
        self._searcher = searcher
        self._known = known
        self._now = now
        self._until = until
        self._asked: tuple[str, tuple[Term, ...], Weighed] | None = None
        self.faults: list[str] = []

    def entries(self, question: str, most: int) -> list[Piece]:
        found = self._lines()
        if not found.pairs:
            return []
        terms, asked = self._words(question)
        near: dict[str, Entry] = {}
        vectors = self._known.vectors(self._searcher.choice)
        vector = self._searcher.vector_of(question) if vectors is not None else None
        if vectors is not None and vector is not None:
            cosines = vectors @ vector
            least = max(ENTRY_COSINE, self._searcher.choice.floor)
            order = np.argsort(-cosines, kind="stable").tolist()
            near = dict(found.pairs[place] for place in order if cosines[place] > least)
        for key, entry, _ in glance.fitting(found, self._known.words(), terms, asked):
            near.setdefault(key, entry)
        self._in_time()
        pieces = (self._piece(key, entry) for key, entry in near.items())
        return [piece for piece in pieces if piece is not None][:most]

    def notes(self, question: str, most: int) -> Iterator[Piece]:
        terms, asked = self._words(question)
        query = Query(question, top_k=most + MORE_HITS, neighbors=0, notes_only=True)
        hits = self._searcher.ask(query, self._now).hits
        self._in_time()
        wanted = [hit for hit in hits if self._is_close(hit, terms, asked)]
        least = max((hit.parts.relevance for hit in wanted), default=0.0) - NEARLY_BEST
        near = (hit for hit in wanted if hit.parts.relevance >= least)
        # Few are taken, so the others' lines are not looked at.
        pieces = (self._note(hit, terms, asked) for hit in near)
        return islice((piece for piece in pieces if piece is not None), most)

    def about(self, files: Sequence[str], most: int) -> list[About]:
        found = self._lines()
        close: list[tuple[float, str, str, Entry]] = []
        choice = self._searcher.choice
        vectors = self._known.vectors(choice) if found.pairs else None
        least = max(FILE_COSINE, choice.floor)
        for file in files:
            # What names the file comes before what is near to it.
            close += [(1 + w, file, key, e) for key, e, w in glance.speaking_of(found, file)]
            if vectors is not None:
                cosines = vectors @ self._known.of_file(file, choice)
                near = np.flatnonzero(cosines > least).tolist()
                close += [(float(cosines[n]), file, *found.pairs[n]) for n in near]
        self._in_time()
        first: dict[str, About] = {}
        for _, file, key, entry in sorted(close, key=lambda one: -one[0]):
            piece = self._piece(key, entry)
            if piece is not None:
                first.setdefault(key, About(file, piece))
        return list(first.values())[:most]

    def _lines(self) -> Lines:
        self._in_time()
        try:
            return self._known.lines(self._now)
        except PalaceError as fault:
            self.faults.append(str(fault))
            return Lines((), {})

    def _words(self, question: str) -> tuple[tuple[Term, ...], Weighed]:
        if self._asked is None or self._asked[0] != question:
            terms = quick.terms_of(question)
            index = quick.Quick(self._root)
            try:
                self._asked = question, terms, index.weighed(terms)
            finally:
                index.close()
        return self._asked[1:]

    def _piece(self, key: str, entry: Entry) -> Piece | None:
        memory = self._known.standing(key, self._now)
        return of_entry(memory, entry) if memory else None

    def _is_close(self, hit: Hit, terms: tuple[Term, ...], asked: Weighed) -> bool:
        """True for a note with real evidence: by its vectors, or by its words where it has none."""
        if hit.archived or holds_entries(hit.path, hit.text):
            return False
        if hit.parts.cosine is None:
            has = [place for place, term in enumerate(terms) if term.text in hit.parts.terms]
            return asked.proves(has)
        above = hit.parts.cosine - self._searcher.choice.floor
        return hit.parts.relevance >= RELEVANT or above >= CLEAR

    def _note(self, hit: Hit, terms: tuple[Term, ...], asked: Weighed) -> Piece | None:
        """A hit's best lines; None if by its words alone they prove nothing."""
        got = read.read(self._root, hit.path)
        if isinstance(got, read.Unreadable):
            return None  # gone a moment ago
        shown = private_spans.of_chunk(got.text, hit.start, hit.text, hit.heading)
        if shown is None:
            return None
        text, heading = shown
        lines = quick.best_lines(text, hit.start, heading, terms, asked, hit.best)
        if hit.parts.cosine is None and not lines.proven:
            return None
        return Piece(
            note_key(hit.path, hit.id),
            digest(hit.text),
            hit.path,
            *lines.shown,
            heading=" > ".join(heading),
            date="" if hit.date is None else dates.stamp(hit.date)[:10],
            successor=self._searcher.successor_of(hit.path) if hit.parts.superseded else "",
        )

    def _in_time(self) -> None:
        if time.time() > self._until:
            raise Late("the asker has given up")


def _stamp(path: str) -> Stamp:
    """As :func:`stamps.of`; there may be hundreds at each prompt."""
    try:
        info = os.stat(path)
    except OSError:
        return ()
    return (info.st_ino, info.st_size, info.st_mtime_ns)
