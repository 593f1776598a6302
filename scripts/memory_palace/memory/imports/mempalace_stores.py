"""MemPalace's databases, read and never written."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core.errors import BadInput
from memory_palace.files import foreign
from memory_palace.memory.imports.sources import Source, Triple

MOST_TEXT = 10 * 1024 * 1024
NO_WING, NO_ROOM = "unknown", "general"

_DOCUMENT = "chroma:document"


class Drawer(NamedTuple):
    """A text as MemPalace keeps it; ``chunk`` is its place in ``source``, from 0."""

    id: str
    text: str
    source: str = ""
    chunk: int = 0
    filed: str = ""
    by: str = ""


class Room(NamedTuple):
    """A room of a wing, and its drawers."""

    wing: str
    name: str
    drawers: Callable[[], Iterator[Drawer]]


def drawer(name: object, text: str, said: dict[str, Any]) -> Drawer:
    """A drawer of what a store says of it."""
    chunk = said.get("chunk_index")
    return Drawer(
        str(name),
        text,
        _text(said, "source_file"),
        chunk if isinstance(chunk, int) and not isinstance(chunk, bool) and chunk > 0 else 0,
        _text(said, "filed_at") or _text(said, "created_at"),
        _text(said, "added_by") or _text(said, "agent"),
    )


def place(said: dict[str, Any]) -> tuple[str, str]:
    """Wing and room of a drawer."""
    return _text(said, "wing") or NO_WING, _text(said, "room") or NO_ROOM


def _text(said: dict[str, Any], key: str) -> str:
    value = said.get(key)
    return value.strip() if isinstance(value, str) else ""


def rooms(path: Path, source: Source) -> Iterator[Room]:
    """The rooms of a database, by name; none, and told, if it has no drawers."""
    try:
        with _opened(path) as database:
            tables = _tables(database)
            if {"embeddings", "embedding_metadata", "segments", "collections"} <= tables:
                yield from _of_chroma(path, database, source)
            elif {"documents", "collections"} <= tables:
                yield from _of_exact(path, database, source)
            elif "triples" not in tables:
                source.odd.append(f"{path.name}: a database without drawers or facts: left out")
    except (sqlite3.Error, OSError) as error:
        raise _unreadable(path, error) from None


def _of_chroma(path: Path, database: sqlite3.Connection, source: Source) -> Iterator[Room]:
    _check_others(database, source, _CHROMA)
    found = database.execute(
        "SELECT DISTINCT coalesce(w.string_value, ''), coalesce(r.string_value, '')"
        f" FROM {_CHROMA} LEFT JOIN embedding_metadata w ON w.id = e.id AND w.key = 'wing'"
        " LEFT JOIN embedding_metadata r ON r.id = e.id AND r.key = 'room'"
        f" WHERE {_DRAWERS} ORDER BY 1, 2"
    ).fetchall()
    for wing, room in found:
        yield Room(
            wing or NO_WING,
            room or NO_ROOM,
            lambda wing=wing, room=room: _chroma_drawers(path, wing, room, source),  # type: ignore[misc]
        )


_CHROMA = (
    "embeddings e JOIN segments s ON s.id = e.segment_id JOIN collections c ON c.id = s.collection"
)
_DRAWERS = "c.name NOT LIKE '%closet%'"


def _check_others(database: sqlite3.Connection, source: Source, tables: str) -> None:
    rows = database.execute(
        f"SELECT c.name, count(*) FROM {tables} WHERE c.name LIKE '%closet%' GROUP BY c.name"
    )
    for _, number in rows:
        source.others["summary (closet)"] += number


def _chroma_drawers(path: Path, wing: str, room: str, source: Source) -> Iterator[Drawer]:
    try:
        with _opened(path) as database:
            rows = database.execute(
                f"SELECT e.id, e.embedding_id FROM {_CHROMA}"
                " LEFT JOIN embedding_metadata w ON w.id = e.id AND w.key = 'wing'"
                " LEFT JOIN embedding_metadata r ON r.id = e.id AND r.key = 'room'"
                " LEFT JOIN embedding_metadata f ON f.id = e.id AND f.key = 'source_file'"
                " LEFT JOIN embedding_metadata n ON n.id = e.id AND n.key = 'chunk_index'"
                f" WHERE {_DRAWERS} AND coalesce(w.string_value, '') = ?"
                " AND coalesce(r.string_value, '') = ?"
                " ORDER BY f.string_value, n.int_value, e.embedding_id",
                (wing, room),
            )
            for own, name in rows:
                said: dict[str, Any] = {}
                values = database.execute(
                    "SELECT key, coalesce(string_value, int_value, float_value, bool_value)"
                    " FROM embedding_metadata WHERE id = ? AND length(coalesce(string_value, ''))"
                    f" <= {MOST_TEXT}",
                    (own,),
                )
                said.update(values.fetchall())
                text = said.pop(_DOCUMENT, None)
                if isinstance(text, str) and text.strip():
                    yield drawer(name, text, said)
                else:
                    source.others["drawer without a text"] += 1
    except (sqlite3.Error, OSError) as error:
        raise _unreadable(path, error) from None


def _of_exact(path: Path, database: sqlite3.Connection, source: Source) -> Iterator[Room]:
    _check_others(database, source, _EXACT)
    found = set()
    for (text,) in database.execute(f"SELECT d.metadata_json FROM {_EXACT} WHERE {_DRAWERS}"):
        found.add(place(foreign.record(text)))
    for wing, room in sorted(found):
        yield Room(
            wing,
            room,
            lambda where=(wing, room): _exact_drawers(path, where, source),  # type: ignore[misc]
        )


_EXACT = "documents d JOIN collections c ON c.id = d.collection_id"


def _exact_drawers(path: Path, where: tuple[str, str], source: Source) -> Iterator[Drawer]:
    try:
        with _opened(path) as database:
            ids = []
            rows = database.execute(
                f"SELECT d.rowid, d.id, d.metadata_json FROM {_EXACT} WHERE {_DRAWERS}"
            )
            for row, name, text in rows:
                said = foreign.record(text)
                if place(said) == where:
                    one = drawer(name, "", said)
                    ids.append((one.source, one.chunk, one.id, row))
            for *_, row in sorted(ids):
                name, text, data = database.execute(
                    f"SELECT id, substr(document, 1, {MOST_TEXT}), metadata_json FROM documents"
                    " WHERE rowid = ?",
                    (row,),
                ).fetchone()
                if isinstance(text, str) and text.strip():
                    yield drawer(name, text, foreign.record(data))
                else:
                    source.others["drawer without a text"] += 1
    except (sqlite3.Error, OSError) as error:
        raise _unreadable(path, error) from None


def triples(path: Path, source: Source) -> Iterator[Triple]:
    """The facts of a knowledge graph; none if ``path`` is another database."""
    try:
        with _opened(path) as database:
            if not {"triples", "entities"} <= _tables(database):
                return
            keys = {row[1] for row in database.execute("PRAGMA table_info(triples)")}
            more = [key if key in keys else "NULL" for key in _WANTED]
            rows = database.execute(
                "SELECT coalesce(s.name, t.subject), t.predicate, coalesce(o.name, t.object),"
                f" {', '.join(f't.{key}' if key != 'NULL' else key for key in more)}"
                " FROM triples t LEFT JOIN entities s ON s.id = t.subject"
                " LEFT JOIN entities o ON o.id = t.object ORDER BY t.rowid"
            )
            for subject, predicate, thing, start, end, sure, file, seen in rows:
                words = [subject, predicate, thing]
                if not all(isinstance(word, str) and word.strip() for word in words):
                    source.others["fact without a name"] += 1
                    continue
                sure = float(sure) if isinstance(sure, int | float) else 1.0
                begins = str(start or "") or str(seen or "")[:10]
                yield Triple(subject, predicate, thing, begins, str(end or ""), sure, _base(file))
    except (sqlite3.Error, OSError) as error:
        raise _unreadable(path, error) from None


_WANTED = ("valid_from", "valid_to", "confidence", "source_file", "extracted_at")


def _base(file: object) -> str:
    """A file's name without its folders, which are those of a machine."""
    return file.replace("\\", "/").rsplit("/", 1)[-1] if isinstance(file, str) else ""


def _tables(database: sqlite3.Connection) -> set[str]:
    return {str(name) for (name,) in database.execute("SELECT name FROM sqlite_master")}


def _opened(path: Path) -> contextlib.AbstractContextManager[sqlite3.Connection]:
    return foreign.opened(path, "name MemPalace's folder, or an export")


def _unreadable(path: Path, error: Exception) -> BadInput:
    way = foreign.way_out(error, "`mempalace export` gives files that can")
    return BadInput(f"{path} cannot be read ({error}): {way}")
