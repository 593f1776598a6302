"""Draws the room map into the note of the grand hall: one block, and nothing else of the note."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_palace.core import room_names, rooms_graph, rooms_map
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.rooms_graph import Graph, Member
from memory_palace.core.rooms_map import PATH
from memory_palace.core.text import sha256
from memory_palace.files import read, roots
from memory_palace.index.progress import Progress
from memory_palace.memory import notes_text, pen
from memory_palace.search import rooms
from memory_palace.search.rooms import Rooms


@dataclass(frozen=True, slots=True)
class Drawn:
    """The map: the ``block``, the ``graph`` that it shows and the ``rooms`` it was made from.

    ``what`` is ``created``, ``edited`` or ``unchanged``, of the note as it would be before it is
    written. ``digest`` is the hex SHA-256 of the note with the block.
    """

    what: str
    block: str
    graph: Graph
    rooms: Rooms
    digest: str


def plan(root: Path, progress: Progress | None = None) -> Drawn:
    """The map as it would be drawn; nothing is written.

    Raises :class:`Refused` where the note's marks are not one start and one end.
    """
    found = rooms.rooms(root, progress)
    graph = rooms_graph.build(_members(found), found.links)
    block = rooms_map.block(graph)
    before = _text(root)
    after = rooms_map.put(before or "", block)
    what = "created" if before is None else "unchanged" if after == before else "edited"
    return Drawn(what, block, graph, found, sha256(after))


def _members(found: Rooms) -> list[Member]:
    """All members; the map's own note is one, there or not, without its time: drawing the map
    must not change what the map says."""
    where = room_names.place(PATH)
    assert where is not None
    return [*(one for one in found.members if one.path != PATH), Member(PATH, where)]


def _text(root: Path) -> str | None:
    if not roots.inside(root, PATH).exists():
        return None
    got = read.read(root, PATH)
    if isinstance(got, read.Unreadable):
        raise BadInput(f"{PATH}: {got.problem.message}")
    return got.text


def draw(
    root: Path,
    now: datetime,
    reason: str = "",
    say: Callable[[str], None] = lambda _: None,
    progress: Progress | None = None,
) -> Drawn:
    """Write the map. What the note says outside the marks stays as it is, byte for byte; without
    marks the block comes to its end, without the note it is made.

    Raises as :func:`plan` and ``pen.begin`` do.
    """
    todo = plan(root, progress)
    if todo.what == "unchanged":
        return todo
    with pen.begin(root, now, "palace map", reason, say) as held:
        before = held.read(PATH)
        if before is None:
            text = rooms_map.put("# Room map\n", todo.block)
            text, _ = notes_text.introduced(PATH, text, now, held.by)
        else:
            text = rooms_map.put(before, todo.block)
        held.put(PATH, text)
        if held.read(PATH) != text:
            raise Missing(f"{PATH} did not read back as it was written: check the disk")
        digest = sha256(text)
        base = None if before is None else sha256(before)
        if digest != base:
            held.log("noted", PATH, path=PATH, digest=digest, base=base)
    return Drawn(todo.what, todo.block, todo.graph, todo.rooms, digest)
