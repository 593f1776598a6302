"""Recent work of the project at hand, out of the ledgers that were written to lately.

Few files are opened: those that were touched in the time that is looked at, the newest first, of
each no more than its end.
"""

import contextlib
import os
import re
import sys
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import dates, fence, recent_work
from memory_palace.core.ledger import Header, Ledger
from memory_palace.core.ledger_chunks import Record
from memory_palace.core.recent_work import HOURS, Session
from memory_palace.files import ledgers, observed
from memory_palace.session import mem_ledgers, wings

MOST_LEDGERS = 500
"""Ledgers that are read."""

TAIL = 16 * 1024 * 1024
"""Bytes at the end of a ledger that are read."""

STARTING_LEDGERS = 24
STARTING_TAIL = 512 * 1024
STARTING_SESSIONS = 3
STARTING_CHARACTERS = 2_000
"""The same where a session's start waits, and how long its section is: 500 tokens."""

MOST_PEEKED = 2_000
_PEEK = 8_192
_AT = re.compile(rb'"at": ?"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"')
_AHEAD = timedelta(days=1)


class Recent(NamedTuple):
    """Sessions with records of the time looked at; ``unread`` counts ledgers that were touched in
    it and not, or cannot be, read."""

    sessions: tuple[Session, ...]
    unread: int


def recent(
    root: Path, now: datetime, wing: str = "", hours: float = HOURS, most: int = MOST_LEDGERS
) -> Recent:
    """The sessions of ``wing`` (empty: of all) of the last ``hours``."""
    since = now - timedelta(hours=hours)
    paths = touched(root, since, most, look=True)
    found = sessions(root, paths[:most], now, since, wing, TAIL)
    unread = mem_ledgers.unreadable(root, paths[:most], sys.maxsize)
    return Recent(tuple(found), max(len(paths) - most, 0) + unread)


def starting(root: Path, now: datetime, cwd: Path | None, session: str, most: int) -> str:
    """What happened last, in at most ``most`` characters, for a session that starts; nothing of
    that ``session`` itself. Empty where there is nothing, or no room."""
    most = min(most, STARTING_CHARACTERS)
    wing = wings.repository(cwd) if cwd else ""
    since = now - timedelta(hours=HOURS)
    paths = touched(root, since, STARTING_LEDGERS)[:STARTING_LEDGERS]
    found: list[Session] = []
    for one in sessions(root, paths, now, since, wing, STARTING_TAIL):
        if session and (one.name == session or one.name.startswith(f"{session}.")):
            continue
        found.append(one)
        if len(found) == STARTING_SESSIONS:
            break
    if not found:
        return ""
    return recent_work.brief(found, title(wing, HOURS), most, fence.size)


def title(wing: str, hours: float) -> str:
    """What heads the sessions."""
    return f"Recent work{f': {wing}' if wing else ''}, last {hours:g} h"


def touched(root: Path, since: datetime, most: int, look: bool = False) -> list[str]:
    """The ledgers that may have something of ``since`` or later, the newest first.

    A file's time says so; with ``look`` the last lines of older files are asked too, as a copy may
    have any time. Where more than ``most`` are touched, as after a clone, which touches all of
    them, the last lines tell which are new.
    """
    oldest = dates.stamp(since).encode()
    found: list[tuple[float, str]] = []
    for path in ledgers.every(root):
        with contextlib.suppress(OSError):
            modified = os.lstat(root / path).st_mtime
            if modified >= since.timestamp() or (look and _last(root, path) >= oldest):
                found.append((-modified, path))
    paths = mem_ledgers.searched(root, (path for _, path in sorted(found)))
    if len(paths) > most:
        peeked = sorted(paths[:MOST_PEEKED])
        newest = sorted(peeked, key=lambda path: _last(root, path), reverse=True)
        paths = [*newest, *paths[MOST_PEEKED:]]
    return paths


def _last(root: Path, path: str) -> bytes:
    """The newest time in the last lines of a ledger, as it is written there."""
    with contextlib.suppress(OSError), (root / path).open("rb") as file:
        file.seek(max(file.seek(0, os.SEEK_END) - _PEEK, 0))
        return max(_AT.findall(file.read(_PEEK)), default=b"")
    return b""


def sessions(
    root: Path, paths: list[str], now: datetime, since: datetime, wing: str, most_bytes: int
) -> Iterator[Session]:
    """What the ledgers have of that time, one after the other; what was dropped is left out."""
    for path in paths:
        got = observed.recent(root, path, most_bytes)
        if got is None:
            continue
        header = got.ledger.header
        if wing and not (header and mem_ledgers.same_wing(header.wing, wing)):
            continue
        listed = mem_ledgers.of(got)
        records = tuple(
            one.record
            for one in listed
            if since <= one.record.at <= now + _AHEAD and not one.record.dropped
        )
        # A summary heads the session; it is a row only where there is nothing else.
        records = tuple(one for one in records if one.kind != "summary") or records
        if records:
            yield _session(path, header, got.ledger, listed[0].source, records)


def _session(
    path: str,
    header: Header | None,
    ledger: Ledger,
    source: mem_ledgers.Source,
    records: tuple[Record, ...],
) -> Session:
    summary = ledger.summaries[-1].parts if ledger.summaries else {}
    wing = header.wing if header else ""
    return Session(path, source.session, source.agent, wing, records, summary)
