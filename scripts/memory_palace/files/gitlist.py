"""The files of a repository as git lists them: tracked ones, and those it does not ignore."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from memory_palace.core.problems import Problem
from memory_palace.files import git

IGNORE = ".gitignore"
_SECONDS = 120.0
_LINK, _REPOSITORY = b"120000", b"160000"


class Entry(NamedTuple):
    """A path relative to what was listed; whether git knows it as a symbolic link, or as another
    repository (a submodule, or one that was put there)."""

    path: str
    link: bool = False
    repository: bool = False


def listed(folder: Path, problems: list[Problem], shown: str = ".") -> list[Entry] | None:
    """All entries at and below ``folder``, each once; None where there is no git to ask, or it
    ignores the whole folder. Where it should answer and does not, that is a problem of ``shown``.
    """
    if not git.in_repository(folder):
        return None
    tracked = _ask(folder, "--cached", "--stage")
    if tracked is not None:
        found = _entries(tracked)
        if not _would_hang(folder, found):
            others = _ask(folder, "--others", "--exclude-standard")
            if others is not None:
                return _with(folder, found, others)
    said = "git does not list its files: .gitignore files are read instead; try `git status` there"
    problems.append(Problem(shown, None, said, "warning"))
    return None


def _entries(tracked: list[bytes]) -> dict[str, Entry]:
    found = {}
    for row in tracked:
        head, _, name = row.partition(b"\t")
        mode = head.split(b" ", 1)[0]
        path = _text(name)
        found[path] = Entry(path, mode == _LINK, mode == _REPOSITORY)
    return found


def _with(folder: Path, found: dict[str, Entry], others: list[bytes]) -> list[Entry] | None:
    for name in others:
        path = _text(name.rstrip(b"/"))
        found.setdefault(path, Entry(path, repository=name.endswith(b"/")))
    if not found and git.run(folder, "check-ignore", "--quiet", ".") is not None:
        return None  # whoever names a folder that git ignores means it
    return list(found.values())


def _would_hang(folder: Path, tracked: Iterable[str]) -> bool:
    """True where git would wait for a pipe called ``.gitignore``, or one in the place of its own
    ``info/exclude``, as it opens whatever is there."""
    above = [folder]
    while not os.path.lexists(above[-1] / ".git") and above[-1] != above[-1].parent:
        above.append(above[-1].parent)
    names = {path.rpartition("/")[0] for path in tracked}
    places = (place / IGNORE for place in (*above, *(folder / n for n in names)))
    return any(map(_is_special, (above[-1] / ".git/info/exclude", *places)))


def _is_special(place: Path) -> bool:
    try:
        mode = os.lstat(place).st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))


def _ask(folder: Path, *what: str) -> list[bytes] | None:
    said = git.run(folder, "ls-files", "-z", *what, timeout=_SECONDS)
    return None if said is None else [row for row in said.split(b"\0") if row]


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
