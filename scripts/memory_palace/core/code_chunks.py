"""Cut a source file into chunks: at its definitions where its grammar is at hand, else at blank
lines.

A function or a small class is a chunk, with the comments right above it; a large class gives one
for each method. What stands between (imports, constants) is a chunk of its own. What is long is
cut at blank lines. Lines' numbers are not part of what is embedded, so an edit changes the chunks
that it touches.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memory_palace.core import code_tree
from memory_palace.core.code_tree import Definition
from memory_palace.core.text import split_lines

TARGET = 1000
"""Characters a chunk aims to stay under; a class up to this is one chunk."""
MOST = 2000
"""Characters of a definition or a block without blank lines that is kept in one piece."""
LONGEST_PATH = 200
"""Characters of a path that are embedded with each chunk: its end."""


@dataclass(frozen=True, slots=True)
class CodeChunk:
    """A piece of a source file.

    ``symbol`` is the path of names that it stands in (class, method), empty outside of all.
    ``start`` and ``end`` are lines from 1, inclusive. ``text`` is what stands there, a part of it
    where one line had to be cut. ``ordinal`` counts chunks of the same symbol, from 0.
    ``embedded`` is what the model gets.
    """

    symbol: tuple[str, ...]
    ordinal: int
    start: int
    end: int
    text: str
    embedded: str


@dataclass(frozen=True, slots=True)
class _Piece:
    symbol: tuple[str, ...]
    start: int
    end: int
    text: str


def chunks(path: str, text: str) -> list[CodeChunk]:
    """The chunks of ``text``, a source file at ``path`` in its project, in order.

    Every line that says something is in one; a file without any gives none.
    """
    text = text.removeprefix("\ufeff")
    lines = [line.removesuffix("\r") for line in split_lines(text)]
    found = code_tree.definitions(path, text)
    counts: dict[tuple[str, ...], int] = {}
    made = []
    for piece in _attached(_region(lines, 0, len(lines), (), found), lines):
        ordinal = counts.get(piece.symbol, 0)
        counts[piece.symbol] = ordinal + 1
        embedded = embedded_text(path, piece.symbol, piece.text)
        made.append(
            CodeChunk(piece.symbol, ordinal, piece.start + 1, piece.end, piece.text, embedded)
        )
    return made


def embedded_text(path: str, symbol: Sequence[str], text: str) -> str:
    """Path, symbol and code, a line each."""
    head = [path[-LONGEST_PATH:], *([".".join(symbol)] if symbol else [])]
    return "\n".join([*head, text]).rstrip()


def _region(
    lines: Sequence[str],
    start: int,
    end: int,
    symbol: tuple[str, ...],
    inside: Sequence[Definition],
) -> Iterator[_Piece]:
    """The pieces of lines ``start`` up to ``end`` (from 0, exclusive): the definitions ``inside``,
    and what stands between them."""
    at = start
    for one in inside:
        first, after = max(one.start, at), min(one.end, end)
        if first >= after:
            continue  # on a line with the one before: it is in that chunk
        yield from _cut(lines, at, first, symbol)
        path = (*symbol, one.name) if one.name else symbol
        if one.inside and _size(lines, first, after) > TARGET:
            yield from _region(lines, first, after, path, one.inside)
        else:
            yield from _cut(lines, first, after, path, whole=MOST)
        at = after
    yield from _cut(lines, at, end, symbol)


def _cut(
    lines: Sequence[str], start: int, end: int, symbol: tuple[str, ...], whole: int = TARGET
) -> Iterator[_Piece]:
    """These lines as one piece, or cut at blank lines; a block without any at its lines."""
    if _size(lines, start, end) <= whole:
        yield from _trimmed(lines, start, end, symbol)
        return
    at, size = start, 0
    for first, after in _blocks(lines, start, end):
        more = _size(lines, first, after)
        if size and size + more > TARGET:
            yield from _trimmed(lines, at, first, symbol)
            at, size = first, 0
        size += more
    yield from _trimmed(lines, at, end, symbol)


def _blocks(lines: Sequence[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """Line ranges up to where a blank line comes before text; single lines of a block that is too
    long."""
    at = start
    for n in range(start + 1, end + 1):
        if n < end and (lines[n - 1].strip() or not lines[n].strip()):
            continue
        if _size(lines, at, n) > MOST:
            yield from ((line, line + 1) for line in range(at, n))
        else:
            yield at, n
        at = n


def _trimmed(
    lines: Sequence[str], start: int, end: int, symbol: tuple[str, ...]
) -> Iterator[_Piece]:
    """A piece without blank lines around it; one overlong line as several pieces."""
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    if start == end:
        return
    text = "\n".join(lines[start:end])
    if end - start == 1 and len(text) > MOST:
        for at in range(0, len(text), TARGET):
            yield _Piece(symbol, start, end, text[at : at + TARGET])
    else:
        yield _Piece(symbol, start, end, text)


def _attached(pieces: Iterator[_Piece], lines: Sequence[str]) -> list[_Piece]:
    """The pieces; one without a letter or digit (a closing brace) goes with the one before it."""
    kept: list[_Piece] = []
    for piece in pieces:
        if any(map(str.isalnum, piece.text)):
            kept.append(piece)
        elif kept and kept[-1].end <= piece.start:
            before = kept[-1]
            text = "\n".join(lines[before.start : piece.end])
            if len(text) <= MOST:
                kept[-1] = _Piece(before.symbol, before.start, piece.end, text)
    return kept


def _size(lines: Sequence[str], start: int, end: int) -> int:
    return sum(map(len, lines[start:end])) + max(end - start, 0)
