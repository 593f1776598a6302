"""An import: what each piece of a source becomes, as a plan or written."""

import os
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import frontmatter, imported, note, privacy
from memory_palace.core.errors import BadInput, PalaceError
from memory_palace.core.imported import KINDS, Piece
from memory_palace.core.links import TREE
from memory_palace.core.text import COLD_COMPONENT, nfc, short_id
from memory_palace.files import config as configs
from memory_palace.files import identity, read, roots
from memory_palace.memory import notes_text, session_room
from memory_palace.memory.imports.sources import Source, Triple
from memory_palace.memory.note_batch import Batch

FOLDER = f"{session_room.ROOMS}/imports"
COMMAND = "palace import"

_SECOND = "another piece has the same name, so this one is left out: rename one of the two"
_APART = "notes of another place are called so already: these are kept in {}"
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
    """The notes of earlier imports of one kind, by what they were in their source, and where that
    was. A folder (or a note) right below the kind's own belongs to the places that have notes in
    it."""

    def __init__(self, root: Path, kind: str) -> None:
        self._root = root
        self._kind = kind
        self._notes: dict[tuple[str, str], str] = {}
        self._taken: set[str] = set()
        self._met: set[tuple[str, str]] = set()
        self._places: dict[str, set[str]] = defaultdict(set)
        self._apart: set[str] = set()
        self._unread: dict[str, str] = {}
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
                said = self._said(path)
                if said.get("source") == kind and said.get("original") is not None:
                    place = str(said.get("original_place") or "")
                    self._notes.setdefault((str(said["original"]), place), path)
                    self._places[self._top(path)].add(place)

    def _said(self, path: str) -> Mapping[str, object]:
        """The metadata of an imported note, wherever a person moved it; none of any other."""
        got = read.read(self._root, path)
        if isinstance(got, read.Unreadable):
            self._unread[nfc(path).casefold()] = got.problem.message
            return {}
        if "\nimport_digest:" not in got.text:
            return {}
        return note.parse(path, got.text).metadata

    def find(self, piece: Piece) -> str:
        """The note that ``piece`` became; empty if there is none. One that tells no place is of
        whichever comes first."""
        own = (piece.original, piece.origin)
        if own not in self._notes and (piece.original, "") in self._notes:
            self._notes[own] = self._notes.pop((piece.original, ""))
            self._places[self._top(self._notes[own])].add(piece.origin)
        return self._notes.get(own, "")

    def is_second(self, piece: Piece) -> bool:
        """True if this run had a piece of that name already: it would take the other's note."""
        own = (piece.original, piece.origin)
        met = own in self._met
        self._met.add(own)
        return met

    def _top(self, path: str) -> str:
        """What is right below the kind's folder, on the way to ``path``; empty elsewhere."""
        above = f"{FOLDER}/{self._kind}/"
        inner = path.removeprefix(above) if path.startswith(above) else ""
        return nfc(inner.split("/")[0].removesuffix(".md")).casefold()

    def _free(self, name: str, place: str) -> str:
        """``name`` as the top of a new note from ``place``, with a number where the notes of other
        places are there."""
        free = ""
        for top in (name, *(f"{name}-{n}" for n in range(2, len(self._places) + 3))):
            owners = self._places.get(nfc(top).casefold(), set()) - {""}
            if place in owners:
                return top
            free = free or ("" if owners else top)
            if free == name:
                break
        return free

    def _folder(self, parts: list[str]) -> str:
        """The folder of these parts, spelled as it was met first: some systems tell no case."""
        folder = ""
        for part in parts:
            folder = f"{folder}/{part}" if folder else part
            folder = self._folders.setdefault(nfc(folder).casefold(), folder)
        return folder

    def new(self, piece: Piece) -> tuple[str, list[str]]:
        """A free path for a new note, and a line, once, if its place has a folder of its own."""
        named, *parts = [session_room.safe_name(one) for one in piece.place.split("/") if one] or [
            "memory"
        ]
        top = self._free(named, piece.origin)
        self._places[nfc(top).casefold()].add(piece.origin)
        said = [_APART.format(top)] if top != named and top not in self._apart else []
        self._apart.update([top] if said else [])
        parts = [*FOLDER.split("/"), self._kind, top, *parts]
        plain = f"{self._folder(parts[:-1])}/{parts[-1]}"
        path = f"{plain}.md"
        if nfc(path).casefold() in self._unread:  # it may be the note of this piece
            raise BadInput(f"{path}: {self._unread[nfc(path).casefold()]}")
        if nfc(path).casefold() in self._taken or roots.inside(self._root, path).exists():
            path = f"{plain}-{short_id(piece.original)}.md"
        self._taken.add(nfc(path).casefold())
        self._notes[(piece.original, piece.origin)] = path
        return path, said


def _kept(piece: Piece, path: str, text: str, said: Mapping[str, object]) -> Item | None:
    """What becomes of a piece whose note stays as it is; None if the note is to be written anew."""
    if COLD_COMPONENT in path.split("/"):
        return Item("archived", piece.original, path)
    if str(said.get("source_digest")) == piece.digest:
        return Item("unchanged", piece.original, path)
    if imported.is_edited(text, said):
        return Item("edited", piece.original, path, (_EDITED,))
    return None


def _item(
    root: Path, piece: Piece, kind: str, there: _There, batch: Batch, day: str, by: str
) -> Item:
    piece = replace(  # of a file's name too nothing secret is stored, also as a note's name
        piece,
        original=privacy.redact(piece.original).text,
        place=privacy.redact(piece.place).text,
        origin=privacy.redact(piece.origin).text,
    )
    try:
        path = there.find(piece)
        if there.is_second(piece):
            return Item("failed", piece.original, path, (_SECOND,))
        before, apart = None, list[str]()
        if path and roots.inside(root, path).exists():
            got = read.read(root, path)
            if isinstance(got, read.Unreadable):
                return Item("failed", piece.original, path, (f"{path}: {got.problem.message}",))
            before = got.text
            said = note.parse(path, before).metadata
            kept = _kept(piece, path, before, said)
            if kept:
                if not said.get("original_place"):  # of an earlier version
                    placed = frontmatter.change(before, {"original_place": piece.origin})
                    batch.add(path, notes_text.like(before, placed), before)
                return kept
        if not path:
            path, apart = there.new(piece)
        text, lines = imported.made(piece, kind, path, day, by)
        batch.add(path, text, before)
        return Item("new" if before is None else "changed", piece.original, path, (*apart, *lines))
    except (PalaceError, UnicodeError) as error:
        return Item("failed", piece.original, piece.place, (str(error),))
    except OSError as error:  # of the palace: a closed folder
        why = f"{error.filename} cannot be read ({error.strerror}): mend its permissions"
        return Item("failed", piece.original, piece.place, (why,))
