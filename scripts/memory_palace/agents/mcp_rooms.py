"""The tools of ``--tools all`` that walk from room to room."""

from typing import Annotated, Literal

from pydantic import BaseModel, Field

from memory_palace.agents import mcp_texts
from memory_palace.agents.mcp_desk import Desk
from memory_palace.agents.mcp_schema import Said
from memory_palace.core import rooms_graph
from memory_palace.core.fence import fenced
from memory_palace.core.problems import printable
from memory_palace.core.rooms_graph import Reached, Room

MOST_HOPS = 50
MOST_SHOWN = 40_000


class Place(BaseModel):
    """A room: its wings, its folders below palace/, how many notes and mined files it holds, and
    how many hops it is from the start."""

    room: str
    wings: list[str]
    folders: list[str]
    notes: int
    files: int
    hops: int


class Walked(Said):
    """What `traverse` and `tunnels` answer; ``more`` rooms are left out."""

    rooms: list[Place]
    more: int


class Rooms:
    """The tools; see the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def traverse(
        self,
        room: Annotated[str, Field(description="A room's name, its folder, or WING/ROOM.")],
        hops: Annotated[
            int, Field(ge=1, le=MOST_HOPS, description="How far from it.")
        ] = rooms_graph.HOPS,
        edges: Annotated[
            Literal["wings", "links", "both"],
            Field(description="What joins rooms: shared wings, links between notes."),
        ] = "both",
    ) -> Walked:
        """The rooms that can be reached from a room by wings or links, nearest first, the start
        with 0 hops; at most 50.

        Raises :class:`Refused` for a room that is not there, with at most five that may be meant.
        """
        from memory_palace.search import rooms

        walk, found = rooms.traverse(self._desk.root, room, hops, edges)
        lines = [f"{one.hops}  {_head(one.room)}{_way(one)}" for one in walk.rooms]
        said = [f"{walk.more} more rooms: ask for fewer `hops`"] if walk.more else []
        said += [] if walk.more or len(walk.rooms) > 1 else ["no other room is reached"]
        said += [mcp_texts.told(f"rooms {found.late}")] if found.late else []
        said += [mcp_texts.told(str(problem)) for problem in found.problems[:5]]
        return Walked(
            text="\n".join([fenced("\n".join(lines), "rooms", MOST_SHOWN), *said]),
            rooms=[_place(one.room, one.hops) for one in walk.rooms],
            more=walk.more,
        )

    def tunnels(
        self,
        wings: Annotated[
            list[str], Field(max_length=2, description="Only rooms of these two; none: of any.")
        ] = [],  # noqa: B006
    ) -> Walked:
        """The rooms that two wings or more share, or the two named ones; in most wings first, at
        most 50.

        Raises :class:`BadInput` unless none or two are named, :class:`Refused` for an unknown one.
        """
        from memory_palace.search import rooms

        shared, found = rooms.tunnels(self._desk.root, wings)
        shown = shared[: rooms_graph.MOST]
        more = len(shared) - len(shown)
        said = [f"{more} more rooms: name two wings"] if more else []
        said += [mcp_texts.told(f"rooms {found.late}")] if found.late else []
        said += [mcp_texts.told(str(problem)) for problem in found.problems[:5]]
        text = fenced("\n".join(map(_head, shown)), "rooms", MOST_SHOWN)
        return Walked(
            text="\n".join([text or "no room is shared", *said]),
            rooms=[_place(room, 0) for room in shown],
            more=more,
        )


def _head(room: Room) -> str:
    files = f", {room.files} files" if room.files else ""
    return printable(f"{room.name}  ({', '.join(room.wings)}; {room.notes} notes{files})")


def _way(one: Reached) -> str:
    ways = [f"wing {by.wing} from {by.room}" for by in one.wings]
    ways += [f"{by.links} links from {by.room}" for by in one.links]
    return printable(f"  by {', '.join(ways)}") if ways else ""


def _place(room: Room, hops: int) -> Place:
    return Place(
        room=room.name,
        wings=list(room.wings),
        folders=list(room.folders),
        notes=room.notes,
        files=room.files,
        hops=hops,
    )
