"""The records of ledgers on disk, with whose session each is, and what the index knows of them."""

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import dates, ledger_chunks
from memory_palace.core.errors import PalaceError
from memory_palace.core.ledger_chunks import Record
from memory_palace.core.text import nfc
from memory_palace.files import config as configs
from memory_palace.files import ledgers, observed, read, roots, tree
from memory_palace.index import opening

WAIT_SECONDS = 0.5
"""How long a writer may keep the catalog from being read."""


class Source(NamedTuple):
    """Whose session a ledger is of. ``day`` is the one on which it began, empty if unknown."""

    path: str
    agent: str
    session: str
    wing: str
    day: str


class Found(NamedTuple):
    """A record and the ledger that it stands in."""

    record: Record
    source: Source


def paths(root: Path) -> list[str]:
    """The ledgers that are searched, sorted."""
    return searched(root, ledgers.every(root))


def searched(root: Path, found: Iterable[str]) -> list[str]:
    """Those of the ledgers that are searched: no copies of a sync tool, none that the palace's
    settings leave out."""
    kept = [one for one in found if tree.is_text(one) and not tree.is_conflict_copy(one)]
    try:
        spec = tree.exclusion(configs.load(root).exclude) if kept else None
    except PalaceError:
        spec = None
    return [one for one in kept if not (spec and spec.match_file(one))]


def unreadable(root: Path, paths: Iterable[str], most_bytes: int = observed.MOST_BYTES) -> int:
    """How many of the ledgers nobody here may read, or are larger than ``most_bytes``."""
    number = 0
    for path in paths:
        try:
            number += os.lstat(root / path).st_size > most_bytes
            number += not os.access(root / path, os.R_OK)
        except OSError:
            continue  # gone a moment ago
    return number


def records(root: Path, path: str) -> tuple[Found, ...]:
    """The records of one ledger, by time and id; none where it cannot be read."""
    got = observed.read_text(root, path)
    if isinstance(got, read.Unreadable):
        return ()
    return of(observed.parse(path, got.text))


def of(found: observed.Observed) -> tuple[Found, ...]:
    """The records of a ledger that was read."""
    header = found.ledger.header
    listed = ledger_chunks.records(found.ledger)
    agent, name = ledgers.names(found.path)
    session, wing = (header.session, header.wing) if header else (name, "")
    day = ledger_chunks.session_day(listed, header)
    source = Source(found.path, agent, session or name, wing, day)
    return tuple(Found(one, source) for one in listed)


def same_wing(a: str, b: str) -> bool:
    """True for two spellings of one wing."""
    return a == b or nfc(a).casefold() == nfc(b).casefold()


class Row(NamedTuple):
    """What the index has of a ledger: its stat, its project, and between which minutes its
    records lie (None: it has none)."""

    size: int
    mtime_ns: int
    wing: str
    span: tuple[datetime, datetime] | None


class Known:
    """What the index knows of ledgers; nothing where there is none. ``why`` says why then."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self.why = ""
        self._db: sqlite3.Connection | None = None
        with contextlib.suppress(OSError):
            try:
                place = roots.index_folder(root) / opening.MAIN
                self._db = opening.to_read(place, WAIT_SECONDS)
            except (PalaceError, sqlite3.Error) as error:
                self.why = str(error).split(": run ", 1)[0]

    def close(self) -> None:
        if self._db is not None:
            self._db.close()

    def __enter__(self) -> "Known":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _asked(self, query: str, values: Iterable[object] = ()) -> list[tuple[object, ...]]:
        if self._db is None:
            return []
        try:
            return self._db.execute(query, tuple(values)).fetchall()
        except sqlite3.Error as error:
            self.close()
            self._db, self.why = None, f"the index is damaged ({error})"
            return []

    def rows(self, with_spans: bool = False) -> dict[str, Row]:
        """{path: what is known} of all ledgers in the index."""
        spans = (
            "(SELECT min(substr(text, 1, 16)) || max(substr(text, 1, 16)) FROM chunks"
            " WHERE file_id = f.id)"
        )
        found = self._asked(
            f"SELECT path, size, mtime_ns, tags, {spans if with_spans else 'NULL'} FROM files f"
            f" WHERE path GLOB '{tree.LEDGERS}'"
        )
        return {
            str(path): Row(int(str(size)), int(str(mtime)), _first(str(tags)), _span(span))
            for path, size, mtime, tags, span in found
        }

    def holding(self, record: str) -> list[str]:
        """The ledgers that have a record of this id, as far as the index knows."""
        found = self._asked(
            "SELECT DISTINCT f.path FROM chunks c JOIN files f ON f.id = c.file_id"
            f" WHERE c.chunk_id = ? AND f.path GLOB '{tree.LEDGERS}' ORDER BY f.path",
            (record,),
        )
        return [str(path) for (path,) in found]

    def spread(self, expression: str) -> tuple[int, int]:
        """In how many chunks an FTS5 expression holds, of how many."""
        having = self._asked("SELECT count(*) FROM words WHERE words MATCH ?", (expression,))
        every = self._asked("SELECT count(*) FROM words_docsize")
        return (int(str(having[0][0])), int(str(every[0][0]))) if having and every else (0, 0)


def unknown(root: Path, every: Iterable[str], known: dict[str, Row]) -> list[str]:
    """The ledgers that the index does not know as they are now, the newest first."""
    found: list[tuple[int, str]] = []
    for path in every:
        with contextlib.suppress(OSError):
            info = os.lstat(root / path)
            row = known.get(path)
            if row is None or (row.size, row.mtime_ns) != (info.st_size, info.st_mtime_ns):
                found.append((-info.st_mtime_ns, path))
    return [path for _, path in sorted(found)]


def _first(tags: str) -> str:
    try:
        wings = json.loads(tags)
    except ValueError:  # a damaged index: the ledger says it, too
        return ""
    return str(wings[0]) if wings and isinstance(wings, list) else ""


def _span(text: object) -> tuple[datetime, datetime] | None:
    if not isinstance(text, str) or len(text) != 32:
        return None
    first, last = dates.parse(text[:16]), dates.parse(text[16:])
    return (first, last) if first and last else None
