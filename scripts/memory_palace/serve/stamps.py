"""Cheap marks of what a server has in memory: when one changes, that is read again."""

import contextlib
import os
import sqlite3
import sys
from collections.abc import Iterable
from pathlib import Path

import memory_palace
from memory_palace.embed import bge_m3
from memory_palace.files import config as configs
from memory_palace.files.config import Config
from memory_palace.index import catalog as catalogs
from memory_palace.index.catalog import Catalog

Stamp = tuple[object, ...]
_LIBRARY = Path(memory_palace.__file__).parent
# Logs of a catalog change while it is read; what they hold is seen by the catalog's own counter.
_SIDES = ("-wal", "-shm", "-journal", ".lock", ".json")


def of(path: Path) -> Stamp:
    """Which file it is, and its state; empty if it is not there."""
    try:
        info = path.stat()
    except OSError:
        return ()
    return (info.st_dev, info.st_ino, info.st_size, info.st_mtime_ns)


def identity(path: Path) -> Stamp:
    """Which file or folder it is, whatever its state; empty if it is not there."""
    return of(path)[:2]


def code() -> Stamp:
    """The toolkit's modules, and the folders that packages are installed in."""
    found = [of(path) for path in sorted(_LIBRARY.rglob("*.py"))]
    found += [of(Path(folder)) for folder in sys.path if folder.startswith(sys.prefix)]
    return (memory_palace.__version__, *found)


def settings(root: Path) -> Stamp:
    """The palace's configuration and the user's."""
    return (of(root / "palace.yaml"), of(configs.user_file(os.environ)))


def models(config: Config) -> Stamp:
    """The model files that the user names, and which weights the hub's cache has."""
    folders = list(config.models.values())
    cached = None
    with contextlib.suppress(OSError):
        cached = bge_m3.find(None)
        folders += [cached.folder] if cached else []
    return (str(cached), *(of(path) for folder in folders for path in _files(folder)))


def _files(folder: Path) -> Iterable[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return ()


def index(folder: Path) -> Stamp:
    """The index's files. Raises OSError if there are none."""
    with os.scandir(folder) as entries:
        names = [e.name for e in entries if not e.name.startswith(".")]
    return tuple((n, of(folder / n)) for n in sorted(names) if not n.endswith(_SIDES))


class Commits:
    """Tells of every commit to the catalogs in a folder, whoever makes it.

    A searcher's own connection stays in the transaction that it reads, so it sees none.
    """

    def __init__(self, folder: Path) -> None:
        """Raises :class:`Missing` if there is no usable index."""
        self._catalogs: list[Catalog] = [catalogs.open_to_read(folder / catalogs.MAIN)]
        with contextlib.suppress(catalogs.Damaged):
            self._catalogs.append(catalogs.open_to_read(folder / catalogs.BASEMENT))

    def stamp(self) -> Stamp:
        """Another one after each commit. Raises sqlite3.Error."""
        versions = (one.db.execute("PRAGMA data_version") for one in self._catalogs)
        return tuple(version.fetchone()[0] for version in versions)

    def generation(self) -> str:
        """The generation of the vectors; empty if it cannot be read."""
        with contextlib.suppress(sqlite3.Error):
            return self._catalogs[0].meta("generation")
        return ""

    def close(self) -> None:
        for one in self._catalogs:
            one.close()
