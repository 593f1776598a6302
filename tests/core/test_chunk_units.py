"""The parts of a chunk that are found by themselves: list items, turns, small sections."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST, cut, notes
from memory_palace.core.chunk import Chunk, Unit


def said(piece: Chunk, unit: Unit) -> str:
    """The lines of a unit."""
    return "\n".join(piece.text.split("\n")[unit.start - piece.start : unit.end - piece.start + 1])


def units(text: str) -> list[list[str]]:
    """What the units of each chunk say."""
    return [[said(piece, unit) for unit in piece.units] for piece in cut(text)]


@given(notes())
@MODEST
def test_units_lie_in_their_chunk_in_order(text: str) -> None:
    """Two or more or none, between the chunk's first and last line, none over another."""
    for piece in cut(text):
        assert len(piece.units) != 1
        after = piece.start
        for unit in piece.units:
            assert after <= unit.start <= unit.end <= piece.end
            after = unit.end + 1


@given(notes())
@MODEST
def test_a_units_offset_is_where_its_text_stands(text: str) -> None:
    """In what is embedded, so that the tokens there are known to be the unit's."""
    for piece in cut(text):
        for unit in piece.units:
            assert said(piece, unit).strip()
            assert piece.embedded[unit.offset :].startswith(said(piece, unit).rstrip())


@given(notes())
@MODEST
def test_units_cover_what_their_chunk_says(text: str) -> None:
    """No line is in a chunk and in none of its units, but for the headings that its path names."""
    for piece in cut(text):
        if piece.units:
            inside = {n for unit in piece.units for n in range(unit.start, unit.end + 1)}
            above = piece.text.count("\n") - piece.body.count("\n")
            lines = enumerate(piece.text.split("\n"), piece.start)
            assert {n for n, line in lines if n >= piece.start + above and line.strip()} <= inside


@given(
    st.lists(
        st.sampled_from(
            ["- item\n", "- item\n  goes on\n", "  - under\n", "- far\n\n", "- a\n\n  more\n"]
        ),
        min_size=2,
        max_size=60,
    ),
    st.sampled_from(["", "# Title\n\n", "Before it.\n\n", "# T\n\nBefore.\n\n## Below\n"]),
)
@MODEST
def test_every_list_item_starts_a_unit(items: list[str], top: str) -> None:
    """Nested ones too; its further lines belong to it."""
    text = top + "- first\n" + "".join(items) + "\nAfter it.\n"
    pieces = cut(text)
    starts = {unit.start for piece in pieces for unit in piece.units}
    alone = {piece.start for piece in pieces if not piece.units}
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith("- "):
            assert number in starts | alone, (number, line)
        elif line in ("  goes on", "  more"):
            assert number not in starts
    assert lines.index("After it.") + 1 in starts | alone


def test_turns_of_a_conversation_are_units() -> None:
    """Each with its own lines, the text before them too."""
    text = "# Talk\n\nOn the phone.\n\n- Ann: hello\n- Bob: hello,\n  who is there?\n\nThe end.\n"
    assert units(text) == [
        ["On the phone.", "- Ann: hello", "- Bob: hello,\n  who is there?", "The end."]
    ]


def test_small_sections_that_joined_are_units() -> None:
    """Each with its own heading."""
    text = "# T\n\ntop\n\n## A\n\nalpha\n\n## B\n\nbeta\n\n### C\n\nmore\n"
    assert units(text)[1] == ["## A\n\nalpha", "## B\n\nbeta"]


def test_a_heading_alone_goes_with_what_follows() -> None:
    """No unit is only a heading: it is no answer."""
    text = "# T\n\ntop\n\n## A\n- one\n- two\n\n## B\n- three\n"
    (_, joined) = cut(text)
    assert [said(joined, unit) for unit in joined.units] == [
        "## A\n- one",
        "- two",
        "## B\n- three",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "one paragraph\n\nand another\n",
        "# T\n\ntext\n",
        "- the only item\n",
        "```\n- no\n- item\n```\n",
        "| a |\n|---|\n| b |\n| c |\n",
        "y" * 2500 + "\n",
    ],
)
def test_a_chunk_that_is_one_thing_has_no_units(text: str) -> None:
    """Paragraphs, a fence, a table, a part of a line are found as a whole."""
    assert all(piece.units == () for piece in cut(text))
