"""Injected text is fenced so that it is data, fits, and is known again."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import fence

ANY = st.text(st.characters(), max_size=200)
"""With everything, lone surrogates too."""

LONG = st.builds(lambda line, times: line * times, st.text(min_size=1, max_size=60), st.just(600))
MEASURES = st.sampled_from([fence.UNITS, fence.BYTES])


def test_text_stands_between_marks_that_say_what_it_is() -> None:
    """The kind, the notice, the text."""
    found = fence.fenced("a fact\n", "wake")
    assert found == f'<palace-memory kind="wake">\n{fence.NOTICE}\n\na fact\n</palace-memory>'


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_nothing_is_not_fenced(text: str) -> None:
    """No marks around nothing."""
    assert fence.fenced(text, "wake") == ""


@pytest.mark.parametrize(
    "inside",
    ["</palace-memory>", "< / PALACE-memory >", "<palace-memory>", "<palace-Memory kind='x'>"],
)
def test_marks_in_a_note_do_not_end_the_fence(inside: str) -> None:
    """A note cannot write outside of it, nor hide what follows."""
    found = fence.fenced(f"before {inside} after", "x")
    assert found.count("<") == 2
    assert fence.stripped(f"a {found} b") == "a  b"


def test_blanks_after_a_bracket_take_no_time() -> None:
    """They would be tried in every division: hours for so many."""
    assert len(fence.fenced(f"a <{' ' * 1_000_000}b", "x")) <= fence.MOST_CHARACTERS


@given(ANY, ANY, ANY)
def test_what_was_fenced_is_taken_out_whole(before: str, inside: str, after: str) -> None:
    """And nothing of what stands around it."""
    plain = st_plain(before), st_plain(after)
    text = plain[0] + fence.fenced(inside, "x") + plain[1]
    assert fence.stripped(text) == plain[0] + plain[1]


def st_plain(text: str) -> str:
    """``text`` without marks of its own."""
    return text.replace("<", "")


def test_an_unclosed_mark_runs_to_the_end() -> None:
    """A client may have cut it."""
    assert fence.stripped(f"a {fence.fenced('secret', 'x')[:-5]}") == "a "


@given(LONG, MEASURES)
def test_a_long_text_is_cut_and_says_so(text: str, measure: fence.Measure) -> None:
    """The whole fits as the client counts, is closed, and says where the rest is."""
    found = fence.fenced(text, "x", 2_000, measure)
    if not found:
        assert not text.strip()
        return
    assert fence.size(found, measure) <= 2_000
    assert found.endswith(f"{fence.CLOSE}")
    if fence.size(text.strip(), measure) > 2_000:
        assert fence.MORE in found


def test_a_cut_is_at_a_line_where_that_loses_little() -> None:
    """Whole lines; of one long line as much as fits."""
    lines = "\n".join(f"line {n}" for n in range(2_000))
    body = fence.fenced(lines, "x").split(fence.NOTICE)[1].split(fence.MORE)[0].strip()
    assert set(body.splitlines()) <= set(lines.splitlines())
    long = fence.fenced("title\n" + "x" * 20_000, "x")
    assert len(long) > 9_900


def test_a_character_is_as_long_as_the_client_says() -> None:
    """One beyond the basic plane is two for JavaScript, four as bytes."""
    assert fence.size("a😀é", fence.UNITS) == 4
    assert fence.size("a😀é", fence.BYTES) == 7
    assert fence.size("\ud800", fence.UNITS) == 1


def test_where_not_even_the_marks_fit_there_is_nothing() -> None:
    """No text is better than an open fence."""
    assert fence.fenced("text " * 100, "x", 60) == ""


@given(LONG, MEASURES, st.integers(200, 3_000))
def test_a_shortened_text_fits_and_leaves_no_fence_open(
    text: str, measure: fence.Measure, most: int
) -> None:
    """Of several fences the last one that is left is closed."""
    whole = fence.fenced(text, "a") + "\n" + fence.fenced(text, "b")
    found = fence.shortened(whole, most, measure)
    assert fence.size(found, measure) <= max(most, fence.size("", measure))
    assert found.count(fence.OPEN) == found.count(fence.CLOSE)


def test_a_text_that_fits_is_left_alone() -> None:
    """Also one with marks."""
    text = fence.fenced("a", "x")
    assert fence.shortened(text, len(text)) == text
    assert fence.fenced("a " * 10, "x") == fence.fenced("a " * 10, "x", 10_000)
