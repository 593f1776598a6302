"""``[[links]]``: what is inside them, and which note they lead to. Nothing is guessed."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from heapq import nsmallest
from typing import Any, Literal

from memory_palace.core.outline import RawLink
from memory_palace.core.text import COLD_COMPONENT, nfc, stem

Status = Literal["ok", "broken", "ambiguous", "archived", "file"]

TREE = "palace/"
_IN_TEXT = re.compile(r"!?\[\[(?!\[)((?:(?!\[\[|\]\]).)+)\]\]")


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written. ``target`` is empty for a link into the same note; ``key`` is the
    metadata key that it stands under, empty for one in the body."""

    target: str
    heading: str
    block: str
    alias: str
    embed: bool
    line: int
    key: str = ""

    def __str__(self) -> str:
        anchor = f"#^{self.block}" if self.block else f"#{self.heading}" if self.heading else ""
        return f"[[{self.target}{anchor}]]"


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a link leads: ``path`` is None where it leads to no live note.

    ``why`` says what is wrong; of an archived target it is the path in the archive (or the paths,
    with commas, where several notes would do).
    """

    link: Link
    path: str | None
    status: Status
    why: str = ""


@dataclass(frozen=True, slots=True)
class Anchors:
    """What in a note can be linked to. ``origin`` is the path that an archived one says it had."""

    headings: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Archived:
    """A note in the archive. ``origin`` is the path that it had, empty for the mirrored one."""

    path: str
    aliases: tuple[str, ...] = ()
    origin: str = ""

    @property
    def came_from(self) -> str:
        """Where it stood."""
        return self.origin or self.path.replace(f"/{COLD_COMPONENT}/", "/", 1)


_Place = tuple[str | None, Status, str]
_NO_ANCHORS = Anchors()


class _There:
    """The anchors of a note, ready to be looked up."""

    def __init__(self, written: Anchors) -> None:
        self.written = written
        self.headings = frozenset(_loose(heading) for heading in written.headings)
        self.blocks = frozenset(written.blocks)


def parse(raw: RawLink) -> Link:
    """The parts of one link."""
    place, bar, alias = raw.inner.partition("|")
    if bar:
        place = place.removesuffix("\\")  # as a table has it
    target, mark, anchor = place.partition("#")
    anchor = anchor.strip()
    block = anchor[1:].strip() if mark and anchor.startswith("^") else ""
    heading = "" if block else anchor
    return Link(target.strip(), heading, block, alias.strip(), raw.embed, raw.line)


def in_metadata(metadata: Mapping[str, Any], lines: Mapping[str, int]) -> list[Link]:
    """The wikilinks in a note's metadata, in order, at the lines of their keys."""
    found = []
    for key, value in metadata.items():
        for text in _texts(value):
            for match in _IN_TEXT.finditer(text):
                embed = match.group().startswith("!")
                if match.group(1).strip():
                    link = parse(RawLink(match.group(1), lines.get(key, 1), embed))
                    found.append(replace(link, key=str(key)))
    return found


def _texts(value: Any) -> Iterable[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _texts(item)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _texts(item)


class Resolver:
    """Leads links to notes: exact path, then unique name, then alias, then name in any case.

    ``notes`` maps each live note's path to its aliases, ``files`` are the paths of other files.
    Archived notes are met where no live one is, also by the path that they had. All are compared
    in NFC.
    """

    def __init__(
        self,
        notes: Mapping[str, Iterable[str]],
        archived: Iterable[Archived] = (),
        files: Iterable[str] = (),
    ) -> None:
        self._paths: dict[str, set[str]] = defaultdict(set)
        for path in notes:
            self._paths[nfc(path)].add(path)
        self._names = _Names(notes)
        self._folded = _Names(notes, fold=True)
        self._aliases: dict[str, set[str]] = defaultdict(set)
        for path, aliases in notes.items():
            for alias in aliases:
                self._aliases[nfc(alias)].add(path)
        self._cold = _Cold(archived)
        self._files = {nfc(path): path for path in files}
        self._file_names = _Names(self._files.values(), note=False)
        self._places: dict[str, _Place] = {}  # a note may have one link a thousand times
        self._there: dict[str, _There] = {}

    def resolve(self, source: str, link: Link, anchors: Mapping[str, Anchors]) -> Resolved:
        """Where ``link``, written in ``source``, leads."""
        if not link.target:
            return self._with_anchor(link, source, anchors)
        place = self._places.get(link.target)
        if place is None:
            place = self._places[link.target] = self._place(nfc(link.target))
        path, status, why = place
        if path is None:
            return Resolved(link, None, status, why)
        return self._with_anchor(link, path, anchors)

    def _place(self, target: str) -> _Place:
        if "\\" in target or target.startswith("/") or ".." in target.split("/"):
            return None, "broken", "write a path below the root, with /"
        found = self._find(target)
        if len(found) == 1:
            return next(iter(found)), "ok", ""
        if len(found) > 1:
            listed = ", ".join(nsmallest(4, found))
            more = f" and {len(found) - 4} more" if len(found) > 4 else ""
            return None, "ambiguous", f"could be {listed}{more}: write the folder too"
        cold = self._cold.find(target)
        if cold:
            return None, "archived", ", ".join(nsmallest(4, cold))
        if self._is_file(target):
            return None, "file", ""
        return None, "broken", "no such note: mend the name or write the note"

    def _find(self, target: str) -> set[str]:
        for candidate in _spellings(target):
            if candidate in self._paths:
                return self._paths[candidate]
        name = _bare(target)
        return (
            self._names.ending(name)
            or self._aliases.get(target, set())
            or self._folded.ending(name.casefold())
        )

    def _is_file(self, target: str) -> bool:
        if target in self._files or TREE + target in self._files:
            return True
        return bool(self._file_names.ending(target))

    def _with_anchor(self, link: Link, path: str, anchors: Mapping[str, Anchors]) -> Resolved:
        if not link.block and not link.heading:
            return Resolved(link, path, "ok")
        there = self._there.get(path)
        written = anchors.get(path, _NO_ANCHORS)
        if there is None or there.written is not written:
            there = self._there[path] = _There(written)
        if link.block and link.block not in there.blocks:
            # An entry may have gone to the archive while its topic stayed.
            for cold in sorted(self._cold.from_path(path)):
                if link.block in anchors.get(cold, _NO_ANCHORS).blocks:
                    return Resolved(link, None, "archived", cold)
            return Resolved(link, path, "broken", f"no block ^{link.block} in {path}")
        # The last part of `A#B` counts.
        if link.heading and _loose(link.heading.rsplit("#", 1)[-1]) not in there.headings:
            return Resolved(link, path, "broken", f"no heading `{link.heading}` in {path}")
        return Resolved(link, path, "ok")


def _spellings(target: str) -> list[str]:
    withs = [target] if target.lower().endswith(".md") else [target + ".md", target]
    return [prefix + t for t in withs for prefix in ("", TREE)]


def _bare(path: str) -> str:
    return path[:-3] if path.lower().endswith(".md") else path


class _Cold:
    """The archived notes by all that they can be called."""

    def __init__(self, notes: Iterable[Archived]) -> None:
        self._at: dict[str, set[str]] = defaultdict(set)  # by where they lie and by where they lay
        self._from: dict[str, set[str]] = defaultdict(set)
        self._aliases: dict[str, set[str]] = defaultdict(set)
        for note in notes:
            self._at[nfc(note.path)].add(note.path)
            self._from[nfc(note.came_from)].add(note.path)
            for alias in note.aliases:
                self._aliases[nfc(alias)].add(note.path)
        for path, cold in self._from.items():
            self._at[path] |= cold
        self._names = _Names(self._at, fold=True)

    def find(self, target: str) -> set[str]:
        """The paths in the archive that ``target`` may mean."""
        for candidate in _spellings(target):
            if candidate in self._at:
                return self._at[candidate]
        places = self._names.ending(_bare(target).casefold())
        named = {path for place in places for path in self._at[place]}
        return named or self._aliases.get(target, set())

    def from_path(self, path: str) -> set[str]:
        """The paths in the archive of what stood at ``path``."""
        return self._from.get(nfc(path), set())


class _Names:
    """Paths by their last components: of notes without ``.md``, in NFC, in lower case at will."""

    def __init__(self, paths: Iterable[str], fold: bool = False, note: bool = True) -> None:
        self._fold = fold
        self._note = note
        self._paths: dict[str, set[str]] = defaultdict(set)
        for path in paths:
            self._paths[self._spelled(stem(path) if note else path.rsplit("/", 1)[-1])].add(path)
        self._tails: dict[str, dict[str, set[str]]] = {}  # of names that links have with a folder

    def _spelled(self, text: str) -> str:
        return nfc(text).casefold() if self._fold else nfc(text)

    def ending(self, target: str) -> set[str]:
        """The paths whose last components are those of ``target``."""
        name = target.rsplit("/", 1)[-1]
        found = self._paths.get(name, set())
        if name == target or not found:
            return found
        if name not in self._tails:
            self._tails[name] = self._by_tail(found)
        return self._tails[name].get(target, set())

    def _by_tail(self, paths: Iterable[str]) -> dict[str, set[str]]:
        tails: dict[str, set[str]] = defaultdict(set)
        for path in paths:
            tail = self._spelled(_bare(path) if self._note else path)
            while tail:
                tails[tail].add(path)
                tail = tail.partition("/")[2]
        return dict(tails)


def _loose(heading: str) -> str:
    """A heading as Obsidian compares them."""
    kept = re.sub(r"[\[\]#^|*_`~:\\]+", " ", nfc(heading))
    return " ".join(kept.casefold().split())
