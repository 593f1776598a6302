"""What a source of memories gives: pieces, what was not understood, and facts."""

import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from fnmatch import fnmatch
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import dates
from memory_palace.core.errors import BadInput
from memory_palace.core.imported import Piece
from memory_palace.core.text import nfc, short_id
from memory_palace.files import read, roots
from memory_palace.files.tree import is_text
from memory_palace.files.walk import walk

MOST_BYTES = read.MOST_BYTES
_HOMES = (".claude", ".codex", ".openclaw")
_PRUNED = frozenset({".git", "node_modules", "__pycache__", ".obsidian", ".venv"})


class Triple(NamedTuple):
    """A fact of a source, with dates as it has them: the last day counts as a whole."""

    subject: str
    predicate: str
    object: str
    start: str = ""
    end: str = ""
    confidence: float = 1.0
    source: str = ""


@dataclass(slots=True)
class Source:
    """A source. ``pieces`` can be called again; what they pass over is counted in ``others``, by
    reason; ``odd`` are lines on single things that were not understood, ``faults`` on what could
    not be read. ``counts`` says what was found, in the singular."""

    pieces: Callable[["Source"], Iterator[Piece]]
    others: Counter[str] = field(default_factory=Counter)
    odd: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    triples: Callable[["Source"], Iterator[Triple]] = lambda _: iter(())

    def read(self) -> Iterator[Piece]:
        """All pieces, from the start."""
        self.others.clear()
        self.odd.clear()
        self.faults.clear()
        self.counts.clear()
        return self.pieces(self)


class File(NamedTuple):
    """A file below a source's folder: its path there with ``/``, and when it was changed."""

    path: Path
    name: str
    modified: datetime


def files(top: Path, source: Source, hidden: bool = False) -> Iterator[File]:
    """The regular files below ``top``, by path; links and what cannot be listed are counted.
    Folders with a dot before their name are passed over unless ``hidden``."""

    def unread(error: OSError) -> None:
        source.faults.append(f"{error.filename} cannot be read ({error.strerror}): its files wait")

    for folder, folders, names in walk(top, unread):
        kept = [one for one in folders if hidden or not one.startswith(".")]
        kept = sorted(one for one in kept if one not in _PRUNED)
        source.others["folder that is passed over"] += len(folders) - len(kept)
        if "palace" in kept and roots.MARKER in names:  # an import of them would grow with each run
            kept.remove("palace")
            source.others["notes of a palace"] += 1
        links = [one for one in kept if os.path.islink(Path(folder) / one)]
        source.others["symbolic link"] += len(links)
        folders[:] = kept
        for name in sorted(names):
            path = Path(folder) / name
            try:
                info = path.lstat()
            except OSError as error:
                source.faults.append(f"{path} cannot be read ({error.strerror}): it waits")
                continue
            if stat.S_ISLNK(info.st_mode):
                source.others["symbolic link"] += 1
            elif not stat.S_ISREG(info.st_mode):
                source.others["no regular file"] += 1
            elif not is_text(inner := path.relative_to(top).as_posix()):
                source.faults.append(f"{inner}: a name that is not UTF-8: rename it")
            else:
                yield File(path, inner, _time(info.st_mtime))


def one_file(path: Path) -> File:
    """The file ``path`` by itself. Raises :class:`BadInput` if it is none."""
    try:
        info = path.stat()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}): name what to import") from None
    if not stat.S_ISREG(info.st_mode):
        raise BadInput(f"{path} is no regular file: name what to import")
    return File(path, path.name, _time(info.st_mtime))


def text_of(file: File, source: Source) -> str | None:
    """The text of a file; None, and counted, where it has none."""
    try:
        with open(file.path, "rb", opener=roots.unhindered) as opened:
            data = opened.read(MOST_BYTES + 1)
    except OSError as error:
        source.faults.append(f"{file.path} cannot be read ({error.strerror}): it waits")
        return None
    if len(data) > MOST_BYTES:
        source.odd.append(f"{file.name}: over {MOST_BYTES >> 20} MB: split it")
        return None
    if b"\0" in data:
        source.odd.append(f"{file.name}: binary (a NUL byte): left out")
        return None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("cp1252", "replace")
        source.odd.append(f"{file.name}: not UTF-8: read as Windows-1252")
    if not text.strip():
        source.others["empty file"] += 1
        return None
    return text


def matches(name: str, patterns: tuple[str, ...]) -> bool:
    """True if ``name`` is like one of ``patterns`` (``*`` stands for folders too)."""
    return any(fnmatch(name.lower(), pattern.lower()) for pattern in patterns)


def markdown(name: str) -> bool:
    """True for the name of a Markdown file."""
    return name.lower().endswith((".md", ".markdown"))


def above(folder: Path, *passed: str) -> str:
    """What the pieces of ``folder`` are kept under, with a ``/`` after it, so that those of two
    sources stay apart: its name, or that of the next one above which is called none of ``passed``.
    Empty for a tool's own home, as ``~/.codex``."""
    place = Path(os.path.abspath(folder))
    while place.name in passed:
        place = place.parent
    name = "" if place.name in _HOMES else place.name.strip("-. ")
    return f"{name}/" if name else ""


def origin(file: Path, original: str) -> str:
    """The folder that ``original``, the name of ``file`` in its source, is below: the same one
    whatever of the source was named. As :func:`portable` has it."""
    folder = Path(os.path.abspath(file))
    for part in reversed(original.split("/")):  # of the path some folders may not be in the name
        while folder.name.strip("-. ") != part.strip("-. ") and folder.name:
            folder = folder.parent
        folder = folder.parent
    return portable(folder)


def portable(folder: Path) -> str:
    """A folder as a note may say it, on any machine and without a user's name: ``~/…`` below the
    home folder, else 12 hex digits."""
    real = Path(os.path.realpath(folder))
    home = Path(os.path.realpath(os.path.expanduser("~")))
    if real.is_relative_to(home) and home.name and is_text(str(real)):
        return nfc("/".join(("~", *real.relative_to(home).parts)))
    return short_id(real.as_posix())


def without_ending(name: str) -> str:
    """A file's path without ``.md``."""
    return name.rsplit(".", 1)[0] if markdown(name) else name


def _time(seconds: float) -> datetime:
    return dates.from_seconds(seconds).astimezone(UTC)


def stamp(moment: datetime) -> str:
    """A time as a note has it."""
    return dates.stamp(moment)


def iso(text: object) -> str:
    """A date of a source as it may stand in a note; empty for what is none."""
    if not isinstance(text, str):
        return ""
    moment = dates.parse(text) or dates.parse(text[:10])
    if moment is None:
        return ""
    return text.strip() if len(text.strip()) == 10 else dates.stamp(moment)
