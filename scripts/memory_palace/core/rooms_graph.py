"""Rooms and what joins them: wings that they share and, kept apart, links between their notes.

A room that stands in two wings or more is a tunnel.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from memory_palace.core.mining import same
from memory_palace.core.room_names import GENERAL, Place

MOST = 50
"""Rooms that a walk names, its start included."""

HOPS = 2
"""How far a walk goes by default."""

Edges = Literal["wings", "links", "both"]


class Member(NamedTuple):
    """A file in a room. ``time`` is a note's, in seconds; ``mined`` files are no notes."""

    path: str
    place: Place
    time: float | None = None
    mined: bool = False


@dataclass(frozen=True, slots=True)
class Room:
    """A room: its wings, how many notes and mined files it holds, the newest note's time in
    seconds, and its folders below ``palace/``. Wings and folders are sorted."""

    name: str
    wings: tuple[str, ...]
    notes: int = 0
    files: int = 0
    newest: float | None = None
    folders: tuple[str, ...] = ()

    @property
    def joining(self) -> tuple[str, ...]:
        """The wings through which other rooms are reached: all but :data:`GENERAL`."""
        return tuple(wing for wing in self.wings if same(wing) != GENERAL)


@dataclass(frozen=True, slots=True)
class Graph:
    """``rooms`` by name, sorted. ``wings`` are the rooms of each wing, sorted. ``links`` says how
    many links from note to note join two rooms; the same from both sides."""

    rooms: Mapping[str, Room]
    wings: Mapping[str, tuple[str, ...]]
    links: Mapping[str, Mapping[str, int]]


class ByWing(NamedTuple):
    """Reached through ``wing``, in which ``room`` is one hop nearer to the start."""

    wing: str
    room: str


class ByLinks(NamedTuple):
    """Reached by ``links`` from note to note, from ``room``, one hop nearer to the start."""

    room: str
    links: int


@dataclass(frozen=True, slots=True)
class Reached:
    """A room, ``hops`` from the start, and how it is reached from rooms one hop nearer."""

    room: Room
    hops: int
    wings: tuple[ByWing, ...] = ()
    links: tuple[ByLinks, ...] = ()


@dataclass(frozen=True, slots=True)
class Walk:
    """The rooms around a start, which is the first, by distance; ``more`` are left out."""

    rooms: tuple[Reached, ...]
    more: int = 0


def build(members: Iterable[Member], links: Iterable[tuple[str, str]] = ()) -> Graph:
    """The graph of the rooms that hold ``members``; ``links`` are pairs of their paths, from and
    to. Each direction of a pair counts once; links within a room and from or to other files do
    not count."""
    room_of: dict[str, str] = {}
    wings: dict[str, set[str]] = {}
    folders: dict[str, set[str]] = {}
    notes: dict[str, int] = {}
    files: dict[str, int] = {}
    newest: dict[str, float] = {}
    members = list(members)
    room_called = _spelled(one.place.room for one in members)
    wing_called = _spelled(one.place.wing for one in members)
    for path, (said_wing, said_name, folder), time, is_mined in members:
        wing, name = wing_called[said_wing], room_called[said_name]
        room_of[path] = name
        wings.setdefault(name, set()).add(wing)
        if folder:
            folders.setdefault(name, set()).add(folder)
        counted = files if is_mined else notes
        counted[name] = counted.get(name, 0) + 1
        if time is not None:
            newest[name] = max(time, newest.get(name, time))
    rooms = {
        name: Room(
            name,
            tuple(sorted(wings[name])),
            notes.get(name, 0),
            files.get(name, 0),
            newest.get(name),
            tuple(sorted(folders.get(name, ()))),
        )
        for name in sorted(wings)
    }
    of_wing: dict[str, list[str]] = {}
    for name, room in rooms.items():
        for wing in room.wings:
            of_wing.setdefault(wing, []).append(name)
    by_wing = {wing: tuple(of_wing[wing]) for wing in sorted(of_wing)}
    return Graph(rooms, by_wing, _between(room_of, links))


def _between(
    room_of: Mapping[str, str], links: Iterable[tuple[str, str]]
) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for source, target in set(links):
        one, other = room_of.get(source), room_of.get(target)
        if one is not None and other is not None and one != other:
            for a, b in ((one, other), (other, one)):
                counts = found.setdefault(a, {})
                counts[b] = counts.get(b, 0) + 1
    return found


def _spelled(names: Iterable[str]) -> dict[str, str]:
    """Each name as it is spelled most often, for names that are the same but for case."""
    counted = Counter(names)
    best: dict[str, str] = {}
    for name in sorted(counted, key=lambda name: (-counted[name], name)):
        best.setdefault(same(name), name)
    return {name: best[same(name)] for name in counted}


def walk(graph: Graph, start: str, hops: int = HOPS, edges: Edges = "both") -> Walk:
    """The rooms at most ``hops`` from ``start``, the nearest first, then those with most links and
    shared wings, then by name; at most :data:`MOST`.

    A wing is opened once, so the walk is linear in rooms, their wings and links. Raises KeyError
    for a start that is no room: see ``rooms_near.find``.
    """
    by_wing = edges in ("wings", "both")
    links = graph.links if edges in ("links", "both") else {}
    distance = {graph.rooms[start].name: 0}
    opened: set[str] = set()
    found = [Reached(graph.rooms[start], 0)]
    frontier = [start]
    for hop in range(1, hops + 1):
        through: dict[str, ByWing] = {}
        reached: list[str] = []
        for name in frontier:
            near: list[str] = list(links.get(name, ()))
            for wing in graph.rooms[name].joining if by_wing else ():
                if wing not in opened:
                    opened.add(wing)
                    through[wing] = ByWing(wing, name)
                    near += graph.wings[wing]
            for other in near:
                if other not in distance:
                    distance[other] = hop
                    reached.append(other)
        level = [_reached(graph, name, hop, through, links, distance) for name in reached]
        level.sort(key=_nearness)
        found += level
        frontier = [one.room.name for one in level]
    return Walk(tuple(found[:MOST]), max(len(found) - MOST, 0))


def _nearness(one: Reached) -> tuple[int, int, str]:
    return -sum(by.links for by in one.links), -len(one.wings), one.room.name


def _reached(
    graph: Graph,
    name: str,
    hop: int,
    through: Mapping[str, ByWing],
    links: Mapping[str, Mapping[str, int]],
    distance: Mapping[str, int],
) -> Reached:
    room = graph.rooms[name]
    wings = tuple(through[wing] for wing in room.joining if wing in through)
    by = [
        ByLinks(other, count)
        for other, count in links.get(name, {}).items()
        if distance.get(other) == hop - 1
    ]
    return Reached(room, hop, wings, tuple(sorted(by, key=lambda one: (-one.links, one.room))))


def tunnels(graph: Graph, wings: Collection[str] = ()) -> tuple[Room, ...]:
    """The rooms that stand in two wings or more, or in all of ``wings``: those in most wings
    first, then by name. :data:`GENERAL` counts as no wing."""
    wanted = frozenset(wings)  # as the graph spells them
    found = [
        room
        for room in graph.rooms.values()
        if len(room.joining) > 1 and wanted.issubset(room.joining)
    ]
    return tuple(sorted(found, key=lambda room: (-len(room.joining), room.name)))


def size_order(room: Room) -> tuple[int, str]:
    """What rooms are sorted by, the largest first."""
    return -(room.notes + room.files), room.name
