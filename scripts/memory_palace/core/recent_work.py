"""Recent work of a project as text: sessions whole or not at all, newest first, within a budget."""

import shlex
from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from memory_palace.core import dates, layers, ledger_chunks
from memory_palace.core.layers import TOKEN
from memory_palace.core.ledger import RELEVANCES
from memory_palace.core.ledger_chunks import Record
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable

BUDGET = 8_000
"""Tokens of ``palace context``."""

HOURS = 72

TOLD = ("request", "completed", "next_steps")
"""The parts of a session's summary that head it."""

_PART = 300
_BRIEF_PART = 240
_BRIEF_LINE = 150
_BRIEF_LINES = ((5, 2, 0), (2, 0), (2, 0))
"""How many lines of what was found each session has, the newest first: as many as there is room
for."""

_COMMITTED = "Committed"  # how a line begins that the summary's `completed` tells of
_REST = "[`palace context` shows these days in full, `palace mem search` finds older ones]"
_TABLE = "| id | time | type | title | read | work |\n| --- | --- | --- | --- | --- | --- |"


class Session(NamedTuple):
    """What a session found in the time that is looked at: ``records`` without those dropped, by
    time and id. ``summary`` has the parts of its newest summary."""

    path: str
    name: str
    agent: str
    wing: str
    records: tuple[Record, ...]
    summary: Mapping[str, str]

    @property
    def last(self) -> datetime:
        """When the newest of its records was made."""
        return self.records[-1].at


class Shown(NamedTuple):
    """The text, the sessions in it, and how many sessions and records are left out."""

    text: str
    sessions: tuple[Session, ...]
    more: int
    more_records: int


def in_order(sessions: Iterable[Session]) -> list[Session]:
    """The newest first; of one moment by path."""
    return sorted(sorted(sessions, key=lambda one: one.path), key=lambda s: s.last, reverse=True)


def compose(
    sessions: Iterable[Session], title: str, budget: int = BUDGET, unseen: int = 0
) -> Shown:
    """The sessions in at most ``budget`` tokens: a heading and a table each. One that does not fit
    is left out whole, and counted with the ``unseen`` ones."""
    ordered = in_order(sessions)
    parts = [f"# {printable(title)}"]
    most = budget * TOKEN
    kept: list[Session] = []
    total = sum(len(one.records) for one in ordered)
    # The longest that the last line can be: all are left out.
    used = len(parts[0]) + 2 + len(_left_out(len(ordered) + unseen, total))
    for one in ordered:
        text = section(one)
        if used + len(text) + 2 <= most:
            used += len(text) + 2
            kept.append(one)
            parts.append(text)
    more = len(ordered) - len(kept) + unseen
    more_records = total - sum(len(one.records) for one in kept)
    if more:
        parts.append(_left_out(more, more_records))
    text = "\n\n".join(parts) if kept or more else ""
    return Shown(text if len(text) <= most else "", tuple(kept), more, more_records)


def brief(sessions: Iterable[Session], title: str, most: int, size: Callable[[str], int]) -> str:
    """The newest sessions in a few lines each, for an agent that starts; ``size`` measures the
    text, ``most`` bounds it. Empty where nothing has room."""
    parts = [f"# {printable(title)}"]
    used = size(parts[0]) + 2 + size(_REST)
    for one, counts in zip(in_order(sessions), _BRIEF_LINES, strict=False):
        texts = (short(one, lines) for lines in counts)
        text = next((told for told in texts if used + size(told) + 2 <= most), "")
        if text:
            used += size(text) + 2
            parts.append(text)
    return "\n\n".join([*parts, _REST]) if len(parts) > 1 else ""


def _left_out(sessions: int, records: int) -> str:
    what = f"{sessions} more session{'s' * (sessions != 1)}"
    there = f" with {records} record{'s' * (records != 1)}" if records else ""
    return (
        f"[{what}{there}: `palace context --budget N` shows more, `palace mem search` finds them]"
    )


def section(session: Session) -> str:
    """A session with all of its records, as a table; read and work cost in tokens."""
    lines = [_heading(session), *_summary(session, _PART)]
    rows = [_row(one) for one in session.records]
    return "\n\n".join(["\n".join(lines), "\n".join([_TABLE, *rows])])


def _summary(session: Session, most: int) -> list[str]:
    parts = [(name, session.summary[name]) for name in TOLD if session.summary.get(name)]
    return [
        f"{name.replace('_', ' ').capitalize()}: {_pieces(printable(hidden(said)), most)}"
        for name, said in parts
    ]


def _pieces(said: str, most: int) -> str:
    """``said`` cut after a whole piece of it (they are joined by semicolons) that fits, else in
    one."""
    if len(said) <= most:
        return said
    whole = said[: most - 1].rpartition("; ")[0]
    return f"{whole}; …" if whole else layers.clipped(said, most)


def _heading(session: Session) -> str:
    times = (session.records[0].at, session.records[-1].at)
    first, last = map(dates.minute, times)
    end = last[11:] if first[:10] == last[:10] else last
    span = first + (f" to {end}" if last != first else "")
    return f"## {span}, {printable(session.agent)}, session {printable(session.name)}"


def _row(record: Record) -> str:
    title = printable(ledger_chunks.title(record)).replace("|", "\\|")
    cells = [record.id, dates.minute(record.at), record.type, title]
    return f"| {' | '.join(cells)} | {record.read} | {record.work or ''} |"


def short(session: Session, lines: int) -> str:
    """A session in a few lines: what was asked for, what is done and what is left, as its summary
    says, and the ``lines`` that count most of what it found."""
    told = [_heading(session), *_summary(session, _BRIEF_PART)]
    done = session.summary.get("completed", "")
    news = [o for o in session.records if not (done and o.content.startswith(_COMMITTED))]
    best = sorted(news, key=_weight, reverse=True)[:lines]
    for one in sorted(best, key=ledger_chunks.order):
        said = layers.clipped(printable(ledger_chunks.telling(one)), _BRIEF_LINE)
        told.append(f"- [{one.id}] {one.type}: {said}")
    more = len(session.records) - len(best)
    if more:
        name = shlex.quote(printable(session.name))
        told.append(f"- {more} more: `palace ledger show --session {name}`")
    return "\n".join(told)


def _weight(record: Record) -> tuple[int, int, datetime]:
    """What counts most: by relevance, then by type, then the latest."""
    known = record.relevance in RELEVANCES
    relevance = RELEVANCES.index(record.relevance) if known else 0
    return relevance, record.importance, record.at
