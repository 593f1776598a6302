"""Wings: the projects and agents that a palace knows something of, and the one that is at hand."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from memory_palace.core.archiving import WINGS
from memory_palace.core.errors import Refused
from memory_palace.core.links import TREE
from memory_palace.core.problems import printable
from memory_palace.core.text import did_you_mean, nfc

FOLDERS = tuple(f"{TREE}{name}" for name in WINGS)
"""Where wings stand: projects, then agents."""


class Wing(NamedTuple):
    """A wing and its folders: a project and an agent may have one name."""

    name: str
    folders: tuple[str, ...]


def every(root: Path) -> tuple[Wing, ...]:
    """All wings, projects first, each by name."""
    found: dict[str, list[str]] = {}
    for folder in FOLDERS:
        for name in sorted(_folders_in(root / folder)):
            found.setdefault(name, []).append(f"{folder}/{name}")
    return tuple(Wing(name, tuple(folders)) for name, folders in found.items())


def _folders_in(place: Path) -> list[str]:
    try:
        with os.scandir(place) as entries:
            return [
                entry.name
                for entry in entries
                if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []


def find(root: Path, name: str) -> Wing | None:
    """The wing ``name``, compared without case where it is not there as written."""
    return _match(every(root), name.strip().strip("/"))


def named(root: Path, name: str, others: Iterable[str] = ()) -> Wing:
    """As :func:`find`. Raises :class:`Refused` with the nearest wing, or one of ``others``."""
    found = find(root, name)
    if found is None:
        known = [*(wing.name for wing in every(root)), *others]
        hint = did_you_mean(name, known) or ": a folder in palace/project_rooms/ makes one"
        raise Refused(f"no wing `{printable(name)}`{hint}")
    return found


def at(root: Path, cwd: Path | None) -> Wing | None:
    """The wing of the repository that ``cwd`` is in, if there is one of that name."""
    name = repository(cwd) if cwd else ""
    return _match(every(root), name) if name else None


def repository(cwd: Path) -> str:
    """The name of the repository that ``cwd`` is in: of its main worktree, whatever worktree this
    is; empty where there is none."""
    for top in (cwd, *cwd.parents):
        marker = top / ".git"
        try:
            if marker.is_dir():
                return top.name
            if marker.is_file():
                from memory_palace.files import git  # asks git, only in a linked worktree

                tops = git.worktrees(top)
                return (tops[1] if tops else top).name
        except OSError:
            return ""
    return ""


def _match(wings: tuple[Wing, ...], name: str) -> Wing | None:
    for same in (nfc, lambda text: nfc(text).casefold()):
        for wing in wings:
            if same(wing.name) == same(name):
                return wing
    return None
