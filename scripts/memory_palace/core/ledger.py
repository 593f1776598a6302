"""A session's ledger: what was said and done, and what was observed of it, as values.

One JSON object a line, in any order: union merges and two writers at once change nothing. What is
due, the fold and recall stand in ``ledger_due``, ``fold`` and ``ledger_recall``.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from math import ceil
from typing import Any

from memory_palace.core import dates
from memory_palace.core.text import sha256

ROLES = ("user", "assistant", "tool")
RELEVANCES = ("low", "medium", "high", "critical")
TYPES = ("decision", "bugfix", "feature", "refactor", "discovery", "change")
"""What an observation is of; what each counts stands in ``core/layers.py``."""

TOKEN = 4
"""Characters that count as one token."""

LONGEST = 10_000
"""Characters of an observation or a reflection; what is over is cut before the id is made."""

EVENTS: dict[str, tuple[str, ...]] = {
    "session": ("client", "wing", "version", "forked_from"),
    "entry": ("parent", "role", "text", "tool", "files", "failed", "ref"),
    "observed": ("covers_up_to", "observations"),
    "reflected": ("covers_up_to", "reflections"),
    "dropped": ("covers_up_to", "ids"),
    "folded": ("covers_up_to", "first_kept", "full"),
    "summarized": (
        "covers_up_to",
        "request",
        "investigated",
        "learned",
        "completed",
        "next_steps",
    ),
}
"""Each kind of line, and the keys that it has besides those that all logs share."""

SUMMARY = EVENTS["summarized"][1:]
"""The parts of a session's summary, in the order in which they are shown."""

_ID = re.compile(r"[0-9a-f]{12}\Z")
_CUT = re.compile(rf".{{{LONGEST - 1},{LONGEST}}} \[[0-9]+ more characters\]")


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing that was said or done in a session.

    ``parent`` is the entry before it, empty for the first. ``tool`` is the tool's name where
    ``role`` is ``tool``; ``files`` are those it changed, relative to the project. ``ref`` is the
    client's own id. ``line`` counts from 1, 0 for one that is not in a file yet.
    """

    id: str
    parent: str
    role: str
    text: str
    at: datetime
    tool: str = ""
    files: tuple[str, ...] = ()
    failed: bool = False
    ref: str = ""
    by: str = ""
    line: int = field(default=0, compare=False)

    @property
    def tokens(self) -> int:
        return tokens(self.text)


@dataclass(frozen=True, slots=True)
class Observation:
    """One line about what happened, with the entries that say so.

    ``covers_up_to`` is the last entry that its maker had read (empty: it read for this line only).
    ``type`` is one of :data:`TYPES` or empty; ``room`` the folder of the first file; ``work`` the
    tokens that went into what it tells of.
    """

    id: str
    content: str
    at: datetime
    relevance: str
    sources: tuple[str, ...]
    covers_up_to: str = ""
    type: str = ""
    room: str = ""
    files: tuple[str, ...] = ()
    work: int = 0
    by: str = ""
    line: int = field(default=0, compare=False)

    @property
    def tokens(self) -> int:
        return tokens(self.content)


@dataclass(frozen=True, slots=True)
class Reflection:
    """A lasting conclusion and the observations that it was drawn from."""

    id: str
    content: str
    supports: tuple[str, ...]
    at: datetime
    covers_up_to: str = ""
    by: str = ""
    line: int = field(default=0, compare=False)

    @property
    def tokens(self) -> int:
        return tokens(self.content)


@dataclass(frozen=True, slots=True)
class Drop:
    """Observations that no longer matter: a tombstone for each id, whether seen yet or not."""

    ids: tuple[str, ...]
    at: datetime
    covers_up_to: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True)
class Folded:
    """That a fold was made: what stayed raw from ``first_kept`` on (empty: nothing), and whether
    reflections and drops were brought in (``full``). ``covers_up_to`` was the tip."""

    covers_up_to: str
    first_kept: str
    full: bool
    at: datetime


@dataclass(frozen=True, slots=True)
class Summary:
    """What a session was about; ``parts`` has the keys of :data:`SUMMARY` that are not empty."""

    parts: Mapping[str, str]
    covers_up_to: str
    at: datetime
    by: str = ""
    line: int = 0


@dataclass(frozen=True, slots=True)
class Header:
    """Whose session it is: ``client``, the project's ``wing``, the client's ``version``, and the
    session it was forked from."""

    session: str
    client: str
    wing: str = ""
    version: str = ""
    forked_from: str = ""
    at: datetime | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Ledger:
    """Everything in one ledger, each thing once, ordered by time and uid.

    ``entries`` are by id. ``refused`` says what was left out, as (line, why). The last two are the
    repeats: the first of an id counts, unless that one stands on another branch.
    """

    entries: Mapping[str, Entry] = field(default_factory=dict)
    observations: tuple[Observation, ...] = ()
    reflections: tuple[Reflection, ...] = ()
    drops: tuple[Drop, ...] = ()
    folds: tuple[Folded, ...] = ()
    summaries: tuple[Summary, ...] = ()
    headers: tuple[Header, ...] = ()
    refused: tuple[tuple[int, str], ...] = field(default=(), compare=False)
    observed_again: tuple[Observation, ...] = ()
    reflected_again: tuple[Reflection, ...] = ()

    @property
    def header(self) -> Header | None:
        """The newest header that names a wing, else the newest."""
        named = [one for one in self.headers if one.wing]
        found = named or list(self.headers)
        return found[-1] if found else None

    @property
    def wing(self) -> str:
        """The project's wing, empty where no header says it."""
        return self.header.wing if self.header else ""

    @property
    def dropped(self) -> frozenset[str]:
        """Every id that any drop names."""
        return frozenset(one for drop in self.drops for one in drop.ids)


def tokens(text: str) -> int:
    """Tokens of ``text``: a quarter of its characters, rounded up."""
    return ceil(len(text) / TOKEN)


def content(text: str) -> str:
    """``text`` as a record holds it: on one line, at most :data:`LONGEST` characters and a marker
    that says how many are gone. What was cut before stays as it is."""
    line = " ".join(text.split())
    if len(line) <= LONGEST or _CUT.fullmatch(line):
        return line
    kept = line[:LONGEST].rstrip()
    return f"{kept} [{len(line) - len(kept)} more characters]"


def record_id(text: str) -> str:
    """The id of a record: the first 12 hex of its content's SHA-256."""
    return sha256(text)[:12]


def entry_uid(client: str, session: str, agent: str, role: str, ref: str) -> str:
    """The uid (16 hex) of what a client names ``ref``: the same from its hook and its transcript,
    so that it is kept once. The entry's id is its first 12 hex."""
    return sha256("\x1f".join((client, session, agent, role, ref)))[:16]


def is_id(text: object) -> bool:
    """True for 12 hex digits."""
    return isinstance(text, str) and bool(_ID.match(text))


def entry_line(entry: Entry, uid: str) -> dict[str, Any]:
    """The line that holds an entry; empty keys are left out."""
    data: dict[str, Any] = {"parent": entry.parent, "role": entry.role, "text": entry.text}
    data |= {"tool": entry.tool, "files": list(entry.files), "failed": entry.failed}
    data |= {"ref": entry.ref}
    kept = {k: v for k, v in data.items() if v or k in ("role", "text")}
    return shared("entry", uid, entry.id, entry.at, entry.by) | kept


def observation_data(one: Observation) -> dict[str, Any]:
    """An observation as an ``observed`` line holds it."""
    data: dict[str, Any] = {
        "id": one.id,
        "content": one.content,
        "at": dates.stamp(one.at),
        "relevance": one.relevance,
        "sources": list(one.sources),
        "tokens": one.tokens,
    }
    more = {"type": one.type, "room": one.room, "files": list(one.files), "work": one.work}
    return data | {key: value for key, value in more.items() if value}


def reflection_data(one: Reflection) -> dict[str, Any]:
    """A reflection as a ``reflected`` line holds it."""
    return {
        "id": one.id,
        "content": one.content,
        "supports": list(one.supports),
        "tokens": one.tokens,
    }


def shared(event: str, uid: str, about: str, at: datetime, by: str) -> dict[str, Any]:
    """The keys that every line has."""
    return {"at": dates.stamp(at), "by": by, "event": event, "uid": uid, "id": about}


def branch(ledger: Ledger, tip: str = "") -> tuple[Entry, ...]:
    """The entries from the first to ``tip``, by their parents; by default to the newest one that
    no other follows. A parent that is not there begins the branch."""
    entries = ledger.entries
    if not tip:
        tip = newest_tip(entries.values())
    found: list[Entry] = []
    seen: set[str] = set()
    while tip in entries and tip not in seen:
        seen.add(tip)
        found.append(entries[tip])
        tip = entries[tip].parent
    return tuple(reversed(found))


def newest_tip(entries: Iterable[Entry]) -> str:
    """The id of the entry that ends the branch of the newest one; empty without entries.

    What follows the newest may be older: an import adds what hooks did not see, and clocks jump.
    """
    after: dict[str, list[Entry]] = {}
    newest: Entry | None = None
    for one in entries:
        after.setdefault(one.parent, []).append(one)
        if newest is None or _age(one) > _age(newest):
            newest = one
    if newest is None:
        return ""
    seen = {newest.id}
    while later := [one for one in after.get(newest.id, ()) if one.id not in seen]:
        newest = max(later, key=_age)
        seen.add(newest.id)
    return newest.id


def _age(one: Entry) -> tuple[datetime, str]:
    return one.at, one.id
