"""An import: what each piece of a source becomes, as a plan or written."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import imported, note, privacy
from memory_palace.core.errors import BadInput, PalaceError
from memory_palace.core.imported import KINDS, Piece
from memory_palace.core.links import TREE
from memory_palace.core.text import COLD_COMPONENT, nfc, short_id
from memory_palace.files import config as configs
from memory_palace.files import identity, read, roots
from memory_palace.memory import session_room
from memory_palace.memory.imports.sources import Source, Triple
from memory_palace.memory.note_batch import Batch

FOLDER = f"{session_room.ROOMS}/imports"
COMMAND = "palace import"


_SECOND = "another piece has the same name, so this one is left out: rename one of the two"
_EDITED = "the note was edited here, so it stays; what its source says now is not taken"


class Item(NamedTuple):
    """What becomes of a piece: ``new``, ``changed``, ``unchanged``, ``edited`` (a person changed
    the note, which stays), ``archived`` (so it stays) or ``failed``. ``said`` are lines on what
    could not be kept as it was."""

    what: str
    original: str
    path: str
    said: tuple[str, ...] = ()


class Imported(NamedTuple):
    """What came of an import. ``others`` are files and entries that were passed over, by reason;
    ``odd`` lines on single things that were not understood; ``counts`` what was found;
    ``triples`` the facts of the source."""

    items: tuple[Item, ...]
    others: Mapping[str, int]
    odd: tuple[str, ...]
    counts: Mapping[str, int]
    triples: tuple[Triple, ...]
    faults: tuple[str, ...]
    changed: bool


def run(
    root: Path,
    now: datetime,
    kind: str,
    path: Path,
    *,
    write: bool,
    reason: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> Imported:
    """Import what ``path`` holds of ``kind`` (one of :data:`KINDS`); without ``write`` say what
    would be done.

    Raises :class:`BadInput` for a path that cannot be read.
    """
    if kind not in KINDS:
        raise ValueError(kind)
    if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root / TREE)):
        raise BadInput(f"{path} is in this palace already: name what another tool keeps")
    reader = import_module(f"memory_palace.memory.imports.{kind.replace('-', '_')}")
    source: Source = reader.open_source(path)
    batch = Batch(root, now, COMMAND, reason, say, write=write)
    by = identity.who(configs.load(root).identity)
    there = _There(root, kind)
    items = []
    try:
        for piece in source.read():
            items.append(_item(root, piece, kind, there, batch, now.date().isoformat(), by))
        triples = tuple(source.triples(source))
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}): nothing more is read") from None
    finally:
        batch.flush()
    items = [
        item._replace(what="failed", said=(batch.faults[item.path],))
        if item.what in ("new", "changed") and item.path in batch.faults
        else item
        for item in items
    ]
    counts = Counter(source.counts)
    if triples:
        counts["fact"] = len(triples)
    failed = [f"{i.original}: {i.said[0]}" for i in items if i.what == "failed" and i.said]
    others = {why: number for why, number in source.others.items() if number}
    return Imported(
        tuple(items),
        others,
        tuple(source.odd),
        counts,
        triples,
        (*source.faults, *failed),
        batch.changed,
    )


class _There:
    """The notes of earlier imports of one kind, by what they were in their source."""

    def __init__(self, root: Path, kind: str) -> None:
        self._root = root
        self._notes: dict[str, str] = {}
        self._taken: set[str] = set()
        self._met: set[str] = set()
        self._folders: dict[str, str] = {}
        cold = f"{TREE}{COLD_COMPONENT}"
        met: set[str] = set()
        for top in (f"{FOLDER}/{kind}", TREE.rstrip("/"), cold):  # what is live counts first
            for path in session_room.notes_below(root, top):
                if path in met or (top != cold and path.startswith(f"{cold}/")):
                    continue
                met.add(path)
                self._taken.add(nfc(path).casefold())
                self._folder(path.split("/")[:-1])
                said = _said(root, path)
                if said.get("source") == kind and said.get("original") is not None:
                    self._notes.setdefault(str(said["original"]), path)

    def find(self, original: str) -> str:
        """The note that ``original`` became; empty if there is none."""
        return self._notes.get(original, "")

    def is_second(self, original: str) -> bool:
        """True if this run had a piece of that name already: it would take the other's note."""
        met = original in self._met
        self._met.add(original)
        return met

    def _folder(self, parts: list[str]) -> str:
        """The folder of these parts, spelled as it was met first: some systems tell no case."""
        folder = ""
        for part in parts:
            folder = f"{folder}/{part}" if folder else part
            folder = self._folders.setdefault(nfc(folder).casefold(), folder)
        return folder

    def new(self, piece: Piece, kind: str) -> str:
        """A free path for a new note."""
        parts = [session_room.safe_name(one) for one in piece.place.split("/") if one]
        parts = [*FOLDER.split("/"), kind, *(parts or ["memory"])]
        plain = f"{self._folder(parts[:-1])}/{parts[-1]}"
        path = f"{plain}.md"
        if nfc(path).casefold() in self._taken or roots.inside(self._root, path).exists():
            path = f"{plain}-{short_id(piece.original)}.md"
        self._taken.add(nfc(path).casefold())
        self._notes[piece.original] = path
        return path


def _said(root: Path, path: str) -> Mapping[str, object]:
    """The metadata of an imported note, wherever a person moved it; none of any other."""
    got = read.read(root, path)
    if isinstance(got, read.Unreadable) or "\nimport_digest:" not in got.text:
        return {}
    return note.parse(path, got.text).metadata


def _item(
    root: Path, piece: Piece, kind: str, there: _There, batch: Batch, day: str, by: str
) -> Item:
    piece = replace(  # of a file's name too nothing secret is stored, also as a note's name
        piece,
        original=privacy.redact(piece.original).text,
        place=privacy.redact(piece.place).text,
    )
    try:
        path = there.find(piece.original)
        if there.is_second(piece.original):
            return Item("failed", piece.original, path, (_SECOND,))
        before = None
        if path and roots.inside(root, path).exists():
            if COLD_COMPONENT in path.split("/"):
                return Item("archived", piece.original, path)
            got = read.read(root, path)
            if isinstance(got, read.Unreadable):
                return Item("failed", piece.original, path, (f"{path}: {got.problem.message}",))
            before = got.text
            said = note.parse(path, before).metadata
            if str(said.get("source_digest")) == piece.digest:
                return Item("unchanged", piece.original, path)
            if imported.is_edited(before, said):
                return Item("edited", piece.original, path, (_EDITED,))
        path = path or there.new(piece, kind)
        text, lines = imported.made(piece, kind, path, day, by)
        batch.add(path, text, before)
        return Item("new" if before is None else "changed", piece.original, path, tuple(lines))
    except (PalaceError, UnicodeError) as error:
        return Item("failed", piece.original, piece.place, (str(error),))
