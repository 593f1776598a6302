"""The links of one note: out of it, to it, and those that lead nowhere."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core.errors import Refused
from memory_palace.core.links import Anchors, Archived, Link, Resolver
from memory_palace.core.text import MINED, is_cold, is_mined, nearest, stem
from memory_palace.files import config as configs
from memory_palace.files import tree
from memory_palace.index import reading
from memory_palace.index.catalog import Catalog
from memory_palace.index.progress import Progress
from memory_palace.search import current, located

_SHOWN = 3


@dataclass(frozen=True, slots=True)
class Linked:
    """One link. ``path`` is the note at its other end, ``title`` what that is called, ``line`` the
    line (from 1) that the link stands in, ``text`` the link as written, without alias.

    ``status`` is ``ok``; of a link out also ``archived`` or ``file`` (no note), of one to the note
    ``broken`` if that has no such heading or block.
    """

    path: str
    title: str
    line: int
    text: str
    status: str = "ok"


@dataclass(frozen=True, slots=True)
class Broken:
    """A link that leads nowhere, or to several (``status``), why, and the notes it may mean."""

    line: int
    text: str
    status: str
    why: str
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Links:
    """All links of the note ``path``, in the order of lines (``back``: of paths, then lines).

    ``late`` says why they are as the last run of the index left them; empty if they are as the
    files are now.
    """

    path: str
    title: str
    archived: bool
    out: tuple[Linked, ...]
    back: tuple[Linked, ...]
    broken: tuple[Broken, ...]
    late: str = ""


def links(root: Path, name: str, progress: Progress | None = None) -> Links:
    """The links of the note that ``name`` names (see :func:`reading.read`).

    Raises :class:`Refused` if there is no such note, :class:`Missing` if the notes cannot be
    listed.
    """
    config = configs.load(root)
    path = located.find(root, config, name, progress).path
    with current.opened(root, config, progress) as now:
        titles = _titles(now.main) | _titles(now.below)
        if path not in titles:
            why = now.late or "it is no note, or left out of the index"
            raise Refused(f"{path} has no links that are known: {why}")
        if is_cold(path):
            others = tree.scan(root, config.exclude).others
            written = _resolved_anew(now, path, others)
        else:
            written = _stored(now.main, path)
        out = [_out(link, target, status, why, titles) for link, target, status, why in written]
        return Links(
            path=path,
            title=titles.get(path, stem(path)),
            archived=is_cold(path),
            out=tuple(one for one in out if isinstance(one, Linked)),
            back=tuple(_back(now.main, path, titles)),
            broken=tuple(one for one in out if isinstance(one, Broken)),
            late=now.late,
        )


_Written = tuple[Link, str | None, str, str]


def _titles(catalog: Catalog) -> dict[str, str]:
    return dict(catalog.db.execute(f"SELECT path, title FROM files WHERE path NOT GLOB '{MINED}*'"))


def _stored(catalog: Catalog, path: str) -> list[_Written]:
    """The links in a note as they are resolved, by line."""
    rows = catalog.db.execute(
        """SELECT l.link, l.path, l.status, l.why FROM links l
           JOIN files f ON f.id = l.file_id WHERE f.path = ? ORDER BY l.ordinal""",
        (path,),
    )
    found = [(reading.link_from_json(text), target, s, why) for text, target, s, why in rows]
    return sorted(found, key=lambda one: one[0].line)


def _resolved_anew(now: current.Current, path: str, others: Iterable[str]) -> list[_Written]:
    """The same of an archived note, whose links the index does not follow."""
    asked = "SELECT path, aliases, anchors FROM files"
    live = [row for row in now.main.db.execute(asked) if not is_mined(row[0])]
    cold = now.below.db.execute(asked).fetchall()
    anchors: dict[str, Anchors] = {p: reading.anchors_from_json(t) for p, _, t in [*live, *cold]}
    resolver = Resolver(
        {p: json.loads(aliases) for p, aliases, _ in live},
        [Archived(p, tuple(json.loads(a)), anchors[p].origin) for p, a, _ in cold],
        others,
    )
    found: list[_Written] = []
    for link, *_ in _stored(now.below, path):
        led = resolver.resolve(path, link, anchors)
        found.append((link, led.path, led.status, led.why))
    return found


def _out(
    link: Link, target: str | None, status: str, why: str, titles: Mapping[str, str]
) -> Linked | Broken:
    if status in ("broken", "ambiguous"):
        near = () if target or status == "ambiguous" else _near(link.target, titles)
        return Broken(link.line, str(link), status, why, near)
    place = target or (why if status == "archived" else link.target)
    return Linked(place, titles.get(place, ""), link.line, str(link), status)


def _near(target: str, titles: Mapping[str, str]) -> tuple[str, ...]:
    """The notes whose names are most like that of a link."""
    stems: dict[str, list[str]] = {}
    for path in titles:
        if not is_cold(path):
            stems.setdefault(stem(path).casefold(), []).append(path)
    found = nearest(stem(target).casefold(), stems)
    return tuple(sorted(stems[found])[:_SHOWN]) if found else ()


def _back(catalog: Catalog, path: str, titles: Mapping[str, str]) -> list[Linked]:
    """The links to a note in others; those to an archived one are stored under another key."""
    column = "l.status = 'archived' AND l.why" if is_cold(path) else "l.path"
    rows = catalog.db.execute(
        f"""SELECT f.path, l.link, l.status FROM links l JOIN files f ON f.id = l.file_id
            WHERE {column} = ? AND f.path != ? ORDER BY f.path, l.ordinal""",
        (path, path),
    )
    found = []
    for source, text, status in rows:
        link = reading.link_from_json(text)
        held = "broken" if status == "broken" else "ok"
        found.append(Linked(source, titles.get(source, ""), link.line, str(link), held))
    return sorted(found, key=lambda one: (one.path, one.line))
