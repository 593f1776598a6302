"""Topic files: memories of one line each, as people and agents write them.

A line is ``- [category] text *(pinned)* *(enforced)* ^3f9ac2d41b7e``; the block id is the entry's
identity. A line without one is keyed by what it says until a write command gives it an id.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from memory_palace.core import frontmatter
from memory_palace.core.problems import Problem
from memory_palace.core.text import COLD_COMPONENT, did_you_mean, nfc, short_id

FOLDER = "palace/topics/"
ARCHIVED = f"palace/{COLD_COMPONENT}/topics/"
MOST_CHARACTERS = 12_000
"""What one topic file may hold, about 3,000 tokens."""


class Category(NamedTuple):
    """A kind of memory: its file, its half-life in days, how many may be active, its heading."""

    name: str
    file: str
    half_life: float
    cap: int
    heading: str

    @property
    def path(self) -> str:
        """Where new entries go."""
        return FOLDER + self.file


CATEGORIES = {
    category.name: category
    for category in (
        Category("preference", "preferences.md", 90, 8, "Preferences"),
        Category("lesson", "lessons.md", 60, 8, "Lessons"),
        Category("pattern", "patterns.md", 30, 6, "Patterns"),
        Category("decision", "decisions.md", 30, 4, "Decisions"),
        Category("done", "completions.md", 14, 4, "Completions"),
        Category("mistake", "mistakes.md", 14, 4, "Mistakes"),
    )
}
CUES = {"explicit": 1.0, "structural": 0.9, "behavioral": 0.7, "recurrence": 0.6}
"""How a memory came up, and what that weighs."""

_MARKS = ("pinned", "enforced")
_LINE = re.compile(
    r"(?P<indent>[ \t]*)[-*+][ \t]+\[(?P<category>[^\W\d][\w-]+)\][ \t]+(?P<rest>\S.*)\Z"
)
_BLOCK = re.compile(r"[ \t]+\^(?P<id>[0-9A-Za-z-]+)\Z")
_MARK = re.compile(r"[ \t]+\*\((?P<mark>pinned|enforced)\)\*\Z")
# With a backtick further on it is code in a line of text.
_FENCE = re.compile(r" {0,3}(?P<fence>`{3,}(?=[^`]*\Z)|~{3,})(?P<info>.*)")
_AFTER = "\r \t"


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a topic file. ``line`` counts from 1, ``block`` is empty without a block id."""

    path: str
    line: int
    category: str
    text: str
    pinned: bool = False
    enforced: bool = False
    block: str = ""
    indent: str = ""

    @property
    def key(self) -> str:
        """The block id, else what one would be."""
        return self.block or entry_id(self.category, self.text)

    @property
    def archived(self) -> bool:
        """True in the archive."""
        return self.path.startswith(ARCHIVED)


@dataclass(frozen=True, slots=True)
class Parsed:
    """What a topic file holds, and what is wrong with any line."""

    entries: tuple[Entry, ...]
    problems: tuple[Problem, ...]


def normal(text: str) -> str:
    """``text`` as two entries are compared: NFC, lower case, single spaces, no full stop."""
    return " ".join(nfc(text).casefold().split()).rstrip(".")


def entry_id(category: str, text: str, salt: int = 0) -> str:
    """12 hex digits from what the entry says: the same text gets the same id on every machine.

    ``salt`` is for an id that another text, edited since, has already.
    """
    return short_id(category, normal(text), *([str(salt)] if salt else []))


def parse(path: str, text: str) -> Parsed:
    """The entries of a topic file. Lines in code fences and checkboxes are none."""
    entries: list[Entry] = []
    problems: list[Problem] = []
    block = frontmatter.split(text)
    if block.entries is None:
        what = f"broken frontmatter ({block.fault}): mend the YAML; the entries count all the same"
        problems.append(Problem(path, block.fault_line, what))
    fence = ""
    lines = text[block.body_at :].split("\n")
    for number, raw in enumerate(lines, start=block.body_line):
        line = raw.rstrip(_AFTER)
        found = _FENCE.match(line)
        if fence:
            if found and found["fence"].startswith(fence) and not found["info"].strip():
                fence = ""
            continue
        if found:
            fence = found["fence"]
            continue
        entry = _entry(path, number, line)
        if entry is None:
            continue
        if entry.category in CATEGORIES:
            entries.append(entry)
        else:
            what = f"unknown category `{entry.category}`, the entry does not count"
            hint = did_you_mean(entry.category, CATEGORIES)
            problems.append(Problem(path, number, f"{what}{hint}"))
    return Parsed(tuple(entries), tuple(problems))


def _entry(path: str, number: int, line: str) -> Entry | None:
    found = _LINE.match(line)
    if not found:
        return None
    rest = found["rest"]
    block = _BLOCK.search(rest)
    rest = rest[: block.start()] if block else rest
    marks = set()
    while mark := _MARK.search(rest):
        marks.add(mark["mark"])
        rest = rest[: mark.start()]
    return Entry(
        path=path,
        line=number,
        category=found["category"],
        text=rest,
        pinned="pinned" in marks,
        enforced="enforced" in marks,
        block=block["id"] if block else "",
        indent=found["indent"],
    )


def render(entry: Entry) -> str:
    """The entry's line, without the line feed."""
    marks = "".join(f" *({mark})*" for mark in _MARKS if getattr(entry, mark))
    block = f" ^{entry.block}" if entry.block else ""
    return f"{entry.indent}- [{entry.category}] {entry.text}{marks}{block}"


def one_line(text: str) -> str:
    """``text`` on one line, as an entry holds it."""
    return " ".join(text.split())


def reads_back(entry: Entry) -> bool:
    """True if the entry's line is read as this entry: its text has no mark at its end."""
    return _entry(entry.path, entry.line, render(entry).rstrip(_AFTER)) == entry


def keyed(entries: Iterable[Entry]) -> tuple[list[tuple[str, Entry]], list[Problem]]:
    """Each entry with its id, and what is wrong between them: an id twice, a text twice.

    A line without a block id gets that of its text; where an edited entry has that already, the
    next free one. Of two lines with one id the first counts, live ones before archived ones.
    """
    ordered = sorted(entries, key=lambda e: (e.archived, e.path, e.line))
    found: dict[str, Entry] = {}
    problems: list[Problem] = []
    bare = [entry for entry in ordered if not entry.block]
    for entry in (entry for entry in ordered if entry.block):
        first = found.setdefault(entry.block, entry)
        if first is not entry:
            problems.append(_same_id(first, entry))
    for entry in bare:
        salt = 0
        while (key := entry_id(entry.category, entry.text, salt)) in found:
            if normal(found[key].text) == normal(entry.text):
                break
            salt += 1
        first = found.setdefault(key, entry)
        if first is not entry:
            problems.append(_same_text(first, entry))
    problems += _alike(found.values())
    return list(found.items()), problems


def _same_id(first: Entry, again: Entry) -> Problem:
    where = f"{first.path}:{first.line}"
    if normal(first.text) == normal(again.text):
        what = f"^{again.block} again ({where} counts): remove one of the lines"
        return Problem(again.path, again.line, what, "warning")
    what = f"^{again.block} has another text in {where}, which counts"
    return Problem(again.path, again.line, f"{what}: take the id off one of the lines")


def _same_text(first: Entry, again: Entry) -> Problem:
    what = f"says the same as {first.path}:{first.line}: remove one of the lines"
    return Problem(again.path, again.line, what, "warning")


def _alike(entries: Iterable[Entry]) -> list[Problem]:
    by_text: dict[tuple[str, str], list[Entry]] = defaultdict(list)
    for entry in entries:
        if not entry.archived:
            by_text[entry.category, normal(entry.text)].append(entry)
    return [
        _same_text(same[0], again)
        for same in by_text.values()
        for again in sorted(same, key=lambda e: (e.path, e.line))
        if again is not same[0]
    ]


def new_file(category: Category) -> str:
    """A topic file without entries."""
    return f"---\ntitle: {category.heading}\ntype: topic\n---\n# {category.heading}\n\n"


def with_line(text: str, line: str) -> str:
    """``text`` with ``line`` as its last one, in its own line endings."""
    return with_lines(text, [line])


def with_lines(text: str, lines: Sequence[str]) -> str:
    """``text`` with ``lines`` at its end, in its own line endings."""
    newline = "\r\n" if "\r\n" in text else "\n"
    gap = "" if not text or not lines or text.endswith("\n") else newline
    return text + gap + "".join(line + newline for line in lines)


def with_changed(text: str, changes: Sequence[tuple[Entry, Entry | None]]) -> str:
    """``text`` with the lines of some entries replaced, or taken out (None).

    Only these lines change; line feeds stay as they are.
    """
    lines = text.split("\n")
    for old, new in sorted(changes, key=lambda pair: pair[0].line, reverse=True):
        ending = "\r" if lines[old.line - 1].endswith("\r") else ""
        lines[old.line - 1 : old.line] = [] if new is None else [render(new) + ending]
    return "\n".join(lines)
