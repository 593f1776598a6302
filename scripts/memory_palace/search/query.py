"""A question and its filters, and the filters as SQL over the catalog's files."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from memory_palace.core.links import TREE
from memory_palace.core.text import did_you_mean
from memory_palace.index.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Query:
    """What is asked. Several values of one filter mean any of them; filters add up.

    ``rooms`` are folders below ``palace/``, whole components. ``since`` and ``until`` are
    moments, inclusive, compared with the note's time. ``text`` may be empty if a filter is set.
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

    @property
    def filtered(self) -> bool:
        return bool(
            self.types or self.priorities or self.rooms or self.tags or self.since or self.until
        )


def where(query: Query) -> tuple[str, list[object]]:
    """A condition on the ``files`` table, with its values; ``1`` where nothing is filtered."""
    conditions: list[str] = []
    values: list[object] = []

    def any_of(
        condition: str, wanted: tuple[str, ...], *spellings: Callable[[str], object]
    ) -> None:
        if wanted:
            conditions.append("(" + " OR ".join([condition] * len(wanted)) + ")")
            values.extend(spell(word) for word in wanted for spell in spellings)

    any_of("type = ?", query.types, str)
    any_of("priority = ?", query.priorities, str)
    # No LIKE: `_` and `%` are ordinary characters of folder names.
    any_of("substr(path, 1, ?) = ?", query.rooms, lambda r: len(_room(r)), _room)
    any_of("EXISTS (SELECT 1 FROM json_each(tags) WHERE value = ?)", query.tags, _tag)
    if query.since:
        conditions.append("time >= ?")
        values.append(query.since.timestamp())
    if query.until:
        conditions.append("time <= ?")
        values.append(query.until.timestamp())
    return " AND ".join(conditions) or "1", values


def _room(room: str) -> str:
    room = room.replace("\\", "/").strip("/")
    return (room if room + "/" == TREE else TREE + room.removeprefix(TREE)) + "/"


def _tag(tag: str) -> str:
    return tag.lstrip("#")


def unknown(query: Query, catalogs: list[Catalog]) -> str | None:
    """Why the filters match nothing, where one of their values does not occur anywhere."""
    for name, wanted, known in (
        ("type", query.types, lambda c: c.values("type")),
        ("room", tuple(_room(r)[len(TREE) : -1] for r in query.rooms), rooms),
        ("tag", tuple(_tag(t) for t in query.tags), tags),
    ):
        there = sorted({value for catalog in catalogs for value in known(catalog)})
        for value in wanted:
            if value and value not in there:
                few = f": there are {', '.join(there)}" if there else ": there are none"
                hint = few if len(there) <= 20 else did_you_mean(value, there)
                return f"no note has {name} `{value}`{hint}"
    return None


def rooms(catalog: Catalog) -> list[str]:
    """Every folder below ``palace/`` that holds a note, parents included."""
    found: set[str] = set()
    for (path,) in catalog.db.execute("SELECT path FROM files"):
        parts = path.removeprefix(TREE).split("/")[:-1] if path.startswith(TREE) else []
        found.update("/".join(parts[: n + 1]) for n in range(len(parts)))
    return sorted(found)


def tags(catalog: Catalog) -> list[str]:
    """Every tag that a note has."""
    rows = catalog.db.execute("SELECT DISTINCT value FROM files, json_each(tags)")
    return sorted(str(row[0]) for row in rows)
