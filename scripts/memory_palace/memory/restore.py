"""Put back what was archived: a note or a topic file by its path, an entry by its id."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core import archiving, note, topics
from memory_palace.core.archiving import Kind
from memory_palace.core.errors import Changed, Refused
from memory_palace.core.memories import Memory
from memory_palace.core.text import did_you_mean, is_cold, nearest
from memory_palace.core.topics import CATEGORIES
from memory_palace.files import config as configs
from memory_palace.files import read, tree
from memory_palace.memory import basement, elimination, named, topic_file
from memory_palace.memory import state as states
from memory_palace.memory.pen import Pen
from memory_palace.memory.state import State


@dataclass(frozen=True, slots=True)
class Restored:
    """What came back: ``id`` is the entry's, of files the path ``target``. ``entries`` are ids."""

    kind: Kind
    id: str
    source: str
    target: str
    entries: tuple[str, ...] = ()


def restore(pen: Pen, name: str) -> Restored:
    """Put back what ``name`` is: a path in the archive, the path that a file had, that of a note
    that went down a tier, or an entry's id.

    The event counts as a fresh reinforcement. Raises :class:`Refused` for what is unknown or not
    archived, and where something live is in the way; then nothing was written.
    """
    now = states.load(pen.root, pen.now)
    if named.is_path(name):
        path = name.removeprefix("./")
        if elimination.where(pen.root, path):
            back = elimination.undo(pen, path)
            return Restored("note", back.target, back.source, back.target)
        return _file(pen, now, path)
    key = name.strip().removeprefix("^")
    cold = {path: text for path, text in now.texts.items() if is_cold(path)}
    near = nearest(key, [memory.id for memory in now.memories if memory.archived])
    if near and near != key and key not in now.entries:
        raise Refused(f"no archived memory has the id {key}: did you mean {near}?")
    memory = now.find(key)
    if not memory.archived:
        _refuse_live(memory, cold)
    return entry(pen, now, memory)


def _refuse_live(memory: Memory, cold: dict[str, str]) -> None:
    where = f"{memory.path}:{memory.line}"
    for path, text in cold.items():
        for other in topics.parse(path, text).entries:
            if other.key == memory.id:
                raise Refused(
                    f"^{memory.id} is live in {where} and archived in {path}:{other.line}: "
                    "remove one of the lines"
                )
    raise Refused(f"^{memory.id} is not archived: it is in {where}")


def entry(pen: Pen, now: State, memory: Memory) -> Restored:
    """Put an archived entry back into its topic file, which is made if it is gone.

    Raises :class:`Refused` if the topic file has no room for it.
    """
    cold = pen.read(memory.path)
    if cold is None:
        raise Changed(f"{memory.path} is gone: run this again")
    found = basement.find(memory.path, cold, memory)
    target = archiving.origin(memory.path, note.parse(memory.path, cold).metadata)
    live = pen.read(target)
    for other in topics.parse(target, live or "").entries:
        if other.key == memory.id:
            raise Refused(
                f"^{memory.id} is live in {target}:{other.line} and archived in "
                f"{memory.path}:{memory.line}: remove one of the lines"
            )
    line = cold.split("\n")[found.line - 1].strip()
    if live is None:
        live = topics.new_file(CATEGORIES[memory.category])
    text = topics.with_line(live, line)
    topic_file.check_room(now, target, text)
    if memory.id not in {entry.key for entry in topics.parse(target, text).entries}:
        raise Refused(f"{target} ends inside a code fence: close it, and run this again")
    pen.put(target, text)
    pen.put(memory.path, topics.with_changed(cold, [(found, None)]))
    pen.log("restored", memory.id, path=memory.path, to=target)
    return Restored("entry", memory.id, memory.path, target)


def _file(pen: Pen, now: State, path: str) -> Restored:
    source, target = _places(pen.root, path)
    here = source if (pen.root / source).exists() else target
    text = pen.read(here)
    if text is None:
        raise Changed(f"{source} is gone: run this again")
    bare = archiving.unstamped(text)  # metadata that is broken is found before anything moves
    if here == source:
        _check_free(pen, source, target)
        if target.startswith(topics.FOLDER) and len(bare) > topics.MOST_CHARACTERS:
            raise Refused(
                f"{target} would have {len(bare):,} characters of {topics.MOST_CHARACTERS:,}: "
                "restore its memories one by one, by their ids"
            )
        pen.move(source, target)
    pen.put(target, bare)
    entries = [memory.id for memory in now.memories if memory.path == here]
    pen.log("restored", target, path=source, to=target, entries=entries or None)
    kind: Kind = "topic" if target.startswith(topics.FOLDER) else "note"
    return Restored(kind, target, source, target, tuple(entries))


def _check_free(pen: Pen, source: str, target: str) -> None:
    if pen.read(target) is None:
        return
    hint = "move one of them away first"
    if target.startswith(topics.FOLDER):
        hint = "restore its memories one by one, by their ids"
    raise Refused(f"{target} is live, {source} stays in the archive: {hint}")


def _places(root: Path, path: str) -> tuple[str, str]:
    """Where the file that ``path`` names lies in the archive, and where it goes.

    The first is gone already if a kill ended a restore half-way.
    """
    seen = tree.scan(root, configs.load(root).exclude)
    cold = [file.path for file in seen.cold]
    if path in cold:
        return path, _origin(root, path)
    if is_cold(path):
        raise Refused(f"nothing in the archive at {path}{_near(path, cold)}")
    found = [place for place in cold if _origin(root, place) == path]
    if len(found) > 1:
        raise Refused(f"{' and '.join(found)} both came from {path}: name one of these")
    if found:
        return found[0], path
    if any(file.path == path for file in seen.notes):
        got = read.read(root, path)
        if isinstance(got, read.Text) and note.parse(path, got.text).metadata.get("archived"):
            return archiving.place(path), path
        raise Refused(f"{path} is not archived: nothing to restore")
    stood = {_origin(root, place) for place in cold}
    raise Refused(f"nothing in the archive came from {path}{_near(path, stood)}")


def _origin(root: Path, path: str) -> str:
    got = read.read(root, path)
    metadata = note.parse(path, got.text).metadata if isinstance(got, read.Text) else {}
    return archiving.origin(path, metadata)


def _near(path: str, known: Sequence[str] | set[str]) -> str:
    return (
        did_you_mean(path, known) if nearest(path, known) else ": `palace query --archived` finds"
    )
