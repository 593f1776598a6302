"""Move what went cold to the archive: planned as values first, then done one by one.

A kill in between leaves a line twice, or a file in the archive without a record, never less; the
next run ends what was begun.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from memory_palace.core import archiving, note, privacy, topics
from memory_palace.core.archiving import Planned, Sweep
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.problems import Problem
from memory_palace.files import commit, read, roots, tree
from memory_palace.files import config as configs
from memory_palace.files.tree import Tree
from memory_palace.memory import basement, named
from memory_palace.memory.pen import Pen
from memory_palace.memory.state import State


@dataclass(frozen=True, slots=True)
class Plan:
    """What would move, what is left out and why, and the rooms that would lose a great part.

    ``hypothetical`` is True of a plan for another day than now.
    """

    items: tuple[Planned, ...]
    left_out: tuple[Problem, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    hypothetical: bool = False


def plan(
    root: Path,
    state: State,
    now: datetime,
    at: datetime | None = None,
    notes: Iterable[tuple[str, str]] = (),
    asked: Sequence[str] = (),
    reason: str = "",
) -> Plan:
    """What to archive at ``at`` (by default ``now``; ``state`` is of that moment too).

    ``notes`` are (path, why) of notes that others found to be of no use: they join what is cold.
    With ``asked``, paths of notes and topic files and ids of entries that a person named, only
    these are planned, for ``reason``. Raises :class:`Refused` for an unknown or pinned one, and
    for one that is in the archive already.
    """
    seen = tree.scan(root, configs.load(root).exclude)
    moment = at or now
    problems: list[Problem] = []
    if asked:
        found = named.lookup(
            root,
            state,
            seen,
            moment,
            asked,
            topics.one_line(privacy.redact(reason).text) or "asked for",
        )
    else:
        found = [*archiving.cold(state.live, moment), *_unrecorded(root, state, seen)]
        found += _notes(root, seen, notes, problems)
    items = _placed(root, found, problems, strict=bool(asked))
    sweeps: tuple[Sweep, ...] = ()
    if not asked:  # what a person named one by one is no accident
        rooms = Counter(archiving.room(file.path) for file in seen.notes)
        sweeps = archiving.sweeps(items, len(state.live), rooms)
    return Plan(tuple(items), tuple(problems), sweeps, moment != now)


def _notes(
    root: Path, seen: Tree, notes: Iterable[tuple[str, str]], problems: list[Problem]
) -> list[Planned]:
    there = {file.path for file in seen.notes}
    found = []
    for path, why in notes:
        got = read.read(root, path) if path in there else None
        if isinstance(got, read.Text) and not note.parse(path, got.text).pinned:
            found.append(Planned("note", path, path, archiving.place(path), why))
        elif isinstance(got, read.Unreadable):
            problems.append(got.problem)
    return found


def _unrecorded(root: Path, state: State, seen: Tree) -> list[Planned]:
    """Files that lie in the archive without its keys: a kill, or a person, put them there."""
    found = []
    for file in seen.cold:
        about_itself = file.path.removeprefix(archiving.BASEMENT) in (file.path, "README.md")
        got = None if about_itself else read.read(root, file.path)
        if isinstance(got, read.Text) and not archiving.is_stamped(got.text):
            found.append(named.unrecorded(state, file.path))
    return found


def _placed(
    root: Path, found: Iterable[Planned], problems: list[Problem], strict: bool
) -> list[Planned]:
    """What may move, each to a place of its own."""
    taken: set[str] = set()
    placed = []
    changed = commit.changed(root)
    for item in found:
        try:
            if item.kind == "note" and not item.half:
                place = archiving.free_name(item.target, lambda p: p in taken or _is_there(root, p))
                item = replace(item, target=place)
            roots.inside(root, item.source)
            roots.inside(root, item.target)
        except BadInput as error:
            if strict:
                raise
            problems.append(Problem(item.source, None, str(error)))
            continue
        if item.kind != "entry" and not item.half and item.source in changed:
            what = "has uncommitted changes: commit them, then run this again"
            problems.append(Problem(item.source, None, what))
            continue
        taken.add(item.target)
        placed.append(item)
    return placed


def _is_there(root: Path, path: str) -> bool:
    place = roots.inside(root, path)
    return place.exists()


@dataclass(frozen=True, slots=True)
class Moved:
    """What went to the archive, and what could not."""

    items: tuple[Planned, ...]
    problems: tuple[Problem, ...]


def run(pen: Pen, todo: Plan, yes: bool = False) -> Moved:
    """Do what was planned. What cannot be moved is reported, the rest goes on.

    Raises :class:`Refused` if a room would lose more than a quarter and ``yes`` is False, and
    :class:`BadInput` for a plan of another day.
    """
    if todo.hypothetical:
        raise BadInput("a plan for another day is only a plan: leave out --at to archive today")
    check_sweeps(todo, yes)
    moved: list[Planned] = []
    problems = list(todo.left_out)
    files = [[item] for item in todo.items if item.kind != "entry"]
    topics_of_entries: dict[str, list[Planned]] = {}
    for item in todo.items:
        if item.kind == "entry":
            topics_of_entries.setdefault(item.source, []).append(item)
    for items in [*files, *topics_of_entries.values()]:
        try:
            done = basement.put_entries if items[0].kind == "entry" else basement.put_file
            moved += done(pen, items, problems)
        except (BadInput, Refused) as error:
            problems.append(Problem(items[0].source, None, str(error)))
    gone = {(item.kind, item.id) for item in moved}
    return Moved(tuple(i for i in todo.items if (i.kind, i.id) in gone), tuple(problems))


def check_sweeps(todo: Plan, yes: bool) -> None:
    """Raises :class:`Refused` if a room would lose more than a quarter and ``yes`` is False."""
    if todo.sweeps and not yes:
        listed = ", ".join(map(str, todo.sweeps))
        raise Refused(f"this takes {listed}: if that is meant, run it again with --yes")
