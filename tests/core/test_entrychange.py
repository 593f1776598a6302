"""What became of topic entries."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import entrychange
from memory_palace.core.entrychange import compare
from memory_palace.core.memories import Memory
from memory_palace.core.topics import entry_id

DAY = datetime(2026, 11, 29, tzinfo=UTC)
PATH = "palace/topics/lessons.md"
BELOW = "palace/archive_basement/topics/lessons.md"


def memory(text: str, key: str = "", path: str = PATH, line: int = 1) -> Memory:
    """An entry; without a ``key`` one that was written by hand."""
    return Memory(
        id=key or entry_id("lesson", text),
        category="lesson",
        text=text,
        path=path,
        line=line,
        cue="explicit",
        evidence=1,
        strength=0.69,
        lifecycle="provisional",
        pinned=False,
        enforced=False,
        created=DAY,
        reinforced=DAY,
        archived=path == BELOW,
        written=bool(key),
    )


ONE = memory("Measure before you cut", "a")


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("edited", {"text": "Measure twice"}),
        ("edited", {"enforced": True}),
        ("moved", {"path": "palace/topics/mine.md"}),
        ("archived", {"path": BELOW, "archived": True}),
        ("forgotten", {"forgotten": True, "strength": 0.0}),
        ("pinned", {"pinned": True}),
        ("reinforced", {"evidence": 2}),
        ("rescored", {"evidence": 0}),
        ("rescored", {"lifecycle": "active"}),
        ("rescored", {"cue": "structural"}),
    ],
)
def test_what_is_another_is_told(kind: str, fields: dict[str, object]) -> None:
    """Each kind of change, and the way back."""
    other = replace(ONE, **fields)  # type: ignore[arg-type]
    assert [change.kind for change in compare([ONE], [other])] == [kind]
    back = {"archived": "restored", "pinned": "unpinned", "reinforced": "rescored"}
    back |= {"forgotten": "rescored"}
    (again,) = compare([other], [ONE])
    assert again.kind in (back.get(kind, kind), "reinforced")


def test_another_line_or_strength_alone_is_no_change() -> None:
    """Lines above it, or the time of its file."""
    assert compare([ONE], [replace(ONE, line=9, strength=0.1)]) == ()


def test_an_entry_with_an_id_is_never_taken_for_another() -> None:
    """However much alike they are: its id would have stayed."""
    kinds = [c.kind for c in compare([ONE], [memory("Measure before you cut it", "b")])]
    assert sorted(kinds) == ["added", "removed"]


def test_lines_without_ids_pair_with_the_closest() -> None:
    """One old line becomes one new line at most."""
    old = [memory("Measure before you cut"), memory("Never push on Friday", line=2)]
    new = [memory("Never push on a Friday", line=3), memory("Measure before you cut it", line=4)]
    found = compare(old, new)
    assert [(c.kind, c.line) for c in found] == [("edited", 3), ("edited", 4)]
    assert [w.after for c in found for w in c.words] == ["a", "it"]


def test_too_many_lines_to_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are gone, and others are new."""
    monkeypatch.setattr(entrychange, "MOST_PAIRS", 0)
    found = compare([memory("Measure before you cut")], [memory("Measure before you cut it")])
    assert sorted(change.kind for change in found) == ["added", "removed"]


SIDES = st.lists(
    st.builds(
        memory,
        st.sampled_from(["one two three", "one two three four", "five", "five six", "seven"]),
        st.sampled_from(["", "", "a", "b"]),
        st.sampled_from([PATH, BELOW]),
        st.integers(1, 9),
    ),
    max_size=6,
    unique_by=lambda one: one.id,
)


@given(SIDES, SIDES)
def test_no_entry_is_lost_or_told_twice(before: list[Memory], after: list[Memory]) -> None:
    """What was added less what was removed is the difference in number; nothing differs from
    itself."""
    kinds = [change.kind for change in compare(before, after)]
    assert kinds.count("added") - kinds.count("removed") == len(after) - len(before)
    ids = [change.id for change in compare(before, after) if change.kind != "removed"]
    assert len(ids) == len(set(ids)) and set(ids) <= {one.id for one in after}
    assert compare(before, before) == ()
