"""What goes to the archive, where it goes, and how its metadata says where it came from."""

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal

from memory_palace.core import dates, frontmatter
from memory_palace.core import strength as strengths
from memory_palace.core.links import TREE
from memory_palace.core.text import COLD_COMPONENT, is_cold

if TYPE_CHECKING:  # the index reads notes with this module, and knows no memories
    from memory_palace.core.memories import Memory

BASEMENT = f"{TREE}{COLD_COMPONENT}/"
KEYS = ("archived", "archived_from", "archived_reason")
SMALLEST_ROOM = 4
"""In a smaller room a quarter is nothing to speak of."""

Kind = Literal["topic", "entry", "note"]
WINGS = ("project_rooms", "chambers")
"""Rooms that hold wings: each folder in these is a room of its own."""


@dataclass(frozen=True, slots=True)
class Planned:
    """One move into the archive: a topic file with all its entries, one entry, or a note.

    ``id`` is the entry's id, of others the path ``source``; ``target`` is a path in the archive,
    which may be there already: entries join it. ``half`` is True of a file that lies there
    already and lacks the record of it. ``days`` count since the last reinforcement and
    ``strength`` is the greatest (both None of a note).
    """

    kind: Kind
    id: str
    source: str
    target: str
    reason: str
    entries: tuple["Memory", ...] = ()
    days: float | None = None
    strength: float | None = None
    half: bool = False


@dataclass(frozen=True, slots=True)
class Sweep:
    """A room that would lose more than a quarter of what it has (``things``: entries, notes)."""

    room: str
    gone: int
    of: int
    things: str

    def __str__(self) -> str:
        return f"{self.gone} of {self.of} {self.things} in {TREE}{self.room}"


def place(path: str) -> str:
    """Where ``path``, a note below ``palace/``, goes in the archive."""
    return BASEMENT + path.removeprefix(TREE)


def mirrored(path: str) -> str:
    """The live place that an archived path mirrors."""
    return path.replace(f"/{COLD_COMPONENT}/", "/", 1)


def origin(path: str, metadata: Mapping[str, Any]) -> str:
    """Where the archived note at ``path`` came from: its ``archived_from``, if that is a place of
    a live note, else the mirrored place."""
    said = metadata.get("archived_from")
    return said if isinstance(said, str) and is_live(said) else mirrored(path)


def is_live(path: str) -> bool:
    """True if ``path`` can be that of a live note: below ``palace/``, no way around, no archive."""
    parts = path.split("/")
    if not path.startswith(TREE) or not path.lower().endswith(".md") or is_cold(path):
        return False
    return "\\" not in path and path.isprintable() and not any(p[:1] in ("", ".") for p in parts)


def free_name(path: str, taken: Callable[[str], bool]) -> str:
    """``path``, or the first of ``name-2.md``, ``name-3.md`` … that is not taken."""
    stem, dot, ending = path.rpartition(".")
    found, number = path, 1
    while taken(found):
        number += 1
        found = f"{stem}-{number}{dot}{ending}"
    return found


def stamped(text: str, day: str, came_from: str, reason: str) -> str:
    """``text`` with the archive's three keys. Raises :class:`BadInput` on broken metadata."""
    values = dict(zip(KEYS, (day, came_from, reason), strict=True))
    block = frontmatter.split(text)
    if block.present and not block.source:
        # An empty block of the note's own: the keys in this order say that it is to stay.
        values = {key: values[key] for key in (KEYS[1], KEYS[0], KEYS[2])}
    return frontmatter.change(text, values)


def unstamped(text: str) -> str:
    """What :func:`stamped` was given: without the keys, and without a block that it made."""
    first = next((e.key for e in frontmatter.split(text).entries or () if e.key in KEYS), "")
    bare = frontmatter.change(text, dict.fromkeys(KEYS))
    block = frontmatter.split(bare)
    if first != KEYS[0] or not block.present or block.source:
        return bare
    return bare[: len(bare) - len(bare.removeprefix("\ufeff"))] + bare[block.body_at :]


def is_stamped(text: str) -> bool:
    """True if the metadata says that this is archived, or cannot be read."""
    entries = frontmatter.split(text).entries
    return entries is None or any(e.key == KEYS[0] and e.value is not None for e in entries)


def cold(live: Iterable["Memory"], at: datetime) -> list[Planned]:
    """What is cold at ``at``: whole topic files, and single entries of those that are not.

    A topic is cold when nothing in it is pinned or enforced, and the newest reinforcement in it
    is older than two of its longest half-lives; what is forgotten does not count for it. Ordered
    by path and line.
    """
    topics: dict[str, list[Memory]] = defaultdict(list)
    for memory in live:
        topics[memory.path].append(memory)
    found = []
    for path, memories in sorted(topics.items()):
        memories.sort(key=lambda m: m.line)
        if _is_cold(memories, at):
            found.append(whole(path, memories, at))
        else:
            found += [single(memory, at) for memory in memories if memory.is_cold(at)]
    return found


def _is_cold(memories: Collection["Memory"], at: datetime) -> bool:
    counted = [memory for memory in memories if not memory.forgotten]
    if not counted or any(memory.safe for memory in memories):
        return False
    newest = min(memory.days(at) for memory in counted)
    return strengths.is_cold(newest, max(memory.half_life for memory in counted))


def whole(path: str, memories: Collection["Memory"], at: datetime, reason: str = "") -> Planned:
    """The move of a topic file with its entries."""
    days = min((memory.days(at) for memory in memories), default=None)
    strongest = max((memory.strength for memory in memories), default=None)
    reason = reason or f"nothing in it reinforced for {days or 0:.0f} days"
    return Planned("topic", path, path, place(path), reason, tuple(memories), days, strongest)


def single(memory: "Memory", at: datetime, reason: str = "") -> Planned:
    """The move of one entry into the archived file of its topic."""
    days = memory.days(at)
    reason = reason or ("forgotten" if memory.forgotten else f"not reinforced for {days:.0f} days")
    return Planned(
        "entry",
        memory.id,
        memory.path,
        place(memory.path),
        reason,
        (memory,),
        days,
        memory.strength,
    )


def room(path: str) -> str:
    """The room that a live path lies in, without ``palace/``: ``topics``, ``chambers/pi``."""
    parts = path.removeprefix(TREE).split("/")[:-1]
    return "/".join(parts[: 2 if parts[:1] and parts[0] in WINGS else 1])


def sweeps(plan: Iterable[Planned], entries: int, notes: Mapping[str, int]) -> tuple[Sweep, ...]:
    """The rooms that would lose more than a quarter.

    ``entries`` is how many the topics have, ``notes`` how many each :func:`room` has, all live.
    """
    gone: dict[str, int] = defaultdict(int)
    leaving = 0
    for item in plan:
        if item.half:
            continue
        if item.kind == "note":
            gone[room(item.source)] += 1
        else:
            leaving += len(item.entries)
    found = [Sweep("topics", leaving, entries, "entries")]
    found += [Sweep(name, number, notes.get(name, 0), "notes") for name, number in gone.items()]
    return tuple(s for s in found if s.of >= SMALLEST_ROOM and s.gone * 4 > s.of)


def day(moment: datetime) -> str:
    """The day that the archive's ``archived`` key holds, in UTC."""
    return dates.stamp(moment)[:10]
