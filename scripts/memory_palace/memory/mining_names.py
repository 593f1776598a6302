"""Which project a folder is: its name, and whether it may have it."""

import contextlib
import os
from pathlib import Path

from memory_palace.core import mining
from memory_palace.core.diff import Known
from memory_palace.core.errors import BadInput, PalaceError, Refused
from memory_palace.core.problems import printable
from memory_palace.core.text import did_you_mean
from memory_palace.files import mined, project_text, projects, repository, roots
from memory_palace.files.projects import Project


def at(root: Path, given: str, name: str | None = None) -> Project:
    """The project of the folder ``given``: called ``name``, else as it was mined before, else as
    its repository, with the folder's own name where it is not the top of that; else as the folder.

    Raises :class:`BadInput` if it is no folder, the whole disk or the user's home, or the name is
    none, :class:`Refused` if it lies in the palace or another folder has that name.
    """
    folder = _folder(given)
    if fault := roots.too_wide(folder):
        raise BadInput(fault)
    tops = [root, *(top for top in folder.parents if (top / roots.MARKER).is_file())]
    for own in (top / name for top in tops for name in ("palace", "manifests", roots.DERIVED)):
        if folder.is_relative_to(own):
            raise Refused(
                f"{folder} lies in {own.name}/ of the palace itself, or of another one: name a "
                "project's folder"
            )
    if name is not None and (fault := mining.name_fault(name)):
        raise BadInput(f"--name {fault}")
    places = projects.places(root)
    known = {mining.same(one.name): one.name for one in projects.every(root)}
    here = [held for held, place in places.items() if held in known.values() and _is(place, folder)]
    if here and (name is None or mining.same(name) == mining.same(here[0])):
        return Project(here[0], folder)
    if here:
        raise Refused(
            f"{folder} is mined as `{here[0]}` already: leave out --name, or run "
            f"`palace mine --forget {here[0]}` first"
        )
    wanted = name or mining.as_name(_called(folder))
    taken = known.get(mining.same(wanted))
    place = places.get(taken) if taken else None
    if taken and place is not None and _may_be_there(place) and not _is_wrong(root, taken, place):
        raise Refused(
            f"the project `{taken}` is {place}: give {folder} another name with --name, or run "
            f"`palace mine --forget {taken}` first"
        )
    return Project(taken or wanted, folder)


def alike(root: Path, project: Project) -> dict[str, Path | None]:
    """{known project that a new one may be: where it was, None for nowhere on this machine}: its
    folder is gone, and most of its files are at their places here. Empty for a known one."""
    every, places = projects.every(root), projects.places(root)
    found: dict[str, Path | None] = {}
    if project.root is None or any(one.name == project.name for one in every):
        return found
    for one in every:
        place = places.get(one.name)
        if one.root is not None or (place is not None and _may_be_there(place)):
            continue
        with contextlib.suppress(PalaceError):  # the index tells of a manifest that is none
            lines = projects.load(root, one.name).lines
            there = sum(os.path.lexists(project.root / path) for path in lines)
            if there * 2 > len(lines):
                found[one.name] = place
    return found


def _called(folder: Path) -> str:
    of = repository.name_of(str(folder))
    if not of or folder == Path(repository.top_of(str(folder))):
        return of or folder.name
    return f"{of}-{folder.name}"


def _may_be_there(place: Path) -> bool:
    try:
        return place.is_dir()
    except OSError:  # a folder above it is closed to us
        return True


def _is_wrong(root: Path, name: str, place: Path) -> bool:
    """True if the folder noted for a project seems to be another one."""
    seen = mined.load(root, name)
    sizes = {path: one.size for path, one in seen.items()}
    lines = projects.load(root, name).lines
    listed = [Known(path, sizes.get(path, 0), 0, 0, "") for path in lines]
    return project_text.is_another(place, listed)


def _is(place: Path, folder: Path) -> bool:
    # Written by hand, a place may lead through a symbolic link.
    try:
        return place == folder or place.resolve() == folder
    except (OSError, RuntimeError):
        return False


def _folder(given: str) -> Path:
    if not given.strip():
        raise BadInput("DIR is empty: name a project's folder, `.` for this one")
    try:
        folder = Path(os.path.expanduser(given)).resolve(strict=True)
        if not folder.is_dir():
            raise BadInput(f"{printable(given)} is no folder: name the folder that it is in")
    except (OSError, RuntimeError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "a loop of symbolic links"
        raise BadInput(f"{printable(given)}: {reason}: name a project's folder") from None
    return folder


def named(root: Path, name: str) -> Project:
    """A project that is known. Raises :class:`Refused` with the nearest one."""
    every = projects.every(root)
    for one in every:
        if mining.same(one.name) == mining.same(name):
            return one
    hint = did_you_mean(name, [one.name for one in every]) or ": `palace mine DIR` makes one"
    raise Refused(f"no project `{printable(name)}`{hint}")
