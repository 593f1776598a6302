"""Mining: what the files of a project would be as lines of its manifest. They are only read; see
``mining_writing`` for what is written."""

import functools
import os
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from memory_palace.core import mining
from memory_palace.core.diff import FileStat
from memory_palace.core.errors import BadInput, Missing, PalaceError, Refused
from memory_palace.core.links import TREE
from memory_palace.core.mining import Line
from memory_palace.core.problems import Problem
from memory_palace.files import collect, mined, projects, roots, tree
from memory_palace.files.collect import Wanted
from memory_palace.files.config import Config
from memory_palace.files.mined import Seen
from memory_palace.files.projects import Listed, Project
from memory_palace.index.progress import Progress, Silent


@dataclass(slots=True)
class Planned:
    """What mining a project would do. ``lines`` are those that its manifest will have, by path;
    ``changed`` are files that were read before and are not as they were, ``moved`` those that
    change their room, ``kept`` those that could not be looked at. ``odd`` are paths of files that
    are not UTF-8: their other bytes count. ``taken`` counts the lines, by project, that others
    around this one lose to it. ``problems`` are those of the folder; what is wrong with the
    manifest, which an index run tells, is in ``before``. ``another`` says that the folder seems not
    to be the project's: hardly a file is at its place, and none that was read before is there or
    has moved."""

    name: str
    folder: Path
    before: Listed
    lines: list[Line] = field(default_factory=list)
    added: list[Line] = field(default_factory=list)
    changed: list[Line] = field(default_factory=list)
    moved: list[Line] = field(default_factory=list)
    removed: list[Line] = field(default_factory=list)
    kept: list[Line] = field(default_factory=list)
    skipped: dict[str, set[str]] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)
    taken: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    seen: dict[str, Seen] = field(default_factory=dict)
    another: bool = False


def plan(
    root: Path,
    project: Project,
    config: Config,
    progress: Progress | None = None,
    keep: bool = True,
) -> Planned:
    """Look at a project that is on this machine. Where that is interrupted, what was read is kept
    for the next run, unless ``keep`` is False. Raises :class:`Missing` if its folder cannot be
    listed.
    """
    top = _listable(project)
    before = projects.load(root, project.name)
    planned = Planned(project.name, top, before)
    wanted = Wanted(
        frozenset(config.extensions),
        tree.exclusion(config.mine_exclude),
        _left_out(root, project),
    )
    found = collect.collect(top, wanted)
    planned.skipped = found.skipped
    planned.problems += [
        Problem(_shown(project.name, one.path), one.line, one.message, one.grade)
        for one in found.problems
    ]
    known = mined.load(root, project.name)
    try:
        _read(top, found.files, known, planned, progress or Silent())
    except BaseException:
        if keep:
            mined.keep(root, project.name, known | planned.seen)
        raise
    _sort(root, planned, config, known, found.files)
    planned.taken = {name: len(lines) for name, _, lines in taken(root, planned)}
    return planned


def _shown(name: str, path: str) -> str:
    return name if path == "." else f"{name}/{path}"


def _listable(project: Project) -> Path:
    assert project.root is not None, project.name
    if fault := roots.too_wide(project.root):
        raise BadInput(fault)
    try:
        with os.scandir(project.root):
            return project.root
    except OSError as error:
        raise Missing(
            f"{project.name}: {project.root} cannot be listed ({error.strerror}): its lines are "
            "kept; mount or restore it"
        ) from None


def _left_out(root: Path, project: Project) -> dict[str, str]:
    """The palace's own folders, and those of projects that are mined by themselves, relative to
    the project's root."""
    top = project.root
    own = {
        folder.relative_to(top).as_posix(): "palace"
        for folder in (root / "palace", root / "manifests")
        if top is not None and folder.is_relative_to(top)
    }
    return own | dict.fromkeys(_nested(root, project).get(project.name, ()), "project")


def _nested(root: Path, project: Project) -> dict[str, dict[str, str]]:
    """Which projects lie in which (see :func:`files.projects.nested`), with this one as it is
    now."""
    others = [one for one in projects.every(root) if one.name != project.name]
    return projects.nested([*others, project])


def around(root: Path, project: Project) -> dict[str, str]:
    """{project that ``project`` lies in: its folder there}."""
    return {
        outer: folder
        for outer, folders in _nested(root, project).items()
        for folder, inner in folders.items()
        if inner == project.name
    }


def taken(root: Path, planned: Planned) -> Iterator[tuple[str, Listed, list[Line]]]:
    """Of each project around this one: its name, its manifest, and the lines that are this one's
    files."""
    for outer, folder in around(root, Project(planned.name, planned.folder)).items():
        try:
            listed = projects.load(root, outer)
        except PalaceError:
            continue  # the index tells, and holds none of them
        lines = [line for path, line in listed.lines.items() if path.startswith(f"{folder}/")]
        if lines:
            yield outer, listed, lines


def _read(
    top: Path,
    files: list[FileStat],
    known: dict[str, Seen],
    planned: Planned,
    progress: Progress,
) -> None:
    """Say of each file what it is, of one that is as it was without opening it."""
    waiting = []
    for file in files:
        seen = known.get(file.path)
        if seen is not None and seen.holds(file):
            planned.seen[file.path] = seen
        else:
            waiting.append(file)
    progress.start("files", len(waiting))
    try:
        for file in waiting:
            planned.seen[file.path] = mined.look(top, file, time.time_ns())
            progress.advance(1)
    finally:
        progress.stop()


def _sort(
    root: Path, planned: Planned, config: Config, known: dict[str, Seen], files: list[FileStat]
) -> None:
    """Sort files and lines into what is added, changed, removed and kept."""
    room = _rooms(root, planned.name, config)
    before = planned.before.lines
    lines: dict[str, Line] = {}
    for file in files:
        seen, old = planned.seen[file.path], before.get(file.path)
        if seen.what == mined.UNREADABLE and old is not None:
            continue  # kept, below
        if seen.what in (mined.BINARY, mined.UNREADABLE):
            planned.skipped.setdefault(seen.what, set()).add(file.path)
            continue
        priority = old.priority if old else mining.PRIORITY
        line = Line(file.path, mining.kind(file.path), room(file.path), priority)
        lines[file.path] = line
        if seen.what == mined.REPLACED:
            planned.odd.append(file.path)
        last = known.get(file.path)
        if old is None:
            planned.added.append(line)
        elif old.room != line.room:
            planned.moved.append(line)
        elif last is not None and not last.is_like(file):
            planned.changed.append(line)
    folders = collect.Folders(planned.folder)
    for path, old in sorted(before.items()):
        if path in lines:
            continue
        if _may_be_there(planned, folders, path):
            lines[path] = old
            planned.kept.append(old)
        else:
            planned.removed.append(old)
    if unreadable := planned.skipped.pop("unreadable", set()) - lines.keys():
        planned.skipped["unreadable"] = unreadable
    planned.lines = [lines[path] for path in sorted(lines)]
    planned.another = _is_another(planned, known)


def _is_another(planned: Planned, known: dict[str, Seen]) -> bool:
    before = planned.before.lines
    if not mining.is_another(len(before) - len(planned.removed), len(before)):
        return False
    return _traces(planned.seen, planned.seen).isdisjoint(_traces(before, known))


def _traces(paths: Iterable[str], seen: dict[str, Seen]) -> set[tuple[str, int]]:
    """Name and size of each file that is not empty: it keeps both where its folder moves."""
    read = ((path, seen[path].size) for path in paths if path in seen)
    return {(path.rpartition("/")[2], size) for path, size in read if size}


def _may_be_there(planned: Planned, folders: collect.Folders, path: str) -> bool:
    """True for a file that could not be looked at: it is not deleted."""
    seen = planned.seen.get(path)
    if seen is not None and seen.what == mined.UNREADABLE:
        return True
    return path in planned.skipped.get("unreadable", ()) or folders.reason(path) == "unreadable"


def _rooms(root: Path, name: str, config: Config) -> Callable[[str], str]:
    matching = {}
    for named, patterns in config.rooms.items():
        spec = tree.exclusion(patterns)
        matching[named] = spec.match_file if spec else _never
    names = (*_folders(root / f"{TREE}project_rooms/{name}"), *matching)

    @functools.cache
    def by_name(folder: str) -> str:
        return mining.room(f"{folder}/x" if folder else "x", {}, names)

    def room(path: str) -> str:
        found = next((name for name, fits in matching.items() if fits(path)), None)
        return found or by_name(path.rpartition("/")[0])

    return room


def _never(path: str) -> bool:
    return False


def _folders(place: Path) -> list[str]:
    try:
        with os.scandir(place) as entries:
            found = [e.name for e in entries if e.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return sorted(name for name in found if not name.startswith("."))


def guard(planned: Planned) -> None:
    """Raises :class:`Refused` if the folder seems to be another one than the project's: then a
    person should say so first. In the right one any number of files may be gone."""
    if planned.another:
        raise Refused(
            f"{planned.name}: {len(planned.removed)} of {len(planned.before.lines)} files are gone "
            f"from {planned.folder}, which seems to be another folder: if that is meant, add "
            "--yes; else mount or restore them, or name its own folder: "
            f"`palace mine DIR --name {planned.name}`. Its lines are kept"
        )


def check(planned: Planned) -> None:
    """Raises :class:`Refused` if there is nothing to mine; a project that is known may be empty,
    where an inner one has all of its files, say."""
    if not planned.lines and planned.before.raw is None:
        raise Refused(
            f"{planned.folder} has no file to mine: name another folder, or add extensions "
            "under `mine:` in palace.yaml"
        )
