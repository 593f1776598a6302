"""Notes as resources: ``palace://`` and the path of the note, relative to the palace's root."""

import contextlib
import sqlite3
from pathlib import Path
from urllib.parse import quote

from mcp_types import Resource

from memory_palace.core.errors import PalaceError
from memory_palace.core.fence import fenced
from memory_palace.core.links import TREE
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable
from memory_palace.core.text import is_cold
from memory_palace.files import read, roots, tree
from memory_palace.index import catalog as catalogs
from memory_palace.search import located

TEMPLATE = "palace://{+path}"
MOST_LISTED = 100
"""Notes that a client is offered, the newest ones; any other is read by its path."""

MOST_CHARACTERS = 200_000


class NoNote(PalaceError):
    """There is no such note."""


def listed(root: Path) -> list[Resource]:
    """The newest live notes, newest first."""
    return [
        Resource(
            uri=f"palace://{quote(path, safe='/')}",
            name=path,
            title=printable(title),
            mime_type="text/markdown",
        )
        for path, title in _newest(root, MOST_LISTED)
    ]


def text(root: Path, path: str) -> str:
    """The note's text, fenced as data. Raises :class:`NoNote` for what is no note below palace/,
    another :class:`PalaceError` for one that cannot be read."""
    parts = path.split("/")
    inside = path.startswith(TREE) and all(parts) and tree.is_text(path)
    if not inside or "\\" in path or any(part.startswith(".") for part in parts):
        raise NoNote(f"{printable(path)} is no path of a note: it begins with {TREE}")
    place = roots.inside(root, path)
    if not path.lower().endswith(".md") or not place.is_file():
        best = next(iter(located.nearest_notes(tree.scan(root), path, 1)), "")
        raise NoNote(f"no note {printable(path)}" + (f": did you mean {best}?" if best else ""))
    got = read.read(root, path)
    if isinstance(got, read.Unreadable):
        raise NoNote(f"{path}: {got.problem.message}")
    return fenced(hidden(got.text), "note", MOST_CHARACTERS)


def _newest(root: Path, most: int) -> list[tuple[str, str]]:
    """(path, title) of live notes: of the index, or of the files where there is none."""
    with contextlib.suppress(PalaceError, sqlite3.Error, OSError):
        folder = roots.index_folder(root)
        with catalogs.open_to_read(folder / catalogs.MAIN) as catalog:
            rows = catalog.db.execute("SELECT path, title FROM files ORDER BY time DESC, path")
            return [row for row in rows if _is_offered(row[0])][:most]
    with contextlib.suppress(PalaceError):
        found = (note for note in tree.scan(root).notes if _is_offered(note.path))
        notes = sorted(found, key=lambda note: -note.mtime_ns)
        return [(note.path, note.path.rsplit("/", 1)[-1][:-3]) for note in notes[:most]]
    return []


def _is_offered(path: str) -> bool:
    return path.startswith(TREE) and not is_cold(path) and not tree.is_ledger(path)
