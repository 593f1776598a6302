"""What the rooms of a palace are called, and the wings that they stand in.

A room is a name. Below a project or an agent it is the first folder, so that one name may stand in
several wings. Everything else belongs to the wing :data:`GENERAL`, which joins nothing. Names are
compared as those of mined projects are: without case, in one form of Unicode.
"""

from collections.abc import Iterator
from typing import NamedTuple

from memory_palace.core.archiving import WINGS
from memory_palace.core.links import TREE
from memory_palace.core.mining import GENERAL as NO_ROOM
from memory_palace.core.mining import same
from memory_palace.core.text import nfc

GENERAL = "general"
"""The wing of what no project and no agent owns."""

OWN = frozenset({NO_ROOM, "sessions", "diary", "ledger"})
"""Folders that every wing may have: such a room is its wing's own and called ``wing/name``."""


class Place(NamedTuple):
    """Where a file stands: its wing, its room's name, and that room's folder below ``palace/``
    (empty of a mined file)."""

    wing: str
    room: str
    folder: str = ""


def place(path: str) -> Place | None:
    """Where the note ``path`` (from the root) stands; None for a file outside the palace."""
    if not path.startswith(TREE):
        return None
    parts = path[len(TREE) :].split("/")[:-1]
    if len(parts) < 2 or parts[0] not in WINGS:
        folder = "/".join(parts[:2])
        return Place(GENERAL, nfc(folder) or TREE.rstrip("/"), folder)
    wing = nfc(parts[1])
    room = nfc(parts[2]) if len(parts) > 2 else wing
    return Place(wing, named(wing, room), "/".join(parts[:3]))


def mined(wing: str, room: str) -> Place:
    """The same of a file of a mined project."""
    wing = nfc(wing)
    return Place(wing, named(wing, nfc(room.strip("/")) or NO_ROOM))


def named(wing: str, room: str) -> str:
    """What the room of a wing is called."""
    return f"{wing}/{room}" if same(room) in OWN else room


def meanings(plain: str) -> Iterator[Place]:
    """The rooms that ``plain`` may name: a room (in any wing, which is empty), a folder below
    ``palace/``, ``wing/room``."""
    yield Place("", plain)
    below = place(f"{TREE}{plain.removeprefix(TREE)}/x")
    if below is not None and "/" in plain:
        yield below
    wing, _, room = plain.partition("/")
    if room and wing not in WINGS:
        yield mined(wing, room)
