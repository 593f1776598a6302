"""Private spans, ``<private>…</private>``: what a person wrote and nobody is shown, nor stored.

Any case, blanks inside the tags, nested; one that is not closed runs to the end.
"""

import re
from collections.abc import Iterator, Sequence

MARK = "[PRIVATE]"
"""What stands in a span's place."""

_TAG = re.compile(r"<\s*(/\s*)?private\s*>", re.IGNORECASE)


def places(text: str) -> Iterator[tuple[int, int]]:
    """Where the outermost spans of ``text`` start and end, tags included."""
    depth = start = 0
    for tag in _TAG.finditer(text):
        if tag[1] is None:
            start = start if depth else tag.start()
            depth += 1
        elif depth:  # a closing tag that closes nothing is text
            depth -= 1
            if not depth:
                yield start, tag.end()
    if depth:
        yield start, len(text)


def opened(text: str) -> str:
    """``text``, a part of a longer one, with the opening tags of spans that end in it and began
    before it."""
    depth = lowest = 0
    for tag in _TAG.finditer(text):
        depth += -1 if tag[1] else 1
        lowest = min(lowest, depth)
    return "<private>" * -lowest + text


def hidden(text: str) -> str:
    """``text`` with a mark for each span and as many lines as before; ``text`` itself if it has
    none."""
    pieces: list[str] = []
    kept = 0
    for start, end in places(text):
        pieces += [text[kept:start], MARK, "\n" * text.count("\n", start, end)]
        kept = end
    return "".join([*pieces, text[kept:]]) if pieces else text


def is_blank(text: str) -> bool:
    """True if nothing but marks is left of it."""
    return not text.replace(MARK, "").strip()


def of_chunk(
    file: str, start: int, text: str, heading: Sequence[str]
) -> tuple[str, tuple[str, ...]] | None:
    """A chunk's text and headings as they may be shown; None for one of which nothing is left.

    ``file`` is the whole file, in which a span may begin far above; ``start`` the chunk's first
    line there, from 1. A part of a long line is given up where the line has a span.
    """
    shown = hidden(file)
    if shown is file:
        return text, tuple(heading)
    last = start + text.count("\n")
    before, after = ("\n".join(of.split("\n")[start - 1 : last]) for of in (file, shown))
    if before != after and before.replace("\r", "") != text.replace("\r", ""):
        return None
    said = text if before == after else after
    visible = (hidden(one) for one in heading)
    return None if is_blank(said) else (said, tuple(one for one in visible if one in shown))
