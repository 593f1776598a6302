"""A note's body read once: blocks with their lines, headings, block ids, wikilinks.

markdown-it-py reads the blocks; inline text is only tokenised where it holds ``[[…]]`` or ``%%``,
which keeps a large palace quick to read.
"""

import re
from bisect import bisect_right
from functools import cache
from itertools import islice
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_inline import StateInline, image, link
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.dollarmath.index import DOLLAR_EQNO_REV, math_block_dollar

from memory_palace.core.outline import Block, Outline, RawLink
from memory_palace.core.text import split_lines

_BLOCK_ID = re.compile(r"(?:^|\s)\^([A-Za-z0-9-]+)\s*$")
_TEXT = re.compile(r"[^ \t\r\n]")
_LINK = re.compile(r"\[\[(?:(?!\[\[|\]\]).)+\]\]")
_LONGEST_TARGET = 500
_DEEPEST = 100  # blocks in blocks: a list in a list is two levels further down
_DEEPEST_INLINE = 20

MOST_LINKED = 500_000
"""Characters of text with links that are read for them: more, in one note, would take minutes."""
MOST_CHARACTERS = 1_000_000
"""Characters of a body that are read for blocks: the lines after them are plain text."""
MOST_LINES = 100_000
"""Lines of a body that are read for blocks, likewise: each is tried by every rule."""
MOST_TOKENS = 50_000
"""Tokens (a list item makes five) that are read: each takes half a kilobyte, and time."""


def read(body: str, first_line: int = 1, links: bool = True) -> Outline:
    """The outline of ``body``, whose first line is line ``first_line`` of the file; without
    ``links`` they are not looked for, which costs most where text is nothing but brackets."""
    body = body.replace("\0", "\ufffd")  # markdown-it does the same, but would shift nothing else
    head = _readable(body)
    env: dict[str, Any] = {}
    # A lone carriage return ends a line for CommonMark; here only a line feed does.
    tokens = _parser(_DEEPEST).parse(_without_lone_returns(head), env)
    blocks: list[Block] = []
    found: list[RawLink] = []
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
        if links and token.type == "inline" and _may_link(token.content):
            left -= len(token.content)
            if left < 0:
                links_end = links_end or line
                continue
            here, in_comment = _inline_links(token.content, line, in_comment)
            found.extend(here)
    rest = _first_text(body, len(head))
    if rest is not None:
        blocks.append(Block("paragraph", first_line + rest))
    unread = env.get(_UNREAD, rest)
    read_to = None if unread is None else first_line + unread
    ids = _block_ids(split_lines(head)[:unread], tokens)
    return Outline(tuple(blocks), tuple(found), tuple(ids), links_end or read_to, read_to)


def _may_link(content: str) -> bool:
    return "%%" in content or ("[[" in content and _LINK.search(content) is not None)


def _readable(body: str) -> str:
    """The lines at the start of ``body`` that are read for blocks."""
    ends = [feed.end() for feed in islice(re.finditer("\n", body), MOST_LINES)]
    if len(body) <= MOST_CHARACTERS and len(ends) < MOST_LINES:
        return body
    whole = bisect_right(ends, MOST_CHARACTERS)
    return body[: ends[whole - 1]] if whole else ""


def _first_text(body: str, start: int) -> int | None:
    """The first line (from 0) with text from offset ``start`` on."""
    found = _TEXT.search(body, start)
    return body.count("\n", 0, found.start()) if found else None


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
    for at in range(index + 1, len(tokens)):  # a slice would copy the rest for every list
        token = tokens[at]
        if token.level == 0:
            break
        if token.type == inner and token.map:
            cuts.append(first_line + token.map[0])
    return tuple(sorted(set(cuts[1:])))


def _block_ids(lines: list[str], tokens: list[Any]) -> list[str]:
    fenced: set[int] = set()
    for token in tokens:
        if token.type in ("fence", "code_block") and token.map:
            fenced.update(range(*token.map))
    found = []
    for number, line in enumerate(lines):
        match = _BLOCK_ID.search(line) if "^" in line else None
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
    parser.block.ruler.at("math_block", _math_block)
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before("table", "enough", _enough)
    parser.block.ruler.disable("reference")  # `[^1]: [[note]]` is a footnote with a link
    parser.core.ruler.disable(["inline", "text_join"])
    parser.inline.ruler.at("link", _link)
    parser.inline.ruler.at("image", _image)
    parser.inline.ruler.before("link", "wikilink", _wikilink)
    parser.inline.ruler.before("link", "comment_mark", _comment_mark)
    return parser


_UNREAD = "first line that was not read"
_CLOSING = "lines that may end a math block"
_LAST_LABEL = "where the last label of a link ends"
_plugin_math_block = math_block_dollar(allow_blank_lines=True)


def _math_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """The plugin's rule, but only where a line ends the block: it would look for one each time."""
    at = state.bMarks[start] + state.tShift[start]
    if not state.src.startswith("$$", at):
        return False
    line = state.src[at : state.eMarks[start]]
    if "$$" not in line[2:] and not DOLLAR_EQNO_REV.match(line[::-1]):
        if _CLOSING not in state.env:
            lines = enumerate(state.src.split("\n"))
            state.env[_CLOSING] = [number for number, text in lines if _may_close(text)]
        closing = state.env[_CLOSING]
        following = bisect_right(closing, start)
        if following == len(closing) or closing[following] >= end:
            return False
    return _plugin_math_block(state, start, end, silent)


def _may_close(line: str) -> bool:
    return "$$" in line and (
        line.rstrip().endswith("$$") or DOLLAR_EQNO_REV.match(line[::-1]) is not None
    )


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:
    """markdown-it's rule, but for as many rows as there may be tokens: it makes all in one go."""
    head = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]].rstrip()
    columns = head.count("|") + 1 - head.startswith("|") - head.endswith("|")
    rows = (MOST_TOKENS - len(state.tokens)) // (3 * max(columns, 1) + 2)
    if rows < 1:
        return False
    last = min(end, start + rows + 2)
    found = table(state, start, last, silent)
    if found and not silent and last < end and state.line == last:
        state.env.setdefault(_UNREAD, last)
    return found


def _enough(state: StateBlock, start: int, end: int, _silent: bool) -> bool:
    """Takes all lines that are left once there are too many tokens."""
    if len(state.tokens) < MOST_TOKENS and _UNREAD not in state.env:
        return False
    state.env.setdefault(_UNREAD, start)
    token = state.push("paragraph", "", 0)
    token.map = [start, end]
    state.line = end
    return True


def _link(state: StateInline, silent: bool) -> bool:
    """markdown-it's rule, but only where the end of a label follows: it would read on from every
    bracket to find that it is none."""
    return _label_may_end(state) and link(state, silent)


def _image(state: StateInline, silent: bool) -> bool:
    """Likewise."""
    return _label_may_end(state) and image(state, silent)


def _label_may_end(state: StateInline) -> bool:
    if _LAST_LABEL not in state.env:
        state.env[_LAST_LABEL] = state.src.rfind("](")
    last: int = state.env[_LAST_LABEL]
    return state.pos < last


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
