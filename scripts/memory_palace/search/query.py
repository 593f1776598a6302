"""A question and its filters, and the filters as SQL over the catalog's files."""

import json
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from memory_palace.core.links import TREE
from memory_palace.core.text import did_you_mean, is_cold
from memory_palace.files import tree

if TYPE_CHECKING:
    from memory_palace.index.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. Several values of one filter mean any of them; filters add up.

    ``rooms`` are folders below ``palace/``, whole components. ``since`` and ``until`` are
    moments, inclusive, compared with the note's time. ``text`` may be empty if a filter is set.

    ``lex`` is the caller's keyword form of the question, ``vec`` a text to embed in its place,
    ``hyde`` a made-up answer, which is embedded too. ``lines`` asks for single lines (list items,
    turns, small sections) instead of chunks. ``diverse``, 0 to 1, is how much a hit is moved back
    for being like those before it. ``without`` leaves parts of the relevance out, to measure
    them: "dense", "keyword", "context". ``notes_only`` leaves what was observed in sessions out.
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

    @property
    def filtered(self) -> bool:
        return bool(
            self.types or self.priorities or self.rooms or self.tags or self.since or self.until
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
    any_of("substr(path, 1, length(wanted)) = wanted", [folder_of(room) for room in query.rooms])
    any_of("wanted IN (SELECT value FROM json_each(tags))", [bare_tag(tag) for tag in query.tags])
    if query.since:
        conditions.append("time >= ?")
        values.append(query.since.timestamp())
    if query.until:
        conditions.append("time <= ?")
        values.append(query.until.timestamp())
    if query.notes_only:
        conditions.append(f"path NOT GLOB '{tree.LEDGERS}'")
    return " AND ".join(conditions) or "1", values


def passes(
    query: Query,
    path: str,
    kind: str,
    priority: str | None,
    tags: tuple[str, ...],
    time: float | None,
) -> bool:
    """The same filters as :func:`where`, for a note that is read from its file."""
    room = any(path.startswith(folder_of(wanted)) for wanted in query.rooms)
    return (
        (not query.types or kind in query.types)
        and (not query.priorities or priority in query.priorities)
        and (not query.rooms or room)
        and (not query.tags or any(bare_tag(tag) in tags for tag in query.tags))
        and (not query.since or (time is not None and time >= query.since.timestamp()))
        and (not query.until or (time is not None and time <= query.until.timestamp()))
    )


def folder_of(room: str) -> str:
    """A room as the folder that its notes' paths start with."""
    room = room.replace("\\", "/").strip("/")
    return (room if room + "/" == TREE else TREE + room.removeprefix(TREE)) + "/"


def bare_tag(tag: str) -> str:
    """A tag as notes have it."""
    return tag.lstrip("#")


def unknown(query: Query, catalogs: "list[Catalog]") -> str | None:
    """Why the filters match nothing, where one of their values does not occur anywhere."""
    for name, wanted, known in (
        ("type", query.types, lambda c: c.values("type")),
        ("room", tuple(folder_of(r)[len(TREE) : -1] for r in query.rooms), rooms),
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
    """Every folder below ``palace/`` that holds a note, parents included."""
    found: set[str] = set()
    for (path,) in catalog.db.execute("SELECT path FROM files"):
        parts = path.removeprefix(TREE).split("/")[:-1] if path.startswith(TREE) else []
        found.update("/".join(parts[: n + 1]) for n in range(len(parts)))
    return sorted(found)


def tags(catalog: "Catalog") -> list[str]:
    """Every tag that a note has."""
    rows = catalog.db.execute("SELECT DISTINCT value FROM files, json_each(tags)")
    return sorted(str(row[0]) for row in rows)
