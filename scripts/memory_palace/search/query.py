"""A question and its filters, and the filters as SQL over the catalog's files."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory_palace.core.links import TREE
from memory_palace.core.text import MINED, MINED_ROOM, did_you_mean, is_cold, is_mined
from memory_palace.files import tree

if TYPE_CHECKING:
    from memory_palace.index.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. Several values of one filter mean any of them; filters add up.

    ``rooms`` are folders below ``palace/``, whole components, rooms of mined files, or projects
    (``project:demo``). ``since`` and ``until`` are moments, inclusive, compared with the note's
    time. ``text`` may be empty if a filter is set.

    ``lex`` is the caller's keyword form of the question, ``vec`` a text to embed in its place,
    ``hyde`` a made-up answer, which is embedded too. ``lines`` asks for single lines (list items,
    turns, small sections) instead of chunks. ``diverse``, 0 to 1, is how much a hit is moved back
    for being like those before it. ``without`` leaves parts of the relevance out, to measure
    them: "dense", "keyword", "context". ``notes_only`` leaves what was observed in sessions, and
    mined files, out.

    ``facts`` asks for facts about the entities that the question names. ``as_of`` is a moment:
    later notes, and what was a fact before or after, do not count.
    """

    text: str = ""
    types: tuple[str, ...] = ()
    priorities: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    since: datetime | None = None
    until: datetime | None = None
    top_k: int = 5
    neighbors: int = 2
    raw: bool = False
    archived: bool = False
    all_chunks: bool = False
    lex: str = ""
    vec: str = ""
    hyde: str = ""
    lines: bool = False
    diverse: float = 0.0
    rerank: bool = False
    without: frozenset[str] = frozenset()
    notes_only: bool = False
    facts: bool = False
    as_of: datetime | None = None

    @property
    def latest(self) -> datetime | None:
        """The last moment that a note's time may be."""
        return min((end for end in (self.until, self.as_of) if end), default=None)

    @property
    def filtered(self) -> bool:
        return bool(
            self.types or self.priorities or self.rooms or self.tags or self.since or self.latest
        )


def where(query: Query) -> tuple[str, list[object]]:
    """A condition on the ``files`` table, with its values; ``1`` where nothing is filtered."""
    conditions: list[str] = []
    values: list[object] = []

    def any_of(condition: str, wanted: list[str]) -> None:
        """``condition`` on one of the values, called ``wanted``."""
        if wanted:
            # Renamed in a subquery: json_each has columns called `type` and `path` of its own.
            each = "SELECT value AS wanted FROM json_each(?)"
            conditions.append(f"EXISTS (SELECT 1 FROM ({each}) WHERE {condition})")
            values.append(json.dumps(wanted, ensure_ascii=False))

    any_of("wanted = type", list(query.types))
    any_of("wanted = priority", list(query.priorities))
    # No LIKE: `_` and `%` are ordinary characters of folder names.
    any_of(
        f"substr(path, 1, length(wanted)) = wanted "
        f"OR substr('{MINED_ROOM}' || room || '/', 1, length(wanted)) = wanted",
        [place for room in query.rooms for place in places_of(room)],
    )
    any_of("wanted IN (SELECT value FROM json_each(tags))", [bare_tag(tag) for tag in query.tags])
    if query.since:
        conditions.append("time >= ?")
        values.append(query.since.timestamp())
    if query.latest:
        conditions.append("time <= ?")
        values.append(query.latest.timestamp())
    if query.notes_only:
        conditions.append(f"path NOT GLOB '{tree.LEDGERS}' AND path NOT GLOB '{MINED}*'")
    return " AND ".join(conditions) or "1", values


def passes(
    query: Query,
    path: str,
    kind: str,
    priority: str | None,
    tags: tuple[str, ...],
    time: float | None,
    mined_room: str = "",
) -> bool:
    """The same filters as :func:`where`, for a note that is read from its file."""
    here = (path, f"{MINED_ROOM}{mined_room}/")
    rooms = (place for wanted in query.rooms for place in places_of(wanted))
    room = any(own.startswith(place) for place in rooms for own in here)
    return (
        (not query.types or kind in query.types)
        and (not query.priorities or priority in query.priorities)
        and (not query.rooms or room)
        and (not query.tags or any(bare_tag(tag) in tags for tag in query.tags))
        and (not query.since or (time is not None and time >= query.since.timestamp()))
        and (not query.latest or (time is not None and time <= query.latest.timestamp()))
    )


def as_asked(query: Query, now: datetime) -> datetime:
    """The moment from which ages count: ``now``, or the earlier one that ``query`` is as of."""
    return min(now, query.as_of) if query.as_of else now


def folder_of(room: str) -> str:
    """A room as the folder that its notes' paths start with; a mined project (``project:demo``) is
    one too."""
    room = room.replace("\\", "/").strip("/")
    if is_mined(room):
        return f"{room}/"
    return (room if room + "/" == TREE else TREE + room.removeprefix(TREE)) + "/"


def places_of(room: str) -> tuple[str, ...]:
    """Where files of a room are: below its folder, or mined into it (``room:backend/``)."""
    folder = folder_of(room)
    return (folder,) if is_mined(folder) else (folder, MINED_ROOM + folder.removeprefix(TREE))


def bare_tag(tag: str) -> str:
    """A tag as notes have it."""
    return tag.lstrip("#")


def unknown(query: Query, catalogs: "list[Catalog]") -> str | None:
    """Why the filters match nothing, where one of their values does not occur anywhere."""
    for name, wanted, known in (
        ("type", query.types, lambda c: c.values("type")),
        ("room", tuple(folder_of(r).removeprefix(TREE)[:-1] for r in query.rooms), rooms),
        ("tag", tuple(bare_tag(t) for t in query.tags), tags),
    ):
        there = sorted({value for catalog in catalogs for value in known(catalog)})
        for value in wanted:
            if name == "room" and is_cold(value) and not query.archived:
                return f"room `{value}` is in the archive: add --archived"
            if value not in there:
                few = f": there are {', '.join(there)}" if there else ": there are none"
                hint = few if len(there) <= 20 else did_you_mean(value, there)
                return f"no note has {name} `{value}`{hint}"
    return None


def rooms(catalog: "Catalog") -> list[str]:
    """Every folder below ``palace/`` that holds a note, and every room and project of mined files;
    parents included."""
    found: set[str] = set()
    for path, room in catalog.db.execute("SELECT path, room FROM files"):
        parts = path.removeprefix(TREE).split("/")[:-1] if path.startswith(TREE) else []
        parts = room.split("/") if room else parts
        found.update("/".join(parts[: n + 1]) for n in range(len(parts)))
        if is_mined(path) and path != MINED:
            found.add(path.partition("/")[0])
    return sorted(found)


def tags(catalog: "Catalog") -> list[str]:
    """Every tag that a note has."""
    rows = catalog.db.execute("SELECT DISTINCT value FROM files, json_each(tags)")
    return sorted(str(row[0]) for row in rows)
