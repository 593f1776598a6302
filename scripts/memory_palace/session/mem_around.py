"""What happened around a moment, across the sessions of a project; and records in full."""

import heapq
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import dates
from memory_palace.core import ledger as cores
from memory_palace.core.errors import BadInput, PalaceError, Refused
from memory_palace.core.ledger import Entry, Ledger
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable
from memory_palace.files import ledgers
from memory_palace.session import mem_ledgers
from memory_palace.session.mem_ledgers import Found, Known, Row, Source

_MINUTE = timedelta(minutes=1)


class Timeline(NamedTuple):
    """Records before and after a moment, ascending, ties by id. ``at`` is the moment, ``anchor``
    the id of the record that it is of, ``wing`` the project (empty: all)."""

    records: tuple[Found, ...]
    at: datetime
    anchor: str
    wing: str


class Cited(NamedTuple):
    """What a record rests on: its id, what it is (``user``, ``tool Bash``, ``observation``,
    ``not in the ledger``)."""

    id: str
    role: str


class Whole(NamedTuple):
    """A record, or a session entry, in full. ``also`` are other ledgers that have it."""

    source: Source
    record: Found | None
    entry: Entry | None
    cited: tuple[Cited, ...]
    also: tuple[str, ...]


def timeline(
    root: Path, anchor: str, before: int = 5, after: int = 5, wing: str = "", every: bool = False
) -> Timeline:
    """The records next to ``anchor``, an id of 12 hex or a time: of the same wing, of ``wing``,
    or of ``every`` one. The anchor's own is among them and not counted.

    Raises :class:`BadInput` for what is neither id nor time, :class:`Refused` for an id that no
    ledger has.
    """
    there = mem_ledgers.paths(root)
    with Known(root) as known:
        at, name, own = _anchor(root, anchor, there, known)
        chosen = "" if every else wing or own
        rows = known.rows(with_spans=True)
        fresh = set(mem_ledgers.unknown(root, there, rows))
        rows = {path: row for path, row in rows.items() if path not in fresh}
    paths = [p for p in there if not chosen or p not in rows or _is_of(rows[p], chosen)]
    earlier: list[Found] = []
    later: list[Found] = []
    middle: list[Found] = []
    for away, path in sorted((_away(rows.get(path), at), path) for path in paths):
        enough = _is_enough(earlier, before, at, away) and _is_enough(later, after, at, away)
        if enough and (middle or not name):
            break
        found = [
            one
            for one in mem_ledgers.records(root, path)
            if not chosen or mem_ledgers.same_wing(one.source.wing, chosen)
        ]
        key = (at, name)
        middle += [one for one in found if name and _key(one) == key]
        earlier = heapq.nlargest(before, [*earlier, *(o for o in found if _key(o) < key)], _order)
        later = heapq.nsmallest(after, [*later, *(o for o in found if _key(o) > key)], _order)
    return Timeline(tuple(sorted([*earlier, *middle[:1], *later], key=_order)), at, name, chosen)


def _key(one: Found) -> tuple[datetime, str]:
    return one.record.at, one.record.id


def _order(one: Found) -> tuple[datetime, str, str]:
    return *_key(one), one.source.path


def _is_of(row: Row, wing: str) -> bool:
    return mem_ledgers.same_wing(row.wing, wing)


def _away(row: Row | None, at: datetime) -> timedelta:
    """How far the nearest record of a ledger can be; nothing is known of one that is not in the
    index."""
    if row is None:
        return timedelta()
    if row.span is None:
        return timedelta.max
    first, last = row.span
    return max(first - at, at - last - _MINUTE, timedelta())


def _is_enough(kept: list[Found], wanted: int, at: datetime, away: timedelta) -> bool:
    """True if nothing so far ``away`` can be nearer than those that are ``kept``."""
    if len(kept) < wanted:
        return wanted == 0
    return all(abs(one.record.at - at) < away for one in kept)


def _anchor(
    root: Path, anchor: str, there: Sequence[str], known: Known
) -> tuple[datetime, str, str]:
    """The moment, the id (empty for a time), and the wing of an anchor."""
    name = _bare(anchor)
    if cores.is_id(name):
        for path in _holding(root, name, there, known):
            whole = _whole(root, path, name)
            if whole is None:
                continue
            if whole.record is not None:
                return whole.record.record.at, name, whole.source.wing
            if whole.entry is not None:
                return whole.entry.at, name, whole.source.wing
        raise Refused(f"no ledger has {name}: `palace mem search` finds records by words")
    at = dates.parse(anchor)
    if at is None:
        raise BadInput(
            f"{printable(anchor)!r} is no id of 12 hex digits and no time: "
            f"write {dates.FORMS}, 7d, 24h"
        )
    return at, "", ""


def get(root: Path, ids: Sequence[str]) -> tuple[list[Whole], list[str]]:
    """The records with these ids, each once, in the order asked for; and the ids that no ledger
    has. Raises :class:`BadInput` for what is no id."""
    wanted = list(dict.fromkeys(map(_bare, ids)))
    wrong = [one for one in wanted if not cores.is_id(one)]
    if wrong:
        raise BadInput(f"{', '.join(map(printable, wrong))}: an id has 12 hex digits")
    there = mem_ledgers.paths(root)
    found: list[Whole] = []
    missing: list[str] = []
    with Known(root) as known:
        for name in wanted:
            holding = _holding(root, name, there, known)
            whole = [one for path in holding if (one := _whole(root, path, name)) is not None]
            # A record says more than an entry that has its id by chance.
            whole.sort(key=lambda one: (one.record is None, one.source.path))
            if whole:
                also = tuple(one.source.path for one in whole[1:])
                found.append(whole[0]._replace(also=also))
            else:
                missing.append(name)
    return found, missing


def _bare(given: str) -> str:
    """An id as it stands in a ledger, of `#id` and of `[id]`, as folds show it."""
    return given.strip().removeprefix("#").removeprefix("[").removesuffix("]")


def _holding(root: Path, name: str, there: Sequence[str], known: Known) -> list[str]:
    """The ledgers that may have an id: as the index says, else by their bytes."""
    listed = set(known.holding(name))
    sure = [path for path in there if path in listed and _record(root, path, name)]
    # A summary's id, and one that a hand left out, stands in no file.
    return sure or [path for path in there if ledgers.mentions(root, path, name)] or list(there)


def _record(root: Path, path: str, name: str) -> Found | None:
    records = mem_ledgers.records(root, path)
    return next((one for one in records if one.record.id == name), None)


def _whole(root: Path, path: str, name: str) -> Whole | None:
    record = _record(root, path, name)
    if record is None and not ledgers.mentions(root, path, name):
        return None
    try:
        ledger = ledgers.load(root, path).ledger
    except PalaceError:
        ledger = Ledger()
    entry = ledger.entries.get(name) if record is None else None
    if record is None and entry is None:
        return None
    if entry is not None:  # a stranger's ledger, or a person, may have put a private span there
        entry = replace(entry, text=hidden(entry.text))
    source = record.source if record else _source(path, ledger)
    cited = tuple(_cited(ledger, one) for one in record.record.sources) if record else ()
    return Whole(source, record, entry, cited, ())


def _source(path: str, ledger: Ledger) -> Source:
    agent, name = ledgers.names(path)
    header = ledger.header
    session, wing = (header.session, header.wing) if header else (name, "")
    return Source(path, agent, session or name, wing, "")


def _cited(ledger: Ledger, name: str) -> Cited:
    entry = ledger.entries.get(name)
    if entry is not None:
        return Cited(name, f"{entry.role} {entry.tool}".strip())
    if any(one.id == name for one in ledger.observations):
        return Cited(name, "observation")
    return Cited(name, "not in the ledger")
