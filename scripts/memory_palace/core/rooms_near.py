"""Which room is meant by what a person or an agent writes, and which ones may be."""

import difflib
from collections.abc import Iterable

from memory_palace.core.mining import same
from memory_palace.core.room_names import Place, meanings
from memory_palace.core.rooms_graph import Graph, Room, size_order
from memory_palace.core.text import nfc

SUGGESTED = 5
_LONGEST_NAME = 200  # compared with others letter by letter
_ALIKE = 0.5


def find(graph: Graph, said: str) -> str | None:
    """The name of the room that ``said`` means, None if there is none: a name, a folder
    (``palace/`` may be left out) or ``wing/room``, in any case. A wing that is named must have
    the room."""
    called = {same(name): name for name in graph.rooms}
    plain = nfc(said).replace("\\", "/").strip().strip("/")
    for meant in (Place("", said), *meanings(plain)):
        name = called.get(same(meant.room))
        if name is not None and (not meant.wing or _stands(graph.rooms[name], meant.wing)):
            return name
    return None


def _stands(room: Room, wing: str) -> bool:
    return same(wing) in map(same, room.wings)


def suggest(graph: Graph, said: str, most: int = SUGGESTED) -> tuple[str, ...]:
    """Rooms that may be meant: those of the wing of that name, those that the name is a part of,
    those that are spelled much like it."""
    word = same(said.strip().strip("/")[:_LONGEST_NAME])
    last = word.rpartition("/")[2]
    spelled: dict[str, list[str]] = {}
    for name in graph.rooms:
        for form in {same(name), same(name).rpartition("/")[2]}:
            spelled.setdefault(form, []).append(name)
    found: dict[str, None] = {}
    if last:
        for wing, names in graph.wings.items():
            if same(wing) == last:
                found |= dict.fromkeys(_largest(graph, names)[:most])
        parts = [name for name in graph.rooms if last in same(name)]
        found |= dict.fromkeys(sorted(parts, key=lambda name: (len(name), name))[:most])
        if len(found) < most:
            for form in difflib.get_close_matches(last, spelled, n=most, cutoff=_ALIKE):
                found |= dict.fromkeys(spelled[form])
    return tuple(found)[:most]


def largest(graph: Graph, most: int = SUGGESTED) -> tuple[str, ...]:
    """The rooms that hold most, where none is like what was said."""
    return tuple(_largest(graph, graph.rooms)[:most])


def _largest(graph: Graph, names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: size_order(graph.rooms[name]))
