"""All notes of a palace as evidence: where their links lead, and which tasks speak for what."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property
from pathlib import Path

from memory_palace.core import archiving, cards, dates, links, markdown, note
from memory_palace.core.events import Event
from memory_palace.core.links import Anchors, Archived, Link, Resolved, Resolver
from memory_palace.core.memories import Memory
from memory_palace.core.note import Note
from memory_palace.core.outline import RawLink
from memory_palace.core.problems import Problem
from memory_palace.core.promotion import ROOMS, Source
from memory_palace.core.text import stem
from memory_palace.core.topics import FOLDER as TOPICS
from memory_palace.files import read, tree

_RAW_TYPES = frozenset({"session", "diary", "topic"})
_RAW_FOLDERS = frozenset({"sessions", "diary", "ledger", "log", "topics"})


class Shelf:
    """The notes of a palace, read once. ``problems`` are the files that could not be read."""

    def __init__(self, root: Path, exclude: tuple[str, ...] = ()) -> None:
        seen = tree.scan(root, exclude)
        self.notes: dict[str, Note] = {}
        self.problems: list[Problem] = []
        self._completed: set[str] = set()  # cards whose checks hold
        for path in [file.path for file in (*seen.notes, *seen.cold)]:
            got = read.read(root, path)
            if isinstance(got, read.Unreadable):
                self.problems.append(got.problem)
            else:
                found = self.notes[path] = note.parse(path, got.text)
                if _is_card(found) and cards.parse(path, got.text).is_completed:
                    self._completed.add(path)
        cold = {file.path for file in seen.cold}
        self.anchors: Mapping[str, Anchors] = _Anchors(self.notes)
        self._resolver = Resolver(
            {path: found.aliases for path, found in self.notes.items() if path not in cold},
            [
                Archived(path, self.notes[path].aliases, archiving.origin(path, found.metadata))
                for path, found in self.notes.items()
                if path in cold
            ],
            seen.others,
        )

    def resolve(self, text: str, source: str = "") -> Resolved:
        """Where a link leads: ``[[note#^block]]``, or only what stands between the brackets."""
        inner = text.strip().removeprefix("[[").removesuffix("]]")
        return self._resolver.resolve(source, links.parse(RawLink(inner, 1)), self.anchors)

    def source(self, path: str, otherwise: date | None = None) -> Source | None:
        """The note as a source: a completed card or a session; None for any other.

        Its day is its own date, else the one in its name, else ``otherwise``.
        """
        found = self.notes.get(path)
        if found is None or not self._is_task(found):
            return None
        moment = found.updated or found.created or dates.parse(stem(path)[:10])
        day = moment.date() if moment else otherwise
        return Source(path, day, self.project(path)) if day else None

    def project(self, path: str) -> str:
        """The project that a note belongs to: its room, or the one that it names; else empty."""
        place = archiving.mirrored(path)
        if place.startswith(ROOMS):
            return place.removeprefix(ROOMS).split("/")[0]
        found = self.notes.get(path)
        named = found.metadata.get("project") if found else None
        return named if isinstance(named, str) else ""

    def sources(self, memory: Memory, events: Iterable[Event]) -> tuple[Source, ...]:
        """What speaks for a memory: the cards and sessions that its ``events`` name, and those
        that link to it; by day, each once."""
        found: dict[str, Source] = {}
        for event in events:
            for path in self._named(event.data.get("source")):
                source = self.source(path, event.at.date())
                if source:
                    found.setdefault(path, source)
        for path in self._citing.get((memory.path, memory.id), ()):
            source = self.source(path)
            if source:
                found.setdefault(path, source)
        return tuple(sorted(found.values(), key=lambda s: (s.day, s.path)))

    def evidence(self, found: Note) -> Iterator[tuple[str, str]]:
        """Path and block id (empty for none) of what a note's `evidence` links lead to."""
        for link in links.in_metadata({"evidence": found.metadata.get("evidence")}, {}):
            resolved = self._resolver.resolve(found.path, link, self.anchors)
            if resolved.path:
                yield resolved.path, link.block

    def is_raw(self, path: str) -> bool:
        """True for what is kept as it was written: sessions, diaries, logs, topics."""
        found = self.notes.get(path)
        kind = found.type if found else None
        return kind in _RAW_TYPES or not _RAW_FOLDERS.isdisjoint(path.split("/")[1:-1])

    def _named(self, written: object) -> Iterator[str]:
        if not isinstance(written, str) or not written.strip():
            return
        found = links.in_metadata({"source": written}, {})
        for link in [str(link) for link in found] or [written]:
            resolved = self.resolve(link)
            path = resolved.path or resolved.why
            if path in self.notes:  # in the archive too
                yield path

    @cached_property
    def _citing(self) -> Mapping[tuple[str, str], list[str]]:
        """{(topic file, block id): the cards and sessions that link to it}."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for path, one in self.notes.items():
            if self._is_task(one):
                for link in _links(one):
                    if not link.block:
                        continue
                    resolved = self._resolver.resolve(path, link, self.anchors)
                    if resolved.path and resolved.path.startswith(TOPICS):
                        found[resolved.path, link.block].append(path)
        return found

    def _is_task(self, found: Note) -> bool:
        if _is_card(found):
            return found.path in self._completed
        return found.type == "session" or "sessions" in found.path.split("/")[1:-1]


def _is_card(found: Note) -> bool:
    place = archiving.mirrored(found.path)
    return found.type == "card" or (place.startswith(cards.FOLDER) and cards.is_card(found))


def _links(found: Note) -> Iterator[Link]:
    yield from links.in_metadata(found.metadata, found.lines)
    if "[[" in found.body:
        for raw in markdown.read(found.body, found.body_line).links:
            yield links.parse(raw)


class _Anchors(Mapping[str, Anchors]):
    """The anchors of each note, read when a link asks for them."""

    def __init__(self, notes: Mapping[str, Note]) -> None:
        self._notes = notes
        self._read: dict[str, Anchors] = {}

    def __getitem__(self, path: str) -> Anchors:
        if path not in self._read:
            outline = markdown.read(self._notes[path].body)
            self._read[path] = Anchors(outline.headings, outline.block_ids)
        return self._read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._notes)

    def __len__(self) -> int:
        return len(self._notes)
