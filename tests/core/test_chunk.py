"""A note cut into chunks: nothing lost, lines right, stable under edits."""

import re
from datetime import UTC, datetime
from itertools import pairwise

import pytest
from hypothesis import given

from core.generated import MODEST, cut, notes
from memory_palace.core import chunk, note
from memory_palace.core.chunk import MOST, SMALL, TARGET
from memory_palace.core.text import split_lines


def words(text: str) -> set[str]:
    """The words of ``text``, each up to a length."""
    return {word[:200] for word in re.findall(r"\w+", text)}


def whole(text: str, start: int, end: int) -> str:
    """Lines ``start`` to ``end`` of the file, but for its byte order mark."""
    return "\n".join(split_lines(text.removeprefix("\ufeff"))[start - 1 : end])


@given(notes())
@MODEST
def test_every_line_that_is_not_blank_is_in_a_chunk(text: str) -> None:
    """No text is invisible to search, whatever the Markdown around it."""
    body_line = note.parse("a.md", text).body_line
    covered = {n for piece in cut(text) for n in range(piece.start, piece.end + 1)}
    lines = enumerate(split_lines(text.removeprefix("\ufeff")), 1)
    assert {n for n, line in lines if n >= body_line and line.strip()} <= covered


@given(notes())
@MODEST
def test_every_word_is_embedded(text: str) -> None:
    """What a chunk's text says is in what the model gets, if only in the heading path."""
    for piece in cut(text):
        said = " ".join([piece.embedded, *piece.heading])
        assert words(piece.text) <= words(said)


@given(notes())
@MODEST
def test_lines_round_trip(text: str) -> None:
    """A chunk is its lines of the file; the parts of an overlong line give the line again."""
    pieces = cut(text)
    if [piece.text for piece in pieces] == [""]:
        assert not note.parse("a.md", text).body.strip()
        return
    parts: dict[int, str] = {}
    for piece in pieces:
        if piece.text != whole(text, piece.start, piece.end):
            assert piece.start == piece.end
            assert 0 < len(piece.text) <= TARGET
            parts[piece.start] = parts.get(piece.start, "") + piece.text
    assert parts == {n: whole(text, n, n) for n in parts}


@given(notes())
@MODEST
def test_chunks_are_in_order_and_do_not_overlap(text: str) -> None:
    """Only the parts of one overlong line share their line."""
    pieces = cut(text)
    for above, below in pairwise(pieces):
        assert above.start <= above.end
        cut_line = above.start == above.end == below.start == below.end
        assert above.end < below.start or (
            cut_line and len(whole(text, above.end, above.end)) > MOST
        )


@given(notes())
@MODEST
def test_ids_are_distinct_within_a_note(text: str) -> None:
    """The same heading twice does not make two chunks one."""
    pieces = cut(text)
    ids = {chunk.chunk_id("palace/a.md", p.heading, p.ordinal) for p in pieces}
    assert len(ids) == len(pieces) >= 1


def test_an_id_names_path_heading_and_ordinal() -> None:
    """Each of the three makes another id, and neither line nor text does."""
    ids = [
        chunk.chunk_id(path, heading, ordinal)
        for path in ("a.md", "b.md")
        for heading in ((), ("A",), ("A", "B"), ("A > B",))
        for ordinal in (0, 1)
    ]
    assert len(set(ids)) == len(ids)
    before, after = cut("# A\n\ntext\n"), cut("\n\n# A\n\nother text\n")
    assert [(p.heading, p.ordinal) for p in before] == [(p.heading, p.ordinal) for p in after]


def test_headings_then_small_siblings() -> None:
    """Sections are chunks with their heading path; small ones join under that of their parent."""
    text = "intro\n\n# T\n\nabout\n\n## A\n\na\n\n## B\n\nb\n\n### C\n\nc\n\n## D\n\n" + "d " * 200
    found = [(p.heading, p.ordinal, p.start, p.end) for p in cut(text)]
    assert found == [
        ((), 0, 1, 1),
        (("T",), 0, 3, 5),
        (("T",), 1, 7, 13),
        (("T", "B", "C"), 0, 15, 17),
        (("T", "D"), 0, 19, 21),
    ]


def test_blank_lines_around_a_chunk_are_not_in_it() -> None:
    """It starts and ends with lines that say something."""
    found = [(p.start, p.end, p.text) for p in cut("\n \na\n\n\n# H\n\nb\n\u00a0\n\n")]
    assert found == [(3, 3, "a"), (6, 8, "# H\n\nb")]


def test_small_is_small() -> None:
    """Siblings of the limit's length stay apart, shorter ones join up to the target."""
    section = "## S\n\n" + "x" * (SMALL - 7) + "\n\n"
    assert [p.end - p.start for p in cut("# T\n\nt\n\n" + section * 7)] == [2, 10, 10, 2]
    assert len(cut("# T\n\nt\n\n" + section.replace("x\n", "xx\n") * 7)) == 8


def test_headings_without_text_go_with_the_section_below() -> None:
    """A bare heading is no chunk of its own, and its words are in the path."""
    (piece,) = cut("# T\n\n## A\n\n### B\ntext\n")
    assert (piece.heading, piece.start, piece.end) == (("T", "A", "B"), 1, 6)
    assert piece.heading_text == "T > A > B"
    assert piece.body == "text"
    assert piece.embedded == "T\nA > B\ntext"


def test_headings_of_joined_sections_are_embedded() -> None:
    """Only the headings in the path are left out of the text, the others stay in it."""
    bare = cut("# T\n\n## A\n## B\n### C\n## D\nd\n")
    assert [p.heading for p in bare] == [("T", "A"), ("T", "B", "C"), ("T", "D")]
    assert [p.body for p in bare] == ["", "", "d"]
    top, joined = cut("# T\n\nt\n\n## A\n## B\n## D\nd\n")
    assert (top.heading, top.body) == (("T",), "t")
    assert (joined.heading, joined.body) == (("T",), "## A\n## B\n## D\nd")


@pytest.mark.parametrize(
    "block", ["```\n{}```\n", "<div>\n{}</div>\n", "$$\n{}$$\n", "~~~\n{}\n~~~\n"]
)
def test_a_fence_is_kept_whole(block: str) -> None:
    """Code, HTML and math up to the limit are not cut, though longer than a chunk aims to be."""
    inner = block.format("# some code here\n" * 100)
    assert TARGET < len(inner) <= MOST
    pieces = cut("para " * 150 + "\n\n" + inner + "\n" + "para " * 150 + "\n")
    assert sum(inner.strip() in p.text for p in pieces) == 1
    assert [p.text for p in cut("# H\n\n" + inner)] == [f"# H\n\n{inner.strip()}"]


def test_an_overlong_line_is_cut_at_spaces() -> None:
    """The parts are about as long as a chunk aims to be, and no word is cut that need not be."""
    line = "".join(f"word{n} " for n in range(1500)) + "y" * 1500
    pieces = cut("# H\n\n" + line + "\n")[1:]
    assert "".join(p.text for p in pieces) == line
    assert len(pieces) > 10
    assert {(p.start, p.end) for p in pieces} == {(3, 3)}
    assert all(TARGET / 2 < len(p.text) <= TARGET for p in pieces[:-1])
    assert all(p.text.endswith((" ", "y")) for p in pieces)


def test_a_section_is_cut_between_its_blocks() -> None:
    """Paragraphs stay whole, chunks stay near the target, the heading stays with its text."""
    paragraphs = [f"p{n} " + "word " * 60 for n in range(12)]
    pieces = cut("# H\n\n" + "\n\n".join(paragraphs))
    assert len(pieces) == 4
    assert all(p.heading == ("H",) and len(p.text) <= TARGET for p in pieces)
    assert [p.ordinal for p in pieces] == [0, 1, 2, 3]
    assert all(sum(para in p.text + " " for p in pieces) == 1 for para in paragraphs)
    assert pieces[0].text.startswith("# H\n\np0")


@pytest.mark.parametrize(
    ("unit", "above"),
    [
        ("| cell {} | cell cell cell cell |\n", "| a | b |\n|---|---|\n"),
        ("- item {}\n  more of it\n", ""),
    ],
)
def test_long_tables_and_lists_are_cut_between_rows_and_items(unit: str, above: str) -> None:
    """Each row and each item, all its lines, stands in one chunk."""
    units = [unit.format(n) for n in range(100)]
    pieces = cut(above + "".join(units))
    assert len(pieces) > 2
    assert all(sum(u.strip() in p.text for p in pieces) == 1 for u in units)
    assert all(p.text.split("\n")[0][:3] in above + unit for p in pieces)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- decided on x\n---\nmore\n", "decided on x"),
        ("> quoted words\n---\nmore\n", "quoted words"),
        ("    # shell comment\n", "shell comment"),
        ("```yaml\n---\na: b\n```\n", "yaml"),
        ("```\n" + "# comment no {}\n" * 300 + "```\n", "comment no"),
    ],
)
def test_only_real_headings_are_left_out_of_what_is_embedded(text: str, said: str) -> None:
    """What merely looks like a heading is text, also at the start of a chunk."""
    lines = [line.format(n) for n, line in enumerate(text.split("\n"))]
    pieces = cut("\n".join(lines))
    assert all(p.body == p.text and p.text in p.embedded for p in pieces)
    assert all(said in p.embedded for p in pieces)


def test_what_is_embedded() -> None:
    """Title, date, path and text, a line each; what is not there takes no line."""
    day = datetime(926, 1, 2, 3, tzinfo=UTC)
    assert chunk.embedded_text("T", day, ("T", "A", "B"), "x\n\n") == "T\n0926-01-02\nA > B\nx"
    assert chunk.embedded_text("N", None, ("T",), "x") == "N\nT\nx"
    assert chunk.embedded_text(None, None, (), "x") == "x"
    assert chunk.embedded_text("T", None, ("T",), "") == "T"
    (piece,) = cut("---\ntitle: N\ncreated: 2026-11-29\n---\n# H\n\ntext\n")
    assert piece.embedded == "N\n2026-11-29\nH\ntext"


@pytest.mark.parametrize(
    "text", ["", "\n\n", "---\ntitle: T\n---\n", "---\ntitle: T\n---\n\n \t\n"]
)
def test_a_note_without_text_is_one_chunk(text: str) -> None:
    """So that its title can be found."""
    (piece,) = cut(text)
    assert (piece.text, piece.heading) == ("", ())
    assert piece.embedded == ("T" if "title" in text else "")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("# A\n\n## B\ntext", "text"),
        ("A\n===\n\ntext", "text"),
        ("text\n# A", "text\n# A"),
        ("#a", "#a"),
    ],
)
def test_headings_are_not_shown_before_a_text(text: str, shown: str) -> None:
    """For a snippet, the headings on top go."""
    assert chunk.without_headings(text) == shown


def test_the_vector_key_is_of_what_is_embedded() -> None:
    """The same text has the same key wherever it stands, another text has another."""
    keys = [chunk.vector_key(text) for text in ("a", "a", "b")]
    assert keys[0] == keys[1] != keys[2]
    assert len(keys[0]) == 64


def test_a_huge_title_or_heading_is_not_in_every_chunk() -> None:
    """Cut in what is embedded and in the path; the heading itself is in the text once."""
    name, tag = "long name " * 40_000, "tag" * 5000
    pieces = cut(f"# {name}\n\n## {name}\n\n" + "text text\n\n" * 1000)
    assert sum(len(p.embedded) for p in pieces) < 2_000_000
    assert all(len(p.embedded) <= 2 * chunk.LONGEST_EMBEDDED + MOST + 10 for p in pieces)
    assert all(len(part) <= chunk.LONGEST_NAME for p in pieces for part in p.heading)
    assert sum(p.body.count("long") for p in pieces) == 80_000
    title, path, tags, body = chunk.columns(name, (tag, tag), pieces[-1])
    assert len(title) == chunk.LONGEST_NAME
    assert path == pieces[-1].heading_text
    assert len(tags) == chunk.MOST_TAGS
    assert body == pieces[-1].body
    assert chunk.columns("T", ("a", "b"), pieces[0])[::2] == ("T", "a b")


def test_a_cut_heading_that_repeats_the_title_is_embedded_once() -> None:
    """Both are cut at the same place."""
    name = "n" * 300
    assert chunk.embedded_text(name, None, (name[:250],), "x") == "n" * 200 + "\nx"
