"""What became of notes: which of them moved, and what kind of change it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import notechange
from memory_palace.core.notechange import compare, moves, tier

LONG = "Words that are many enough to be known again in another place, whatever its name is.\n"
PATHS = st.sampled_from(
    [
        "palace/a.md",
        "palace/b.md",
        "palace/room/a.md",
        "palace/archive_basement/a.md",
        "palace/archive_basement/b.md",
        "palace/reflection_wing/principles/a.md",
        "palace.yaml",
    ]
)
SIDES = st.dictionaries(
    PATHS, st.sampled_from(["", "x", LONG, LONG * 2, f"---\na: 1\n---\n{LONG}"])
)


@given(SIDES, SIDES)
def test_every_file_is_told_once(before: dict[str, str], after: dict[str, str]) -> None:
    """A file of before stayed, moved or was removed; one of after is new or came from one."""
    found = compare(before, after)
    assert [c.path for c in found] == sorted(c.path for c in found)
    told = [c.path for c in found if c.kind != "removed"]
    removed = [c.path for c in found if c.kind == "removed"]
    came = [c.was or c.path for c in found if c.kind not in ("added", "removed")]
    assert sorted(told) == sorted(after)
    assert len(came) == len(set(came)) and set(came) <= set(before)
    assert set(removed) | set(came) >= set(before) - set(after)
    assert not set(removed) & set(after)


@given(SIDES, SIDES)
def test_a_move_leads_from_what_is_gone_to_what_is_new(
    before: dict[str, str], after: dict[str, str]
) -> None:
    """And from each file to one other at most."""
    gone = {path: text for path, text in before.items() if path not in after}
    new = {path: text for path, text in after.items() if path not in before}
    found = moves(gone, new)
    assert set(found) <= set(new) and set(found.values()) <= set(gone)
    assert len(set(found.values())) == len(found)


def test_of_two_that_are_alike_the_closest_moved() -> None:
    """And the other one is new."""
    found = moves({"palace/a.md": LONG}, {"palace/b.md": LONG + "more", "palace/c.md": LONG})
    assert found == {"palace/c.md": "palace/a.md"}


def test_another_text_under_the_same_name_is_no_move() -> None:
    """Nor is a note without text."""
    assert moves({"palace/a.md": LONG}, {"palace/x/a.md": "Nothing of the kind"}) == {}
    assert moves({"palace/a.md": ""}, {"palace/b.md": ""}) == {}


def test_more_pairs_than_can_be_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Equal ones are found all the same."""
    monkeypatch.setattr(notechange, "MOST_PAIRS", 0)
    gone = {"palace/a.md": LONG, "palace/b.md": LONG * 2}
    new = {"palace/c.md": LONG, "palace/d.md": LONG * 2 + "x"}
    assert moves(gone, new) == {"palace/c.md": "palace/a.md"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("palace/project_rooms/demo/a.md", 1),
        ("palace/chambers/pi/a.md", 1),
        ("palace/reflection_wing/principles/a.md", 2),
        ("palace/reflection_wing/constitution.md", 3),
        ("palace/reflection_wing/proposals/a.md", 0),
        ("palace/archive_basement/reflection_wing/principles/a.md", 0),
    ],
)
def test_tiers(path: str, expected: int) -> None:
    """One of a project, two of the reflection wing, three of the constitution."""
    assert tier(path) == expected


def test_a_demotion_is_a_move() -> None:
    """Only the way up is a promotion."""
    up, down = "palace/reflection_wing/principles/a.md", "palace/project_rooms/demo/a.md"
    assert [c.kind for c in compare({up: LONG}, {down: LONG})] == ["moved"]
    assert [c.kind for c in compare({down: LONG}, {up: LONG})] == ["promoted"]


def test_broken_metadata_has_no_keys() -> None:
    """Not every key was taken out where none could be read."""
    (change,) = compare({"palace/a.md": "---\na: 1\n---\nx"}, {"palace/a.md": "---\na: [\n---\nx"})
    assert change.keys == ()


def test_a_file_that_is_no_note_is_compared_whole() -> None:
    """Configuration has no metadata."""
    (change,) = compare({"palace.yaml": "a: 1\n"}, {"palace.yaml": "a: 2\n"})
    assert [(hunk.before, hunk.after) for hunk in change.words] == [("1", "2")]
