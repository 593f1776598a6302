"""What became of notes, by meaning: edited, moved, archived, promoted, and so on."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

from memory_palace.core import archiving, frontmatter, note
from memory_palace.core.links import TREE
from memory_palace.core.note import Note
from memory_palace.core.text import is_cold, sha256
from memory_palace.core.worddiff import Hunk, alike, changes, one_line

Kind = Literal["added", "edited", "promoted", "archived", "restored", "moved", "removed"]

CONSTITUTION = f"{TREE}reflection_wing/constitution.md"
PROPOSALS = f"{TREE}reflection_wing/proposals/"
CONFLICTS = f"{TREE}conflict_room/"

ALIKE, ALIKE_OF_ONE_NAME, ALIKE_IN_PLACE = 0.8, 0.6, 0.5
"""How much two texts share (see :func:`worddiff.alike`) if one is the other, moved: under any
name, under the same one, and where the place itself says so."""
MOST_PAIRS = 10_000
"""Pairs of a note that is gone and one that came, beyond which only equal ones are found."""

_REFLECTION = f"{TREE}reflection_wing/"


@dataclass(frozen=True, slots=True)
class KeyChange:
    """A key of the metadata: its value before and after as text, None where it is not there.
    ``line`` is its line now, 1 where it is gone."""

    key: str
    before: str | None
    after: str | None
    line: int


@dataclass(frozen=True, slots=True)
class NoteChange:
    """What became of one file. ``was`` is its path before, where that is another; ``why`` adds
    what the kind does not say. ``line`` is the first one that changed."""

    kind: Kind
    path: str
    was: str = ""
    why: str = ""
    line: int = 1
    words: tuple[Hunk, ...] = ()
    keys: tuple[KeyChange, ...] = ()


def compare(
    before: Mapping[str, str], after: Mapping[str, str], pages: Mapping[str, str] | None = None
) -> tuple[NoteChange, ...]:
    """The changes from ``before`` to ``after``, {path: text} of the files that differ, by path.

    ``pages`` maps pages that an applied proposal wrote to that proposal. Files that differ in
    nothing but space between words are edited, too.
    """
    gone = {path: text for path, text in before.items() if path not in after}
    new = {path: text for path, text in after.items() if path not in before}
    moved = moves(gone, new)
    found = [_removed(path) for path in gone if path not in moved.values()]
    for path, text in after.items():
        was = moved.get(path, path)
        old = before.get(was)
        if old is None:
            found.append(_added(path, text, pages or {}))
        else:
            found.append(_changed(was, old, path, text))
    return tuple(sorted(found, key=lambda change: change.path))


def moves(gone: Mapping[str, str], new: Mapping[str, str]) -> dict[str, str]:
    """{new path: old path} of notes that went away in one place and came up in another, the same
    or very like: git may have seen a rename, or a file deleted and another one added."""
    found: dict[str, str] = {}
    waiting = dict(gone)

    def pair(path: str, was: str) -> None:
        found[path] = was
        del waiting[was]

    lay = {_mirrored(was, text): was for was, text in sorted(gone.items()) if is_cold(was)}
    bodies = {path: _body(text) for side in (gone, new) for path, text in side.items()}
    for path in sorted(new):
        came = "" if is_cold(path) else archiving.place(path)
        for was in (_mirrored(path, new[path]), came, lay.get(path, "")):
            if was in waiting and alike(bodies[was], bodies[path]) >= ALIKE_IN_PLACE:
                pair(path, was)
                break
    equal: dict[str, list[str]] = {}
    for path in sorted(waiting, reverse=True):
        equal.setdefault(sha256(bodies[path]), []).append(path)
    for path in sorted(set(new) - set(found)):
        same = equal.get(sha256(bodies[path]))
        if same and bodies[path]:
            pair(path, same.pop())
    left = sorted(set(new) - set(found))
    if len(left) * len(waiting) <= MOST_PAIRS:
        _pair_alike(left, waiting, bodies, pair)
    return found


def _pair_alike(
    left: list[str],
    waiting: Mapping[str, str],
    bodies: Mapping[str, str],
    pair: Callable[[str, str], None],
) -> None:
    close = []
    for path in left:
        for was in waiting:
            share = alike(bodies[was], bodies[path]) if bodies[was] and bodies[path] else 0.0
            one_name = path.rsplit("/", 1)[-1] == was.rsplit("/", 1)[-1]
            if share >= (ALIKE_OF_ONE_NAME if one_name else ALIKE):
                close.append((-share, path, was))
    taken: set[str] = set()
    for _, path, was in sorted(close):
        if path not in taken and was in waiting:
            taken.add(path)
            pair(path, was)


def _mirrored(path: str, text: str) -> str:
    """Where a note in the archive came from."""
    return archiving.origin(path, note.parse(path, text).metadata) if is_cold(path) else ""


def _body(text: str) -> str:
    return text[frontmatter.split(text).body_at :].strip()


def _removed(path: str) -> NoteChange:
    return NoteChange("removed", path, why="gone, and neither moved nor archived")


def _added(path: str, text: str, pages: Mapping[str, str]) -> NoteChange:
    read = note.parse(path, text) if is_note(path) else None
    if path in pages:
        return NoteChange("promoted", path, why=f"page of the proposal {pages[path]}")
    if path == CONSTITUTION:
        return NoteChange("promoted", path, why=_articles("", text))
    if path.startswith(PROPOSALS) and read and read.status == "applied":
        return NoteChange("promoted", path, why="proposal applied")
    if path.startswith(CONFLICTS):
        decided = read is not None and _is_decided(read)
        return NoteChange(
            "added", path, why="conflict opened" + (" and decided" if decided else "")
        )
    return NoteChange("added", path)


def _changed(was: str, old: str, path: str, text: str) -> NoteChange:
    if not is_note(path):
        words = tuple(changes(old, text))
        return NoteChange(
            "edited" if was == path else "moved",
            path,
            "" if was == path else was,
            "",
            words[0].line if words else 1,
            words,
        )
    one, two = note.parse(was, old), note.parse(path, text)
    words = tuple(changes(one.body, two.body, two.body_line))
    keys = () if one.broken or two.broken else _keys(one, two)
    lines = [key.line for key in keys] + [hunk.line for hunk in words]
    kind, why = _kind(one, two, old, text)
    if not (words or keys or why or was != path):
        why = "only what is not shown" if old == text else "spaces and line breaks only"
    return NoteChange(
        kind, path, "" if was == path else was, why, min(lines, default=1), words, keys
    )


def _kind(one: Note, two: Note, old: str, text: str) -> tuple[Kind, str]:
    was, path = one.path, two.path
    if is_cold(path) and not is_cold(was):
        return "archived", one_line(str(two.metadata.get("archived_reason") or ""))
    if is_cold(was) and not is_cold(path):
        return "restored", ""
    if tier(path) > tier(was) > 0:
        return "promoted", "came to a higher tier"
    if path == CONSTITUTION and _articles(old, text):
        return "promoted", _articles(old, text)
    if path.startswith(PROPOSALS) and two.status == "applied" != one.status:
        return "promoted", "proposal applied"
    kind: Kind = "edited" if was == path else "moved"
    if path.startswith(CONFLICTS) and _is_decided(two) and not _is_decided(one):
        return kind, "conflict decided"
    return kind, ""


def tier(path: str) -> int:
    """1 for what belongs to one project or agent, 2 for the reflection wing, 3 for the
    constitution; 0 for what is in no tier: the archive, proposals."""
    if is_cold(path) or path.startswith(PROPOSALS):
        return 0
    if path == CONSTITUTION:
        return 3
    return 2 if path.startswith(_REFLECTION) else 1


def _articles(old: str, text: str) -> str:
    """The headings that the constitution did not have before."""
    before = set(_headings(old))
    new = [heading for heading in _headings(text) if heading not in before]
    return "article of the constitution: " + "; ".join(new) if new else ""


def _headings(text: str) -> list[str]:
    lines = _body(text).splitlines()
    return [one_line(line.lstrip("#")) for line in lines if line.startswith(("## ", "### "))]


def _is_decided(read: Note) -> bool:
    return read.status is not None and read.status.casefold() != "open"


def is_note(path: str) -> bool:
    """True for Markdown below palace/."""
    return path.startswith(TREE) and path.lower().endswith(".md")


def _keys(one: Note, two: Note) -> tuple[KeyChange, ...]:
    found = []
    for key in dict.fromkeys((*two.metadata, *one.metadata)):
        before, after = _shown(one, key), _shown(two, key)
        if before != after:
            found.append(KeyChange(key, before, after, two.lines.get(key, 1)))
    return tuple(found)


def _shown(read: Note, key: str) -> str | None:
    if key not in read.metadata:
        return None
    value = read.metadata[key]
    if isinstance(value, list):
        value = ", ".join(str(item) for item in value)
    elif isinstance(value, bool):
        value = "true" if value else "false"
    return one_line("" if value is None else str(value))
