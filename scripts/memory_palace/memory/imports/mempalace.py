"""MemPalace's drawers, as one note a room, and the facts of its knowledge graph.

They are read from its stores (``chroma.sqlite3``, ``sqlite_exact.sqlite3``), from an export (JSONL,
or Markdown), and from ``knowledge_graph.sqlite3``; vectors and summaries are left where they are.
"""

import contextlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from memory_palace.core import excerpts, places, session_notes
from memory_palace.core.errors import BadInput
from memory_palace.core.imported import Piece
from memory_palace.memory.imports import mempalace_exports, mempalace_stores, sources
from memory_palace.memory.imports.mempalace_stores import Drawer, Room
from memory_palace.memory.imports.sources import File, Source, Triple

_LONGEST_HEADING = 100


def open_source(path: Path) -> Source:
    """What ``path`` holds: a palace's folder, a database of one, or an export."""
    found = [sources.one_file(path)] if not path.is_dir() else []

    def all_files(source: Source) -> Iterable[File]:
        return found or sources.files(path, source)

    def pieces(source: Source) -> Iterator[Piece]:
        seen: set[tuple[str, str]] = set()
        for file in all_files(source):
            try:
                for room in _rooms(file, source):
                    if (room.wing, room.name) in seen:
                        source.others["room that is in another file too"] += 1
                        continue
                    seen.add((room.wing, room.name))
                    yield from _notes(room, sources.portable(file.path.parent), source)
            except BadInput as error:
                if found:
                    raise
                source.faults.append(str(error))

    def triples(source: Source) -> Iterator[Triple]:
        for file in all_files(Source(pieces)):
            if file.path.name.lower().endswith((".sqlite3", ".db")):
                with contextlib.suppress(BadInput):  # its fault is told already
                    yield from mempalace_stores.triples(file.path, source)

    return Source(pieces, triples=triples)


def _rooms(file: File, source: Source) -> Iterator[Room]:
    name = file.path.name.lower()
    if name.endswith((".sqlite3", ".db")):
        return mempalace_stores.rooms(file.path, source)
    if name.endswith(".jsonl"):
        return mempalace_exports.of_lines(file, source)
    if name.endswith(".md"):
        return mempalace_exports.of_markdown(file, source)
    source.others["other kind of file"] += 1
    return iter(())


def _notes(room: Room, origin: str, source: Source) -> Iterator[Piece]:
    """The notes of a room: one, or several where one would be too large."""
    part, held, size = 1, list[str](), 0
    latest = ""
    for drawer in room.drawers():
        text = _section(drawer)
        length = len(text.encode("utf-8", "replace"))
        if held and size + length > session_notes.PART_BYTES:
            yield _piece(room, origin, part, held, latest)
            part, held, size = part + 1, [], 0
        held.append(text)
        size += length
        latest = max(latest, sources.iso(drawer.filed))
        source.counts["drawer"] += 1
    if held:
        source.counts["room"] += 1
        yield _piece(room, origin, part, held, latest)


def _piece(room: Room, origin: str, part: int, held: list[str], latest: str) -> Piece:
    more = f"-part-{part}" if part > 1 else ""
    name = f"{room.wing}/{room.name}{more}"
    title = f"{room.wing} / {room.name}" + (f" (part {part})" if more else "")
    return Piece(
        original=name,
        place=f"{room.wing.replace('/', '-')}/{room.name.replace('/', '-')}{more}",
        text="\n".join(held),
        origin=origin,
        title=" ".join(title.split()),
        updated=latest,
    )


def _section(drawer: Drawer) -> str:
    """A drawer as it stands in a note."""
    source = places.without(drawer.source, "", places.home(drawer.source))
    name = places.last(drawer.source) or "Drawer"
    heading = excerpts.cut(" ".join(name.split()).replace("[[", "").strip("# "), _LONGEST_HEADING)
    number = f", part {drawer.chunk + 1}" if drawer.chunk else ""
    said = [f"drawer `{_one_line(drawer.id)}`"]
    said += [f"from `{_one_line(source)}`"] if source else []
    said += [f"filed {_one_line(drawer.filed)}"] if drawer.filed else []
    said += [f"by {_one_line(drawer.by)}"] if drawer.by else []
    body = session_notes.safe(drawer.text.replace("\0", ""))
    return f"## {heading}{number}\n\n*{', '.join(said)}*\n\n{body}\n"


def _one_line(text: str) -> str:
    return " ".join(text.replace("`", "'").split())[:300]
