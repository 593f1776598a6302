"""What a wing, a room or a topic knows: the second layer."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import layers, topics
from memory_palace.core.errors import Refused
from memory_palace.core.layers import L2, Told
from memory_palace.core.links import TREE
from memory_palace.core.memories import Memory
from memory_palace.core.problems import printable
from memory_palace.core.text import did_you_mean, is_cold, nfc
from memory_palace.core.topics import CATEGORIES
from memory_palace.session import notes, wings, withheld

_TOPICS = topics.FOLDER.removeprefix(TREE).rstrip("/")
_MOST_ROOMS = 12


class Recall(NamedTuple):
    """What was asked for. ``notes`` or ``memories`` are those shown, ``more`` counts the rest."""

    text: str
    notes: tuple[Told, ...]
    memories: tuple[Memory, ...]
    more: int
    said: tuple[str, ...]


def recall(root: Path, now: datetime, wing: str, room: str | None = None) -> Recall:
    """The weightiest notes of a wing, or of a room in it; the memories of ``topics/lessons``.

    ``wing`` is a wing's name, or a room as a path below ``palace/``. Raises :class:`Refused` for
    one that is not there, with the nearest.
    """
    name = wing.strip().strip("/").removeprefix(TREE)
    if name.split("/")[0] == _TOPICS and not (root / wings.FOLDERS[0] / name).is_dir():
        return _memories(root, now, "/".join(part for part in (name, room) if part))
    folders = _folders(root, name)
    if room is not None:
        folders = _rooms(root, folders, name, room.strip().strip("/"))
    found = notes.listed(root, folders, leave_out=(topics.FOLDER,))
    told = notes.best(root, found, L2.notes)
    shown = layers.compose(told, L2, len(found) - len(told))
    rest = _rest(found, folders, shown.more)
    return Recall(layers.joined((shown.text, rest)), shown.notes, (), shown.more, found.said)


def _folders(root: Path, name: str) -> tuple[str, ...]:
    """The folders of a wing, or of a room by its path below ``palace/``."""
    wing = wings.find(root, name)
    if wing:
        return wing.folders
    if _is_room(root, TREE + name):
        return (TREE + name,)
    rooms = _every_room(root)
    if "/" in name:
        raise Refused(f"no room `{printable(name)}`{did_you_mean(name, rooms)}")
    return wings.named(root, name, [room for room in rooms if "/" not in room]).folders


def _rooms(root: Path, folders: Sequence[str], name: str, room: str) -> tuple[str, ...]:
    found = tuple(f"{folder}/{room}" for folder in folders if _is_room(root, f"{folder}/{room}"))
    if not found:
        known = [
            place.removeprefix(f"{folder}/")
            for folder in folders
            for place in _below(root, folder)
            if place != folder
        ]
        hint = did_you_mean(room, known) if known else ": it has no rooms"
        raise Refused(f"no room `{printable(room)}` in {printable(name)}{hint}")
    return found


def _is_room(root: Path, place: str) -> bool:
    parts = place.split("/")
    if any(part.startswith(".") or not part for part in parts) or is_cold(place):
        return False
    folders = [root / "/".join(parts[: n + 1]) for n in range(len(parts))]
    return folders[-1].is_dir() and not any(folder.is_symlink() for folder in folders)


def _every_room(root: Path) -> list[str]:
    top = TREE.rstrip("/")
    return [place.removeprefix(TREE) for place in _below(root, top) if place != top]


def _below(root: Path, folder: str) -> list[str]:
    """The folders that hold notes, and those above them, down from ``folder``."""
    seen = {
        "/".join(parts[:n])
        for parts in (path.split("/") for path in notes.names(root, (folder,)))
        for n in range(1, len(parts))
    }
    return sorted(place for place in seen if f"{place}/".startswith(f"{folder}/"))


def _rest(found: notes.Listed, folders: Sequence[str], more: int) -> str:
    """How many notes are left, and in which rooms."""
    if not more:
        return ""
    paths = [row.path for row in found.rows] + [one.path for one in found.told]
    rooms = Counter(layers.room(path) for path in paths)
    inner = [(place, count) for place, count in sorted(rooms.items()) if place not in folders]
    if not inner:
        return f"[{more} more: `palace query --room {printable(folders[0].removeprefix(TREE))}`]"
    listed = [f"{printable(place.removeprefix(TREE))} {count}" for place, count in inner]
    cut = [f"and {len(listed) - _MOST_ROOMS} more"] if len(listed) > _MOST_ROOMS else []
    return f"[{more} more; rooms: {', '.join([*listed[:_MOST_ROOMS], *cut])}: `palace recall ROOM`]"


def _memories(root: Path, now: datetime, name: str) -> Recall:
    """The live memories of a topic, strongest first; of all topics for the folder itself."""
    from memory_palace.memory import state

    found = withheld.without_private(state.load(root, now))
    wanted = nfc(name.removeprefix(_TOPICS).strip("/").removesuffix(".md"))
    files = {c.file.removesuffix(".md"): c.name for c in CATEGORIES.values()}
    others = {memory.path.removeprefix(topics.FOLDER).removesuffix(".md") for memory in found.live}
    if wanted and wanted not in files and wanted not in others:
        known = [f"{_TOPICS}/{name}" for name in sorted({*files, *others})]
        raise Refused(f"no topic `{printable(name)}`{did_you_mean(f'{_TOPICS}/{wanted}', known)}")
    path = f"{topics.FOLDER}{wanted}.md"
    chosen = [
        m for m in found.live if not wanted or m.path == path or m.category == files.get(wanted)
    ]
    kept = [m for m in chosen if m.lifecycle != "dropped"]
    order = list(CATEGORIES)
    kept.sort(key=lambda m: (order.index(m.category), -m.strength, m.id))
    sections: dict[str, list[str]] = {}
    for memory in kept:
        heading = CATEGORIES[memory.category].heading
        sections.setdefault(heading, [f"## {heading}"]).append(_line(memory))
    dropped = len(chosen) - len(kept)
    more = f"[{dropped} dropped: `palace topics` lists them]" if dropped else ""
    text = layers.joined("\n".join(lines) for lines in sections.values())
    return Recall(layers.joined((text, more)), (), tuple(kept), dropped, ())


def _line(memory: Memory) -> str:
    marks = "".join(f" *({mark})*" for mark in ("pinned", "enforced") if getattr(memory, mark))
    place = f"{memory.path}:{memory.line}"
    said = layers.clipped(printable(memory.text), L2.characters)
    return f"- {said}{marks} ^{memory.id} ({memory.lifecycle} {memory.strength:.2f}, {place})"
