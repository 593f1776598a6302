"""Mined projects: ``manifests/projects/<name>.jsonl``, a line a file, relative to the project's
root; where that root is on this machine says ``.palace/local.yaml``."""

import contextlib
import os
import posixpath
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from memory_palace.core import mining
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.kinds import PRIORITIES
from memory_palace.core.mining import Line
from memory_palace.core.problems import Problem
from memory_palace.files import atomic, jsonl, local, read, roots
from memory_palace.files.tree import is_text

FOLDER = "manifests/projects"
MOST_BYTES = 256 * 1024 * 1024
_ENDING = ".jsonl"
_LONGEST_ROOM = 255


@dataclass(frozen=True, slots=True)
class Project:
    """A mined project. ``root`` is its folder, None where it is not on this machine."""

    name: str
    root: Path | None


@dataclass(slots=True)
class Listed:
    """A project's manifest as read: lines by path in their order, those that name no file, what
    is wrong, and the bytes (None: there is no such file)."""

    lines: dict[str, Line] = field(default_factory=dict)
    data: dict[str, dict[str, Any]] = field(default_factory=dict)
    odd: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    raw: bytes | None = None


def manifest_path(name: str) -> str:
    """Where a project's lines are, relative to the palace's root."""
    return f"{FOLDER}/{name}{_ENDING}"


def every(root: Path) -> list[Project]:
    """All projects of the palace, by name. Raises :class:`BadInput` for a broken local.yaml."""
    names = _names(root)
    if not names:
        return []
    known = places(root)
    return [Project(name, _there(known.get(name))) for name in names]


def places(root: Path) -> dict[str, Path]:
    """{project: its folder, there or not}, as ``.palace/local.yaml`` has it."""
    return local.places(root)


def nested(every: Iterable[Project]) -> dict[str, dict[str, str]]:
    """{project: {folder in it: the project whose root that is}}, of those that hold others: what
    lies there is the inner one's alone."""
    tops = {one.name: _real(one.root) for one in every if one.root is not None}
    found: dict[str, dict[str, str]] = {}
    for name, top in tops.items():
        for inner, place in tops.items():
            if place != top and place.startswith(top):
                found.setdefault(name, {})[place[len(top) : -1]] = inner
    return found


def _real(folder: Path) -> str:
    # Written by hand, a place may lead through a symbolic link.
    with contextlib.suppress(OSError, RuntimeError):
        folder = folder.resolve()
    return f"{folder.as_posix()}/"


def listed(root: Path, name: str) -> list[Line]:
    """The files of a project by path; without those whose line is wrong (see :func:`load`)."""
    return [line for _, line in sorted(load(root, name).lines.items())]


def place(root: Path, path: str) -> Path | None:
    """Where the file ``project:<name>/<path>`` is; None if its project is not on this machine.

    For one file: of many, join :attr:`Project.root` and the path. The file itself may be gone.
    Raises :class:`BadInput` if ``path`` leaves the project, also by a symbolic link.
    """
    parts = mining.split(path)
    if parts is None or mining.leaves(parts[1]):
        raise BadInput(f"{path} is no file of a project: write project:NAME/PATH")
    folder = _there(places(root).get(parts[0]))
    return None if folder is None else roots.inside(folder, parts[1])


def state(root: Path) -> str:
    """The manifests by name, size and time: as it was, they say what they said. Empty without
    any."""
    found = []
    with contextlib.suppress(OSError), os.scandir(root / FOLDER) as entries:
        for entry in entries:
            if entry.name.endswith(_ENDING):
                info = entry.stat(follow_symlinks=False)
                found.append(f"{entry.name}:{info.st_size}:{info.st_mtime_ns}")
    return "/".join(sorted(found))


def load(root: Path, name: str) -> Listed:
    """A project's manifest. Raises :class:`BadInput`, :class:`Missing` if it cannot be read."""
    path = manifest_path(name)
    if not os.path.lexists(roots.inside(root, path)):
        return Listed()
    got = read.read_bytes(root, path, MOST_BYTES, "a manifest")
    if isinstance(got, read.Unreadable):
        raise (BadInput if got.content else Missing)(f"{path}: {got.problem.message}")
    lines, problems = jsonl.parse(path, got[0].decode("utf-8", "surrogateescape"))
    found = Listed(problems=problems, raw=got[0])
    for line in lines:
        fault = "" if line.data is None else _fault(line.data)
        if line.data is None or fault:
            found.odd.append(line.raw)
            if fault:
                problems.append(Problem(path, line.number, fault))
            continue
        # Two branches that git merged may both name a file: the first line counts.
        data = found.data.get(line.data["path"])
        if data is None:
            found.data[line.data["path"]] = line.data
            found.lines[line.data["path"]] = _line(line.data)
    return found


def dump(listed: Listed, lines: Iterable[Line]) -> bytes:
    """The manifest's bytes with these lines, by path; what people added to a line stays, and so
    do lines that cannot be read."""
    rows = []
    for line in sorted(lines, key=lambda line: line.path):
        data = {**listed.data.get(line.path, {})}
        data |= {"path": line.path, "type": line.type, "room": line.room}
        data["priority"] = line.priority
        rows.append(jsonl.dump(data))
    text = "".join(row + "\n" for row in [*rows, *listed.odd])
    return text.encode("utf-8", "surrogateescape")


def save(root: Path, name: str, listed: Listed, lines: Iterable[Line]) -> bool:
    """Write a project's manifest where it differs; True if it did.

    For whoever holds the memory's lock. Raises :class:`Changed` if it moved on.
    """
    data = dump(listed, lines)
    if data == listed.raw:
        return False
    target = roots.inside(root, manifest_path(name))
    atomic.tidy(target)
    atomic.write(target, data, expected=listed.raw)
    return True


def remove(root: Path, name: str) -> str:
    """Remove a project's manifest; its path. For whoever holds the memory's lock."""
    path = manifest_path(name)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(roots.inside(root, path))
    return path


def _names(root: Path) -> list[str]:
    try:
        with os.scandir(roots.inside(root, FOLDER)) as entries:
            names = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Missing(f"{FOLDER} cannot be listed ({error.strerror}): mend it") from None
    stems = [name.removesuffix(_ENDING) for name in names if name.endswith(_ENDING)]
    return sorted(stem for stem in stems if not mining.name_fault(stem))


def _there(folder: Path | None) -> Path | None:
    try:
        return folder if folder is not None and folder.is_dir() else None
    except OSError:
        return None


def _line(data: dict[str, Any]) -> Line:
    path, kind, room, priority = (data.get(key) for key in ("path", "type", "room", "priority"))
    assert isinstance(path, str)
    return Line(
        path,
        kind if kind in ("code", "document") else mining.kind(path),
        room if _is_room(room) else mining.room(path, {}),
        priority if priority in PRIORITIES else mining.PRIORITY,
    )


def _is_room(room: object) -> TypeGuard[str]:
    """True for what a folder could be called: no line makes the others' output unreadable."""
    return isinstance(room, str) and 0 < len(room) <= _LONGEST_ROOM and is_text(room)


def _fault(data: dict[str, Any]) -> str:
    path = data.get("path")
    if not isinstance(path, str) or not path:
        return "has no `path`: add one, relative to the project, or remove the line"
    if not is_text(path) or mining.leaves(path) or posixpath.normpath(path) != path:
        return f"path {path!r} is none in the project: remove the line"
    if mining.pruned(path):
        return f"path {path!r} lies in a folder that is never mined: remove the line"
    return ""
