"""The project's documents taken apart: code blocks, inline code, tables, headings, links."""

import re
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from support.palaces import REPOSITORY

NAMES = ("README.md", "SKILL.md", "CHANGELOG.md", "CONTRIBUTING.md")
_FILE = re.compile(r"<!-- file: (\S+) -->")


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, the line of its fence, and the file it stands for."""

    language: str
    text: str
    line: int
    file: str | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """A table's row: the heading it stands under, its cells, its line."""

    heading: str
    cells: tuple[str, ...]
    line: int


def paths() -> list[Path]:
    """Every document that this folder tests."""
    return [REPOSITORY / n for n in NAMES] + sorted((REPOSITORY / "references").glob("*.md"))


def name(path: Path) -> str:
    """A document's path within the repository."""
    return path.relative_to(REPOSITORY).as_posix()


@cache
def tokens(path: Path) -> list[Token]:
    """The document's Markdown tokens; metadata on top of it is left out, its lines are counted."""
    text = re.sub(
        r"\A---\n.*?\n---\n", lambda m: "\n" * m[0].count("\n"), path.read_text(), flags=re.S
    )
    return MarkdownIt("commonmark").enable("table").parse(text)


def blocks(path: Path) -> list[Block]:
    """The fenced blocks, in order."""
    found: list[Block] = []
    file = None
    for token in tokens(path):
        comment = _FILE.search(token.content) if token.type == "html_block" else None
        if comment:
            file = comment[1]
        elif token.type == "fence" and token.map:
            found.append(Block(token.info.strip(), token.content, token.map[0] + 1, file))
            file = None
    return found


def inline_code(path: Path) -> list[str]:
    """The contents of all code spans."""
    inline = [child for token in tokens(path) for child in token.children or []]
    return [token.content for token in inline if token.type == "code_inline"]


def headings(path: Path) -> list[str]:
    """The texts of all headings, as written."""
    every = tokens(path)
    return [after.content for t, after in pairwise(every) if t.type == "heading_open"]


def rows(path: Path) -> list[Row]:
    """The rows of all tables, heads left out."""
    found: list[Row] = []
    heading = ""
    cells: list[str] | None = None
    in_head = False
    for token in tokens(path):
        if token.type in ("thead_open", "thead_close"):
            in_head = token.type == "thead_open"
        elif token.type == "tr_open":
            cells, line = [], (token.map or [0])[0] + 1
        elif token.type == "tr_close" and cells is not None:
            if not in_head:
                found.append(Row(heading, tuple(cells), line))
            cells = None
        elif token.type == "inline" and cells is not None:
            cells.append(token.content)
        elif token.type == "inline" and token.level == 1 and token.map:
            heading = token.content if _is_heading(path, token.map[0]) else heading
    return found


def _is_heading(path: Path, line: int) -> bool:
    return any(t.type == "heading_open" and t.map and t.map[0] == line for t in tokens(path))


def section(path: Path, heading: str) -> str:
    """The text below a heading, up to the next one of its level or above."""
    lines = path.read_text().splitlines()
    opened = [t for t in tokens(path) if t.type == "heading_open" and t.map]
    for n, token in enumerate(opened):
        start = token.map[0] if token.map else 0
        if lines[start].lstrip("#").strip() == heading:
            after = [t.map[0] for t in opened[n + 1 :] if t.map and t.tag <= token.tag]
            return "\n".join(lines[start : after[0] if after else len(lines)])
    raise AssertionError(f"{name(path)} has no heading `{heading}`")


def codes(cell: str) -> list[str]:
    """The code spans of a table's cell."""
    return re.findall(r"`([^`]+)`", cell)


def slug(heading: str) -> str:
    """The anchor that a heading gets where Markdown is shown."""
    plain = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
    return plain.strip().replace(" ", "-")


def links(path: Path) -> list[str]:
    """The targets of all Markdown links."""
    inline = [child for token in tokens(path) for child in token.children or []]
    return [str(t.attrGet("href")) for t in inline if t.type == "link_open"]
