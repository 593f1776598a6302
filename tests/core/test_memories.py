"""Memories at a moment: a pure fold of lines and events."""

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import events as logs
from memory_palace.core import memories
from memory_palace.core.events import Event
from memory_palace.core.memories import Memory
from memory_palace.core.topics import CATEGORIES, Entry

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY = timedelta(days=1)
A, B = "3f9ac2d41b7e", "0123456789ab"
PATH = "palace/topics/lessons.md"
ENTRY = Entry(PATH, 3, "lesson", "x", block=A)


def written_long_ago(_: Entry) -> datetime:
    """When a line was written that no event tells of."""
    return NOW - 60 * DAY


class Log:
    """Events, each with a uid of its own."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def add(self, kind: str, days: float, about: str = A, **data: Any) -> "Log":
        """One event so many days from :data:`NOW`."""
        uid = f"{len(self.events):016x}"
        self.events.append(Event(NOW + days * DAY, "a@b", kind, uid, about, "", data))
        self.events.sort(key=lambda e: (e.at, e.uid))
        return self


def fold(
    entry: Entry | Sequence[Entry], log: Log, at: float = 0, until: float | None = None
) -> list[Memory]:
    """The memories as they stand so many days from now."""
    lines = [entry] if isinstance(entry, Entry) else entry
    limit = None if until is None else NOW + until * DAY
    return list(
        memories.fold(
            [(e.key, e) for e in lines], log.events, NOW + at * DAY, written_long_ago, limit
        )
    )


def one(entry: Entry, log: Log, at: float = 0) -> Memory:
    """The only one."""
    [memory] = fold(entry, log, at)
    return memory


def test_remembered_and_reinforced() -> None:
    """Each counts once; the decay starts at the newest; the strongest cue stays."""
    log = Log().add("remembered", -40, cue="behavioral").add("reinforced", -30, cue="structural")
    log.add("reinforced", -20, cue="recurrence")
    memory = one(ENTRY, log)
    assert (memory.evidence, memory.cue) == (3, "structural")
    assert (memory.created, memory.reinforced) == (NOW - 40 * DAY, NOW - 20 * DAY)
    assert memory.strength == pytest.approx(0.9 * math.exp(-20 / 60) * math.log(4), rel=1e-12)
    assert memory.lifecycle == "provisional"
    assert (memory.id, memory.text, memory.path, memory.line) == (A, "x", PATH, 3)
    assert (memory.half_life, memory.days(NOW)) == (60, 20)
    assert memory.written and not (memory.pinned or memory.enforced or memory.archived)


@pytest.mark.parametrize("category", list(CATEGORIES))
def test_a_single_explicit_mention(category: str) -> None:
    """Provisional, for 0.55 half-lives; candidate, for 1.24; then dropped."""
    half_life = CATEGORIES[category].half_life
    entry = replace(ENTRY, category=category)
    log = Log().add("remembered", 0, cue="explicit")
    stages = [
        (0, "provisional"),
        (0.54, "provisional"),
        (0.56, "candidate"),
        (1.23, "candidate"),
        (1.25, "dropped"),
    ]
    for at, lifecycle in stages:
        assert one(entry, log, at * half_life).lifecycle == lifecycle
    log.add("reinforced", 0, cue="explicit")
    assert one(entry, log).lifecycle == "active"


@pytest.mark.parametrize(("pinned", "cue"), [(True, "explicit"), (False, "behavioral")])
def test_a_line_by_hand_counts_once(pinned: bool, cue: str) -> None:
    """As explicit if it is pinned, behavioral otherwise, from when it was written."""
    memory = one(replace(ENTRY, pinned=pinned), Log())
    assert (memory.evidence, memory.cue) == (1, cue)
    assert memory.created == memory.reinforced == NOW - 60 * DAY
    again = one(replace(ENTRY, pinned=pinned), Log().add("reinforced", -1, cue="recurrence"))
    assert (again.evidence, again.cue, again.days(NOW)) == (2, cue, 1)
    assert again.created == NOW - 60 * DAY


def test_pinned_never_decays() -> None:
    """Active, with the strength of its first day, for good."""
    log = Log().add("remembered", -4000, cue="recurrence").add("pinned", -4000)
    memory = one(replace(ENTRY, pinned=True), log, 4000)
    assert memory.lifecycle == "active"
    assert memory.strength == pytest.approx(0.6 * math.log(2))
    assert memory.safe and not memory.is_cold(NOW + 4000 * DAY)


def test_enforced_is_active_though_it_decays() -> None:
    """A rule holds whatever the strength is."""
    memory = one(replace(ENTRY, enforced=True), Log().add("remembered", -4000, cue="explicit"))
    assert (memory.lifecycle, memory.pinned) == ("active", False)
    assert memory.strength < 1e-6
    assert memory.safe and not memory.is_cold(NOW)


def test_forgotten_is_nothing_until_it_comes_up_again() -> None:
    """Strength 0 and cold at once; reinforced, restored or pinned it is back, evidence and all."""
    log = Log().add("remembered", -9, cue="explicit").add("forgotten", -8)
    gone = one(ENTRY, log)
    assert (gone.strength, gone.lifecycle, gone.forgotten) == (0.0, "dropped", True)
    assert gone.is_cold(NOW) and gone.strength_at(NOW) == 0.0
    for back in ("reinforced", "restored", "pinned"):
        again = Log()
        again.events = list(log.events)
        again.add(back, -7)
        memory = one(ENTRY, again)
        assert memory.strength > 0 and not memory.forgotten
    assert one(ENTRY, log, -8.5).lifecycle == "provisional"


def test_archived_is_dropped_from_reports() -> None:
    """It keeps its strength, for the day it is restored."""
    entry = replace(ENTRY, path="palace/archive_basement/topics/lessons.md")
    memory = one(entry, Log().add("remembered", 0, cue="explicit").add("archived", 0, entries=[]))
    assert (memory.archived, memory.lifecycle) == (True, "dropped")
    assert memory.strength == pytest.approx(math.log(2))


def test_a_topic_that_is_restored_reinforces_each_entry() -> None:
    """Its event names the entries; an entry that is named twice counts once."""
    log = Log().add("remembered", -90, cue="explicit")
    log.add("restored", -1, PATH, path="p", to="t", entries=[A, B, 7, None])
    log.add("restored", -1, A, path="p", to="t", entries=[A])
    memory = one(ENTRY, log)
    assert (memory.evidence, memory.days(NOW)) == (3, 1)
    assert one(ENTRY, Log().add("restored", -1, PATH, entries="3f9ac2d41b7e")).evidence == 1


def test_the_loser_of_a_conflict_is_forgotten() -> None:
    """Not the winner; a side that is no text is nobody."""
    log = Log().add("remembered", -9, cue="explicit").add("remembered", -9, B, cue="explicit")
    log.add("conflict_resolved", -1, "c", winner=B, loser=A)
    log.add("conflict_resolved", -1, "c", winner=A, loser=None)
    loser, winner = fold([ENTRY, replace(ENTRY, block=B)], log)
    assert (loser.forgotten, winner.forgotten) == (True, False)


def test_cold_is_older_than_two_half_lives() -> None:
    """To the second."""
    log = Log().add("remembered", -120, cue="explicit")
    assert not one(ENTRY, log).is_cold(NOW)
    assert one(ENTRY, log).is_cold(NOW + timedelta(seconds=1))


def test_as_it_stood_then() -> None:
    """Nothing of what happened since: no reinforcement, no pin, and no entry that was not there."""
    log = Log().add("remembered", -20, cue="recurrence").add("reinforced", -10, cue="explicit")
    log.add("pinned", -5).add("unpinned", -3).add("forgotten", -1)
    assert fold(ENTRY, log, -21) == []
    first, second, pinned, unpinned, gone = (one(ENTRY, log, at) for at in (-20, -10, -5, -3, 0))
    assert (first.evidence, first.cue, first.days(NOW - 20 * DAY)) == (1, "recurrence", 0)
    assert (second.evidence, second.cue, second.pinned) == (2, "explicit", False)
    assert (pinned.pinned, pinned.lifecycle) == (True, "active")
    assert (unpinned.pinned, unpinned.forgotten) == (False, False)
    assert gone.forgotten
    assert fold(ENTRY, Log(), -61) == []
    assert one(ENTRY, Log(), -60).evidence == 1


def test_as_it_will_stand() -> None:
    """Decayed by the days to come, with what a clock ahead has told already."""
    log = Log().add("remembered", 0, cue="explicit").add("reinforced", 10, cue="explicit")
    assert one(ENTRY, log, 5).strength == pytest.approx(math.log(2) * math.exp(-5 / 60))
    assert one(ENTRY, log, 10).evidence == 2
    for at in (0.0, 7.0, 70.0):
        now = one(ENTRY, Log().add("remembered", 0, cue="explicit"))
        then = one(ENTRY, Log().add("remembered", 0, cue="explicit"), at)
        assert now.strength_at(NOW + at * DAY) == then.strength


def test_a_clock_that_is_ahead_counts_as_now() -> None:
    """What happened a moment in the future counts, and never as less than now."""
    log = Log().add("remembered", 0.5, cue="explicit")
    [memory] = fold(ENTRY, log, 0, until=1)
    assert memory.strength == pytest.approx(math.log(2))
    assert memory.days(NOW) == 0
    assert fold(ENTRY, log) == []


@pytest.mark.parametrize("cue", [None, 3, "nonsense", ["explicit"]])
def test_a_cue_that_is_none_counts_as_the_weakest_that_a_line_can_have(cue: object) -> None:
    """The evidence counts all the same."""
    memory = one(ENTRY, Log().add("remembered", 0, cue=cue).add("reinforced", 0, cue=cue))
    assert (memory.cue, memory.evidence) == ("behavioral", 2)


def test_only_the_weakest_above_the_caps_become_provisional() -> None:
    """Pinned and enforced ones are not counted; strengths stay as they are."""
    log, lines = Log(), []
    for n in range(14):
        line = replace(
            ENTRY, category="decision", block=f"{n:012x}", pinned=n == 0, enforced=n == 1
        )
        lines.append(line)
        for _ in range(5):
            log.add("remembered", -n / 2, line.block, cue="explicit")
    found = fold(lines, log)
    assert [m.lifecycle for m in found] == ["active"] * 12 + ["provisional"] * 2
    assert min(m.strength for m in found) >= 1


KINDS = ["remembered", "reinforced", "pinned", "unpinned", "forgotten", "edited", "archived",
         "restored", "conflict_resolved", "nonsense"]  # fmt: skip
happenings = st.lists(
    st.builds(
        Event,
        at=st.integers(-100, 100).map(lambda days: NOW + days * DAY),
        by=st.just("a@b"),
        event=st.sampled_from(KINDS),
        uid=st.integers(0, 2**32).map(str),
        id=st.sampled_from([A, B, PATH]),
        data=st.fixed_dictionaries(
            {},
            optional={
                "cue": st.sampled_from(["explicit", "recurrence", "odd"]),
                "entries": st.lists(st.sampled_from([A, B])),
                "loser": st.sampled_from([A, B]),
            },
        ),
    ),
    max_size=12,
    unique_by=lambda event: event.uid,
)
LINES = [
    ENTRY,
    replace(ENTRY, block=B, category="decision", pinned=True, line=4),
    replace(ENTRY, block="", text="y", enforced=True, line=5),
]


@given(happenings, st.randoms(), st.integers(-120, 200))
def test_no_order_and_no_repetition_of_events_matters(
    happened: list[Event], random: object, days: int
) -> None:
    """Any interleaving of two logs, through the reader, gives the same memories."""
    lines = [event.as_line() for event in happened]
    again = lines + lines[::2]
    random.shuffle(again)  # type: ignore[attr-defined]
    results = []
    for some in (lines, again):
        found, _ = logs.read_all(enumerate(some, 1))
        pairs = [(entry.key, entry) for entry in LINES]
        results.append(memories.fold(pairs, found, NOW + days * DAY, written_long_ago))
    assert results[0] == results[1]


@given(happenings, st.integers(-120, 200), st.integers(0, 300))
def test_what_always_holds(happened: list[Event], days: int, later: int) -> None:
    """Strength is never negative, falls with time alone, and agrees with the lifecycle."""
    log = Log()
    log.events = sorted(happened, key=lambda e: (e.at, e.uid))
    at = NOW + days * DAY
    for memory in fold(LINES, log, days):
        assert memory.strength >= 0
        assert memory.created <= memory.reinforced
        assert memory.evidence >= 1 or any(e.event == "remembered" for e in happened)
        assert math.isclose(memory.strength_at(at), memory.strength)
        assert memory.strength_at(at + later * DAY) <= memory.strength
        if memory.safe:  # also where a person pins the line of what was let go
            assert memory.lifecycle == "active" and not memory.is_cold(at + later * DAY)
        elif memory.forgotten:
            assert (memory.strength, memory.lifecycle) == (0.0, "dropped")
        if memory.pinned:
            assert memory.strength_at(at + later * DAY) == memory.strength


@given(happenings, st.integers(-120, 200))
def test_the_past_does_not_change(happened: list[Event], days: int) -> None:
    """Events after a moment do not change how its evidence stood."""
    log, before = Log(), Log()
    log.events = sorted(happened, key=lambda e: (e.at, e.uid))
    before.events = [event for event in log.events if event.at <= NOW + days * DAY]
    told, known = (
        {event.id for event in some.events if event.event == "remembered"} for some in (log, before)
    )
    whole, alone = (
        {m.id: (m.evidence, m.reinforced, m.forgotten) for m in fold(LINES, some, days)}
        for some in (log, before)
    )
    for key in whole:
        if (key in told) == (key in known):
            assert whole[key] == alone[key]
