"""One file's text made into what the catalog stores of it: a note's here, a session's ledger in
``ledgers``, a mined project's file in ``projects``."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core import archiving, chunk, datewords, keywords, links, markdown, note
from memory_palace.core.diff import FileStat
from memory_palace.core.note import Note
from memory_palace.core.problems import Problem
from memory_palace.core.text import is_cold, is_mined
from memory_palace.files import read as files
from memory_palace.files import tree
from memory_palace.files.manifest import Said
from memory_palace.files.read import Text, Unreadable
from memory_palace.index.catalog import ChunkRow

if TYPE_CHECKING:
    from memory_palace.core.code_chunks import CodeChunk


@dataclass(frozen=True, slots=True)
class Parsed:
    """Everything of one file but its place and its effective type, priority and time."""

    note: Note
    title: str
    said: Said
    anchors: links.Anchors
    chunks: tuple[ChunkRow, ...]
    links: tuple[links.Link, ...]
    problems: tuple[Problem, ...]


def read_bytes(root: Path, path: str) -> tuple[bytes, FileStat] | Unreadable:
    """A file's bytes: a ledger may be larger than a note; a mined file is read where it is."""
    if is_mined(path):
        from memory_palace.files import project_text

        return project_text.read_bytes(root, path)
    if tree.is_ledger(path):
        from memory_palace.files import observed

        return files.read_bytes(root, path, observed.MOST_BYTES, "a ledger")
    return files.read_bytes(root, path)


def read(root: Path, path: str) -> Text | Unreadable:
    """A file's text; stray bytes of a ledger spoil their own line only."""
    if tree.is_ledger(path):
        from memory_palace.files import observed

        return observed.read_text(root, path)
    return files.read(root, path)


def parse(path: str, text: Text) -> Parsed:
    """Parse ``text``, read from ``path``."""
    if is_mined(path):
        from memory_palace.index import projects

        return projects.parse(path, text)
    if tree.is_ledger(path):
        from memory_palace.index import ledgers

        return ledgers.parse(path, text)
    read = note.parse(path, text.text)
    outline = markdown.read(read.body, read.body_line)
    written_title = read.title or outline.first_heading
    title = note.note_title(read, outline.first_heading)
    found = chunk.chunks(
        read.body, read.body_line, outline, written_title, read.created or read.updated
    )
    problems = list(read.problems)
    if outline.read_to:
        what = (
            "too much for one note: plain text from here on, no headings or links: split the note"
        )
        problems.append(Problem(path, outline.read_to, what))
    elif outline.links_end:
        problems.append(
            Problem(
                path, outline.links_end, "too much text with links from here on: split the note"
            )
        )
    if not text.text.strip("\ufeff \t\r\n"):
        problems.append(Problem(path, None, "empty: write something or remove it", "warning"))
    return Parsed(
        note=read,
        title=title,
        said=Said(read.has_metadata and not read.broken, read.type, read.priority),
        anchors=links.Anchors(outline.headings, outline.block_ids, _origin(read)),
        chunks=tuple(_row(path, title, read, piece) for piece in found),
        links=(
            *links.in_metadata(read.metadata, read.lines),
            *(links.parse(raw) for raw in outline.links),
        ),
        problems=tuple(problems),
    )


def _origin(read: Note) -> str:
    """Where an archived note stood, if that is not the place that it mirrors."""
    stood = archiving.origin(read.path, read.metadata) if is_cold(read.path) else ""
    return "" if stood == archiving.mirrored(read.path) else stood


def _row(path: str, title: str, read: Note, piece: chunk.Chunk) -> ChunkRow:
    day = read.created or read.updated
    dates = [datewords.in_words(day.year, day.month, day.day)] if day else []
    columns = chunk.columns(title, (*read.tags, *read.aliases, *dates), piece)
    return chunk_row(path, piece, piece.heading, piece.embedded, columns, piece.units)


def chunk_row(
    path: str,
    piece: "chunk.Chunk | CodeChunk",
    heading: tuple[str, ...],
    embedded: str,
    columns: tuple[str, str, str, str],
    units: tuple[chunk.Unit, ...] = (),
) -> ChunkRow:
    """A piece of a file as the catalog stores it: ``embedded`` is what its vector is made of, none
    where that has no word; ``columns`` are those of its keywords."""
    return ChunkRow(
        chunk_id=chunk.chunk_id(path, heading, piece.ordinal),
        ordinal=piece.ordinal,
        heading=heading,
        start=piece.start,
        end=piece.end,
        text=piece.text,
        embedded=embedded,
        key=chunk.vector_key(embedded) if any(map(str.isalnum, embedded)) else "",
        words=tuple(keywords.indexable(column) for column in columns),  # type: ignore[arg-type]
        units=units,
    )


def said_as_json(said: Said) -> str:
    """As the catalog stores it; the functions below likewise, and back."""
    return json.dumps([said.block, said.type, said.priority])


def said_from_json(text: str) -> Said:
    """What a note says of its type and priority."""
    return Said(*json.loads(text))


def anchors_as_json(anchors: links.Anchors) -> str:
    """Headings and block ids, and where an archived note stood."""
    origin = [anchors.origin] if anchors.origin else []
    return json.dumps([anchors.headings, anchors.blocks, *origin])


def anchors_from_json(text: str) -> links.Anchors:
    """Headings and block ids, and where an archived note stood."""
    headings, blocks, *origin = json.loads(text)
    return links.Anchors(tuple(headings), tuple(blocks), *origin)


def link_from_json(text: str) -> links.Link:
    """A link, with its line."""
    return links.Link(*json.loads(text))
