"""The facts as far as a contradiction needs them."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import factrows

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def added(object_: str, **more: Any) -> dict[str, Any]:
    """A line that adds where Ann lives."""
    return {"event": "added", "subject": "Ann", "predicate": "lives in", "object": object_} | more


def clashing(
    *lines: dict[str, Any], one_valued: tuple[str, ...] = ("lives_in",)
) -> list[list[str]]:
    """The objects of the pairs that clash."""
    rows = factrows.read(enumerate(lines, start=1))
    return [[a.object, b.object] for a, b, _ in factrows.clashes(rows, one_valued, NOW)]


def test_two_values_of_a_one_valued_predicate_clash() -> None:
    """Names are compared without case, spaces and apostrophes."""
    assert clashing(added("Rome"), added("Oslo", predicate="Lives_In")) == [["Rome", "Oslo"]]
    assert clashing(added("Rome"), added("rome ")) == []
    assert clashing(added("Rome"), added("Oslo"), one_valued=()) == []
    assert clashing(added("Rome"), added("Oslo", subject="Ben")) == []


def test_only_what_is_valid_now_clashes() -> None:
    """`valid_to` is exclusive; an invalidation ends a fact by its id, or by what it says."""
    assert clashing(added("Rome", valid_to="2026-11-01"), added("Oslo")) == []
    assert clashing(added("Rome", valid_from="2027-01-01"), added("Oslo")) == []
    ended = {"event": "invalidated", "id": "f1", "at": "2026-11-01T00:00:00Z"}
    assert clashing(added("Rome", id="f1"), added("Oslo"), ended) == []
    assert clashing(added("Rome", id="f2"), added("Oslo"), ended) == [["Rome", "Oslo"]]
    said = added("rome", event="invalidated", valid_to="2026-11-01")
    assert clashing(added("Rome"), added("Oslo"), said) == []
    assert clashing(added("Rome"), added("Oslo"), added("Rome", event="invalidated")) == []


def test_the_reason_names_subject_predicate_and_both_values() -> None:
    """As they were written."""
    rows = factrows.read(enumerate([added("Rome"), added("Oslo")], start=1))
    ((one, _, why),) = factrows.clashes(rows, ["lives_in"], NOW)
    assert (why.kind, why.why) == ("one_valued", "Ann has one lives in: Rome and Oslo")
    assert (one.line, len(one.id), one.sentence) == (1, 12, "Ann lives in Rome")


VALUES = st.one_of(
    st.none(), st.booleans(), st.integers(), st.text(max_size=5), st.lists(st.integers())
)
KEYS = st.sampled_from(["event", "subject", "predicate", "object", "id", "valid_to", "valid_from"])


@given(st.lists(st.dictionaries(KEYS, VALUES | st.sampled_from(["added", "invalidated"]))))
def test_lines_of_any_shape_are_passed_over(lines: list[dict[str, Any]]) -> None:
    """Nothing raises, and every fact has its three parts."""
    rows = factrows.read(enumerate(lines, start=1))
    assert all(row.subject and row.predicate and row.object for row in rows)
    list(factrows.clashes(rows, ["a", ""], NOW))
