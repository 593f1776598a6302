"""Reads the files of mined projects where they are, by the paths that the catalog has."""

import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from memory_palace.core import mining
from memory_palace.core.diff import FileStat, Known
from memory_palace.core.errors import PalaceError
from memory_palace.core.problems import Problem
from memory_palace.core.text import digest
from memory_palace.files import local, projects, read, roots
from memory_palace.files.read import Text, Unreadable


def read_bytes(root: Path, path: str) -> tuple[bytes, FileStat] | Unreadable:
    """The bytes of ``project:<name>/<path>`` and its stat under that path."""
    parts = mining.split(path)
    try:
        folder = folders(root).get(parts[0]) if parts else None
    except PalaceError as error:
        return _unreachable(path, str(error))
    if parts is None or folder is None:
        return _unreachable(path, "its project is not on this machine")
    try:
        place = roots.inside(folder, parts[1])
        size = os.lstat(place).st_size
    except PalaceError:
        return _unreachable(path, "a symbolic link leads to it")
    except (OSError, ValueError) as error:
        return _unreachable(path, getattr(error, "strerror", None) or str(error))
    if size > mining.MOST_BYTES:
        what = f"over {mining.MOST_BYTES >> 10} KB now, left out: `palace mine` looks again"
        return Unreadable(Problem(path, None, what, "warning"), content=True)
    got = read.read_bytes(folder, parts[1], mining.MOST_BYTES, "a mined file")
    if isinstance(got, Unreadable):
        problem = Problem(path, None, got.problem.message, "warning")
        return Unreadable(problem, got.content, got.sha256)
    data, info = got
    return data, FileStat(path, info.size, info.mtime_ns, info.inode)


def read_text(root: Path, path: str) -> Text | Unreadable:
    """The text of a mined file; what is not UTF-8, and NULs, are replaced, one mark each."""
    got = read_bytes(root, path)
    if isinstance(got, Unreadable):
        return got
    data, info = got
    text = data.decode("utf-8", "replace").replace("\0", "\ufffd")
    return Text(text, digest(data), info)


def folders(root: Path) -> dict[str, Path]:
    """{project: its folder} of the projects that are on this machine.

    Raises :class:`BadInput` for a broken local.yaml.
    """
    try:
        info = os.lstat(root / local.PATH)
    except OSError:
        return {}
    known = _known(root, (info.st_size, info.st_mtime_ns, info.st_ino))
    return {name: folder for name, folder in known.items() if _is_there(folder)}


def _is_there(folder: Path) -> bool:
    """False also for a folder with nothing in it: a disk is mounted there at other times."""
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is not None
    except PermissionError:
        return True
    except (OSError, ValueError):
        return False


def is_another(folder: Path, known: Iterable[Known]) -> bool:
    """True if ``folder`` seems not to be that of the project whose files are ``known``: hardly one
    is there (see :func:`core.mining.is_another`), and none with the size it had.

    Of a folder that is the right one a few files are looked at.
    """
    there = count = 0
    for one in known:
        count += 1
        try:
            info = (folder / (mining.split(one.path) or ("", one.path))[1]).lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except (OSError, ValueError):
            return False  # it may be there
        if one.size and info.st_size == one.size:
            return False
        there += 1
    return mining.is_another(there, count)


@lru_cache(maxsize=8)
def _known(root: Path, stamp: tuple[int, int, int]) -> dict[str, Path]:
    return projects.places(root)


def _unreachable(path: str, why: str) -> Unreadable:
    return Unreadable(Problem(path, None, f"cannot be read ({why})", "warning"), content=False)
