"""``[[links]]``: what is inside them, and which note they lead to. Nothing is guessed."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from memory_palace.core.outline import RawLink
from memory_palace.core.text import nfc, stem

Status = Literal["ok", "broken", "ambiguous", "archived", "file"]

TREE = "palace/"
_IN_TEXT = re.compile(r"!?\[\[(?!\[)((?:(?!\[\[|\]\]).)+)\]\]")


@dataclass(frozen=True, slots=True)
class Link:
    """A link as written. ``target`` is empty for a link into the same note."""

    target: str
    heading: str
    block: str
    alias: str
    embed: bool
    line: int

    def __str__(self) -> str:
        anchor = f"#^{self.block}" if self.block else f"#{self.heading}" if self.heading else ""
        return f"[[{self.target}{anchor}]]"


@dataclass(frozen=True, slots=True)
class Resolved:
    """Where a link leads: ``path`` is None where it leads to no live note."""

    link: Link
    path: str | None
    status: Status
    why: str = ""


@dataclass(frozen=True, slots=True)
class Anchors:
    """What in a note can be linked to."""

    headings: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()


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
                    found.append(parse(RawLink(match.group(1), lines.get(key, 1), embed)))
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

    ``notes`` maps each live note's path to its aliases, ``archived`` and ``files`` are the paths
    of cold notes and of other files. All are compared in NFC.
    """

    def __init__(
        self,
        notes: Mapping[str, Iterable[str]],
        archived: Iterable[str] = (),
        files: Iterable[str] = (),
    ) -> None:
        self._paths: dict[str, set[str]] = defaultdict(set)
        for path in notes:
            self._paths[nfc(path)].add(path)
        self._names = _by_name(notes)
        self._folded = _by_name(notes, fold=True)
        self._aliases: dict[str, set[str]] = defaultdict(set)
        for path, aliases in notes.items():
            for alias in aliases:
                self._aliases[nfc(alias)].add(path)
        self._archived = {nfc(path): path for path in archived}
        self._archived_names = _by_name(self._archived.values(), fold=True)
        self._files = {nfc(path): path for path in files}
        self._file_names = _by_name(self._files.values(), note=False)

    def resolve(self, source: str, link: Link, anchors: Mapping[str, Anchors]) -> Resolved:
        """Where ``link``, written in ``source``, leads."""
        if not link.target:
            return self._with_anchor(link, source, anchors)
        target = nfc(link.target)
        if "\\" in target or target.startswith("/") or ".." in target.split("/"):
            return Resolved(link, None, "broken", "write a path below the root, with /")
        found = self._find(target)
        if len(found) == 1:
            return self._with_anchor(link, next(iter(found)), anchors)
        if len(found) > 1:
            listed = ", ".join(sorted(found)[:4])
            more = f" and {len(found) - 4} more" if len(found) > 4 else ""
            return Resolved(
                link, None, "ambiguous", f"could be {listed}{more}: write the folder too"
            )
        if self._is_archived(target):
            return Resolved(link, None, "archived", "in the archive")
        if self._is_file(target):
            return Resolved(link, None, "file")
        return Resolved(link, None, "broken", "no such note: mend the name or write the note")

    def _find(self, target: str) -> set[str]:
        for candidate in _spellings(target):
            if candidate in self._paths:
                return self._paths[candidate]
        name = _bare(target)
        return (
            _ending(self._names, name)
            or self._aliases.get(target, set())
            or _ending(self._folded, name.casefold(), fold=True)
        )

    def _is_archived(self, target: str) -> bool:
        if any(candidate in self._archived for candidate in _spellings(target)):
            return True
        return bool(_ending(self._archived_names, _bare(target).casefold(), fold=True))

    def _is_file(self, target: str) -> bool:
        if target in self._files or TREE + target in self._files:
            return True
        return bool(_ending(self._file_names, target, note=False))

    @staticmethod
    def _with_anchor(link: Link, path: str, anchors: Mapping[str, Anchors]) -> Resolved:
        there = anchors.get(path, Anchors())
        if link.block and link.block not in there.blocks:
            return Resolved(link, path, "broken", f"no block ^{link.block} in {path}")
        if link.heading and not _has_heading(link.heading, there.headings):
            return Resolved(link, path, "broken", f"no heading `{link.heading}` in {path}")
        return Resolved(link, path, "ok")


def _spellings(target: str) -> list[str]:
    withs = [target] if target.lower().endswith(".md") else [target + ".md", target]
    return [prefix + t for t in withs for prefix in ("", TREE)]


def _bare(path: str) -> str:
    return path[:-3] if path.lower().endswith(".md") else path


def _by_name(paths: Iterable[str], fold: bool = False, note: bool = True) -> dict[str, set[str]]:
    names: dict[str, set[str]] = defaultdict(set)
    for path in paths:
        name = nfc(stem(path) if note else path.rsplit("/", 1)[-1])
        names[name.casefold() if fold else name].add(path)
    return names


def _ending(
    names: Mapping[str, set[str]], target: str, fold: bool = False, note: bool = True
) -> set[str]:
    """The paths whose last components are those of ``target``."""
    found = names.get(target.rsplit("/", 1)[-1], set())
    if "/" not in target:
        return found
    tail = "/" + target

    def spelled(path: str) -> str:
        path = nfc("/" + (_bare(path) if note else path))
        return path.casefold() if fold else path

    return {path for path in found if spelled(path).endswith(tail)}


def _has_heading(wanted: str, headings: Iterable[str]) -> bool:
    """True if the last part of ``A#B`` is a heading, compared as Obsidian does: loosely."""
    last = _loose(wanted.rsplit("#", 1)[-1])
    return any(_loose(heading) == last for heading in headings)


def _loose(heading: str) -> str:
    kept = re.sub(r"[\[\]#^|*_`~:\\]+", " ", nfc(heading))
    return " ".join(kept.casefold().split())
