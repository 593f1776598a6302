"""Cut a note into chunks: by headings, then by blocks, about a thousand characters each.

Rules that keep vectors stable when a note is edited: text before the first heading never joins
what follows, nor does the first section; only small sibling sections join each other; headings
without text, which go with the section below them, do not count in its length; and the lines'
numbers are not part of what is embedded.
"""

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import accumulate, pairwise

from memory_palace.core.outline import Block, Outline
from memory_palace.core.text import sha256, short_id, split_lines

VERSION = "2"
"""Goes into the embedder's fingerprint: raise it when chunks or embedded texts change."""

TARGET = 1000
"""Characters a chunk aims to stay under."""
MOST = 2000
"""Characters of one block (a fence, a table row, a line) that are kept in one piece."""
SMALL = 300
"""Sections under this many characters join their siblings."""

LONGEST_EMBEDDED = 200
"""Characters of a title or a heading that are embedded with each chunk."""
LONGEST_NAME = 500
"""Characters of a title or a heading that are kept with each chunk, and found there."""
MOST_TAGS = 2000
"""Characters of tags and aliases that are found with each chunk."""

_LISTS = frozenset({"bullet_list", "ordered_list"})
_WHOLE = frozenset({"fence", "code_block", "html_block", "math_block"})


@dataclass(frozen=True, slots=True)
class Unit:
    """A part of a chunk that can be an answer by itself: a list item, a turn, a small section.

    Lines as in :class:`Chunk`; ``offset`` is where it starts in the chunk's embedded text, in
    characters.
    """

    start: int
    end: int
    offset: int


@dataclass(frozen=True, slots=True)
class Chunk:
    """A piece of a note.

    ``heading`` is its path, each part cut at LONGEST_NAME. ``start`` and ``end`` are lines of the
    file, from 1, inclusive. ``text`` is what stands there (a part of it where one line had to be
    cut), ``body`` the same without the headings it starts with. ``ordinal`` counts chunks with
    the same heading path, from 0. ``embedded`` is the text that the model gets. ``units`` are
    the parts that are found by themselves, two or more, or none if the chunk is one thing.
    """

    heading: tuple[str, ...]
    ordinal: int
    start: int
    end: int
    text: str
    embedded: str
    body: str
    units: tuple[Unit, ...] = ()

    @property
    def heading_text(self) -> str:
        return " > ".join(self.heading)


class _Lines:
    """The body's lines by their number in the file, and how long a range of them is."""

    def __init__(self, body: str, first: int) -> None:
        self._lines = split_lines(body)
        self._sums = [0, *accumulate(len(line) + 1 for line in self._lines)]
        self.first = first
        self.after = first + len(self._lines)

    def text(self, start: int, end: int) -> str:
        """Lines ``start`` up to ``end`` (exclusive)."""
        return "\n".join(self._lines[start - self.first : end - self.first])

    def size(self, start: int, end: int) -> int:
        """Characters of those lines, line feeds included."""
        return self._sums[end - self.first] - self._sums[start - self.first]


@dataclass(frozen=True, slots=True)
class _Piece:
    """A chunk to be. ``own`` is its first line but for headings without text above it; one that
    was ``joined`` stands under the heading that its sections have in common."""

    heading: tuple[str, ...]
    own: int
    start: int
    end: int
    text: str
    joinable: bool
    joined: bool = False


def chunk_id(path: str, heading: tuple[str, ...], ordinal: int) -> str:
    """12 hex digits that name a chunk by its path, heading path and ordinal."""
    return short_id(path, *heading, str(ordinal))


def vector_key(embedded: str) -> str:
    """The key under which the vector of ``embedded`` is kept (with the fingerprint beside it)."""
    return sha256(embedded)


def chunks(
    body: str, first_line: int, outline: Outline, title: str | None, date: datetime | None
) -> list[Chunk]:
    """The chunks of ``body``, in order; every line that is not blank is in at least one.

    ``title`` is the written title (metadata or first heading, never the file's name, so that a
    rename keeps its vectors) and ``date`` the written date. A body without text gives one chunk
    with no text, so that the title alone can be found.
    """
    lines = _Lines(body, first_line)
    pieces = _join_small(lines, _pieces(lines, outline))
    if not pieces:
        pieces = [_Piece((), first_line, first_line, max(lines.after - 1, first_line), "", False)]
    past = _past_headings(outline.blocks, lines.after)
    starts = _unit_starts(outline.blocks)
    counts: dict[tuple[str, ...], int] = {}
    found = []
    for piece in pieces:
        ordinal = counts.get(piece.heading, 0)
        counts[piece.heading] = ordinal + 1
        at = _body_line(piece, past)
        body = "\n".join(piece.text.split("\n")[at - piece.start :])
        embedded = embedded_text(title, date, piece.heading, body)
        head = len(_head(title, date, piece.heading))
        units = _units_of(piece, at, head, starts, past)
        found.append(
            Chunk(piece.heading, ordinal, piece.start, piece.end, piece.text, embedded, body, units)
        )
    return found


def _unit_starts(blocks: tuple[Block, ...]) -> list[int]:
    """The lines where a unit may start: list items, what follows a list, headings."""
    starts: set[int] = set()
    after_list = False
    for block in blocks:
        is_list = block.kind in _LISTS
        if is_list or after_list or block.kind == "heading":
            starts.add(block.start)
        if is_list:
            starts.update(block.cuts)
        after_list = is_list
    return sorted(starts)


def _units_of(
    piece: _Piece, first: int, head: int, starts: list[int], past: dict[int, int]
) -> tuple[Unit, ...]:
    """The units of a piece from line ``first`` on, where ``head`` characters of the embedded text
    come before it; none if there is only one. A heading alone goes with what follows it.
    """
    inside = starts[bisect_right(starts, first) : bisect_right(starts, piece.end)]
    if not inside:
        return ()
    text = piece.text.split("\n")[first - piece.start :]
    sums = [0, *accumulate(len(line) + 1 for line in text)]
    units = []
    at = first
    for after in [*inside, piece.end + 1]:
        end = after - 1
        while end >= at and not text[end - first].strip():
            end -= 1
        if end < at or (past.get(at, 0) >= after and after <= piece.end):
            at = after if end < at else at
            continue
        units.append(Unit(at, end, head + sums[at - first]))
        at = after
    return tuple(units) if len(units) > 1 else ()


def _past_headings(blocks: tuple[Block, ...], after: int) -> dict[int, int]:
    """{first line of each heading: first line of what follows it}.

    Not for headings too long for the path, which stay in the text, to be found.
    """
    ends = [*(block.start for block in blocks[1:]), after]
    return {
        block.start: end
        for block, end in zip(blocks, ends, strict=False)
        if block.kind == "heading" and len(block.heading) <= LONGEST_NAME
    }


def _body_line(piece: _Piece, past: dict[int, int]) -> int:
    """The piece's first line below the headings that it starts with: the path names them."""
    at = piece.start
    while at in past and (at < piece.own or (at == piece.own and not piece.joined)):
        at = past[at]
    return at


def embedded_text(
    title: str | None, date: datetime | None, heading: tuple[str, ...], text: str
) -> str:
    """Title, date, heading path and text, a line each; a heading that repeats the title once.

    Title and headings are cut at LONGEST_EMBEDDED, as a huge one would be in every chunk.
    """
    return (_head(title, date, heading) + text).rstrip()


def _head(title: str | None, date: datetime | None, heading: tuple[str, ...]) -> str:
    title = title[:LONGEST_EMBEDDED] if title else None
    heading = tuple(name[:LONGEST_EMBEDDED] for name in heading)
    path = heading[1:] if heading and heading[0] == title else heading
    parts = [title or "", date.date().isoformat() if date else "", " > ".join(path)]
    return "".join(f"{part}\n" for part in parts if part)


def columns(title: str, tags: Iterable[str], piece: Chunk) -> tuple[str, str, str, str]:
    """Title, heading path, tags and text of a chunk, as the keyword index has them: bounded."""
    return title[:LONGEST_NAME], piece.heading_text, " ".join(tags)[:MOST_TAGS], piece.body


def without_headings(text: str) -> str:
    """``text`` without the blank lines and what looks like headings at its start: to show it."""
    lines = text.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at].strip()
        if not line or _is_heading(line):
            at += 1
        elif at + 1 < len(lines) and _is_underline(lines[at + 1]) and len(line) < 200:
            at += 2
        else:
            break
    return "\n".join(lines[at:])


def _is_heading(line: str) -> bool:
    marks = len(line) - len(line.lstrip("#"))
    return 1 <= marks <= 6 and (len(line) == marks or line[marks] in " \t")


def _is_underline(line: str) -> bool:
    line = line.strip()
    return bool(line) and (not line.strip("=") or (len(line) > 1 and not line.strip("-")))


def _pieces(lines: _Lines, outline: Outline) -> Iterator[_Piece]:
    """The sections, each cut into pieces no longer than wanted."""
    path: list[Block] = []
    waiting: int | None = None  # first line of headings that have no text of their own yet
    first = next((block for block in outline.blocks if block.kind == "heading"), None)
    sections = list(_sections(outline.blocks, lines.first, lines.after))
    for number, (start, end, members) in enumerate(sections):
        head = members[0] if members and members[0].kind == "heading" else None
        if head:
            path = [*(block for block in path if block.level < head.level), head]
        following = sections[number + 1][2][0] if number + 1 < len(sections) else None
        bare = head and len(members) == 1 and not lines.text(start + 1, end).strip("=- \t\r\n")
        if head and bare and following and following.level > head.level:
            waiting = waiting or start
            continue
        heading = tuple(block.heading[:LONGEST_NAME] for block in path)
        own = members[1:] if head else members
        pieces = _cut(lines, start, end, own, heading, joinable=head is not None and head != first)
        yield from pieces if waiting is None else _led(lines, waiting, pieces)
        waiting = None


def _led(lines: _Lines, lead: int, pieces: Iterator[_Piece]) -> Iterator[_Piece]:
    """The pieces of a section, the first with the headings from line ``lead`` on above it."""
    first = next(pieces)
    if first.text == lines.text(first.start, first.end + 1):
        yield replace(first, start=lead, text=lines.text(lead, first.end + 1))
    else:  # a part of an overlong line
        yield from _trimmed(lines, lead, first.start, first.heading, False)
        yield first
    yield from pieces


def _sections(
    blocks: tuple[Block, ...], first: int, after: int
) -> Iterator[tuple[int, int, tuple[Block, ...]]]:
    """(first line, line after, blocks) of each section; the first may have no heading."""
    starts = [n for n, block in enumerate(blocks) if block.kind == "heading"]
    if not starts or blocks[starts[0]].start > first:
        cut = starts[0] if starts else len(blocks)
        yield first, blocks[cut].start if starts else after, blocks[:cut]
    for n, following in zip(starts, [*starts[1:], None], strict=False):
        end = after if following is None else blocks[following].start
        yield blocks[n].start, end, blocks[n:following]


def _cut(
    lines: _Lines,
    start: int,
    end: int,
    own: tuple[Block, ...],
    heading: tuple[str, ...],
    joinable: bool,
) -> Iterator[_Piece]:
    """Pieces of the lines from ``start`` up to ``end`` (exclusive)."""
    if lines.size(start, end) <= TARGET:
        yield from _trimmed(lines, start, end, heading, joinable)
        return
    at = start
    first_text = own[0].start if own else start
    for a, b in _units(lines, start, end, own):
        alone = a == first_text and at < a and lines.size(a, b) <= MOST  # a heading needs its text
        if a > at and lines.size(at, b) > TARGET and not alone:
            yield from _trimmed(lines, at, a, heading, False)
            at = a
    yield from _trimmed(lines, at, end, heading, False)


def _units(
    lines: _Lines, start: int, end: int, own: tuple[Block, ...]
) -> Iterator[tuple[int, int]]:
    """Line ranges that should stay whole: blocks, or parts of blocks that are too long."""
    blocks = {block.start: block for block in own}
    starts = [start, *(line for line in blocks if line > start)]
    for a, b in pairwise([*starts, end]):
        block = blocks.get(a)
        whole = MOST if block and block.kind in _WHOLE else TARGET
        if lines.size(a, b) <= whole:
            yield a, b
            continue
        inner = [line for line in block.cuts if a < line < b] if block else []
        for c, d in pairwise([a, *inner, b] if inner else range(a, b + 1)):
            if lines.size(c, d) > MOST:
                yield from pairwise(range(c, d + 1))
            else:
                yield c, d


def _trimmed(
    lines: _Lines, start: int, end: int, heading: tuple[str, ...], joinable: bool
) -> Iterator[_Piece]:
    """The piece without blank lines around it; one overlong line as several pieces."""
    while end > start and not lines.text(end - 1, end).strip():
        end -= 1
    while start < end and not lines.text(start, start + 1).strip():
        start += 1
    if start == end:
        return
    text = lines.text(start, end)
    if end - start == 1 and len(text) > MOST:
        for part in _parts(text):
            yield _Piece(heading, start, start, start, part, False)
    else:
        yield _Piece(heading, start, start, end - 1, text, joinable and len(text) < SMALL)


def _parts(line: str) -> Iterator[str]:
    """An overlong line in parts, cut at a space where one is near."""
    at = 0
    while at < len(line):
        end = min(at + TARGET, len(line))
        if end < len(line):
            space = line.rfind(" ", at + TARGET // 2, end)
            end = space + 1 if space > 0 else end
        yield line[at:end]
        at = end


def _join_small(lines: _Lines, pieces: Iterator[_Piece]) -> list[_Piece]:
    """Neighbouring small sections with the same parent, as one piece each.

    What is joined stands under the parent's headings, and each section keeps its own in its text.
    """
    joined: list[_Piece] = []
    for piece in pieces:
        last = joined[-1] if joined else None
        parent = piece.heading[:-1]
        if (
            last
            and last.joinable
            and piece.joinable
            and parent == (last.heading if last.joined else last.heading[:-1])
            and lines.size(last.own, piece.end + 1) <= TARGET
        ):
            text = lines.text(last.start, piece.end + 1)
            joined[-1] = replace(last, heading=parent, joined=True, end=piece.end, text=text)
        else:
            joined.append(piece)
    return joined
