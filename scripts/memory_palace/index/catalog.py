"""The catalog: one SQLite file with files, chunks, links and the keyword index.

Everything in it is recomputed from the palace. Readers see one committed state; one writer at a
time changes it (see ``files/locks.py``).
"""

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path

from memory_palace.core.chunk import Unit
from memory_palace.core.diff import Known
from memory_palace.core.links import Link
from memory_palace.core.problems import Problem
from memory_palace.core.text import is_mined
from memory_palace.index import opening, schema, vectors
from memory_palace.index.opening import BASEMENT, FORMAT, MAIN, Damaged

__all__ = [
    "BASEMENT",
    "FORMAT",
    "MAIN",
    "Catalog",
    "ChunkRow",
    "Damaged",
    "FileRow",
    "create",
    "discard",
    "open_to_read",
    "open_to_write",
]


@dataclass(frozen=True, slots=True)
class ChunkRow:
    """A chunk as it is stored. ``heading`` is the path; ``words`` are the keyword columns."""

    chunk_id: str
    ordinal: int
    heading: tuple[str, ...]
    start: int
    end: int
    text: str
    embedded: str
    key: str
    words: tuple[str, str, str, str]
    units: tuple[Unit, ...] = ()


@dataclass(frozen=True, slots=True)
class FileRow:
    """A file as it is stored. ``said`` is JSON; ``time`` seconds since the epoch, UTC; ``room``
    that of a mined file, empty for others."""

    known: Known
    title: str
    said: str
    type: str
    priority: str | None
    time: float | None
    time_source: str
    tags: tuple[str, ...]
    aliases: tuple[str, ...]
    anchors: str
    room: str = ""


class Catalog:
    """One open catalog. Use :func:`open_to_read`, :func:`open_to_write` or :func:`create`."""

    scores_words = False
    """True if :meth:`keyword` knows more than the rows that are here."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.db = connection

    def close(self) -> None:
        self.db.close()

    def __enter__(self) -> "Catalog":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing of the writes inside."""
        self.db.execute("BEGIN IMMEDIATE")
        try:
            yield
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                self.db.execute("ROLLBACK")
            raise
        self.db.execute("COMMIT")

    def meta(self, key: str, default: str = "") -> str:
        return opening.meta(self.db, key, default)

    def set_meta(self, key: str, value: str) -> None:
        self.db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (key, value))

    def known(self, start: str = "") -> list[Known]:
        """Every file whose path begins with ``start``, sorted by path."""
        rows = self.db.execute(
            "SELECT path, size, mtime_ns, inode, sha256, settled FROM files WHERE path GLOB ?",
            (f"{start}*",),
        )
        found = [Known(p, s, m, i, h, bool(settled)) for p, s, m, i, h, settled in rows]
        return sorted(found, key=lambda known: known.path)

    def count(self, table: str) -> int:
        return int(self.db.execute(f"SELECT count(*) FROM {table}").fetchone()[0])

    def keyword(self, expression: str) -> list[tuple[int, float]]:
        """(chunk row, BM25, larger is better) of the notes' chunks that an FTS5 expression
        matches."""
        weights = ", ".join(map(str, schema.COLUMN_WEIGHTS))
        return self.db.execute(
            f"SELECT rowid, -bm25(words, {weights}) FROM words WHERE words MATCH ?", (expression,)
        ).fetchall()

    def note_keyword(self, expression: str) -> list[tuple[int, float]]:
        """(file row, BM25) of the notes that an FTS5 expression matches as a whole."""
        return self.db.execute(
            "SELECT rowid, -bm25(note_words) FROM note_words WHERE note_words MATCH ?",
            (expression,),
        ).fetchall()

    def spread(self, expression: str) -> tuple[int, int]:
        """In how many chunks of notes an FTS5 expression holds, of how many."""
        found = self.db.execute(
            "SELECT count(*) FROM words WHERE words MATCH ?", (expression,)
        ).fetchone()
        return int(found[0]), self.count("words_docsize")  # FTS5 counts by reading every row

    def tokens(self, vectors: Sequence[int]) -> dict[int, tuple[bytes, bytes]]:
        """{vector id: (starts, bits)} of those that have token vectors (``schema``)."""
        rows = self.db.execute(
            "SELECT id, starts, bits FROM tokens WHERE id IN (SELECT value FROM json_each(?))",
            (json.dumps(list(vectors)),),
        )
        return {row[0]: (row[1], row[2]) for row in rows}

    def put_file(self, row: FileRow, chunks: Sequence[ChunkRow], links: Sequence[Link]) -> None:
        """Add a file, or replace all that is stored of it; its row id stays."""
        k = row.known
        self.db.execute(
            """INSERT INTO files (path, size, mtime_ns, inode, settled, sha256, title, said, type,
                   priority, time, time_source, tags, aliases, anchors, room)
               VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)
               ON CONFLICT (path) DO UPDATE SET size = excluded.size, mtime_ns = excluded.mtime_ns,
                   inode = excluded.inode, settled = excluded.settled, sha256 = excluded.sha256,
                   title = excluded.title, said = excluded.said, type = excluded.type,
                   priority = excluded.priority, time = excluded.time,
                   time_source = excluded.time_source, tags = excluded.tags,
                   aliases = excluded.aliases, anchors = excluded.anchors,
                   room = excluded.room""",
            (
                *(k.path, k.size, k.mtime_ns, k.inode, int(k.settled), k.sha256),
                *(row.title, row.said, row.type, row.priority, row.time, row.time_source),
                *(json.dumps(row.tags), json.dumps(row.aliases), row.anchors, row.room),
            ),
        )
        (file_id,) = self.db.execute("SELECT id FROM files WHERE path = ?", (k.path,)).fetchone()
        self._drop_parts(file_id, k.path)
        of_chunks, of_files = _tables(k.path)
        if links:
            self.set_meta("link_state", "")  # they are to be resolved
        for chunk in chunks:
            chunk_row = self.db.execute(
                """INSERT INTO chunks (file_id, chunk_id, ordinal, heading, start, "end", text,
                       embedded, key, units) VALUES (?,?,?,?,?,?,?,?,?,?)""",
                (
                    *(file_id, chunk.chunk_id, chunk.ordinal, json.dumps(chunk.heading)),
                    *(chunk.start, chunk.end, chunk.text, chunk.embedded, chunk.key),
                    json.dumps([[unit.start, unit.end, unit.offset] for unit in chunk.units]),
                ),
            ).lastrowid
            self.db.execute(
                f"INSERT INTO {of_chunks} (rowid, title, heading, tags, body) VALUES (?,?,?,?,?)",
                (chunk_row, *chunk.words),
            )
        self.db.execute(
            f"INSERT INTO {of_files} (rowid, title, tags, body) VALUES (?,?,?,?)",
            (file_id, *_note_words([chunk.words for chunk in chunks])),
        )
        self.db.executemany(
            "INSERT INTO links VALUES (?, ?, ?, NULL, 'broken', '', ?)",
            [
                (file_id, ordinal, json.dumps(astuple(link)), link.key)
                for ordinal, link in enumerate(links)
            ],
        )

    def unsettle(self, path: str) -> bool:
        """Have a known file looked at again at the next run; False if it is not known."""
        changed = self.db.execute("UPDATE files SET settled = 0 WHERE path = ?", (path,))
        return changed.rowcount > 0

    def remove_file(self, path: str) -> None:
        """Forget a file and all that is stored of it."""
        row = self.db.execute("SELECT id FROM files WHERE path = ?", (path,)).fetchone()
        if row:
            self._drop_parts(row[0], path)
            self.db.execute("DELETE FROM files WHERE id = ?", row)
        self.db.execute("DELETE FROM problems WHERE path = ?", (path,))

    def _drop_parts(self, file_id: int, path: str) -> None:
        of_chunks, of_files = _tables(path)
        self.db.execute(
            f"DELETE FROM {of_chunks} WHERE rowid IN (SELECT id FROM chunks WHERE file_id = ?)",
            (file_id,),
        )
        self.db.execute(f"DELETE FROM {of_files} WHERE rowid = ?", (file_id,))
        self.db.execute("DELETE FROM chunks WHERE file_id = ?", (file_id,))
        self.db.execute("DELETE FROM links WHERE file_id = ?", (file_id,))

    def put_problems(self, path: str, problems: Iterable[Problem]) -> None:
        """Replace what is known to be wrong with one file."""
        self.db.execute("DELETE FROM problems WHERE path = ?", (path,))
        self.db.executemany(
            "INSERT INTO problems VALUES (?,?,?,?)",
            [(path, p.line, p.message, p.grade) for p in problems],
        )

    def problems(self) -> list[Problem]:
        rows = self.db.execute("SELECT path, line, message, grade FROM problems")
        return [Problem(*row) for row in rows]

    def forget_vectors(self) -> None:
        """Forget which texts have vectors."""
        self.db.execute("DELETE FROM vectors")

    def values(self, column: str) -> list[str]:
        """The distinct values of ``type`` or ``priority`` over all files, sorted."""
        rows = self.db.execute(f"SELECT DISTINCT {column} FROM files WHERE {column} NOT NULL")
        return sorted(row[0] for row in rows)


def _tables(path: str) -> tuple[str, str]:
    """The keywords of a file's chunks, and of the file as a whole."""
    return schema.MINED_WORDS if is_mined(path) else schema.WORDS


def _note_words(chunks: Sequence[tuple[str, str, str, str]]) -> tuple[str, str, str]:
    """Title, tags and the whole text of a note, from the keyword columns of its chunks."""
    if not chunks:
        return "", "", ""
    title, _, tags, _ = chunks[0]
    parts: list[str] = []
    before = ""
    for _, heading, _, body in chunks:
        parts += [body] if heading == before else [heading, body]
        before = heading
    return title, tags, "\n".join(parts)


def create(path: Path) -> Catalog:
    """A new, empty catalog at ``path``; whatever was there is gone."""
    discard(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    catalog = Catalog(opening.connect(path))
    catalog.db.execute("PRAGMA journal_mode = WAL")
    catalog.db.execute("BEGIN IMMEDIATE")
    schema.make(catalog.db)
    catalog.set_meta("format", FORMAT)
    # A reader may still hold the old catalog: its generations must not be given out again.
    catalog.set_meta("generation", str(vectors.latest(path.parent)))
    catalog.db.execute("COMMIT")
    return catalog


def discard(path: Path) -> None:
    """Remove a catalog with its side files."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        with contextlib.suppress(FileNotFoundError):
            path.with_name(path.name + suffix).unlink()


def open_to_write(path: Path) -> Catalog:
    """The catalog at ``path``. Raises :class:`Damaged` if it is not usable."""
    return Catalog(opening.to_write(path))


def open_to_read(path: Path) -> Catalog:
    """Like :func:`open_to_write`, without the right to write; works on a read-only disk too.

    A catalog whose first build has not been committed yet counts as damaged.
    """
    return Catalog(opening.to_read(path))
