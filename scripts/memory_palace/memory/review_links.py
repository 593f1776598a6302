"""Links that a change leaves broken: those in changed notes, and those to what it took away."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core import archiving, links, markdown, note
from memory_palace.core.links import TREE, Anchors, Archived, Link, Resolver
from memory_palace.core.problems import Problem
from memory_palace.core.text import is_cold, stem
from memory_palace.files import config as configs
from memory_palace.files import gitdiff, read, tree
from memory_palace.files.gitdiff import Compared

_TARGET = re.compile(r"\[\[([^\[\]|#\n]+)")


@dataclass(frozen=True, slots=True)
class Notes:
    """The whole tree as it is after a change: {path: text} of live and archived notes, and the
    paths of files that are no notes."""

    live: Mapping[str, str]
    cold: Mapping[str, str]
    files: tuple[str, ...]


def notes(root: Path, between: Compared) -> Notes:
    """The tree at ``between.head``, or as it is on the disk. What cannot be read has no text."""
    if between.head is None:
        seen = tree.scan(root, configs.load(root).exclude)
        return Notes(
            _read(root, (f.path for f in seen.notes)),
            _read(root, (f.path for f in seen.cold)),
            tuple(seen.others),
        )
    there = {
        path: blob
        for path, blob in gitdiff.files(root, between.head, TREE.rstrip("/")).items()
        if not is_hidden(path) and tree.is_text(path)
    }
    texts = gitdiff.blobs(root, (b.id for path, b in there.items() if is_note(path)))
    found = {
        path: texts.get(blob.id, b"").decode("utf-8", "replace")
        for path, blob in there.items()
        if is_note(path)
    }
    return Notes(
        {path: text for path, text in found.items() if not is_cold(path)},
        {path: text for path, text in found.items() if is_cold(path)},
        tuple(path for path in there if not is_note(path)),
    )


def _read(root: Path, paths: Iterable[str]) -> dict[str, str]:
    found = {}
    for path in paths:
        got = read.read(root, path)
        found[path] = got.text if isinstance(got, read.Text) else ""
    return found


def is_note(path: str) -> bool:
    """True for Markdown."""
    return path.lower().endswith(".md")


def is_hidden(path: str) -> bool:
    """True for what is not part of the tree."""
    return any(part.startswith(".") for part in path.split("/"))


def problems(there: Notes, changed: Iterable[str], before: Mapping[str, str]) -> list[Problem]:
    """The links that lead nowhere: all of the ``changed`` notes, and of the others those that lead
    to what was taken away. ``before`` has the texts of before of whatever changed or is gone.
    """
    anchors = _Lazy({**there.live, **there.cold})
    resolver = Resolver(
        {path: _aliases(path, text) for path, text in there.live.items()},
        [_archived(path, text) for path, text in there.cold.items()],
        there.files,
    )
    mine = {path for path in changed if path in there.live}
    wanted = _taken(there, before, anchors)
    found = []
    for path, text in there.live.items():
        if "[[" not in text:
            continue
        if path in mine:
            found += list(_broken(path, text, resolver, anchors, lambda _: True))
        elif wanted and not wanted.isdisjoint(_targets(text)):
            found += list(_broken(path, text, resolver, anchors, _leads_to(wanted)))
    return found


def _broken(
    path: str, text: str, resolver: Resolver, anchors: "_Lazy", wanted: Callable[[Link], bool]
) -> Iterator[Problem]:
    for link in written(path, text):
        if not wanted(link):
            continue
        led = resolver.resolve(path, link, anchors)
        if led.status in ("broken", "ambiguous"):
            yield Problem(path, link.line, f"{link} {led.status}: {led.why}")


def written(path: str, text: str) -> list[Link]:
    """The links in a note, those of its metadata first."""
    read = note.parse(path, text)
    outline = markdown.read(read.body, read.body_line)
    return [
        *links.in_metadata(read.metadata, read.lines),
        *(links.parse(raw) for raw in outline.links),
    ]


def _taken(there: Notes, before: Mapping[str, str], anchors: "_Lazy") -> set[str]:
    """Names, in lower case, that links to what was taken away would have."""
    found: set[str] = set()
    for path, text in before.items():
        if not is_note(path) or is_cold(path):
            continue
        names = {stem(path), *_aliases(path, text)}
        now = there.live.get(path)
        if now is None:
            found |= names
        elif now != text:
            old, new = _anchors(path, text), anchors.get(path) or Anchors()
            if {*old.headings, *old.blocks} - {*new.headings, *new.blocks}:
                found |= names
            found |= names - {stem(path), *_aliases(path, now)}
    return {name.casefold() for name in found}


def _targets(text: str) -> set[str]:
    """What the links in ``text`` may be called, found at a glance: code is looked into, too."""
    found = {match[1].strip().casefold() for match in _TARGET.finditer(text)}
    return found | {stem(name) for name in found}


def _leads_to(names: set[str]) -> Callable[[Link], bool]:
    def leads(link: Link) -> bool:
        target = link.target.casefold()
        return stem(target) in names or target in names

    return leads


def _aliases(path: str, text: str) -> tuple[str, ...]:
    # Metadata is read only where there can be an alias: a palace has thousands of notes.
    return note.parse(path, text).aliases if "aliases" in text else ()


def _archived(path: str, text: str) -> Archived:
    if "aliases" not in text and "archived_from" not in text:
        return Archived(path)
    read = note.parse(path, text)
    return Archived(path, read.aliases, archiving.origin(path, read.metadata))


def _anchors(path: str, text: str) -> Anchors:
    read = note.parse(path, text)
    outline = markdown.read(read.body, read.body_line)
    return Anchors(outline.headings, outline.block_ids)


class _Lazy(Mapping[str, Anchors]):
    """Anchors by path, read when a link asks for them, once."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts
        self._read: dict[str, Anchors] = {}

    def __getitem__(self, path: str) -> Anchors:
        if path not in self._read:
            self._read[path] = _anchors(path, self._texts[path])
        return self._read[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._texts)

    def __len__(self) -> int:
        return len(self._texts)
