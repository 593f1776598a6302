"""What a person names to be archived: notes and topic files by path, entries by id. No guesses."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from memory_palace.core import archiving, note, topics
from memory_palace.core.archiving import Kind, Planned
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.links import TREE
from memory_palace.core.memories import Memory
from memory_palace.core.text import did_you_mean, is_cold
from memory_palace.files import read
from memory_palace.files.tree import Tree
from memory_palace.memory.state import State

UNRECORDED = "found in the archive without a record"


def lookup(
    root: Path, state: State, seen: Tree, at: datetime, asked: Sequence[str], reason: str
) -> list[Planned]:
    """The moves of what was ``asked`` for, each once.

    Raises :class:`Refused` for what is unknown, pinned or archived already, :class:`BadInput`
    for a path that no note can have.
    """
    found: dict[str, Planned] = {}
    for name in asked:
        if is_path(name):
            item = _file(root, state, seen, at, name.removeprefix("./"), reason)
        else:
            memory = state.find(name)
            if memory.archived:
                raise Refused(f"^{memory.id} is in the archive already: {memory.path}")
            _check_safe([memory])
            item = archiving.single(memory, at, reason)
        found[item.id] = item
    # An entry of a topic file that goes as a whole goes with it.
    return [i for i in found.values() if i.kind != "entry" or i.source not in found]


def is_path(name: str) -> bool:
    """True if ``name`` is written like a path, and not like an entry's id."""
    return "/" in name or name.lower().endswith(".md")


def _file(root: Path, state: State, seen: Tree, at: datetime, path: str, reason: str) -> Planned:
    live = {file.path for file in seen.notes}
    cold = {file.path for file in seen.cold}
    if path not in live:
        return _not_live(root, state, live, cold, path)
    if not path.startswith(TREE):
        raise BadInput(f"{path} is not below {TREE}: only notes in there are archived")
    got = read.read(root, path)
    if isinstance(got, read.Unreadable):
        raise BadInput(f"{path}: {got.problem.message}")
    if note.parse(path, got.text).pinned:
        raise Refused(f"{path} is pinned: take `pinned: true` out of it first")
    if path.startswith(topics.FOLDER):
        memories = [memory for memory in state.live if memory.path == path]
        _check_safe(memories)
        return archiving.whole(path, memories, at, reason)
    return Planned("note", path, path, archiving.place(path), reason)


def _not_live(root: Path, state: State, live: set[str], cold: set[str], path: str) -> Planned:
    place = path if is_cold(path) else archiving.place(path)
    if place in cold:
        got = read.read(root, place)
        if isinstance(got, read.Text) and not archiving.is_stamped(got.text):
            return unrecorded(state, place)
        raise Refused(f"{path} is in the archive already: {place}")
    if not path.lower().endswith(".md"):
        raise BadInput(f"{path} is no note: only notes (.md) and entries are archived")
    raise Refused(f"no note {path}{did_you_mean(path, live) if live else ''}")


def unrecorded(state: State, path: str) -> Planned:
    """What is left to do for a file that lies in the archive without its keys."""
    entries = tuple(memory for memory in state.memories if memory.path == path)
    kind: Kind = "topic" if path.startswith(topics.ARCHIVED) else "note"
    source = archiving.mirrored(path)
    return Planned(kind, source, source, path, UNRECORDED, entries, half=True)


def _check_safe(memories: Sequence[Memory]) -> None:
    for memory in memories:
        if memory.pinned:
            raise Refused(f"^{memory.id} is pinned: run `palace unpin {memory.id}` first")
        if memory.enforced:
            raise Refused(f"^{memory.id} is enforced by a rule: archive the rule first")
