"""The rooms of a palace as its files are now: what joins them, what is near one, what is shared."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core import mining, room_names, rooms_graph, rooms_near
from memory_palace.core.errors import BadInput, Missing, Refused
from memory_palace.core.problems import Problem, printable
from memory_palace.core.rooms_graph import Edges, Graph, Member, Room, Walk
from memory_palace.core.text import did_you_mean
from memory_palace.files import config as configs
from memory_palace.files import projects, tree
from memory_palace.index.progress import Progress
from memory_palace.search import current


@dataclass(frozen=True, slots=True)
class Rooms:
    """All rooms. ``members`` and ``links`` are what ``graph`` was built from; ``late`` says why
    notes are as the last run of the index left them, empty if they are as the files are now;
    ``problems`` are manifest lines of mined projects that could not be read."""

    graph: Graph
    members: tuple[Member, ...]
    links: tuple[tuple[str, str], ...]
    late: str = ""
    problems: tuple[Problem, ...] = ()


def rooms(root: Path, progress: Progress | None = None) -> Rooms:
    """The rooms of all live notes and mined files. Ledgers are no notes.

    Raises :class:`Missing` if the notes cannot be listed.
    """
    config = configs.load(root)
    with current.opened(root, config, progress) as now:
        notes = now.main.db.execute("SELECT path, time FROM files ORDER BY path").fetchall()
        links = now.main.db.execute(
            """SELECT DISTINCT f.path, l.path FROM links l JOIN files f ON f.id = l.file_id
               WHERE l.path IS NOT NULL AND l.path != f.path ORDER BY f.path, l.path"""
        ).fetchall()
        late = now.late
    members = [
        Member(path, where, time)
        for path, time in notes
        if (where := room_names.place(path)) is not None and not tree.is_ledger(path)
    ]
    if late:  # what is gone since is not told of
        members = [one for one in members if os.path.isfile(root / one.path)]
    problems: list[Problem] = []
    members += _mined(root, problems)
    return Rooms(
        rooms_graph.build(members, links), tuple(members), tuple(links), late, tuple(problems)
    )


def _mined(root: Path, problems: list[Problem]) -> Iterator[Member]:
    """The files of mined projects, by the lines of their manifests."""
    for project in projects.every(root):
        try:
            listed = projects.load(root, project.name)
        except (BadInput, Missing) as error:  # the other projects still count
            path = projects.manifest_path(project.name)
            problems.append(Problem(path, None, str(error).removeprefix(f"{path}: ")))
            continue
        problems += listed.problems
        places: dict[str, room_names.Place] = {}
        for line in listed.lines.values():
            if line.room not in places:
                places[line.room] = room_names.mined(project.name, line.room)
            path = mining.catalog_path(project.name, line.path)
            yield Member(path, places[line.room], mined=True)


def traverse(
    root: Path,
    start: str,
    hops: int = rooms_graph.HOPS,
    edges: Edges = "both",
    progress: Progress | None = None,
) -> tuple[Walk, Rooms]:
    """The rooms around ``start``: a room's name, a folder, or ``wing/room``.

    Raises :class:`Refused` with at most five suggestions where there is no such room.
    """
    if not start.strip().strip("/"):
        raise BadInput("no room is named: give its name or its folder, as in project_rooms/demo")
    found = rooms(root, progress)
    name = rooms_near.find(found.graph, start)
    if name is None:
        raise Refused(f"no room `{printable(start)}`{_hint(found.graph, start)}")
    return rooms_graph.walk(found.graph, name, hops, edges), found


def _hint(graph: Graph, start: str) -> str:
    near = rooms_near.suggest(graph, start)
    last = mining.same(start.strip().strip("/").rpartition("/")[2])
    if near and any(mining.same(wing) == last for wing in graph.wings):
        return f": it is a wing, whose largest rooms are {_listed(near, ' and ')}"
    if near:
        return f": did you mean {_listed(near, ' or ')}?"
    known = rooms_near.largest(graph)
    if known:
        return f": the largest are {_listed(known, ' and ')}"
    return ": there are no rooms yet, since there are no notes"


def _listed(names: Sequence[str], last: str) -> str:
    shown = [f"`{printable(name)}`" for name in names]
    return last.join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


def tunnels(
    root: Path, wings: Sequence[str] = (), progress: Progress | None = None
) -> tuple[tuple[Room, ...], Rooms]:
    """The rooms that two wings or more share, or that the two named ``wings`` do.

    Raises :class:`BadInput` unless none or two are named, :class:`Refused` for a wing that has no
    rooms.
    """
    if len(wings) not in (0, 2):
        raise BadInput("name two wings, or none for all: a tunnel leads from one to another")
    found = rooms(root, progress)
    wanted = [_wing(found.graph, wing) for wing in wings]
    if len(wanted) == 2 and wanted[0] == wanted[1]:
        raise BadInput(f"{printable(wanted[0])} is named twice: name two wings")
    return rooms_graph.tunnels(found.graph, wanted), found


def _wing(graph: Graph, said: str) -> str:
    plain = mining.same(said.strip().strip("/").rpartition("/")[2])
    if plain == room_names.GENERAL:
        raise Refused("`general` is what no project or agent owns: it shares no rooms")
    known = {mining.same(wing): wing for wing in graph.wings}
    known.pop(room_names.GENERAL, None)
    if plain in known:
        return known[plain]
    hint = did_you_mean(plain, known.values()) or ": there is none yet; a project or agent is one"
    raise Refused(f"no wing `{printable(said)}`{hint}")
