"""What must not be stored, private spans and secrets, and the marks that take its place."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from memory_palace.core import private_spans
from memory_palace.core.secret_forms import MARK, Span, spans

PRIVATE_MARK = private_spans.MARK
LEAST_KNOWN = 8
"""A known value under this many characters would hit ordinary words."""

_MOST_ROUNDS = 8
_NOT_IN_NAMES = re.compile(r"[^\w.-]", re.ASCII)


class Redacted(NamedTuple):
    """``text`` with marks; how many private spans (outermost) and which secrets they replace.

    ``secrets`` has one name a mark: what kind it was, or the name of the known value.
    """

    text: str
    private: int
    secrets: tuple[str, ...]


class Found(NamedTuple):
    """A secret stands at ``line`` (from 1); ``kind`` names it. The value is never held."""

    line: int
    kind: str


_NOTHING_KNOWN: Mapping[str, str] = {}


def redact(text: str, known: Mapping[str, str] = _NOTHING_KNOWN) -> Redacted:
    """``text`` as it may be stored.

    ``<private>…</private>`` (any case, spaces inside the tag, nested; an unclosed one runs to the
    end) becomes ``[PRIVATE]``; secrets become ``[SECRET: kind]``. ``known`` maps names to exact
    values: one of at least 8 characters becomes ``[SECRET: name]``, plain, in base64 and
    URL-encoded. Redacting again changes nothing.
    """
    text, private = _without_private(text)
    text, named = _without_known(text, known)
    # Beside a mark a text may look otherwise than beside what it stands for: rarely a second time.
    for _ in range(_MOST_ROUNDS):
        found = spans(text)
        if not found:
            break
        text = _marked(text, found)
        named += [span.kind for span in found]
    return Redacted(text, private, tuple(named))


def secrets(text: str) -> list[Found]:
    """Where ``text`` holds secrets, by line; private spans are looked into as well."""
    result, line, at = [], 1, 0
    for span in spans(text):
        line += text.count("\n", at, span.start)
        at = span.start
        result.append(Found(line, span.kind))
    return result


def _without_private(text: str) -> tuple[str, int]:
    """``text`` with a mark for each outermost private span, and how many there were."""
    pieces, kept, count = [], 0, 0
    for start, end in private_spans.places(text):
        pieces += [text[kept:start], PRIVATE_MARK]
        kept = end
        count += 1
    return "".join([*pieces, text[kept:]]), count


def _without_known(text: str, known: Mapping[str, str]) -> tuple[str, list[str]]:
    """``text`` with a mark for each known value, and their names."""
    names = {
        form: name
        for name, value in known.items()
        if len(value) >= LEAST_KNOWN
        for form in _forms(value)
        if form in text
    }
    if not names:
        return text, []
    longest_first = sorted(names, key=len, reverse=True)
    # Marks are stepped over: a value such as "password" may stand in one.
    pattern = re.compile(f"{MARK.pattern}|({'|'.join(map(re.escape, longest_first))})")
    hits: list[str] = []

    def mark(found: re.Match[str]) -> str:
        value = found.group(1)
        if value is None:
            return found.group()
        hits.append(names[value])
        return f"[SECRET: {_mark_name(names[value])}]"

    return pattern.sub(mark, text), hits


def _forms(value: str) -> Iterator[str]:
    """How ``value`` may be written: plain, URL-encoded, inside base64 at any of its offsets."""
    import base64  # where values are known, which is rare
    from urllib.parse import quote, quote_plus

    data = value.encode("utf-8", "surrogatepass")
    yield value
    yield quote(data, safe="")
    yield quote(data)
    yield quote_plus(data)
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        yield encode(data).decode().rstrip("=")
        for before, first in ((0, 0), (1, 2), (2, 3)):
            # Only the characters that depend on nothing but the value.
            last = (before + len(data)) * 8 // 6
            yield encode(b"\0" * before + data).decode()[first:last]


def _mark_name(name: str) -> str:
    clean = _NOT_IN_NAMES.sub("_", name)[:60] or "value"
    return "known value" if spans(clean) else clean


def _marked(text: str, found: list[Span]) -> str:
    pieces, kept = [], 0
    for span in found:
        pieces += [text[kept : span.start], f"[SECRET: {span.kind}]"]
        kept = span.end
    pieces.append(text[kept:])
    return "".join(pieces)
