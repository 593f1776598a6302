"""Mined projects as the index sees them: their files on this machine, and what the catalog stores
of each.

The manifests say which files there are; here each costs one stat. What cannot be looked at stays
as it was: a project that is not on this machine, a folder that is closed to us.
"""

import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from memory_palace.core import chunk, code_chunks, links, mining
from memory_palace.core.code_chunks import CodeChunk
from memory_palace.core.diff import FileStat, Known
from memory_palace.core.errors import PalaceError
from memory_palace.core.links import TREE
from memory_palace.core.mining import Line
from memory_palace.core.note import Note
from memory_palace.core.problems import Problem
from memory_palace.core.text import is_mined
from memory_palace.files import project_text, projects, read
from memory_palace.files.manifest import Said
from memory_palace.files.read import Text
from memory_palace.index import reading
from memory_palace.index.catalog import ChunkRow
from memory_palace.index.reading import Parsed


@dataclass(slots=True)
class Mined:
    """The mined files as they are now.

    ``files`` by path; ``lines`` what the manifests say of each listed file; ``folders`` where the
    projects are. ``away`` are projects whose files cannot be looked at, ``closed`` single files:
    both stay as they were, and all do if ``unlisted``: which projects there are cannot be said.
    ``state`` is that of the manifests (see :func:`files.projects.state`), ``notes`` are lines for
    a person.
    """

    files: list[FileStat] = field(default_factory=list)
    lines: dict[str, Line] = field(default_factory=dict)
    folders: dict[str, Path] = field(default_factory=dict)
    away: set[str] = field(default_factory=set)
    closed: set[str] = field(default_factory=set)
    unlisted: bool = False
    state: str = ""
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def may_be_there(self, path: str) -> bool:
        """True for a mined file that was not seen, yet cannot be said to be gone."""
        return is_mined(path) and (self.unlisted or scope(path) in self.away or path in self.closed)

    def set_aside(self, known: Iterable[Known]) -> None:
        """Put projects away whose folder is another one, judged by the files ``known`` that their
        manifests list."""
        rows: dict[str, list[Known]] = defaultdict(list)
        for one in known:
            if one.path in self.lines:
                rows[scope(one.path)].append(one)
        for name, folder in list(self.folders.items()):
            if not project_text.is_another(folder, rows[name]):
                continue
            self.away.add(name)
            del self.folders[name]
            self.files = [file for file in self.files if scope(file.path) != name]
            self.notes.append(
                _not_here(name, f"has hardly a file in {folder}, which seems to be another folder")
            )


def scope(path: str) -> str:
    """The project that a catalog's path belongs to; empty for the palace's own files."""
    parts = mining.split(path)
    return parts[0] if parts else ""


def look(root: Path) -> Mined:
    """Every file that a project's manifest lists, by one stat each. What lies in the folder of
    another project is that one's, so that no file is there twice."""
    found = Mined(state=projects.state(root))
    try:
        every = projects.every(root)
    except PalaceError as error:
        # Nothing is known of where they are, so nothing of them is gone.
        found.unlisted = True
        found.problems.append(Problem(projects.FOLDER, None, str(error)))
        return found
    nested = projects.nested(every)
    for project in every:
        try:
            listed = projects.load(root, project.name)
        except PalaceError as error:
            found.away.add(project.name)
            found.problems.append(Problem(projects.manifest_path(project.name), None, str(error)))
            continue
        found.problems += listed.problems
        if listed.odd and not listed.lines:
            found.away.add(project.name)  # damaged: which files it had cannot be said
            continue
        inner = nested.get(project.name, {})
        paths = {
            mining.catalog_path(project.name, path): path
            for path in listed.lines
            if not inner or inner.keys().isdisjoint(mining.above(path))
        }
        found.lines |= {long: listed.lines[path] for long, path in paths.items()}
        why = _away(project.root)
        if project.root is None or (why and paths):
            found.away.add(project.name)
            found.notes.append(_not_here(project.name, why))
            continue
        found.folders[project.name] = project.root
        _see(root, project.root, paths, found)
    found.files.sort(key=lambda file: file.path)
    return found


def _away(folder: Path | None) -> str:
    """Why nothing of a project can be looked at; empty if it can.

    A folder with nothing in it is where a disk is mounted at other times: not its files' end.
    """
    if folder is None:
        return "is not on this machine"
    try:
        with os.scandir(folder) as entries:
            return "" if next(entries, None) else f"has an empty folder ({folder})"
    except OSError:
        return f"cannot be read ({folder})"


def _not_here(name: str, why: str) -> str:
    return (
        f"project {name} {why}: its files are kept as they were; "
        f"`palace mine DIR --name {name}` says where it is"
    )


def _see(root: Path, top: Path, paths: Mapping[str, str], found: Mined) -> None:
    """Look at each listed file of the project at ``top``."""
    own = f"{root.resolve().as_posix()}/{TREE}"
    real = top.resolve().as_posix()
    folders: dict[str, bool] = {"": True}  # a link on the way could lead out of the project
    for long, path in paths.items():
        if f"{real}/{path}".startswith(own):
            continue  # a note of this palace is one row, its own
        try:
            if not _is_plain(top, path.rpartition("/")[0], folders):
                continue
            info = (top / path).lstat()
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            if not found.closed or not found.notes:
                found.notes.append(
                    f"{long} cannot be looked at ({error.strerror}), nor may others: they are "
                    "kept as they were; check the permissions"
                )
            found.closed.add(long)
            continue
        if stat.S_ISREG(info.st_mode):
            found.files.append(read.file_stat(long, info))


def _is_plain(top: Path, folder: str, known: dict[str, bool]) -> bool:
    """True if no part of ``folder`` is a symbolic link."""
    if folder not in known:
        plain = True
        for one in (*mining.above(folder), folder):
            if one not in known:
                known[one] = plain and not stat.S_ISLNK((top / one).lstat().st_mode)
            plain = known[one]
    return known[folder]


# -- what the catalog stores ------------------------------------------------------------------


def parse(path: str, text: Text) -> Parsed:
    """Parse ``text``, read from the mined file at ``path``: prose as notes are, without what notes
    say of themselves, all else as code."""
    name, inner = mining.split(path) or ("", path)
    if mining.kind(inner) == "document":
        rows = _document(path, name, inner, text.text)
    else:
        found = code_chunks.chunks(inner, text.text)
        rows = tuple(_row(path, name, inner, piece) for piece in found)
    return Parsed(
        note=Note(path, "", 1, False),
        title=inner,
        said=Said(False),
        anchors=links.Anchors((), ()),
        chunks=rows,
        links=(),
        problems=(),
    )


def _document(path: str, name: str, inner: str, text: str) -> tuple[ChunkRow, ...]:
    from memory_palace.core import markdown, note

    parsed = note.parse(path, text)
    outline = markdown.read(parsed.body, parsed.body_line, links=False)  # none is followed
    title = parsed.title or outline.first_heading
    rows = []
    for piece in chunk.chunks(parsed.body, parsed.body_line, outline, title, None):
        if not any(map(str.isalnum, piece.text)):
            continue
        embedded = f"{inner[-code_chunks.LONGEST_PATH :]}\n{piece.embedded}"
        columns = chunk.columns(title or inner, (name, inner), piece)
        shifted = len(embedded) - len(piece.embedded)
        units = tuple(
            chunk.Unit(unit.start, unit.end, unit.offset + shifted) for unit in piece.units
        )
        rows.append(reading.chunk_row(path, piece, piece.heading, embedded, columns, units))
    return tuple(rows)


def _row(path: str, name: str, inner: str, piece: CodeChunk) -> ChunkRow:
    columns = (inner, " ".join(piece.symbol), name, piece.text)
    return reading.chunk_row(path, piece, piece.symbol, piece.embedded, columns)
