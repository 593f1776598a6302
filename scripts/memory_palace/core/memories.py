"""Memories as they stand at a moment: what the topic files say, and what happened to each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memory_palace.core import strength as strengths
from memory_palace.core import tally
from memory_palace.core.events import Event
from memory_palace.core.strength import Lifecycle
from memory_palace.core.tally import Tally
from memory_palace.core.topics import CATEGORIES, CUES, Entry

_DAY = 86_400.0


@dataclass(frozen=True, slots=True)
class Memory:
    """One entry with its scores at a moment. ``evidence`` counts; ``reinforced`` is the last time.

    ``written`` is True for a line that has its block id in the file.
    """

    id: str
    category: str
    text: str
    path: str
    line: int
    cue: str
    evidence: int
    strength: float
    lifecycle: Lifecycle
    pinned: bool
    enforced: bool
    created: datetime
    reinforced: datetime
    archived: bool = False
    forgotten: bool = False
    written: bool = True

    @property
    def half_life(self) -> float:
        """Days."""
        return CATEGORIES[self.category].half_life

    @property
    def safe(self) -> bool:
        """True if it never goes cold: pinned, or held by a rule."""
        return self.pinned or self.enforced

    def days(self, at: datetime) -> float:
        """Days since the last reinforcement; none before it."""
        return max((at - self.reinforced).total_seconds() / _DAY, 0.0)

    def is_cold(self, at: datetime) -> bool:
        """True if it may be archived: forgotten, or older than two half-lives and not safe."""
        return not self.safe and (
            self.forgotten or strengths.is_cold(self.days(at), self.half_life)
        )

    def strength_at(self, at: datetime) -> float:
        """The strength at another moment, with nothing happening in between."""
        days = 0.0 if self.pinned else self.days(at)
        return (
            0.0
            if self.forgotten and not self.safe
            else _strength(self.cue, self.evidence, days, self.category)
        )


def fold(
    entries: Iterable[tuple[str, Entry]],
    events: Sequence[Event],
    at: datetime,
    written: Callable[[Entry], datetime],
    until: datetime | None = None,
) -> tuple[Memory, ...]:
    """The memories at the moment ``at``, in the order of ``entries`` ((id, entry) pairs).

    ``events`` are in order; those after ``until`` (default ``at``) have not happened. ``written``
    says when a line was written that no event tells of; what is later than ``until`` is left out.
    """
    until = until or at
    tallies = tally.count(event for event in events if event.at <= until)
    later = [event for event in events if event.at > until]
    to_come = {event.id for event in later if event.event == "remembered"} - {
        key for key, counted in tallies.items() if counted.told
    }
    there = [(key, entry) for key, entry in entries if key not in to_come]
    return add_up(there, tallies, at, written, until, _pinned_before(later))


def _pinned_before(later: Iterable[Event]) -> dict[str, bool]:
    """{id: whether it was pinned before the first of ``later`` that says something of it}."""
    found: dict[str, bool] = {}
    for event in later:
        if event.event in ("pinned", "unpinned"):
            found.setdefault(event.id, event.event == "unpinned")
    return found


def add_up(
    entries: Iterable[tuple[str, Entry]],
    tallies: Mapping[str, Tally],
    at: datetime,
    written: Callable[[Entry], datetime],
    until: datetime,
    pinned: Mapping[str, bool] | None = None,
) -> tuple[Memory, ...]:
    """As :func:`fold`, of events that are counted already.

    ``pinned`` says so of memories whose line has another mark now than it had at ``until``.
    """
    marks = pinned or {}
    found = []
    for key, entry in entries:
        is_pinned = marks.get(key, entry.pinned)
        memory = _memory(key, entry, tallies.get(key, tally.NOTHING), is_pinned, at, written)
        if memory.created <= until:
            found.append(memory)
    return _capped(found)


def _memory(
    key: str,
    entry: Entry,
    counted: Tally,
    pinned: bool,
    at: datetime,
    written: Callable[[Entry], datetime],
) -> Memory:
    if counted.told:
        created, evidence, cue = counted.told, counted.evidence, counted.cue or "behavioral"
    else:
        by_hand = "explicit" if pinned else "behavioral"
        created, evidence = written(entry), 1 + counted.evidence
        cue = max(by_hand, counted.cue or by_hand, key=lambda c: CUES[c])
    reinforced = max(created, counted.last or created)
    # Pinned, by whatever hand, and held by a rule: neither is ever let go.
    let_go = counted.forgotten and not (pinned or entry.enforced)
    days = 0.0 if pinned else max((at - reinforced).total_seconds() / _DAY, 0.0)
    value = 0.0 if let_go else _strength(cue, evidence, days, entry.category)
    return Memory(
        id=key,
        category=entry.category,
        text=entry.text,
        path=entry.path,
        line=entry.line,
        cue=cue,
        evidence=evidence,
        strength=value,
        lifecycle=_lifecycle(entry, pinned, let_go, value),
        pinned=pinned,
        enforced=entry.enforced,
        created=created,
        reinforced=reinforced,
        archived=entry.archived,
        forgotten=counted.forgotten,
        written=bool(entry.block),
    )


def _strength(cue: str, evidence: int, days: float, category: str) -> float:
    return strengths.strength(CUES[cue], evidence, days, CATEGORIES[category].half_life)


def _lifecycle(entry: Entry, pinned: bool, forgotten: bool, value: float) -> Lifecycle:
    if entry.archived or forgotten:
        return "dropped"
    return "active" if pinned or entry.enforced else strengths.lifecycle(value)


def _capped(memories: list[Memory]) -> tuple[Memory, ...]:
    active = [
        (memory.id, memory.strength, memory.category)
        for memory in memories
        if memory.lifecycle == "active" and not memory.safe
    ]
    caps = {name: category.cap for name, category in CATEGORIES.items()}
    above = strengths.crowded_out(active, caps)
    return tuple(
        replace(memory, lifecycle="provisional") if memory.id in above else memory
        for memory in memories
    )
