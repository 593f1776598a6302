"""Layers: which notes, in which order, cut to how much."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import layers
from memory_palace.core.layers import L1, L2, Layer, Told, compose, importance


def note(name: str, weight: int = 5, time: float | None = 1.0, text: str = "said") -> Told:
    """A note whose title its file's name says."""
    stem = name.rpartition("/")[2]
    return Told(f"palace/{name}.md", stem, weight, time, "2026-11-24", text)


@pytest.mark.parametrize(
    ("priority", "hall", "kind", "weight"),
    [
        ("high", "hall_diary", "code", 8),
        ("medium", "hall_decisions", "palace", 5),
        ("low", "hall_decisions", "palace", 3),
        (None, "hall_decisions", "palace", 8),
        (None, "hall_bugs", "palace", 7),
        (None, "hall_features", "palace", 7),
        (None, "hall_discoveries", "palace", 6),
        (None, "hall_refactors", "palace", 5),
        (None, "hall_changes", "palace", 4),
        (None, None, "mined_code", 3),
        (None, None, "mined_conversation", 4),
        (None, None, "decision", 8),
        (None, None, "palace", 5),
        (None, None, "anything", 5),
    ],
)
def test_importance(priority: str | None, hall: str | None, kind: str, weight: int) -> None:
    """By priority, else by hall, else by type, else as one of medium priority."""
    assert importance(priority, hall, kind) == weight


def test_the_numbers_of_the_layers() -> None:
    """15 notes of 200 characters in 3,200, and 10 of 300."""
    assert Layer(15, 200, 3_200) == L1
    assert Layer(10, 300) == L2


def test_grouped_by_room() -> None:
    """The room of the weightiest note first, each room once, a note's name and day before its
    text."""
    shown = compose([note("a/x", 5), note("b/y", 8), note("a/z", 7)], L2)
    assert shown.text == (
        "## palace/b\n- y.md (2026-11-24): said\n\n"
        "## palace/a\n- z.md (2026-11-24): said\n- x.md (2026-11-24): said"
    )
    assert shown.more == 0


def test_importance_then_recency_then_path() -> None:
    """A note without a time comes last among its equals."""
    notes = [note("a/d", time=None), note("a/c", time=2), note("a/b", time=2), note("a/a", 8, None)]
    assert [one.path for one in compose(notes, L2).notes] == [
        f"palace/a/{name}.md" for name in "abcd"
    ]


def test_a_title_that_the_name_does_not_say() -> None:
    """It stands before the text."""
    told = note("a/x")._replace(title="Why so.")
    assert compose([told], L2).text.endswith("- x.md (2026-11-24): Why so. said")


def test_shared_notes_fill_what_is_left() -> None:
    """After the wing's own, whatever they count, and they are not counted as left out."""
    shown = compose([note("a/x", 3)], L1._replace(notes=2), 4, [note("b/y", 8), note("b/z", 8)])
    assert [one.path for one in shown.notes] == ["palace/a/x.md", "palace/b/y.md"]
    assert shown.more == 4


@given(
    st.lists(
        st.builds(
            note,
            st.builds("{}/n{}".format, st.sampled_from("abcd"), st.integers(0, 99)),
            st.integers(3, 8),
            st.one_of(st.none(), st.floats(0, 9)),
            st.text(max_size=400),
        ),
        unique_by=lambda one: one.path,
        max_size=30,
    ),
    st.randoms(use_true_random=False),
)
def test_bounds_hold_and_order_does_not_matter(notes: list[Told], dice: random.Random) -> None:
    """No more than 15 notes, 200 characters a line, 3,200 in all; no room without a note; shown
    and left out are all; any order of the notes gives the same bytes."""
    shown = compose(notes, L1)
    assert len(shown.text) <= 3_200
    assert len(shown.notes) <= 15 and len(shown.notes) + shown.more == len(notes)
    lines = [line for line in shown.text.split("\n") if line]
    assert all(len(line) <= 200 for line in lines if line.startswith("- "))
    for line, after in zip(lines, [*lines[1:], "##"], strict=False):
        assert not (line.startswith("##") and after.startswith("##"))
    assert sum(line.startswith("- ") for line in lines) == len(shown.notes)
    dice.shuffle(notes)
    assert compose(notes, L1) == shown


def test_a_body_on_one_line() -> None:
    """Without headings, fence marks, tables and comments; what stands in a fence is kept."""
    body = "# T\n\nOne  two.\n## H\n```sh\n# not a heading\n```\n| a |\n<!-- x -->\nEnd #1\n"
    assert layers.flat(body, 300) == "One two. # not a heading End #1"
    assert len(layers.flat("word " * 1_000, 300)) <= 301


def test_cut_between_words() -> None:
    """Where that loses little; a long word is cut inside."""
    assert layers.clipped("one two three", 13) == "one two three"
    assert layers.clipped("one two three four", 16) == "one two three …"
    assert layers.clipped("x" * 50, 10) == "x" * 8 + " …"


def test_the_identity() -> None:
    """Trimmed; of a long one whole lines and where the rest is; nothing where that does not fit."""
    assert layers.identity("\n\n# I\n\nam\n\n", "p.md") == "# I\n\nam"
    cut = layers.identity("line\n" * 1_000, "p.md", 100)
    assert cut.endswith("\n[cut: `palace read p.md`]") and len(cut) <= 100
    assert set(cut.split("\n")[:-1]) == {"line"}
    assert layers.identity("line\n" * 9, "p.md", 10) == ""


def test_the_first_heading() -> None:
    """Of the first line that says something, where that is a top heading."""
    assert layers.first_heading("\n# A b #\n") == "A b"
    assert layers.first_heading("text\n# A\n") is None
    assert layers.first_heading("## A\n") is None
