"""A body read once: blocks, headings, block ids and wikilinks with their lines."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST, bodies
from memory_palace.core import chunk, markdown
from memory_palace.core.markdown import read
from memory_palace.core.outline import Block
from memory_palace.core.text import split_lines


def inner(body: str) -> list[str]:
    """What stands inside the links of ``body``."""
    return [link.inner for link in read(body).links]


@pytest.mark.parametrize(
    "link",
    ["note", "folder/note", "note#heading", "note#^block", "note|alias", "a|x # y | z", "C++ é 漢"],
)
@pytest.mark.parametrize(
    "around",
    ["{}", "text {} text", "# H {}", "- {}", "> {}", "**{}**", "[t {}](x.md)", "{}(x)", "1. a {}b"],
)
def test_links_are_found(link: str, around: str) -> None:
    """In paragraphs, headings, lists, quotes and emphasis, with everything a link can hold."""
    assert inner(around.format(f"[[{link}]]")) == [link]


def test_embeds_are_links() -> None:
    """``![[note]]`` is one, and it is known to be an embed."""
    links = read("![[img.png|100]] [[note]]").links
    assert [(link.inner, link.embed) for link in links] == [("img.png|100", True), ("note", False)]


NO_LINKS = (
    "`[[x]]`",
    "``a ` [[x]]``",
    "```\n[[x]]\n```",
    "~~~~md\n[[x]]\n~~~\n[[x]]\n~~~~",
    "- item\n\n  ```\n  [[x]]\n  ```",
    "text\n\n    [[x]]",
    "text\n\n\t[[x]]",
    "<!-- [[x]] -->",
    "text <!-- [[x]]\n[[x]] --> text",
    "<!--\n\n[[x]]\n\n-->",
    "%%[[x]]%%",
    "text %% [[x]]\n\n[[x]]\n\n- [[x]] %% text",
    "%%\n<div>\n[[x]]\n</div>\n%%",
    "$[[x]]$",
    "$a +\n[[x]]$",
    "$$[[x]]$$",
    "$$\n[[x]]\n\n[[x]]\n$$",
    "text $$ [[x]] $$ text",
    "text\n$$\n[[x]]\n$$\ntext",
    "> $$\n> [[x]]\n> $$",
    "<div>\n[[x]]\n</div>",
    '<a title="[[x]]">y</a>',
    "<script>\n\n[[x]]\n\n</script>",
    "\\[[x]]",
    "![alt [[x]]](y.png)",
    "[[x\nx]]",
    "[[]]",
    "[[ ]]",
    "[[x]",
    "| a | b |\n|---|---|\n| `[[x]]` | $[[x]]$ |",
)


@pytest.mark.parametrize("body", NO_LINKS)
def test_no_links_in_code_comments_math_and_html(body: str) -> None:
    """What is not prose holds no link, and the prose after it holds its own."""
    assert inner(body + "\n\n[[after]]\n") == ["after"]


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("[[[a]]]", ["a"]),
        ("[[a]][[b]]", ["a", "b"]),
        ("[[a [[b]]", ["b"]),
        ("it costs $5, [[a]] costs $6", ["a"]),
        ("a `unclosed [[b]]", ["b"]),
        ("`%%` [[a]] `%%`", ["a"]),
        ("```\n%%\n```\n[[a]]", ["a"]),
        ("[[a]]%%[[x]]%%[[b]]", ["a", "b"]),
        ("[^1]: [[a]]", ["a"]),
        ("<details>\n\n[[a]]\n\n</details>", ["a"]),
        ("\\\\[[a]]", ["a"]),
        ("[[a|see [1] there]]", ["a|see [1] there"]),
    ],
)
def test_close_to_no_link(body: str, found: list[str]) -> None:
    """Brackets, prices, marks in code and footnotes do not hide a link."""
    assert inner(body) == found


def test_links_in_tables() -> None:
    """In a table the bar of an alias is escaped, and cells do not run together."""
    links = read("| a | b |\n|---|---|\n| [[n\\|alias]] | [[m]] |\n| x | ![[e\\|9]] |\n", 10).links
    assert [(link.inner, link.line) for link in links] == [("n|alias", 12), ("m", 12), ("e|9", 13)]


def test_links_in_deep_lists() -> None:
    """An outline of thirty levels keeps its links."""
    body = "".join(f"{'  ' * n}- [[n{n}]]\n" for n in range(30))
    assert inner(body) == [f"n{n}" for n in range(30)]


@pytest.mark.parametrize("body", ["[[a]] " * 9999, "[[a]]\n" * 9999, "[[" * 9999, "%%" * 9999])
def test_hostile_bodies_are_read(body: str) -> None:
    """Of ten thousand links in one paragraph none is lost, and ten thousand brackets are none."""
    assert len(read(body).links) == body.count("[[a]]")


PLANTED = (
    "text [[{n}]] text",
    "a\nb\n[[{n}]] c",
    "- a\n- b [[{n}]]\n  - c",
    "> q\n>\n> [[{n}]]",
    "| a | b |\n|---|---|\n| c | [[{n}]] |",
    "## H [[{n}]]",
    "[[{n}]]\n===",
    "a\r\nb [[{n}]]\r\nc",
    "a\rb\x0bc\x0cd\x85e\u2028f [[{n}]]\ng",
    "a `code\nspan` [[{n}]]",
    "1. a\n\n   [[{n}]]",
    "a $$\nx\n$$ [[{n}]]",
)


@given(st.lists(st.sampled_from(PLANTED + NO_LINKS), max_size=12), st.integers(1, 9))
@MODEST
def test_planted_links_are_found_at_their_lines(pieces: list[str], first: int) -> None:
    """Each planted link, no other, each at the line of the file where it stands."""
    body, planted = "", []
    for n, piece in enumerate(pieces):
        at = body.count("\n") + piece[: max(piece.find("[[{n}"), 0)].count("\n")
        if "{n}" in piece:
            planted.append((f"note {n}", first + at))
        body += piece.replace("{n}", f"note {n}") + "\n\n"
    assert [(link.inner, link.line) for link in read(body, first).links] == planted


def test_headings() -> None:
    """Hashes and underlines, at their lines, with their levels; the first of level one counts."""
    outline = read("## Two\n\n# One #\ntext\n\nSet\n===\n#\n", 5)
    heads = [(b.heading, b.level, b.start) for b in outline.blocks if b.kind == "heading"]
    assert heads == [("Two", 2, 5), ("One", 1, 7), ("Set", 1, 10), ("", 1, 12)]
    assert outline.headings == ("Two", "One", "Set", "")
    assert outline.first_heading == "One"


@pytest.mark.parametrize(
    "body",
    [
        "```\n# no\n```",
        "~~~\n# no\n\nno\n---\n~~~",
        "    # no",
        "<!--\n# no\n-->",
        "<div>\n# no",
        "#no",
        "\\# no",
        "PR #123",
        "> # no",
        "- # no",
        "| # no |\n|---|",
        "a\u2028# no",
        "a\r# no",
        "####### no",
        "```\n# unclosed",
        "a\x0b# no",
        "$$\n# no\n$$",
    ],
)
def test_no_headings(body: str) -> None:
    """A comment in code, an escaped hash, a tag, a number, a line that is none: no headings."""
    assert read(body).headings == ()
    assert read(body).first_heading is None


def test_blocks_tell_where_they_may_be_cut() -> None:
    """Lists between their items, tables between their rows; a fence nowhere."""
    body = "- a\n- b\n  - c\n- d\n\n| a |\n|---|\n| b |\n| c |\n\n```\nx\ny\n```\n"
    assert read(body, 11).blocks == (
        Block("bullet_list", 11, cuts=(12, 13, 14)),
        Block("table", 16, cuts=(18, 19)),
        Block("fence", 21),
    )


@pytest.mark.parametrize(
    ("body", "ids"),
    [
        ("text ^3f9ac2d41b7e\n", ("3f9ac2d41b7e",)),
        ("- [x] entry *(pinned)* ^a-1  \r\n- b ^b2", ("a-1", "b2")),
        ("| a |\n|---|\n\n^tab", ("tab",)),
        ("text ^no more\n2^10\na^b\n", ()),
        ("```\ntext ^code\n```\n\n    x ^code\n\ntext ^real", ("real",)),
    ],
)
def test_block_ids(body: str, ids: tuple[str, ...]) -> None:
    """``^id`` at the end of a line is one, but not in code."""
    assert read(body).block_ids == ids


@given(bodies(), st.integers(1, 100))
@MODEST
def test_any_body_is_read(body: str, first: int) -> None:
    """The blocks of whatever text are in order, inside the file, and can be cut inside only."""
    lines = split_lines(body)
    blocks = read(body, first).blocks
    starts = [*(block.start for block in blocks), first + len(lines)]
    assert first <= starts[0]
    for block, (start, end) in zip(blocks, pairwise(starts), strict=True):
        assert start < end
        assert all(start < cut < end for cut in block.cuts)
        assert lines[start - first].strip(" \t\r")


def test_reading_links_ends_somewhere_and_says_where(monkeypatch: pytest.MonkeyPatch) -> None:
    """A note of nothing but brackets would take minutes."""
    monkeypatch.setattr(markdown, "MOST_LINKED", 20)
    outline = read("[[one]] text\n\n[[two]] text\n\nmore\n\n[[three]]\n")
    assert [link.inner for link in outline.links] == ["one"]
    assert outline.links_end == 3
    assert read("[[one]]").links_end is None


def test_links_are_looked_for_where_one_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brackets alone are not read, nor are labels that nothing ends; nothing is where nobody
    asks."""
    monkeypatch.setattr(markdown, "link", None)
    monkeypatch.setattr(markdown, "image", None)
    assert inner("[[a]] " + "[" * 50 + "![" * 50) == ["a"]
    monkeypatch.setattr(markdown, "_inline_links", None)
    assert read("[" * 50 + "\n\n[[a\nb]] [[\n\n![[ ] ]\n").links == ()
    outline = read("# A\n[[b]] ^c\n", links=False)
    assert (outline.headings, outline.links, outline.block_ids) == (("A",), (), ("c",))


@given(st.text('[[[]]]!()`%"<>\\ a\n$', max_size=40))
@MODEST
def test_what_is_not_looked_at_has_no_link(body: str) -> None:
    """The links are those that come of reading all."""
    found = read(body).links
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(markdown, "_may_link", lambda content: True)
        patched.setattr(markdown, "_label_may_end", lambda state: True)
        assert read(body).links == found


@pytest.mark.parametrize(
    ("body", "found"),
    [
        ("$$ a\n\n[[b]]\n", ["b"]),
        ("$$ a\n\n[[x]]\n\nb $$\n\n[[c]]\n", ["c"]),
        ("$$ a\n[[x]]\n$$ (one)\n\n[[c]]\n", ["c"]),
        ("> $$ a\n>\n> [[b]]\n\n$$\n[[x]]\n$$\n", ["b"]),
        ("- $$ a\n\n  [[x]]\n  $$\n- [[c]]\n", ["c"]),
        ("$$ (one)\n[[a]]\n", ["a"]),
        ("$$[[x]]$$\n[[a]]\n$$ [[x]] $$ (1)\n[[b]]\n$$ a $$ [[c]]\n", ["a", "b", "c"]),
    ],
)
def test_a_math_block_needs_its_end(body: str, found: list[str]) -> None:
    """Without one in the same quote there is no block, and its lines are prose."""
    assert inner(body) == found


@pytest.mark.parametrize("unit", ["$$ a\n\nb\n\n", "> $$ a\n>\n> b\n>\n"])
def test_math_without_an_end_is_looked_for_once(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    """Each ``$$`` would read the whole rest of the note."""
    asked: list[str] = []

    def may_close(line: str) -> bool:
        asked.append(line)
        return line == "$$"

    def rule(*_: object) -> bool:
        raise AssertionError("there is no end")

    monkeypatch.setattr(markdown, "_may_close", may_close)
    monkeypatch.setattr(markdown, "_plugin_math_block", rule)
    body = unit * 200 + "\nend"
    read(body)
    assert len(asked) == len(split_lines(body))


UNITS = {
    "list": "- item [[x]] ^b\n",
    "nested": "- a\n  - b\n    > - c\n",
    "table": "| a | b |\n|---|---|\n" + "| c | d |\n" * 200,
    "headings": "# h\n",
    "paragraphs": "text\n\n",
    "quotes": "> - q\n> - r\n\n",
}


@pytest.mark.parametrize("unit", UNITS.values(), ids=UNITS)
def test_a_huge_body_is_read_in_part(monkeypatch: pytest.MonkeyPatch, unit: str) -> None:
    """Tokens are bounded; what comes after them is text, which is in the chunks all the same."""
    monkeypatch.setattr(markdown, "MOST_TOKENS", 300)
    body = unit * (10_000 // len(unit)) + "\n# The end\n\n[[end]] ^end\n"
    parsed: list[int] = []
    block = markdown._block

    def counted(tokens: list[Any], index: int, first_line: int) -> Block:
        parsed.append(len(tokens))
        return block(tokens, index, first_line)

    monkeypatch.setattr(markdown, "_block", counted)
    outline = read(body, 5)
    assert 250 < max(parsed) < 350
    assert outline.read_to is not None
    assert outline.links_end == outline.read_to
    assert outline.read_to > 5
    assert outline.blocks[-1].start >= outline.blocks[0].start
    assert "The end" not in outline.headings
    assert "end" not in [link.inner for link in outline.links]
    assert "end" not in outline.block_ids
    assert all(link.line < outline.read_to for link in outline.links)
    lines = split_lines(body)
    covered = {
        line
        for c in chunk.chunks(body, 5, outline, None, None)
        for line in range(c.start, c.end + 1)
    }
    assert {n for n, line in enumerate(lines, 5) if line.strip()} <= covered


def test_a_table_of_too_many_columns_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """One line could hold a million cells."""
    monkeypatch.setattr(markdown, "MOST_TOKENS", 300)
    assert [b.kind for b in read("|a" * 200 + "\n" + "|-" * 200 + "\n").blocks] == ["paragraph"]


@pytest.mark.parametrize("bound", ["MOST_CHARACTERS", "MOST_LINES"])
def test_what_is_read_ends_at_a_line(monkeypatch: pytest.MonkeyPatch, bound: str) -> None:
    """Blocks end with the last whole line within the bound; nothing after it is a block."""
    monkeypatch.setattr(markdown, bound, {"MOST_CHARACTERS": 9, "MOST_LINES": 2}[bound])
    outline = read("# a\n\n\n \n# b\n[[c]]\n")
    assert outline.headings == ("a",)
    assert outline.blocks[-1] == Block("paragraph", 5)
    assert (outline.read_to, outline.links_end, outline.links) == (5, 5, ())
    assert read("# a\n\n\n \n").read_to is None


def test_a_first_line_beyond_the_bound_is_text(monkeypatch: pytest.MonkeyPatch) -> None:
    """There is then nothing to read."""
    monkeypatch.setattr(markdown, "MOST_CHARACTERS", 9)
    outline = read("# " + "a" * 20 + "\n\n# b\n", 3)
    assert (outline.blocks, outline.read_to) == ((Block("paragraph", 3),), 3)


def test_long_lists_are_read_in_one_pass() -> None:
    """A copy of the rest of the tokens for each list would take minutes."""

    class Tokens(list[Any]):
        def __getitem__(self, index: Any) -> Any:
            assert isinstance(index, int)
            return super().__getitem__(index)

    body = "- a\n- b\n\ntext\n\n" * 3
    tokens = Tokens(markdown._parser(9).parse(body))
    assert markdown._cuts(tokens, 0, 1) == (2,)
