"""The log of facts by the names in it, so that a question reads a few of a hundred thousand lines.

Derived, in ``.palace/memory/facts.sqlite``: where the lines about an entity stand in the log. A log
that grew is read from where it ended; one with another beginning is read anew.
"""

import contextlib
import hashlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_palace.core import dates, facts, facts_read
from memory_palace.core.errors import Busy, PalaceError
from memory_palace.core.fact import LONG_AGO, PATH, Fact
from memory_palace.files import journal, jsonl, read, roots

FORMAT = "1"
NAME = f"{roots.MEMORY}/facts.sqlite"
MOST = 500
"""Facts of one entity that are looked at, the newest; besides those that name two."""

MOST_IN_HASTE = 512 * 1024
"""Bytes of the log that are read for a prompt: 2,000 lines take a tenth of a second."""

_BLOCK = 20_000  # lines that are read at once
_WAIT_SECONDS = 10.0
_HASTE_SECONDS = 0.2
_SCHEMA = """
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE lines (start INTEGER PRIMARY KEY, size INTEGER NOT NULL, id TEXT NOT NULL);
CREATE TABLE mentions (
    name TEXT NOT NULL, begins REAL NOT NULL, id TEXT NOT NULL, other TEXT NOT NULL,
    PRIMARY KEY (name, begins, id)
) WITHOUT ROWID;
CREATE TABLE ends (id TEXT PRIMARY KEY, at REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE names (
    kind INTEGER NOT NULL, name TEXT NOT NULL, at REAL NOT NULL, spelled TEXT NOT NULL,
    PRIMARY KEY (kind, name)
) WITHOUT ROWID;
"""
_INDEXES = """
CREATE INDEX lines_id ON lines (id);
CREATE INDEX mentions_other ON mentions (name, other);
"""
_HOLDING = """
    m.begins <= :at AND NOT EXISTS (SELECT 1 FROM ends e WHERE e.id = m.id AND e.at <= :at)
"""


class FactIndex:
    """The log as it is now. Close it."""

    def __init__(self, root: Path, db: sqlite3.Connection) -> None:
        self._root, self._db = root, db

    def close(self) -> None:
        """Let go of the database."""
        self._db.close()

    def known(self, names: Iterable[str]) -> dict[str, str]:
        """The first spelling of each of ``names`` (as compared) that is an entity."""
        return self._spelled(0, names)

    def about(self, names: Sequence[str], at: datetime, most: int = MOST) -> list[Fact]:
        """The facts about ``names`` that hold at ``at``, identical ones once; of each name the
        ``most`` newest, and those with another of ``names``. Raises OSError."""
        ids: dict[str, None] = {}
        for name in names:
            values = {"name": name, "at": at.timestamp(), "most": most, "all": json.dumps(names)}
            rows = self._db.execute(
                f"""SELECT * FROM (SELECT m.id FROM mentions m WHERE m.name = :name AND {_HOLDING}
                                   AND m.other IN (SELECT value FROM json_each(:all)) LIMIT :most)
                    UNION ALL
                    SELECT * FROM (SELECT m.id FROM mentions m WHERE m.name = :name AND {_HOLDING}
                                   ORDER BY m.begins DESC, m.id LIMIT :most)""",
                values,
            )
            ids.update((row[0], None) for row in rows)
        folded = facts.fold(enumerate(self._lines(list(ids)), start=1))
        return self._as_spelled([fact for fact in folded.active(at) if fact.id in ids])

    def _lines(self, ids: list[str]) -> Iterator[dict[str, Any]]:
        places = self._db.execute(
            """SELECT start, size FROM lines WHERE id IN (SELECT value FROM json_each(?))
               ORDER BY start""",
            (json.dumps(ids),),
        ).fetchall()
        with open(self._root / PATH, "rb", opener=roots.unhindered) as file:
            for start, size in places:
                file.seek(start)
                with contextlib.suppress(ValueError, RecursionError):
                    data = json.loads(_text(file.read(size)))
                    if isinstance(data, dict):
                        yield data

    def _as_spelled(self, found: list[Fact]) -> list[Fact]:
        entities = self._spelled(0, {n for f in found for n in (f.names[0], f.names[2])})
        predicates = self._spelled(1, {f.names[1] for f in found})
        return [
            fact._replace(
                subject=entities.get(fact.names[0], fact.subject),
                predicate=predicates.get(fact.names[1], fact.predicate),
                object=entities.get(fact.names[2], fact.object),
            )
            for fact in found
        ]

    def _spelled(self, kind: int, names: Iterable[str]) -> dict[str, str]:
        listed = json.dumps(list(names))
        return dict(
            self._db.execute(
                """SELECT name, spelled FROM names
                   WHERE kind = ? AND name IN (SELECT value FROM json_each(?))""",
                (kind, listed),
            ).fetchall()
        )

    # -- in step with the log -----------------------------------------------------------------

    def follow(self, most: int) -> None:
        """Read what the log has gained, unless that is over ``most`` bytes. Raises
        :class:`PalaceError`, OSError, sqlite3.Error."""
        stamp = _stamp(self._root)
        if self._meta("stamp") == stamp:
            return
        got = read.read_bytes(self._root, PATH, journal.MOST_BYTES, "the facts")
        if isinstance(got, read.Unreadable):
            raise PalaceError(str(got.problem))
        data = got[0]
        self._db.execute("BEGIN IMMEDIATE")
        try:
            known, seen = (int(self._meta(key) or 0) for key in ("size", "seen"))
            # Also what stood behind the last line feed: a hand may have taken it out.
            if not known or _digest(data[:seen]) != self._meta("digest"):
                known = 0
            if len(data) - known > most:
                raise Busy("the facts are not read yet: ask with `palace query` first")
            if not known:
                for table in ("lines", "mentions", "ends", "names"):
                    self._db.execute(f"DELETE FROM {table}")
            for block in _blocks(data, known):
                self._add(block)
            whole = data.rfind(b"\n") + 1
            kept = {"stamp": stamp, "size": whole, "seen": len(data), "digest": _digest(data)}
            self._db.executemany("REPLACE INTO meta VALUES (?, ?)", kept.items())
            self._db.execute("COMMIT")
        except BaseException:
            self._db.execute("ROLLBACK")
            raise

    def hold(self) -> None:
        """Read one state from now on, whoever goes on writing."""
        self._db.execute("BEGIN")

    def _meta(self, key: str) -> str:
        row = self._db.execute("SELECT value FROM meta WHERE key = ?", (key,)).fetchone()
        return str(row[0]) if row else ""

    def _add(self, block: list[tuple[int, int, dict[str, Any]]]) -> None:
        """Keep (start, size, object) of lines that name facts."""
        folded = facts.fold((number, data) for number, (_, _, data) in enumerate(block))
        ids = {fact.line: fact.id for fact in folded.found}  # of the lines that count
        lines, ends = [], []
        for number, (start, size, data) in enumerate(block):
            key = facts_read.id_of(data) or ids.get(number, "")
            if not key:
                continue
            lines.append((start, size, key))
            if data.get("event") == "invalidated":
                end = facts_read.ending(data)
                ends += [(key, end[1].timestamp())] if end else []
            elif number in ids and data.get("valid_to"):
                moment = dates.parse(data["valid_to"])
                ends += [(key, moment.timestamp())] if moment else []
        self._db.executemany("REPLACE INTO lines VALUES (?, ?, ?)", lines)
        self._db.executemany(
            """INSERT INTO ends VALUES (?, ?)
               ON CONFLICT (id) DO UPDATE SET at = min(at, excluded.at)""",
            ends,
        )
        mentions, names = [], []
        for fact in folded.found:
            subject, predicate, object_ = fact.names
            begins = fact.begins.timestamp()
            at = (fact.at or LONG_AGO).timestamp()
            mentions += [(subject, begins, fact.id, object_), (object_, begins, fact.id, subject)]
            names += [(0, subject, at, fact.subject), (0, object_, at, fact.object)]
            names.append((1, predicate, at, fact.predicate))
        self._db.executemany("INSERT OR IGNORE INTO mentions VALUES (?, ?, ?, ?)", mentions)
        self._db.executemany(
            """INSERT INTO names VALUES (?, ?, ?, ?) ON CONFLICT (kind, name) DO UPDATE
               SET at = excluded.at, spelled = excluded.spelled
               WHERE (excluded.at, excluded.spelled) < (names.at, names.spelled)""",
            names,
        )


def opened(root: Path, in_haste: bool = False) -> FactIndex | None:
    """The facts of a palace, as the log is now; None without a log, or if it cannot be read: who
    asks about facts by name is told what is wrong with it, who asks for notes need not be.

    Where ``.palace`` cannot be written the log is read into memory. One ``stat`` without a log.
    ``in_haste``: None too where more than :data:`MOST_IN_HASTE` bytes are new.
    """
    if not os.path.isfile(root / PATH):
        return None
    for place in _places(root):
        with contextlib.suppress(OSError, PalaceError, sqlite3.Error):
            index = FactIndex(root, _connect(place, _HASTE_SECONDS if in_haste else _WAIT_SECONDS))
            try:
                index.follow(MOST_IN_HASTE if in_haste else journal.MOST_BYTES)
                index.hold()
            except BaseException:
                index.close()
                raise
            return index
    return None


def _places(root: Path) -> Iterator[str]:
    """Where to keep it: the file; the file made anew, if it was damaged; memory."""
    with contextlib.suppress(OSError, PalaceError):
        roots.inside(root, PATH)
        path = roots.inside(root, NAME)
        path.parent.mkdir(parents=True, exist_ok=True)
        yield str(path)
        if _is_damaged(path):
            path.unlink()
            yield str(path)
    yield ":memory:"


def _is_damaged(path: Path) -> bool:
    """True if it is no database. One that is locked, or may not be written, is in order."""
    try:
        with contextlib.closing(sqlite3.connect(path)) as db:
            db.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError:
        return False
    except sqlite3.DatabaseError:
        return True
    return False


def _connect(place: str, seconds: float) -> sqlite3.Connection:
    db = sqlite3.connect(place, timeout=seconds, isolation_level=None, check_same_thread=False)
    try:
        db.execute("PRAGMA synchronous = OFF")  # it can be made again at any time
        if not _is_of_this_format(db):
            db.execute("BEGIN IMMEDIATE")
            if not _is_of_this_format(db):  # another process may have been faster
                _make(db)
            db.execute("COMMIT")
    except BaseException:
        db.close()
        raise
    return db


def _is_of_this_format(db: sqlite3.Connection) -> bool:
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return False
    row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    return row is not None and row[0] == FORMAT


def _make(db: sqlite3.Connection) -> None:
    for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        db.execute(f"DROP TABLE {name}")
    for statement in (_SCHEMA + _INDEXES).split(";"):
        db.execute(statement)
    db.execute("INSERT INTO meta VALUES ('format', ?)", (FORMAT,))


def _stamp(root: Path) -> str:
    info = (root / PATH).stat()
    return f"{info.st_ino} {info.st_size} {info.st_mtime_ns}"


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _text(line: bytes) -> str:
    return line.decode("utf-8", "surrogateescape").removeprefix("\ufeff")


def _blocks(data: bytes, start: int) -> Iterator[list[tuple[int, int, dict[str, Any]]]]:
    """(start, size, object) of the lines from ``start`` on that are objects, many at once."""
    block: list[tuple[int, int, dict[str, Any]]] = []
    while start < len(data):
        end = data.find(b"\n", start)
        end = len(data) if end < 0 else end
        raw = _text(data[start:end])
        if raw.strip():
            for line in jsonl.parse("", raw)[0]:
                if line.data is not None:
                    block.append((start, end - start, line.data))
        start = end + 1
        if len(block) == _BLOCK:
            yield block
            block = []
    if block:
        yield block
