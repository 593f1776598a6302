"""Is what the index says still what the files say?"""

import contextlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core.diff import Known
from memory_palace.core.errors import Missing, PalaceError
from memory_palace.core.links import TREE
from memory_palace.core.text import MINED, is_mined
from memory_palace.files import read, tree
from memory_palace.files.config import Config
from memory_palace.index.catalog import Catalog, ChunkRow

if TYPE_CHECKING:
    from memory_palace.index.reading import Parsed


def changed_files(root: Path, config: Config, catalog: Catalog) -> int:
    """How many files differ from the catalog by their stat: new, changed and gone.

    A tree that cannot be read counts as 0: nothing is known to have changed.
    """
    try:
        seen = tree.scan(root, config.exclude)
    except Missing:
        return 0
    known = catalog.known()
    then = {k.path: (k.size, k.mtime_ns) for k in known if k.path.startswith(TREE)}
    # A copied palace has other inodes; that alone is no change worth a line.
    now = {f.path: (f.size, f.mtime_ns) for f in [*seen.notes, *seen.ledgers]}
    new = len(now.keys() - then.keys())
    edited = sum(now[path] != then[path] for path in now.keys() & then.keys())
    others = [
        k
        for k in known
        if k.path not in now and not is_mined(k.path) and not seen.may_be_there(k.path)
    ]
    left_out = set(seen.excluded)
    gone = sum(k.path in left_out or _moved_on(root / k.path, k) for k in others)
    lines = changed_lines(root, catalog, known)
    mined = changed_mined(root, [one for one in known if one.path not in lines])
    return new + edited + gone + len(lines) + mined


def changed_lines(root: Path, catalog: Catalog, known: list[Known]) -> set[str]:
    """The mined files whose lines have come, gone or changed in the projects' manifests since the
    index was made. While all manifests are as they were then, none is read."""
    from memory_palace.files import projects

    if projects.state(root) == catalog.meta("projects"):
        return set()
    from memory_palace.index.projects import look

    now = look(root)
    now.set_aside(known)
    there = {file.path for file in now.files}
    asked = "SELECT path, type, priority, room FROM files WHERE path GLOB ?"
    rows = {path: tuple(said) for path, *said in catalog.db.execute(asked, (f"{MINED}*",))}
    found = {one.path for one in known if is_mined(one.path)}
    found = {path for path in found - now.lines.keys() if not now.may_be_there(path)}
    for path, line in now.lines.items():
        if path in rows:
            changed = rows[path] != (line.type, line.priority, line.room)
        else:
            changed = path in there
        if changed:
            found.add(path)
    return found


def changed_mined(root: Path, known: list[Known]) -> int:
    """How many mined files among the ``known`` differ by their stat; those of projects that are
    elsewhere do not."""
    known = [one for one in known if is_mined(one.path)]
    if not known:
        return 0
    from memory_palace.core import mining
    from memory_palace.files import project_text

    try:
        folders = project_text.folders(root)
    except PalaceError:
        return 0  # the run says what is wrong
    rows: dict[str, list[tuple[str, Known]]] = {}
    for one in known:
        if parts := mining.split(one.path):
            rows.setdefault(parts[0], []).append((parts[1], one))
    found = 0
    for name, of_project in rows.items():
        folder = folders.get(name)
        if folder is None:
            continue
        differ = sum(_moved_on(folder / path, one) for path, one in of_project)
        if differ and not project_text.is_another(folder, [one for _, one in of_project]):
            found += differ
    return found


def _moved_on(place: Path, known: Known) -> bool:
    try:
        info = place.lstat()
    except PermissionError:
        return not is_mined(known.path)  # a mined file that is closed to us stays as it was
    except OSError:
        return True
    now = read.file_stat(known.path, info)
    return (now.size, now.mtime_ns) != (known.size, known.mtime_ns)


class Checker:
    """Compares chunks with their files, each file read once. ``stale`` collects changed paths;
    those of them that are ``away`` belong to mined projects that are not on this machine, and
    ``closed`` are mined files that this user may not read: both stay in the index."""

    def __init__(self, root: Path, catalog: Catalog) -> None:
        """``catalog`` tells which files a mined project has."""
        self._root = root
        self._catalog = catalog
        self._here: dict[str, bool] = {}
        self._files: dict[str, tuple[str, Parsed | None] | None] = {}
        self.stale: set[str] = set()
        self.away: set[str] = set()
        self.closed: set[str] = set()

    def unchanged(self, path: str, sha256: str) -> bool:
        """True if the file's bytes have this hash."""
        if path not in self._files:
            self._files[path] = self._read(path, sha256)
        found = self._files[path]
        same = found is not None and found[0] == sha256
        if not same and is_mined(path):
            if not self._is_here(path):
                self._files[path] = None
                self.away.add(path)
            elif found is None and _is_closed(self._root, path):
                self.closed.add(path)
        if not same:
            self.stale.add(path)
        return same

    def has_changed(self, path: str) -> bool:
        """True if the file was looked at and is not as the index knows it."""
        return path in self.stale

    def as_it_is(self, path: str) -> "Parsed | None":
        """The changed file ``path`` as it reads now; None if it cannot be read."""
        found = self._files.get(path)
        return found[1] if found else None

    def _is_here(self, path: str) -> bool:
        """True if the project of a mined file is on this machine."""
        name = path[len(MINED) :].partition("/")[0]
        if name not in self._here:
            from memory_palace.files import project_text, projects

            here = False
            with contextlib.suppress(PalaceError):
                folder = project_text.folders(self._root).get(name)
                rows = self._catalog.known(f"{MINED}{name}/")
                here = folder is not None
                if folder and project_text.is_another(folder, rows):
                    # The catalog of an answer from elsewhere has a few files only.
                    paths = projects.load(self._root, name).lines
                    listed = [Known(f"{MINED}{name}/{path}", 0, 0, 0, "") for path in paths]
                    here = not project_text.is_another(folder, listed)
            self._here[name] = here
        return self._here[name]

    def _read(self, path: str, sha256: str) -> "tuple[str, Parsed | None] | None":
        if tree.is_ledger(path):
            from memory_palace.files import observed

            got = observed.read_text(self._root, path)
        else:
            got = read.read(self._root, path)
        if isinstance(got, read.Unreadable):
            return None
        if got.sha256 == sha256:
            return got.sha256, None
        from memory_palace.index import reading  # the Markdown parser, for changed files only

        return got.sha256, reading.parse(path, got)


def find(parsed: "Parsed", chunk_id: str, heading: tuple[str, ...], text: str) -> ChunkRow | None:
    """The chunk in a changed file that has this text (under this heading if it can be), else the
    one that has its place; None if both are gone."""
    same = [row for row in parsed.chunks if row.text == text and text]
    same.sort(key=lambda row: row.heading != heading)
    return next(iter([*same, *(row for row in parsed.chunks if row.chunk_id == chunk_id)]), None)


def _is_closed(root: Path, path: str) -> bool:
    """True if a mined file may be there and its permissions keep us from reading it."""
    from memory_palace.files import projects

    try:
        place = projects.place(root, path)
        return place is not None and bool(place.lstat()) and not os.access(place, os.R_OK)
    except PermissionError:
        return True
    except (PalaceError, OSError):
        return False
