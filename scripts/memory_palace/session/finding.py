"""What finds memories for an event of a session: the port, and the finder that needs no server.

The other one is the warm server's (``serve/finder.py``), with vectors.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Protocol

from memory_palace.core.errors import PalaceError
from memory_palace.core.text import short_id

if TYPE_CHECKING:
    from memory_palace.core.memories import Memory
    from memory_palace.core.topics import Entry
    from memory_palace.memory.glance import Lines
    from memory_palace.search.quick import Found


class Piece(NamedTuple):
    """A topic entry, or a few lines of a note, as it stands in its file.

    ``key`` names it in the session's record, ``digest`` what it says: when that is another, it may
    be shown again. ``category`` is an entry's; ``heading``, ``date`` (a day) and ``successor`` (the
    path of what superseded it, or words where only that is known) are a note's. Lines count from
    1, inclusive.
    """

    key: str
    digest: str
    path: str
    start: int
    end: int
    text: str
    category: str = ""
    pinned: bool = False
    heading: str = ""
    date: str = ""
    successor: str = ""


class About(NamedTuple):
    """An entry about a file, ``file`` as it was asked for."""

    file: str
    piece: Piece


class Finder(Protocol):
    """Finds what fits. Each method gives at most ``most``, best first, and nothing doubtful."""

    @property
    def faults(self) -> Sequence[str]:
        """What kept it from finding more: lines that end with what to do."""
        ...

    def entries(self, question: str, most: int) -> Iterable[Piece]:
        """Topic entries that are about a question."""
        ...

    def notes(self, question: str, most: int) -> Iterable[Piece]:
        """Lines of notes that are about a question, one place a note."""
        ...

    def about(self, files: Sequence[str], most: int) -> list[About]:
        """Topic entries about files (paths with ``/``), each entry once."""
        ...


class Cold:
    """Finds by keywords, in this process, with the standard library and little more."""

    def __init__(self, root: Path, now: datetime) -> None:
        self._root = root
        self._now = now
        self.faults: list[str] = []

    def entries(self, question: str, most: int) -> list[Piece]:
        from memory_palace.memory import glance
        from memory_palace.search import quick

        terms = quick.terms_of(question)
        found = glance.lines(self._root)
        if not terms or not found.pairs:
            return []
        asked = None
        try:
            index = quick.Quick(self._root)
            try:
                asked = index.weighed(terms)
            finally:
                index.close()
        except PalaceError:
            pass  # said of the notes; entries are found by their own words
        words = glance.words_of(found)
        fitting = glance.fitting(found, words, terms, asked)
        words.close()
        standing = self._standing(found, [(key, entry) for key, entry, _ in fitting])
        return [of_entry(standing[key], entry) for key, entry, _ in fitting if key in standing][
            :most
        ]

    def notes(self, question: str, most: int) -> list[Piece]:
        from memory_palace.search import quick

        terms = quick.terms_of(question)
        if not terms:
            return []
        try:
            index = quick.Quick(self._root)
            try:
                asked = index.weighed(terms)
                found = index.notes(terms, asked, self._now, most, holds_entries)
            finally:
                index.close()
        except PalaceError as fault:
            self.faults.append(str(fault))
            return []
        return [of_note(one) for one in found]

    def about(self, files: Sequence[str], most: int) -> list[About]:
        from memory_palace.memory import glance

        found = glance.lines(self._root)
        named = [
            (worth, file, key, entry)
            for file in files
            for key, entry, worth in glance.speaking_of(found, file)
        ]
        standing = self._standing(found, {key: entry for _, _, key, entry in named}.items())
        named = [one for one in named if one[2] in standing]
        named.sort(key=lambda one: (-one[0], -standing[one[2]].strength))
        first: dict[str, About] = {}
        for _, file, key, entry in named:
            first.setdefault(key, About(file, of_entry(standing[key], entry)))
        return list(first.values())[:most]

    def _standing(self, found: Lines, wanted: Iterable[tuple[str, Entry]]) -> dict[str, Memory]:
        from memory_palace.memory import glance

        try:
            return glance.standing(self._root, found, wanted, self._now)
        except PalaceError as fault:
            self.faults.append(str(fault))
            return {}


def holds_entries(path: str, text: str) -> bool:
    """True for a chunk of topic entries: they are found one by one."""
    from memory_palace.core import topics

    return path.startswith(topics.FOLDER) and bool(topics.parse(path, text).entries)


def of_entry(memory: Memory, entry: Entry) -> Piece:
    """An entry with its id, as it is shown."""
    return Piece(
        memory.id,
        digest(entry.text),
        entry.path,
        entry.line,
        entry.line,
        entry.text,
        entry.category,
        memory.pinned,
    )


def of_note(found: Found) -> Piece:
    """A chunk's best lines, as they are shown; the chunk as a whole is what changes."""
    day = "" if found.time is None else f"{datetime.fromtimestamp(found.time, UTC):%Y-%m-%d}"
    return Piece(
        note_key(found.path, found.id),
        digest(found.whole),
        found.path,
        found.start,
        found.end,
        found.text,
        heading=" > ".join(found.heading),
        date=day,
        successor=found.successor,
    )


def note_key(path: str, chunk: str) -> str:
    """How a chunk is called in a session's record."""
    return f"{path}#{chunk}"


def digest(text: str) -> str:
    """What a session's record keeps of what was shown: 12 hex digits of it, blanks aside."""
    return short_id(" ".join(text.split()))
