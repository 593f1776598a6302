"""Hypothesis strategies: Markdown bodies and frontmatter of every awkward kind."""

from dataclasses import dataclass
from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from memory_palace.core import chunk, markdown, note

MODEST = settings(max_examples=100, deadline=None)

PIECES = [
    "# Top\n",
    "## \n",
    "#\n",
    "### Deep\n",
    " # Indented\n",
    "   ## Closed ##\n",
    "# Top\n## Under\n",
    "# " + "H" * 2500 + "\n",
    "# " + "words " * 60 + "\n",
    "Title\n===\n",
    "sub\n---\n",
    "two\nlines\n===\n",
    "=\n",
    "-\n",
    "---\n",
    "***\n",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t\n",
    "\xa0\n",
    "\ufeff\n",
    "\x0b\n",
    "\x0c\n",
    "\x85\n",
    "some text\n",
    "text\nmore\n",
    "windows\r\n",
    "lone\rreturn\n",
    "no end",
    "a\u2028b\n",
    "x\x0b# y\x0c\n",
    "\u2028# z\n",
    "\x00\n",
    "[^1]: note\n",
    "[a]: b\n",
    "w\n# x\n",
    "- a\n- b\n  - c\n",
    "1. x\n\n2. y\n",
    "- a\n---\n",
    "- # h\n",
    "- " + "long " * 300 + "\n",
    "> q\n> # h\n",
    "    code\n    # no\n",
    "<div>\n# x\n</div>\n",
    "<!-- c\n\n# d -->\n",
    "```\n# no\n---\n```\n",
    "~~~\n# unclosed\n",
    "```\n" + "# c\n---\nx y\n" * 250 + "```\n",
    "```py\n" + "code here\n" * 90 + "```\n",
    "$$\n# m\n$$\n",
    "$$ x\n",
    "|a|b|\n|-|-|\n|c|d|\n",
    "|a|b|\n|-|-|\n" + "|cell cell|dddd|\n" * 90,
    "word " * 300 + "\n",
    "y" * 2500 + "\n",
    ("line of text " * 8 + "\n") * 12,
]


def bodies() -> st.SearchStrategy[str]:
    """Markdown of any of the pieces, in any order."""
    return st.lists(st.sampled_from(PIECES), max_size=20).map("".join)


def notes() -> st.SearchStrategy[str]:
    """Such bodies, with metadata or without."""
    tops = st.sampled_from(["", "---\ntitle: T\n---\n", "\ufeff", "\ufeff---\r\na: b\r\n---\r\n"])
    return st.builds(str.__add__, tops, bodies())


def cut(text: str, path: str = "palace/a.md") -> list[chunk.Chunk]:
    """The chunks of a note, as the index makes them."""
    read = note.parse(path, text)
    outline = markdown.read(read.body, read.body_line)
    title = read.title or outline.first_heading
    return chunk.chunks(read.body, read.body_line, outline, title, read.created)


SHAPES = [
    "{k}: plain text",
    "{k}: plain # comment",
    "{k}:    wide   ",
    "{k}: http://x/y#z",
    "{k}: é😀",
    "{k}: 'it''s'",
    "{k}: 'it''s' # c",
    '{k}: "say \\" x"',
    '{k}: "x" # c',
    '{k}: "[[note]]"',
    "{k}:",
    "{k}: # c",
    "{k}: ~",
    "{k}: true",
    "{k}: 1.50",
    "{k}: no",
    "{k}: 10:00",
    "{k}: 2026-11-29",
    "{k}: [a, 'b, c', \"d\"]",
    "{k}: [a, b] # c",
    "{k}: [\n  a,\n  b,\n]",
    "{k}:\n  - a\n  - b",
    "{k}:\n- a\n- 'b'",
    "{k}:\n  - a # c\n  # inner\n  - b",
    "{k}:\n\n  - far\n\n  - apart",
    "{k}: |\n  one\n\n  # no comment\n  two",
    "{k}: |2\n    in\n  x",
    "{k}: >-\n  folded\n  text",
    "{k}: >\n  a\n\n  b",
    "{k}: {{a: b, c: d}}",
    "{k}:\n  x: 1\n  y: [2]",
    "{k}: plain\n  continued",
    "{k}: 'sq\n  cont'",
    '{k}: "dq\n  cont"',
    '"{k}": quoted key',
    "'{k}' : spaced",
    "{k}:\n  text below",
    "{k}: !!str 5",
]
KEYS = ("title", "tags", "aliases", "x-y", "ünï", "odd key", "created")
BETWEEN = ("", "", "", "# comment\n", "\n", "\n# two\n\n", "#: odd\n")


@dataclass(frozen=True)
class Frontmatter:
    """A note's text, and for each key what stands before, as, and after it in the YAML."""

    text: str
    source: str
    body: str
    around: dict[str, tuple[str, str, str]]


@st.composite
def frontmatters(draw: st.DrawFn) -> Frontmatter:
    """Frontmatter with comments, any quoting, flow and block lists, literals, CRLF, BOM."""
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True, min_size=1, max_size=5))
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    parts = [draw(st.sampled_from(BETWEEN))]
    for key in keys:
        shape: str = draw(st.sampled_from(SHAPES))
        parts += [shape.format(k=key) + "\n", draw(st.sampled_from(BETWEEN))]
    parts = [part.replace("\n", newline) for part in parts]
    around = {
        key: ("".join(parts[: 2 * n + 1]), parts[2 * n + 1], "".join(parts[2 * n + 2 :]))
        for n, key in enumerate(keys)
    }
    opening = draw(st.sampled_from(["---", "--- "])) + newline
    closing = draw(st.sampled_from(["---", "---\t", "..."])) + newline
    body = draw(st.sampled_from(["", "body", "---\nx: y\n---\n", "\n# H\n\ntext\r\n"]))
    bom = draw(st.sampled_from(["", "\ufeff"]))
    source = "".join(parts)
    return Frontmatter(bom + opening + source + closing + body, source, body, around)


AWKWARD = [
    "plain",
    "a: b",
    "# x",
    "x #y",
    "- y",
    "'q'",
    "[x]",
    "{x}",
    "no",
    "true",
    "10",
    "1e3",
    "0x1f",
    "[[n|a]]",
    "",
    " ",
    "multi\nline",
    "trail ",
    "😀\n",
    "~",
    "a,b",
    "\u2028z",
    "\x85",
    "@at",
    "%p",
    "key:",
    "---",
    "...",
    "null",
    "é",
    "a\tb",
    "\\",
    '"',
    "<<",
    "=",
    "!x",
    "&a",
    "*b",
]


def values() -> st.SearchStrategy[Any]:
    """Values to give to a key; None takes it away."""
    words = st.lists(st.text(alphabet="ab ,:#[]{}'\"é-\n", max_size=5), max_size=3)
    numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
    texts = st.text(max_size=12) | st.sampled_from(AWKWARD)
    return texts | words | words.map(tuple) | numbers | st.booleans() | st.none()
