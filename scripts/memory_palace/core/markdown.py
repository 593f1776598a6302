"""A note's body read once: blocks with their lines, headings, block ids, wikilinks.

markdown-it-py reads the blocks; inline text is only tokenised where it holds ``[[`` or ``%%``,
which keeps a large palace quick to read.
"""

import re
from functools import cache
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from mdit_py_plugins.dollarmath import dollarmath_plugin

from memory_palace.core.outline import Block, Outline, RawLink
from memory_palace.core.text import split_lines

_BLOCK_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)\s*$")
_MAY_BE_BLOCK_ID = re.compile(r"\^[A-Za-z0-9-]+[ \t]*\r?$", re.MULTILINE)
_LONGEST_TARGET = 500
_DEEPEST = 100  # blocks in blocks: a list in a list is two levels further down
_DEEPEST_INLINE = 20

MOST_LINKED = 500_000
"""Characters of text with links that are read for them: more, in one note, would take minutes."""


def read(body: str, first_line: int = 1) -> Outline:
    """The outline of ``body``, whose first line is line ``first_line`` of the file."""
    body = body.replace("\0", "\ufffd")  # markdown-it does the same, but would shift nothing else
    # A lone carriage return ends a line for CommonMark; here only a line feed does.
    tokens = _parser(_DEEPEST).parse(_without_lone_returns(body))
    blocks: list[Block] = []
    links: list[RawLink] = []
    in_comment = False
    line = first_line
    left = MOST_LINKED
    links_end = None
    for index, token in enumerate(tokens):
        if token.map:
            line = first_line + token.map[0]
        if token.level == 0 and token.nesting >= 0 and token.map:
            blocks.append(_block(tokens, index, first_line))
        if token.type == "html_block" and in_comment:
            in_comment = token.content.count("%%") % 2 == 0
        if token.type == "inline" and ("[[" in token.content or "%%" in token.content):
            left -= len(token.content)
            if left < 0:
                links_end = links_end or line
                continue
            found, in_comment = _inline_links(token.content, line, in_comment)
            links.extend(found)
    return Outline(tuple(blocks), tuple(links), tuple(_block_ids(body, tokens)), links_end)


def _without_lone_returns(body: str) -> str:
    return re.sub(r"\r(?!\n)", " ", body) if "\r" in body else body


def _block(tokens: list[Any], index: int, first_line: int) -> Block:
    token = tokens[index]
    start = first_line + token.map[0]
    if token.type == "heading_open":
        return Block("heading", start, int(token.tag[1]), tokens[index + 1].content.strip())
    kind = token.type.removesuffix("_open")
    return Block(kind, start, cuts=_cuts(tokens, index, first_line) if kind in _CUTTABLE else ())


_CUTTABLE = {"bullet_list": "list_item_open", "ordered_list": "list_item_open", "table": "tr_open"}


def _cuts(tokens: list[Any], index: int, first_line: int) -> tuple[int, ...]:
    inner = _CUTTABLE[tokens[index].type.removesuffix("_open")]
    cuts = []
    for token in tokens[index + 1 :]:
        if token.level == 0:
            break
        if token.type == inner and token.map:
            cuts.append(first_line + token.map[0])
    return tuple(sorted(set(cuts[1:])))


def _block_ids(body: str, tokens: list[Any]) -> list[str]:
    if not _MAY_BE_BLOCK_ID.search(body):
        return []
    fenced: set[int] = set()
    for token in tokens:
        if token.type in ("fence", "code_block") and token.map:
            fenced.update(range(*token.map))
    found = []
    for number, line in enumerate(split_lines(body)):
        match = _BLOCK_ID.search(line)
        if match and number not in fenced:
            found.append(match.group(1))
    return found


def _inline_links(content: str, line: int, in_comment: bool) -> tuple[list[RawLink], bool]:
    links = []
    parser = _parser(_DEEPEST_INLINE)
    tokens: list[Any] = []
    parser.inline.parse(content, parser, {}, tokens)
    seen = 0
    for token in tokens:
        if token.type == "comment_mark":
            in_comment = not in_comment
        elif token.type == "wikilink" and not in_comment:
            at = token.meta["at"]
            line, seen = line + content.count("\n", seen, at), at
            links.append(RawLink(token.content, line, token.meta["embed"]))
    return links, in_comment


@cache
def _parser(deepest: int) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": deepest}).enable("table")
    parser.use(dollarmath_plugin, allow_space=False, double_inline=True)
    parser.block.ruler.disable("reference")  # `[^1]: [[note]]` is a footnote with a link
    parser.core.ruler.disable(["inline", "text_join"])
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    parser.inline.ruler.before("link", "comment_mark", _comment_mark)
    return parser


def _wikilink(state: StateInline, silent: bool) -> bool:
    embed = state.src.startswith("![[", state.pos)
    if not embed and not state.src.startswith("[[", state.pos):
        return False
    start = state.pos + (3 if embed else 2)
    end = state.src.find("]]", start, start + _LONGEST_TARGET)
    inner = state.src[start:end]
    if end < 0 or "\n" in inner or "[[" in inner or inner[:1] == "[" or not inner.strip():
        return False
    if not silent:
        token = state.push("wikilink", "", 0)
        token.content = inner
        token.meta = {"at": state.pos, "embed": embed}
    state.pos = end + 2
    return True


def _comment_mark(state: StateInline, silent: bool) -> bool:
    if not state.src.startswith("%%", state.pos):
        return False
    if not silent:
        state.push("comment_mark", "", 0)
    state.pos += 2
    return True
