"""The marks that a merge leaves in a text."""

from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import mergemarks

WHOLE = "a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> side branch\nb\n"


def test_both_sides_are_taken_with_their_lines_and_names() -> None:
    """Lines from 1, of the first and of the last mark."""
    (merge,) = mergemarks.find(WHOLE).merges
    assert (merge.line, merge.end, merge.ours, merge.theirs) == (2, 6, "ours", "theirs")
    assert (merge.our_name, merge.their_name) == ("HEAD", "side branch")


def test_the_base_of_a_three_way_merge_is_on_no_side() -> None:
    """What stands between `|||||||` and `=======` both sides had."""
    text = "<<<<<<< a\nx\n||||||| base\nold\n=======\ny\nz\n>>>>>>> b\n"
    (merge,) = mergemarks.find(text).merges
    assert (merge.ours, merge.theirs) == ("x", "y\nz")


def test_sides_may_be_empty_and_lines_end_in_any_way() -> None:
    """Deleted on one side; CRLF stays in the text as it is."""
    text = "<<<<<<< a\r\n=======\r\ny\r\n>>>>>>> b\r\n"
    (merge,) = mergemarks.find(text).merges
    assert (merge.ours, merge.theirs, merge.their_name) == ("", "y\r", "b")


def test_marks_out_of_order_or_alone_are_strays() -> None:
    """They are reported, not taken for a merge; a line of `=` underlines a heading."""
    assert mergemarks.find("Title\n=======\ntext\n") == mergemarks.Marks((), ())
    assert mergemarks.find(">>>>>>> b\n=======\n<<<<<<< a\n").strays == (1, 3)
    nested = mergemarks.find("<<<<<<< a\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n")
    assert nested.strays == (1,) and len(nested.merges) == 1


def test_a_single_mark_in_a_fence_is_text() -> None:
    """Documentation may show one; all three in order count there too."""
    assert mergemarks.find("```\n<<<<<<< HEAD\n```\n") == mergemarks.Marks((), ())
    assert len(mergemarks.find(f"```\n{WHOLE}```\n").merges) == 1


def test_longer_or_indented_lines_are_no_marks() -> None:
    """Git writes seven, at the start of a line."""
    text = WHOLE.replace("<<<<<<<", "<<<<<<<<").replace(">>>>>>>", " >>>>>>>")
    assert mergemarks.find(text) == mergemarks.Marks((), ())


LINES = st.sampled_from(["<<<<<<< a", "=======", ">>>>>>> b", "||||||| c", "```", "x", ""])


@given(st.lists(LINES, max_size=20))
def test_merges_never_overlap(lines: list[str]) -> None:
    """Each begins after the one before has ended, and every mark is in at most one."""
    found = mergemarks.find("\n".join(lines))
    ends = [0]
    for merge in found.merges:
        assert ends[-1] < merge.line < merge.end
        ends.append(merge.end)
    inside = {n for merge in found.merges for n in range(merge.line, merge.end + 1)}
    assert inside.isdisjoint(found.strays)
