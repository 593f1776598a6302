"""Chunks stay what they are when a note is moved or edited."""

from collections.abc import Callable

from hypothesis import given, settings
from hypothesis import strategies as st

from core.generated import MODEST, cut, notes


@given(notes())
@MODEST
def test_a_move_keeps_what_is_embedded(text: str) -> None:
    """Path and name are not part of it, so a renamed note keeps its vectors."""
    here, there = cut(text, "palace/a.md"), cut(text, "palace/archive_basement/b/c.md")
    assert [p.embedded for p in here] == [p.embedded for p in there]


def prose(words: int) -> Callable[[int], str]:
    """A section's text of so many words, in paragraphs."""
    return lambda n: "\n\n".join(
        " ".join(f"w{n}x{m}" for m in range(at, min(at + 50, words))) for at in range(0, words, 50)
    )


LAYOUTS = {
    "flat": ("", "## S {}\n\n"),
    "deep": ("", "### S {}\n"),
    "top": (f"# The title{' is long' * 30}\n\n", "## S {}\n\n"),
    "top with text": ("# The title\n\nAbout it.\n\n", "## S {}\n\n"),
    "underlined": ("The title\n=========\n\n", "S {}\n---\n\n"),
    "all on top": ("# The title\n\n", "# S {}\n\n"),
}


@settings(MODEST, max_examples=60)
@given(
    layout=st.sampled_from(sorted(LAYOUTS)),
    words=st.one_of(st.integers(12, 45), st.integers(46, 200)),
    metadata=st.sampled_from(["", "---\ntitle: T\n---\n", "---\ntags: [x]\n---\n\n"]),
    line=st.sampled_from(["A new line.", "- item", "[[link]]", "> quote", "long " * 40, ""]),
    below=st.booleans(),
)
def test_a_line_inserted_at_the_top_embeds_at_most_one_chunk_anew(
    layout: str, words: int, metadata: str, line: str, below: bool
) -> None:
    """Before or below the top heading of forty sections: all other vectors are kept."""
    top, head = LAYOUTS[layout]
    sections = "".join(head.format(n) + prose(words)(n) + "\n\n" for n in range(40))
    before = {p.embedded for p in cut(metadata + top + sections)}
    start, rest = (top, sections) if below and top else ("", top + sections)
    gap = "\n" if layout == "underlined" else ""  # or it would be a line of the heading
    after = {p.embedded for p in cut(f"{metadata}{start}{line}\n{gap}{rest}")}
    assert len(before) > 3
    assert len(after - before) <= 1
    assert (line.strip() == "") or any(line.strip() in text for text in after)
