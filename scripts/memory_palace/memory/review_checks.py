"""What a change must not do: leave links broken, lose entries or log lines, bring in secrets."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from memory_palace.core import mergemarks, note, privacy, topics
from memory_palace.core.entrychange import EntryChange
from memory_palace.core.links import TREE
from memory_palace.core.notechange import NoteChange, is_note
from memory_palace.core.problems import Grade, Problem
from memory_palace.core.text import is_cold, split_lines

Kind = Literal[
    "secret",
    "lost-entries",
    "lost-line",
    "frontmatter",
    "link",
    "entry",
    "log",
    "unreadable",
    "merge",
]
MOST_LOST = 0.25
"""More of a room than this, gone and neither archived nor moved, is a loss."""

_SHARED_FOLDERS = ("project_rooms", "chambers", "reflection_wing")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing wrong with a change, at a line of the file as it is now (of a lost line: as it
    was; None: the whole file or room). Errors fail the check."""

    kind: Kind
    path: str
    line: int | None
    message: str
    grade: Grade = "error"


def found(kind: Kind, problems: Iterable[Problem], grade: Grade | None = None) -> list[Finding]:
    """Problems as findings of one kind, all of one ``grade`` if that is given."""
    return [Finding(kind, p.path, p.line, p.message, grade or p.grade) for p in problems]


def frontmatter(after: Mapping[str, str]) -> list[Finding]:
    """What is wrong with the metadata of changed notes, {path: text}."""
    return [
        one
        for path, text in after.items()
        if is_note(path)
        for one in found("frontmatter", note.parse(path, text).problems)
    ]


def merges(after: Mapping[str, str]) -> list[Finding]:
    """Marks of a merge that were left in changed notes, {path: text}."""
    what = "a merge was left unfinished: keep what holds and take the marks out"
    return [
        Finding("merge", path, merge.line, what)
        for path, text in after.items()
        if is_note(path)
        for merge in mergemarks.find(text).merges
    ]


def secrets(before: Mapping[str, str], after: Mapping[str, str]) -> list[Finding]:
    """Secrets in lines that were added, wherever in the memory they stood before; never what they
    are."""
    findings = []
    known = {line for text in before.values() for line in split_lines(text)}
    for path, text in after.items():
        added, numbers = _added_lines(text, known)
        for one in privacy.secrets(added):
            what = f"a secret ({one.kind}): take it out, and change it where it is used"
            findings.append(Finding("secret", path, numbers[one.line - 1], what))
    return findings


def _added_lines(text: str, known: set[str]) -> tuple[str, list[int]]:
    """The lines of ``text`` that are not ``known`` and their numbers, with a blank line where some
    are left out: what did not stand together must not look as if it did."""
    lines: list[str] = []
    numbers: list[int] = []
    for number, line in enumerate(split_lines(text), start=1):
        if line in known:
            continue
        if numbers and numbers[-1] != number - 1:
            lines.append("")
            numbers.append(number)
        lines.append(line)
        numbers.append(number)
    return "\n".join(lines), numbers


def room(path: str) -> str:
    """The room that ``path`` lies in: ``palace/topics``, ``palace/project_rooms/demo``."""
    parts = path.removeprefix(TREE).split("/")[:-1]
    depth = 2 if parts and parts[0] in _SHARED_FOLDERS else 1
    return TREE + "/".join(parts[:depth]) if parts else TREE.rstrip("/")


def is_topic_file(path: str) -> bool:
    """True for the files whose lines are entries, live or archived."""
    return path.startswith((topics.FOLDER, topics.ARCHIVED)) and is_note(path)


def lost(
    paths: Iterable[str],
    entries: Sequence[str],
    notes: Iterable[NoteChange],
    changed: Iterable[EntryChange],
) -> list[Finding]:
    """Rooms that lost more than a quarter of what they held.

    ``paths`` are the files of before, ``entries`` the file of each entry of before.
    """
    held = Counter(room(path) for path in paths if is_note(path) and not is_topic_file(path))
    held += Counter(room(path) for path in entries)
    gone = [change.path for change in notes if change.kind == "removed" and is_note(change.path)]
    gone = [path for path in gone if not is_topic_file(path)]
    gone += [change.path for change in changed if change.kind == "removed"]
    findings = []
    for name, number in sorted(Counter(room(path) for path in gone).items()):
        if number > MOST_LOST * held[name]:
            what = (
                f"{number} of {held[name]} {_things(name)} are gone, and neither archived nor "
                "moved: put them back, or use `palace archive`"
            )
            findings.append(Finding("lost-entries", name, None, what))
    return findings


def _things(name: str) -> str:
    return "entries" if f"{name}/" in (topics.FOLDER, topics.ARCHIVED) else "notes"


def removed(notes: Iterable[NoteChange], changed: Iterable[EntryChange]) -> list[Finding]:
    """A warning for each note or entry that is gone: nothing in the memory is ever deleted."""
    said = "gone, and neither archived nor moved: `palace review reject` puts it back"
    findings = [
        Finding("lost-entries", one.path, None, said, "warning")
        for one in notes
        if one.kind == "removed"
    ]
    return findings + [
        Finding("lost-entries", one.path, one.line, f"^{one.id} is {said}", "warning")
        for one in changed
        if one.kind == "removed" and not is_cold(one.path)
    ]
