"""How rooms are printed by ``palace traverse`` and ``palace tunnels``."""

from typing import Any

from memory_palace.cli.common import count, report, say
from memory_palace.core import dates
from memory_palace.core.problems import printable
from memory_palace.core.rooms_graph import Reached, Room
from memory_palace.core.rooms_map import day
from memory_palace.search.rooms import Rooms

_SHOWN = 3


def head(room: Room) -> str:
    """A room in a few words: its name, its wings, how much it holds, its newest day."""
    held = [count(room.notes, "note")] if room.notes or not room.files else []
    held += [count(room.files, "mined file")] if room.files else []
    held += [day(room)] if room.newest is not None else []
    wings = "no wing" if not room.joining else f"in {_few(list(room.joining))}"
    return f"{printable(room.name)}  ({wings}; {', '.join(held)})"


def way(reached: Reached) -> str:
    """How a room is reached from rooms one hop nearer."""
    ways = [f"wing {by.wing} with {by.room}" for by in reached.wings[:_SHOWN]]
    ways += [f"{count(by.links, 'link')} with {by.room}" for by in reached.links[:_SHOWN]]
    more = len(reached.wings) + len(reached.links) - len(ways)
    return printable("; ".join(ways) + (f"; {count(more, 'more way')}" if more > 0 else ""))


def record(room: Room) -> dict[str, Any]:
    """A room as one JSON object."""
    newest = None if room.newest is None else dates.stamp(dates.from_seconds(room.newest))
    return {
        "room": room.name,
        "wings": list(room.wings),
        "notes": room.notes,
        "files": room.files,
        "newest": newest,
        "folders": list(room.folders),
    }


def faults(found: Rooms) -> bool:
    """Say what keeps the rooms from being as the files are; True if files are at fault."""
    if found.late:
        say(f"rooms {found.late}")
    return report(found.problems)


def _few(names: list[str]) -> str:
    more = len(names) - _SHOWN
    return printable(", ".join(names[:_SHOWN]) + (f" and {more} more" if more > 0 else ""))
