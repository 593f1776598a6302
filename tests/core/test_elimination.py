"""What a note has to do to keep its place, and how many strikes it gets."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import elimination
from memory_palace.core.elimination import APART, LOW_VALUE, UNUSED, Finding, Standing
from memory_palace.core.events import Event
from memory_palace.core.usage import Retrieval, Used

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LONG_AGO = NOW - 1000 * DAY
PRINCIPLE = "palace/reflection_wing/principles/a.md"
CANDIDATE = "palace/reflection_wing/constitution_candidates/a.md"
PLAIN = "palace/project_rooms/demo/a.md"


def note(path: str = PRINCIPLE, **fields: object) -> Standing:
    """A note that was written long ago and never used."""
    tier = elimination.tier(path, None)
    assert tier
    return Standing(path, tier, **{"time": LONG_AGO, **fields})  # type: ignore[arg-type]


def event(kind: str, about: str, at: datetime, **data: object) -> Event:
    """An event at a moment."""
    return Event(at, "pi@laptop", kind, f"{kind}{about}{at}", about, "", data)


def rule(of: Standing, counted: datetime | None = LONG_AGO) -> str | None:
    """The rule that speaks against a note."""
    found = elimination.judge(of, NOW, counted)
    return found.rule if found else None


@pytest.mark.parametrize(
    ("path", "kind", "tier"),
    [
        (PRINCIPLE, "principle", "reflection"),
        ("palace/reflection_wing/prompt_kernels/a.md", None, "reflection"),
        ("palace/reflection_wing/failure_patterns/deep/a.md", "anything", "reflection"),
        ("palace/reflection_wing/thinking_paths/a.md", None, "reflection"),
        (CANDIDATE, "constitution_candidate", "candidate"),
        ("palace/reflection_wing/constitution.md", "constitution", None),
        ("palace/reflection_wing/proposals/a.md", "proposal", None),
        ("palace/reflection_wing/rules/a.md", "rule", None),
        ("palace/reflection_wing/principles/README.md", None, None),
        (PLAIN, None, "ordinary"),
        ("palace/chambers/pi/a.md", "palace", "ordinary"),
        ("palace/chambers/pi/diary/2026-11-28.md", None, None),
        ("palace/project_rooms/demo/sessions/a.md", None, None),
        ("palace/project_rooms/demo/a.md", "card", None),
        ("palace/project_rooms/demo/a.md", "diary", None),
        ("palace/project_rooms/demo/rules.md", None, None),
        ("palace/project_rooms/demo/review_guidelines.md", None, None),
        ("palace/project_rooms/sessions/a.md", None, "ordinary"),
        ("palace/grand_hall/identity.md", "identity", None),
        ("palace/topics/lessons.md", "topic", None),
        ("palace/conflict_room/a.md", "conflict", None),
    ],
)
def test_tiers(path: str, kind: str | None, tier: str | None) -> None:
    """Only reflections, candidates and plain notes of rooms and chambers are ever judged."""
    assert elimination.tier(path, kind) == tier


@pytest.mark.parametrize(
    ("path", "days"), [(PRINCIPLE, UNUSED["reflection"]), (CANDIDATE, UNUSED["candidate"])]
)
def test_unused(path: str, days: timedelta) -> None:
    """90 days for a reflection, 180 for a candidate, from the last retrieval or citation, else
    from the note's own time."""
    assert days == (90 * DAY if path == PRINCIPLE else 180 * DAY)
    assert rule(note(path)) == "unused"
    for key in ("retrieved", "cited"):
        for since, found in ((days, None), (days + DAY, "unused")):
            assert rule(note(path, used=Used(**{key: NOW - since}))) == found
    assert rule(note(path, time=NOW - days)) is None
    assert rule(note(path, time=NOW - days - DAY)) == "unused"


def test_what_nobody_counted_is_no_evidence() -> None:
    """The window begins with the first day that was counted; without one, nothing is unused."""
    assert elimination.COUNTED == "retrieved"
    low = note(PLAIN, priority="low")
    for one, window in ((note(), UNUSED["reflection"]), (low, LOW_VALUE)):
        assert rule(one, None) is None
        assert rule(one, NOW - window) is None
        assert rule(one, NOW - window - DAY) is not None
    assert elimination.counted_since([event("struck", PRINCIPLE, NOW)], []) is None
    told = [event("retrieved", "2026-11-03", NOW), event("retrieved", "2026-11-01", NOW)]
    told.append(event("retrieved", "no day", NOW))
    first = datetime(2026, 11, 1, tzinfo=UTC)
    assert elimination.counted_since(told, [Retrieval(NOW, {})]) == first
    assert (
        elimination.counted_since([], [Retrieval(NOW, {}), Retrieval(NOW - DAY, {})]) == NOW - DAY
    )


def test_pinned_is_immune() -> None:
    """Whatever speaks against it."""
    bad = note(pinned=True, beaten=("superseded by [[b]]",), evidence=1, broken=1)
    assert rule(bad) is None
    assert rule(note(PLAIN, priority="low", pinned=True)) is None


def test_contradicted_and_unsupported_need_no_count() -> None:
    """A newer record counts at once; evidence only when all of it is broken."""
    found = elimination.judge(note(beaten=("superseded by [[b]]", "lost in [[c]]")), NOW, None)
    assert found == Finding(
        PRINCIPLE, "reflection", "contradicted", "superseded by [[b]]; lost in [[c]]"
    )
    assert rule(note(evidence=2, broken=2), None) == "unsupported"
    assert rule(note(evidence=2, broken=1), None) is None
    assert rule(note(), None) is None
    one = elimination.judge(note(evidence=1, broken=1), NOW, None)
    assert one and one.detail.endswith("1 broken link")


def test_low_value() -> None:
    """Low priority, no link in, not retrieved for 30 days: all three."""
    low = note(PLAIN, priority="low")
    assert rule(low) == "low value"
    assert rule(note(PLAIN)) is None
    assert rule(note(PLAIN, priority="high")) is None
    assert rule(replace(low, links_in=1)) is None
    assert rule(replace(low, used=Used(retrieved=NOW - LOW_VALUE))) is None
    assert rule(replace(low, used=Used(retrieved=NOW - LOW_VALUE - 2 * DAY))) == "low value"
    assert rule(replace(low, beaten=("superseded by [[b]]",), links_in=1)) is None


def test_a_note_from_the_future_is_not_unused() -> None:
    """A date that is wrong says nothing, neither for a strike nor against one."""
    ahead = note(time=NOW + 400 * DAY)
    assert rule(ahead) is None
    assert ahead.touched(NOW) == datetime.min.replace(tzinfo=UTC)


FINDING = Finding(PRINCIPLE, "reflection", "contradicted", "superseded by [[b]]")


UNUSED_FINDING = Finding(PRINCIPLE, "reflection", "unused", "not retrieved")


def weigh(
    strikes: list[datetime], of: Standing | None = None, finding: Finding = FINDING
) -> tuple[int, bool, bool]:
    """(strikes that count, whether one is recorded, whether the note is due)."""
    told = {(PRINCIPLE, "unsupported"): [NOW - 9 * DAY] * 2, (PRINCIPLE, finding.rule): strikes}
    case = elimination.weigh(finding, of or note(), told, NOW)
    return case.count, case.strikes_now, case.is_due


def test_two_strikes_a_week_apart() -> None:
    """The first is recorded at once, the second a week later, and then the note is due."""
    assert elimination.STRIKES == 2
    assert weigh([]) == (1, True, False)
    assert weigh([NOW]) == (1, False, False)
    assert weigh([NOW - APART + DAY]) == (1, False, False)
    assert weigh([NOW - APART]) == (2, True, True)
    assert weigh([NOW - APART, NOW]) == (2, False, True)
    assert weigh([NOW - 50 * DAY, NOW - 49 * DAY]) == (2, True, True)


def test_two_machines_on_one_day_are_one_strike() -> None:
    """After a merge the log may hold two strikes of a day."""
    assert weigh([NOW - DAY, NOW]) == (1, False, False)
    assert weigh([NOW - 8 * DAY, NOW - 7 * DAY - DAY / 2, NOW - DAY / 2]) == (2, False, True)


def test_a_strike_lapses_when_the_note_was_changed() -> None:
    """Then it starts from nothing, yet no other is made within a week of one that lapsed."""
    strike = [NOW - 20 * DAY]
    for better in (note(time=NOW - 19 * DAY), note(returned=NOW - 19 * DAY)):
        assert weigh(strike, better) == (1, True, False)
    assert weigh([NOW - DAY], note(time=NOW)) == (0, False, False)
    assert weigh([], note(returned=NOW - DAY)) == (0, False, False)


def test_use_answers_only_the_charge_of_no_use() -> None:
    """What is contradicted stays so, however often it is read."""
    for used in (Used(retrieved=NOW - 19 * DAY), Used(cited=NOW - 19 * DAY)):
        assert weigh([NOW - 20 * DAY], note(used=used)) == (2, True, True)
        assert weigh([NOW - 20 * DAY], note(used=used), UNUSED_FINDING) == (1, True, False)


def test_a_day_known_by_its_total_counts_to_its_end() -> None:
    """What was retrieved on the day of a strike may have come after it."""
    midnight = (NOW - 8 * DAY).replace(hour=0)
    strike = [NOW - 8 * DAY]
    same = note(used=Used(retrieved=midnight))
    before = note(used=Used(retrieved=midnight - DAY))
    assert weigh(strike, same, UNUSED_FINDING) == (1, True, False)
    assert weigh(strike, before, UNUSED_FINDING) == (2, True, True)


def test_strikes_from_the_future_wait() -> None:
    """A clock that was ahead does not bring a note down."""
    assert weigh([NOW + 30 * DAY, NOW + 60 * DAY]) == (1, True, False)


@given(st.lists(st.integers(0, 60), max_size=8), st.integers(0, 60))
def test_however_often_it_runs(runs: list[int], touched: int) -> None:
    """Never two strikes within a week, never a move without two after the last use."""
    told: list[datetime] = []
    start = NOW - 60 * DAY
    for day in sorted(runs):
        now = start + day * DAY
        used = start + touched * DAY
        of = note(used=Used(cited=used) if used <= now else Used())
        case = elimination.weigh(UNUSED_FINDING, of, {(PRINCIPLE, "unused"): told}, now)
        if case.strikes_now:
            assert all(now - other >= APART for other in told)
            told.append(now)
        if case.is_due:
            counted = [one for one in told if used > now or one > used]
            assert len(counted) >= 2
            assert counted[-1] - counted[0] >= APART
        again = elimination.weigh(UNUSED_FINDING, of, {(PRINCIPLE, "unused"): told}, now)
        assert not again.strikes_now
        assert again.is_due == case.is_due


def test_struck_reads_the_events() -> None:
    """By note and rule; other events, and strikes without a rule, are none."""
    told = elimination.struck(
        [
            event("struck", PRINCIPLE, NOW - DAY, rule="unused"),
            event("struck", PRINCIPLE, NOW, rule="unused"),
            event("struck", PRINCIPLE, NOW),
            event("demoted", PRINCIPLE, NOW, rule="unused"),
        ]
    )
    assert dict(told) == {(PRINCIPLE, "unused"): [NOW - DAY, NOW]}


def test_names_follow_moves() -> None:
    """A note keeps what is said of it through demotion, archive and restore."""
    cold = "palace/archive_basement/x.md"
    moves = [
        event("demoted", CANDIDATE, NOW, path=CANDIDATE, to=PRINCIPLE),
        event("archived", PRINCIPLE, NOW, path=PRINCIPLE, to=cold),
        event("archived", "3f9ac2d41b7e", NOW, path="palace/topics/a.md", to="palace/b.md"),
    ]
    assert elimination.names_now(moves) == {CANDIDATE: cold, PRINCIPLE: cold}
    back = event("restored", PRINCIPLE, NOW, path=cold, to=PRINCIPLE)
    assert elimination.names_now([*moves, back]) == {CANDIDATE: PRINCIPLE, cold: PRINCIPLE}
    assert elimination.returned([*moves, back]) == {PRINCIPLE: NOW}


PLACES = [f"palace/r/{name}.md" for name in "abcd"]


@given(st.lists(st.tuples(st.sampled_from(PLACES), st.sampled_from(PLACES)), max_size=12))
def test_names_follow_each_move(pairs: list[tuple[str, str]]) -> None:
    """As if every name were looked at anew for every move."""
    now: dict[str, str] = {}
    moves = []
    for path, to in pairs:
        moves.append(event("restored", path, NOW, path=path, to=to))
        if path != to:
            now = {old: to if new == path else new for old, new in now.items() if old != to}
            now[path] = to
    assert elimination.names_now(moves) == now
