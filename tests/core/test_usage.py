"""When notes were last retrieved and cited, through moves and merges."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core import usage
from memory_palace.core.events import Event
from memory_palace.core.usage import Retrieval, Used

A, B, COLD = "palace/topics/a.md", "palace/b.md", "palace/archive_basement/topics/a.md"


def at(day: int, hour: int = 12) -> datetime:
    """An hour of a day in November 2026."""
    return datetime(2026, 11, day, hour, tzinfo=UTC)


def event(kind: str, moment: datetime, about: str, **data: Any) -> Event:
    """An event with a uid of its own."""
    return Event(moment, "pi@laptop", kind, f"{kind}-{moment}-{about}", about, "", data)


def total(day: int, **counts: int) -> Event:
    """A day's total, logged late."""
    named = {f"palace/{name.replace('__', '/')}.md": n for name, n in counts.items()}
    return event("retrieved", at(28), f"2026-11-{day:02}", counts=named)


def test_the_newest_day_and_all_counts() -> None:
    """Totals of several days and local lines add up; the newest moment counts."""
    local = [Retrieval(at(20, 9), {B: 1}), Retrieval(at(20, 8), {B: 2})]
    found = usage.last_used([total(3, b=2, topics__a=1), total(1, b=4)], local, [])
    assert found == {
        A: Used(at(3, 0), None, 1),
        B: Used(at(20, 9), None, 9),
    }


def test_use_moves_with_the_note() -> None:
    """Archived, looked at there, restored: all of it is the note's; the old name has none."""
    moved = event("archived", at(5), A, path=A, to=COLD)
    back = event("restored", at(9), A, path=COLD, to=A)
    seen = [Retrieval(at(4), {A: 1}), Retrieval(at(6), {COLD: 1})]
    assert usage.last_used([moved], seen, []) == {COLD: Used(at(6), None, 2)}
    assert usage.last_used([back, moved], seen, []) == {A: Used(at(6), None, 2)}


def test_a_new_note_under_an_old_name_starts_anew() -> None:
    """What was retrieved after the move is the new note's, also on the day of the move."""
    moved = event("demoted", at(5), A, path=A, to=COLD, rule="not used")
    seen = [Retrieval(at(5, 9), {A: 1}), Retrieval(at(5, 15), {A: 1})]
    assert usage.last_used([moved], seen, []) == {
        COLD: Used(at(5, 9), None, 1),
        A: Used(at(5, 15), None, 1),
    }


def test_an_entry_that_moves_takes_nothing_of_its_file() -> None:
    """Its event has the entry's id, and names the two files."""
    moved = event("archived", at(5), "3f9ac2d41b7e", path=A, to=COLD)
    assert usage.last_used([moved], [Retrieval(at(4), {A: 1})], []) == {A: Used(at(4), None, 1)}


def test_links_and_sources_cite() -> None:
    """The newest of both; a link to oneself is none; a source keeps to the note that moved."""
    remembered = event("remembered", at(4), "3f9ac2d41b7e", source="[[topics/a]]")
    moved = event("archived", at(5), A, path=A, to=COLD)
    links = [(B, at(2), A), (A, at(9), A), (B, at(3), COLD)]
    found = usage.last_used([remembered, moved], [], links)
    assert found == {A: Used(None, at(2)), COLD: Used(None, at(4))}


def test_names_are_led_by_the_caller() -> None:
    """What a source is about can be told by something that knows all notes."""
    said = event("reinforced", at(4), "3f9ac2d41b7e", source="the b note")
    assert usage.last_used([said], [], []) == {}
    assert usage.last_used([said], [], [], lambda _: B) == {B: Used(None, at(4))}


@pytest.mark.parametrize(
    ("source", "path"),
    [
        ("palace/topics/a.md", A),
        (" topics/a ", A),
        ("palace/topics/a.md:3", A),
        ("palace/topics/a.md:3-9", A),
        ("topics/a#Part", A),
        ("see [[topics/a#^3f9ac2d41b7e|that]] there", A),
        ("[[palace/topics/a.md]]", A),
        ("a", None),
        ("[[a]]", None),
        ("a talk with Bo", None),
        ("https://example.org/a", None),
        ("one/two\nthree", None),
        ("", None),
    ],
)
def test_paths_in_sources(source: str, path: str | None) -> None:
    """A path, or a link that is one; nothing is guessed."""
    assert usage.as_path(source) == path


@pytest.mark.parametrize(
    "data",
    [{}, {"at": 3, "paths": []}, {"at": "soon", "paths": []}, {"at": "2026-11-29", "paths": "a"}],
)
def test_what_is_no_line_of_the_log(data: dict[str, Any]) -> None:
    """Left out, whatever it is."""
    assert usage.retrieval(data) is None


def test_a_line_of_the_log() -> None:
    """Its moment and its notes; what is no name is left out."""
    line = {"at": "2026-11-29T20:15:03Z", "paths": [A, 3, B]}
    assert usage.retrieval(line) == Retrieval(
        datetime(2026, 11, 29, 20, 15, 3, tzinfo=UTC), {A: 1, B: 1}
    )


def test_broken_totals_are_left_out() -> None:
    """A total without a day, without counts, or with counts that are none."""
    broken = [
        event("retrieved", at(2), "someday", counts={A: 1}),
        event("retrieved", at(2), "2026-11-01"),
        event("retrieved", at(2), "2026-11-01", counts=[A]),
        event("retrieved", at(2), "2026-11-01", counts={A: "many", B: True, COLD: -1}),
        event("archived", at(3), A, path=A),
    ]
    assert usage.last_used(broken, [], []) == {}


def test_totals_are_by_day_in_order() -> None:
    """Each day's counts, whatever the order of the lines."""
    lines = [Retrieval(at(3), {B: 1, A: 1}), Retrieval(at(1), {B: 1}), Retrieval(at(3, 0), {B: 2})]
    found = usage.totals(lines)
    assert list(found.items()) == [("2026-11-01", {B: 1}), ("2026-11-03", {A: 1, B: 3})]
    assert list(found["2026-11-03"]) == [B, A]


def test_a_total_is_named_by_all_that_it_says() -> None:
    """The same again has the same uid; another machine, piece, day or count has another."""
    same = ("pi@laptop", "piece", "2026-11-29", {A: 1, B: 2})
    names = {
        usage.total_uid(*same),
        usage.total_uid("pi@desk", *same[1:]),
        usage.total_uid("pi@laptop", "other", *same[2:]),
        usage.total_uid(*same[:2], "2026-11-28", same[3]),
        usage.total_uid(*same[:3], {A: 1, B: 3}),
    }
    assert len(names) == 5
    assert usage.total_uid(*same[:3], {B: 2, A: 1}) in names
    assert all(len(name) == 16 and int(name, 16) >= 0 for name in names)


@given(st.data())
@MODEST
def test_no_order_of_events_makes_another_answer(data: st.DataObject) -> None:
    """Moves, totals and lines of several machines fold to the same, and no retrieval is lost."""
    paths = [A, B, COLD]
    events = [
        event("archived", at(1) + timedelta(hours=hour), path, path=path, to=to)
        for hour, path, to in data.draw(
            st.lists(
                st.tuples(st.integers(0, 400), st.sampled_from(paths), st.sampled_from(paths)),
                unique_by=lambda move: move[0],
            )
        )
    ]
    events += [total(day, b=1, topics__a=2) for day in range(1, data.draw(st.integers(1, 9)))]
    local = [Retrieval(at(day), {COLD: 1}) for day in data.draw(st.lists(st.integers(1, 28)))]
    found = usage.last_used(events, local, [])
    mixed = data.draw(st.permutations(events))
    assert usage.last_used(mixed, local[::-1], []) == found
    counted = sum(e.event == "retrieved" for e in events) * 3 + len(local)
    assert sum(used.retrievals for used in found.values()) == counted
