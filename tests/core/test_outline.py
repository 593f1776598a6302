"""What an outline says of its blocks."""

from memory_palace.core.outline import Block, Outline


def test_headings_are_the_blocks_of_that_kind() -> None:
    """In order, whatever their level."""
    blocks = (
        Block("paragraph", 1),
        Block("heading", 2, 2, "Two"),
        Block("heading", 3, 1, "One"),
        Block("heading", 4, 1, "Other"),
    )
    outline = Outline(blocks, (), ())
    assert outline.headings == ("Two", "One", "Other")
    assert outline.first_heading == "One"


def test_without_a_top_heading_there_is_no_first_one() -> None:
    """A deeper heading gives a note no title."""
    assert Outline((Block("heading", 1, 2, "Two"),), (), ()).first_heading is None
    assert Outline((), (), ()).headings == ()
