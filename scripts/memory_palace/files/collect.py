"""Which files of a project there are: as git lists them, or by its ``.gitignore`` files.

Nothing is read here but ignore rules, and no symbolic link is followed.
"""

import os
import stat
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core import mining
from memory_palace.core.diff import FileStat
from memory_palace.core.problems import Problem
from memory_palace.files import gitlist, ignores, roots
from memory_palace.files.gitlist import Entry
from memory_palace.files.read import file_stat
from memory_palace.files.tree import is_text

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


@dataclass(slots=True)
class Collected:
    """What was seen. ``files`` may be mined as far as name and stat tell, by path; ``skipped`` has
    the paths left out by reason (see :data:`core.mining.SKIPPED`)."""

    files: list[FileStat] = field(default_factory=list)
    skipped: dict[str, set[str]] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def skip(self, reason: str, path: str) -> None:
        """Note that ``path`` is left out."""
        self.skipped.setdefault(reason, set()).add(path)


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is asked for: ``more`` extensions, patterns that are excluded, and folders that are
    left out, relative to the top: {folder: reason}."""

    more: frozenset[str] = frozenset()
    exclude: "GitIgnoreSpec | None" = None
    leave: dict[str, str] = field(default_factory=dict)


def collect(top: Path, wanted: Wanted) -> Collected:
    """The files below ``top`` that count. ``top`` has to be a folder that can be listed."""
    found = Collected()
    entries = {entry.path: entry for entry in _listed(top, "", found)}
    leave = wanted.leave | _palaces(entries)
    folders = Folders(top)
    files: dict[str, FileStat] = {}
    for path, entry in entries.items():
        reason = _by_name(path, wanted, leave, found)
        if reason is None:
            reason = "link" if entry.link else folders.reason(path)
        if reason is None:
            reason = _by_stat(top, path, files)
        if reason:
            found.skip(reason, path)
    for path, why in folders.unlisted.items():
        found.problems.append(Problem(path, None, ignores.UNLISTED.format(why)))
    found.files = _once(top, files, found)
    return found


def _listed(top: Path, folder: str, found: Collected) -> Iterator[Entry]:
    """The entries of ``folder`` (relative, with a slash at its end, or empty) and below."""
    by_git = gitlist.listed(top / folder, found.problems, folder.rstrip("/") or ".")
    if by_git is None:
        for entry in ignores.walk(top, folder, found.problems):
            if entry.repository:
                yield from _listed(top, f"{entry.path}/", found)
            else:
                yield entry
        return
    for entry in by_git:
        path = folder + entry.path
        if not entry.repository:
            yield Entry(path, entry.link)
        elif mining.pruned(f"{path}/"):
            found.skip("folder", mining.pruned(f"{path}/"))
        elif _is_repository(top / path):
            yield from _listed(top, f"{path}/", found)
        elif os.path.lexists(top / path):
            found.skip("repository", path)


def _is_repository(place: Path) -> bool:
    # Where it is not checked out, git would answer for the repository around it.
    return not place.is_symlink() and os.path.lexists(place / ".git")


def _palaces(paths: Collection[str]) -> dict[str, str]:
    """The folders of palaces below the top: what they hold is indexed there, or not ours."""
    ending = f"/{roots.MARKER}"
    tops = [path[: -len(ending)] for path in paths if path.endswith(ending)]
    inner = [f"{top}/" for top in tops] + ([""] if roots.MARKER in paths else [])
    return {f"{top}{name}": "palace" for top in inner for name in ("palace", "manifests")}


def _by_name(path: str, wanted: Wanted, leave: dict[str, str], found: Collected) -> str | None:
    """Why a file is left out, as its path tells; empty if that was counted with its folder."""
    if not is_text(path) or mining.leaves(path.removesuffix("/")):  # a folder has a slash
        return "name"
    for folder in mining.above(path) if leave else ():
        if folder in leave:
            found.skip(leave[folder], folder)
            return ""
    if folder := mining.pruned(path):
        found.skip("folder", folder)
        return ""
    if not mining.is_wanted(path, wanted.more):
        return "kind"
    if wanted.exclude and wanted.exclude.match_file(path):
        return "excluded"
    return None


def _by_stat(top: Path, path: str, files: dict[str, FileStat]) -> str:
    """Why a file is left out, as its stat tells; else it is put among ``files``."""
    try:
        info = os.lstat(f"{top}/{path}")
    except (FileNotFoundError, NotADirectoryError):
        return ""  # git still lists it, and it is gone
    except OSError:
        return "unreadable"
    if stat.S_ISLNK(info.st_mode):
        return "link"
    if not stat.S_ISREG(info.st_mode):
        return "special"
    if info.st_size > mining.MOST_BYTES:
        return "size"
    files[path] = file_stat(path, info)
    return ""


class Folders:
    """What is known of the folders below ``top``, each asked for once."""

    def __init__(self, top: Path) -> None:
        self._top = top
        self._known: dict[str, str] = {}
        self.unlisted: dict[str, str] = {}
        """{folder that is there and cannot be listed: why}."""

    def reason(self, path: str) -> str | None:
        """Why the folders of ``path`` leave it out: ``link``, ``unreadable``, or empty where one
        is gone; None if they do not."""
        folder = path.rpartition("/")[0]
        state = self._state(folder) if folder else "listed"
        return None if state == "listed" else "" if state == "gone" else state

    def _state(self, folder: str) -> str:
        """``listed``, ``link``, ``gone`` or ``unreadable``."""
        if folder not in self._known:
            state = "listed"
            for one in (*mining.above(folder), folder):
                if one not in self._known:
                    self._known[one] = self._look(one) if state == "listed" else state
                state = self._known[one]
        return self._known[folder]

    def _look(self, folder: str) -> str:
        place = self._top / folder
        try:
            mode = os.lstat(place).st_mode
            if stat.S_ISLNK(mode):
                return "link"
            if not stat.S_ISDIR(mode):
                return "gone"
            with os.scandir(place):
                return "listed"
        except FileNotFoundError:
            return "gone"
        except OSError as error:
            self.unlisted[folder] = error.strerror or str(error)
            return "unreadable"


def _once(top: Path, files: dict[str, FileStat], found: Collected) -> list[FileStat]:
    """The files by path; of two spellings of one file on a disk that ignores case, the one that
    its folder has."""
    spelled: dict[str, list[str]] = {}
    for path in files:
        spelled.setdefault(mining.same(path), []).append(path)
    for paths in spelled.values():
        inodes = {files[path].inode for path in paths}
        if len(paths) == 1 or len(inodes) > 1 or 0 in inodes:
            continue
        there = [path for path in paths if _is_spelled(top, path)] or paths[:1]
        for path in set(paths).difference(there):
            found.skip("twice", path)
            del files[path]
    return [files[path] for path in sorted(files)]


def _is_spelled(top: Path, path: str) -> bool:
    """True if every folder on the way lists the next part as ``path`` writes it."""
    place = top
    for part in path.split("/"):
        try:
            if part not in os.listdir(place):
                return False
        except OSError:
            return False
        place = place / part
    return True
