"""Private spans in what is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import private_spans
from memory_palace.core.privacy import redact

PARTS = st.lists(st.sampled_from(["<private>", "</ Private >", "\n", "a", "b"]), max_size=12)


@given(PARTS.map("".join))
def test_lines_stay_where_they_are(text: str) -> None:
    """What is hidden is what is never stored, and a line keeps its number."""
    shown = private_spans.hidden(text)
    assert shown.count("\n") == text.count("\n")
    assert shown.replace("\n", "") == redact(text).text.replace("\n", "")
    assert (shown is text) == (redact(text).private == 0)


def test_what_is_left() -> None:
    """Marks alone are nothing."""
    assert private_spans.is_blank("[PRIVATE]\n [PRIVATE]")
    assert not private_spans.is_blank("a [PRIVATE]")


FILE = "# One\n\na <private>b\n\n## Two\n\nc\n\nd</private> e\n\nf\n"


@pytest.mark.parametrize(
    ("start", "text", "heading", "shown"),
    [
        (3, "a <private>b", ["One"], ("a [PRIVATE]", ("One",))),
        (5, "## Two\n\nc", ["One", "Two"], None),  # no tag stands in it
        (9, "d</private> e", ["One", "Two"], (" e", ("One",))),
        (9, "d</private> e\n\nf", ["One", "Two"], (" e\n\nf", ("One",))),
        (11, "f", ["One", "Two"], ("f", ("One",))),
        (3, "a <priv", ["One"], None),  # a part of a line
    ],
)
def test_a_chunk(
    start: int, text: str, heading: list[str], shown: tuple[str, tuple[str, ...]] | None
) -> None:
    """A span may begin above it and end below it."""
    assert private_spans.of_chunk(FILE, start, text, heading) == shown


def test_a_chunk_of_a_file_without_any() -> None:
    """As it is, a part of a line too."""
    found = private_spans.of_chunk("# A\n\nword word", 3, "word", ["A", "`B`"])
    assert found == ("word", ("A", "`B`"))


def test_a_chunk_with_other_line_ends() -> None:
    """They are no difference."""
    found = private_spans.of_chunk(
        "a\r\n<private>b</private> c\r\n", 1, "a\n<private>b</private> c", []
    )
    assert found == ("a\r\n[PRIVATE] c\r", ())


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a </private> b", "[PRIVATE] b"),
        ("a </private> b </ PRIVATE > c", "[PRIVATE] c"),
        ("a <private>b</private> c", "a [PRIVATE] c"),
        ("a <private>b</private></private> c <private> d", "[PRIVATE] c [PRIVATE]"),
        ("a", "a"),
    ],
)
def test_a_part_in_which_a_span_ends(text: str, left: str) -> None:
    """It began before the part does, so all up to its end is private."""
    assert private_spans.hidden(private_spans.opened(text)) == left
