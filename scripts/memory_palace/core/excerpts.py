"""The few lines of a text that say most."""

import re
from collections.abc import Sequence
from typing import NamedTuple

MOST_CHARACTERS = 300

_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s")


class Piece(NamedTuple):
    """A line, or a sentence of a long one. ``line`` counts from 0."""

    line: int
    text: str


class Excerpt(NamedTuple):
    """Lines ``start`` to ``end`` of a text, from 1, inclusive, and what of them is shown."""

    start: int
    end: int
    text: str


def pieces(text: str, most: int = MOST_CHARACTERS) -> list[Piece]:
    """The lines of ``text`` that say something, long ones by sentences. Headings are left out
    where there is anything else: they are shown by themselves."""
    found: list[Piece] = []
    for number, line in enumerate(text.split("\n")):
        parts = [line] if len(line) <= most else _SENTENCE.split(line)
        found += [Piece(number, part.strip()) for part in parts if part.strip()]
    return [piece for piece in found if not _HEADING.match(piece.text)] or found


def excerpt(
    parts: Sequence[Piece], worth: Sequence[float], first: int, most: int = MOST_CHARACTERS
) -> Excerpt:
    """The part of most ``worth`` (one number a part) with as much around it as has room, what
    follows before what precedes. ``first`` is the text's first line in its file; ``parts`` has
    one at least."""
    best = max(range(len(parts)), key=lambda place: (worth[place], -place))
    low = high = best
    length = len(parts[best].text)
    while True:
        if high + 1 < len(parts) and length + 1 + len(parts[high + 1].text) <= most:
            high += 1
            length += 1 + len(parts[high].text)
        elif low > 0 and length + 1 + len(parts[low - 1].text) <= most:
            low -= 1
            length += 1 + len(parts[low].text)
        else:
            break
    shown = parts[low].text
    for before, part in zip(parts[low:high], parts[low + 1 : high + 1], strict=True):
        shown += (" " if part.line == before.line else "\n") + part.text
    return Excerpt(first + parts[low].line, first + parts[high].line, cut(shown, most))


def cut(text: str, most: int = MOST_CHARACTERS) -> str:
    """``text``, at a blank near its end if it is longer than ``most``, with a sign for the rest."""
    if len(text) <= most:
        return text
    kept = text[: most - 1]
    at = kept.rfind(" ", most // 2)
    return (kept[:at] if at > 0 else kept) + "…"
