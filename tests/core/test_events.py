"""The log of events: read in any order, each once, whatever people and merges left in it."""

import itertools
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import events
from memory_palace.core.events import PATH, Event

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
GOOD: dict[str, Any] = {
    "at": "2026-11-29T12:00:00Z",
    "by": "pi@laptop",
    "event": "reinforced",
    "uid": "0123456789abcdef",
    "id": "3f9ac2d41b7e",
    "reason": "came up",
    "cue": "explicit",
}


def read(*lines: dict[str, Any]) -> tuple[list[Event], list[str]]:
    """The events of lines that count from 1, and each problem as a text."""
    found, problems = events.read_all(enumerate(lines, 1))
    return found, [str(problem) for problem in problems]


def test_a_line_is_read_and_written_alike() -> None:
    """Shared keys are attributes, further ones are data, and none is lost."""
    [event], problems = read(GOOD)
    assert event == Event(
        NOW, "pi@laptop", "reinforced", GOOD["uid"], GOOD["id"], "came up", {"cue": "explicit"}, 1
    )
    assert not problems
    assert event.as_line() == GOOD
    assert list(event.as_line()) == list(GOOD)
    assert "reason" not in Event(NOW, "a@b", "pinned", "u", "i").as_line()


def test_a_key_that_nobody_knows_is_kept() -> None:
    """A newer version's keys come back as they were."""
    line = GOOD | {"later": {"a": [1, None]}}
    [event], problems = read(line)
    assert event.as_line() == line
    assert not problems


def test_an_unknown_kind_is_kept_and_reported() -> None:
    """With the nearest known one, once for each event."""
    line = GOOD | {"event": "reinforce"}
    [event], [problem] = read(line, line)
    assert event.as_line() == line
    assert problem.startswith(f"{PATH}:1: warning: unknown event `reinforce`")
    assert problem.endswith(", kept: did you mean `reinforced`?")


@pytest.mark.parametrize("key", ["at", "event", "uid", "id"])
@pytest.mark.parametrize("value", [None, "", 7, [], {"a": 1}, True], ids=repr)
def test_what_is_no_event_is_an_error_with_its_line(key: str, value: object) -> None:
    """A key that is missing, empty or no text; the others count."""
    bad = {**GOOD, key: value}
    if value is None:
        del bad[key]
    found, [problem] = read(bad, GOOD | {"uid": "2"})
    assert [event.uid for event in found] == ["2"]
    assert problem.startswith(f"{PATH}:1: error: has no `{key}`")
    assert problem.endswith("left out")


@pytest.mark.parametrize(
    "at",
    [
        "yesterday",
        "2026-02-30",
        "2026-11-29T25:00:00Z",
        "12:00",
        "1.1.26",
        "0001-01-01T00:00+23:59",
    ],
)
def test_a_date_that_is_none_is_an_error(at: str) -> None:
    """Named as it stands, with the forms that count."""
    found, [problem] = read(GOOD | {"at": at})
    assert not found
    assert problem.startswith(f"{PATH}:1: error: `at` is {at!r}: write 2026-")


@pytest.mark.parametrize(
    "at", ["2026-11-29 12:00", "2026-11-29T13:00:00+01:00", "2026-11-29t12:00:00z"]
)
def test_other_forms_of_the_same_moment(at: str) -> None:
    """As people write them by hand."""
    [event], problems = read(GOOD | {"at": at})
    assert event.at == NOW
    assert not problems


@pytest.mark.parametrize("value", [None, 3, []])
def test_who_and_why_may_be_missing(value: object) -> None:
    """They are for people."""
    [event], problems = read(GOOD | {"by": value, "reason": value})
    assert (event.by, event.reason, problems) == ("", "", [])


def test_twice_is_once() -> None:
    """The same event after a merge, or seen at another time on another machine."""
    later = GOOD | {"at": "2026-11-29T13:00:00Z", "by": "other@host", "reason": "other"}
    for lines in itertools.permutations([GOOD, GOOD, later]):
        [event], problems = read(*lines)
        assert (event.at, event.by, problems) == (NOW, "pi@laptop", [])


def test_one_uid_for_two_events_is_an_error() -> None:
    """Whichever stands first in the file, the earlier counts; both lines are named."""
    other = GOOD | {"at": "2026-11-29T13:00:00Z", "cue": "recurrence"}
    for lines in ([GOOD, other], [other, GOOD]):
        [event], [problem] = read(*lines)
        assert event.data == {"cue": "explicit"}
        assert f"{PATH}:2: error: uid {GOOD['uid']} has other content on line 1" in problem
    assert len(read(GOOD, GOOD | {"id": "other"})[1]) == 1
    assert len(read(GOOD, GOOD | {"event": "pinned"})[1]) == 1


def test_parts_of_a_second_are_told_apart() -> None:
    """Of two lines that differ in them only the earlier counts, wherever it stands."""
    lines = [GOOD | {"at": f"2026-11-29T12:00:00.{part}Z"} for part in ("75", "25")]
    for some in (lines, lines[::-1]):
        [event], problems = read(*some)
        assert (event.at.microsecond, problems) == (250_000, [])


def test_order_is_by_time_and_uid() -> None:
    """Not by line."""
    lines = [
        GOOD | {"uid": uid, "at": at}
        for uid, at in [
            ("b", "2026-11-02"),
            ("a", "2026-11-02"),
            ("z", "2026-11-01"),
            ("c", "2025-01-01"),
        ]
    ]
    assert [event.uid for event in read(*lines)[0]] == ["c", "z", "a", "b"]


lines_of_a_log = st.fixed_dictionaries(
    {
        "at": st.sampled_from(
            [
                "2026-11-01",
                "2026-11-01T00:00:00.25Z",
                "2026-11-01T00:00:00.75Z",
                "2026-11-02",
                "2030-01-01",
            ]
        ),
        "by": st.sampled_from(["a@b", "c@d"]),
        "event": st.sampled_from(["reinforced", "pinned", "nonsense"]),
        "uid": st.sampled_from("uvw"),
        "id": st.sampled_from("xy"),
    },
    optional={"cue": st.sampled_from(["explicit", "structural"]), "reason": st.just("r")},
)


@given(st.lists(lines_of_a_log, max_size=8), st.randoms())
def test_any_order_and_any_repetition_give_the_same_events(
    lines: list[dict[str, Any]], random: object
) -> None:
    """The union of logs does not depend on how they were merged."""
    again = lines + lines[: len(lines) // 2]
    random.shuffle(again)  # type: ignore[attr-defined]

    def plain(some: list[dict[str, Any]]) -> list[tuple[object, ...]]:
        return [(e.at, e.as_line()) for e in read(*some)[0]]

    assert plain(again) == plain(lines)


def test_the_future_is_reported_from_a_day_on() -> None:
    """Clocks may differ; what is later than that is named and kept."""
    times = [NOW, NOW + events.SKEW, NOW + events.SKEW + timedelta(seconds=1)]
    made = [Event(at, "a@b", "pinned", str(n), "x", line=n) for n, at in enumerate(times, 1)]
    [problem] = events.from_the_future(made, NOW)
    assert (problem.path, problem.line, problem.grade) == (PATH, 3, "warning")
    assert "2026-11-30T12:00:01Z" in problem.message


def test_every_kind_has_keys_of_its_own() -> None:
    """None that all events share."""
    for keys in events.KINDS.values():
        assert not set(keys) & set(events.SHARED)
