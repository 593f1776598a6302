"""The few lines of a text that say most."""

from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core.excerpts import MOST_CHARACTERS, cut, excerpt, pieces

LINES = st.lists(st.text("ab .\n#", max_size=120), min_size=1, max_size=12).map("\n".join)


def test_the_line_of_most_worth_is_shown_with_what_is_around_it() -> None:
    """What follows first, as far as there is room."""
    text = "\n".join(f"line {number} " + "x" * 90 for number in range(6))
    parts = pieces(text)
    found = excerpt(parts, [0, 0, 1, 0, 0, 0], 10)
    assert (found.start, found.end) == (12, 14)
    assert found.text.startswith("line 2")
    assert len(found.text) <= MOST_CHARACTERS


def test_a_heading_is_left_out() -> None:
    """It is shown by itself; alone it stays."""
    assert [piece.text for piece in pieces("## Amber\n\nIt glows.")] == ["It glows."]
    assert [piece.text for piece in pieces("## Amber")] == ["## Amber"]


def test_a_long_line_is_taken_by_sentences() -> None:
    """All of them stand on its line."""
    text = "First of all. " + "Filler here. " * 40 + "The amber is last."
    parts = pieces(text)
    worth = [float("amber" in part.text) for part in parts]
    found = excerpt(parts, worth, 5)
    assert (found.start, found.end) == (5, 5)
    assert found.text.endswith("The amber is last.")


def test_what_is_too_long_is_cut_with_a_sign() -> None:
    """At a blank where there is one."""
    assert cut("word " * 100).endswith("word…")
    assert len(cut("x" * 1_000)) == MOST_CHARACTERS
    assert cut("short") == "short"


@given(LINES, st.integers(1, 1_000), st.data())
def test_an_excerpt_is_short_and_lies_in_its_text(
    text: str, first: int, data: st.DataObject
) -> None:
    """Whatever the lines and their worth."""
    parts = pieces(text)
    if not parts:
        assert not text.strip()
        return
    worth = data.draw(st.lists(st.floats(0, 9), min_size=len(parts), max_size=len(parts)))
    found = excerpt(parts, worth, first)
    assert first <= found.start <= found.end <= first + text.count("\n")
    assert 0 < len(found.text) <= MOST_CHARACTERS
    best = worth.index(max(worth))
    assert found.start <= first + parts[best].line <= found.end
