"""Reverse elimination: what a note has to do to stay where it is, and when it goes one tier down.

Two strikes by the same rule, some time apart, come before any move. A pinned note is immune.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from memory_palace.core import dates
from memory_palace.core.events import SKEW, Event
from memory_palace.core.links import TREE
from memory_palace.core.promotion import FOLDERS, ROOMS, TIER_2, WING
from memory_palace.core.text import stem
from memory_palace.core.usage import MOVES, Retrieval, Used

Tier = Literal["candidate", "reflection", "ordinary"]
Rule = Literal["contradicted", "unsupported", "unused", "low value"]

UNUSED = {"candidate": timedelta(days=180), "reflection": timedelta(days=90)}
"""Neither retrieved nor cited for so long, a note of this tier goes down."""
LOW_VALUE = timedelta(days=30)
"""Not retrieved for so long, an ordinary note of low priority without a link to it is archived."""
APART = timedelta(days=7)
"""Between two strikes, and after a move or its undoing before the next one."""
STRIKES = 2
MOST_MOVES = 10
"""Notes that are moved in one day: what a person can look through."""
COUNTED = "retrieved"
"""The oldest event of this kind, or local line, is the first day of which anybody counted what was
retrieved. Of the time before nothing is known, so no note counts as unused for it."""

LONGEST_DETAIL = 300

_ABOVE = {f"{WING}{FOLDERS[name]}/": name for name in (*sorted(TIER_2), "constitution_candidate")}
_ORDINARY = (ROOMS, f"{TREE}chambers/")
_KEPT_FOLDERS = frozenset({"sessions", "diary", "ledger", "log", "topics", "cards", "rules"})
_KEPT_TYPES = frozenset({"session", "diary", "card", "rule", "identity", "topic", "conflict"})
_KEPT_NAMES = frozenset({"readme", "identity", "rules", "review_guidelines"})


def tier(path: str, kind: str | None) -> Tier | None:
    """The tier of a live note by its path and ``type``; None for what is never eliminated."""
    if path.startswith(_ORDINARY):
        kept = kind in _KEPT_TYPES or stem(path).lower() in _KEPT_NAMES
        return None if kept or not _KEPT_FOLDERS.isdisjoint(path.split("/")[3:-1]) else "ordinary"
    place = natural(path)
    if place is None or stem(path).lower() == "readme":
        return None
    return "candidate" if place == "constitution_candidate" else "reflection"


def natural(path: str) -> str | None:
    """The type of the notes in a folder of the reflection wing; None for any other path."""
    return next((kind for folder, kind in _ABOVE.items() if path.startswith(folder)), None)


_NEVER = Used()


@dataclass(frozen=True, slots=True)
class Standing:
    """All that is asked of one note. ``time`` is its own; ``returned`` when it was last moved by
    this or put back; ``beaten`` are the newer records against it, in words; ``evidence`` counts
    the links that it rests on, ``broken`` those that lead nowhere; ``links_in`` other notes."""

    path: str
    tier: Tier
    time: datetime
    used: Used = _NEVER
    returned: datetime | None = None
    pinned: bool = False
    priority: str | None = None
    beaten: tuple[str, ...] = ()
    evidence: int = 0
    broken: int = 0
    links_in: int = 0

    def touched(self, now: datetime) -> datetime:
        """When it was last changed, used, moved or put back. A date in the future says nothing; of
        a day that is only known by its total the end counts."""
        seen = self.used.retrieved
        if seen and seen == seen.replace(hour=0, minute=0, second=0, microsecond=0):
            seen = min(seen + timedelta(days=1, seconds=-1), now + SKEW)
        return _latest((self.time, seen, self.used.cited, self.returned), now)

    def changed(self, now: datetime) -> datetime:
        """When it was last changed, moved or put back."""
        return _latest((self.time, self.returned), now)


def _latest(moments: Iterable[datetime | None], now: datetime) -> datetime:
    known = [moment for moment in moments if moment and moment <= now + SKEW]
    return max(known, default=datetime.min.replace(tzinfo=now.tzinfo))


@dataclass(frozen=True, slots=True)
class Finding:
    """A note that does not earn its place, by which rule, and why in words."""

    path: str
    tier: Tier
    rule: Rule
    detail: str


def judge(note: Standing, now: datetime, counted: datetime | None) -> Finding | None:
    """The first rule that speaks against a note. ``counted`` is since when retrievals are counted,
    None if they never were."""
    if note.pinned:
        return None
    if note.tier == "ordinary":
        since = _idle_since(note, now, counted)
        if note.priority != "low" or note.links_in or since is None or now - since <= LOW_VALUE:
            return None
        what = f"of low priority, no link to it, not retrieved since {_day(since)}"
        return Finding(note.path, note.tier, "low value", what)
    if note.beaten:
        what = "; ".join(dict.fromkeys(note.beaten))[:LONGEST_DETAIL]
        return Finding(note.path, note.tier, "contradicted", what)
    if note.evidence and note.broken == note.evidence:
        links = "1 broken link" if note.broken == 1 else f"{note.broken} broken links"
        what = f"none of its evidence is there any more: {links}"
        return Finding(note.path, note.tier, "unsupported", what)
    since = _idle_since(note, now, counted)
    if since is None or now - since <= UNUSED[note.tier]:
        return None
    what = f"neither retrieved nor cited since {_day(since)}"
    return Finding(note.path, note.tier, "unused", what)


def _idle_since(note: Standing, now: datetime, counted: datetime | None) -> datetime | None:
    if counted is None or note.time > now:
        return None
    return max(note.touched(now), counted)


def _day(moment: datetime) -> str:
    return dates.stamp(moment)[:10]


def counted_since(events: Iterable[Event], local: Iterable[Retrieval]) -> datetime | None:
    """The first moment since when retrievals are known to be counted; None if they never were."""
    days = [dates.parse(event.id) for event in events if event.event == COUNTED]
    return min((m for m in (*days, *(one.at for one in local)) if m is not None), default=None)


def names_now(events: Iterable[Event]) -> dict[str, str]:
    """{path that a note had: its path now}, of the notes that moved. ``events`` are in order."""
    now: dict[str, str] = {}
    came: dict[str, set[str]] = {}  # the other way round: path now, paths before
    for event in events:
        path, to = event.data.get("path"), event.data.get("to")
        moved = event.event in MOVES and "/" in event.id
        if moved and isinstance(path, str) and isinstance(to, str) and path != to:
            if to in now:
                came[now.pop(to)].discard(to)
            if path in now:
                came[now[path]].discard(path)
            names = came.pop(path, set()) | {path}
            came.setdefault(to, set()).update(names)
            now.update(dict.fromkeys(names, to))
    return now


def returned(events: Iterable[Event]) -> dict[str, datetime]:
    """{path: when a note last came there}, by being demoted or put back."""
    found: dict[str, datetime] = {}
    for event in events:
        to = event.data.get("to")
        if event.event in ("demoted", "restored") and isinstance(to, str):
            found[to] = max(event.at, found.get(to, event.at))
    return found


@dataclass(frozen=True, slots=True)
class Case:
    """A finding with the strikes against the note that still count, oldest first. ``strikes_now``
    is True if another is to be recorded, ``wait`` says until when none is."""

    finding: Finding
    strikes: tuple[datetime, ...] = ()
    strikes_now: bool = False
    wait: datetime | None = None

    @property
    def count(self) -> int:
        """The strikes, with the one that is to be recorded."""
        return len(self.strikes) + self.strikes_now

    @property
    def is_due(self) -> bool:
        """True if the note is to be moved."""
        return self.count >= STRIKES


def struck(events: Iterable[Event]) -> Mapping[tuple[str, str], list[datetime]]:
    """{(path, rule): when it was struck}, in the order of ``events``."""
    found: dict[tuple[str, str], list[datetime]] = defaultdict(list)
    for event in events:
        rule = event.data.get("rule")
        if event.event == "struck" and isinstance(rule, str):
            found[event.id, rule].append(event.at)
    return found


def weigh(
    finding: Finding,
    note: Standing,
    strikes: Mapping[tuple[str, str], list[datetime]],
    now: datetime,
) -> Case:
    """The case against a note. A strike lapses when the note was changed or moved since, and one
    for not being used when it was used: what is contradicted stays so, however often it is read.
    Within :data:`APART` of one, also of one that lapsed, no other is made or counted."""
    told = strikes.get((finding.path, finding.rule), [])
    by_use = finding.rule in ("unused", "low value")
    touched = note.touched(now) if by_use else note.changed(now)
    counted: list[datetime] = []
    for moment in told:
        apart = not counted or moment - counted[-1] >= APART
        if apart and touched < moment <= now + SKEW:
            counted.append(moment)
    if len(counted) >= STRIKES:
        return Case(finding, tuple(counted[:STRIKES]))
    quiet = [moment for moment in told if moment <= now + SKEW]
    quiet += [note.returned] if note.returned else []
    last = max(quiet, default=None)
    if last is not None and now - last < APART:
        return Case(finding, tuple(counted), wait=last + APART)
    return Case(finding, tuple(counted), strikes_now=True)
