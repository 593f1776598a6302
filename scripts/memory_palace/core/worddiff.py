"""What changed between two texts, in words: a paragraph that was only wrapped anew is the same."""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import NamedTuple

from memory_palace.core.problems import printable

MOST_TOKENS = 6_000
"""Words of each text (without what they share at both ends) that are compared one by one: beyond
that, lines are compared first, and words within the lines that differ."""
MOST_PAIRS = 200_000
"""Pairs of equal words, likewise: a text of few different words would take minutes."""
CONTEXT = 4
"""Words that are shown before and after a change."""
MOST_SHOWN = 400
"""Characters of one side of a change that are shown."""

# A word, a letter of a script without spaces, or one sign.
_UNSPACED = r"\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
_TOKEN = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+|[^\w\s]")
_WORD = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Hunk:
    """One change. ``before`` or ``after`` is empty where text was only added or taken out.

    ``line`` is where it stands in the new text, from 1; ``lead`` and ``trail`` are the words
    around it, with an ellipsis where the text goes on.
    """

    before: str
    after: str
    line: int
    lead: str = ""
    trail: str = ""


class _Span(NamedTuple):
    """Half-open ranges of tokens: ``[a0, a1)`` of the old became ``[b0, b1)`` of the new."""

    a0: int
    a1: int
    b0: int
    b1: int


class _Tokens:
    """A text's tokens and where each stands."""

    def __init__(self, text: str) -> None:
        self.text = text
        found = list(_TOKEN.finditer(text))
        self.words = [match.group() for match in found]
        self.starts = [match.start() for match in found]
        self.ends = [match.end() for match in found]
        self._lines: list[int] | None = None

    def between(self, start: int, end: int) -> str:
        """The text of the tokens ``[start, end)``, as it stands there."""
        return self.text[self.starts[start] : self.ends[end - 1]] if start < end else ""

    def lines(self) -> list[int]:
        """The line of each token, from 0."""
        if self._lines is None:
            self._lines, line, at = [], 0, 0
            for start in self.starts:
                line += self.text.count("\n", at, start)
                at = start
                self._lines.append(line)
        return self._lines


def changes(before: str, after: str, first_line: int = 1) -> list[Hunk]:
    """What became of ``before``, in the order of ``after``, whose first line is ``first_line``.

    Space between words does not count: texts that differ only in it have no changes.
    """
    old, new = _Tokens(before), _Tokens(after)
    spans = _joined(_compared(old, new), old, new)
    return [_hunk(span, old, new, first_line) for span in spans]


def alike(before: str, after: str) -> float:
    """How much of the longer text the two share, 0 to 1, wherever in it the words stand."""
    old, new = Counter(_TOKEN.findall(before)), Counter(_TOKEN.findall(after))
    longer = max(old.total(), new.total())
    return (old & new).total() / longer if longer else 1.0


def overlap(before: str, after: str) -> float:
    """Like :func:`alike`, of the shorter text: 1 if the longer one has all its words."""
    old, new = Counter(_TOKEN.findall(before)), Counter(_TOKEN.findall(after))
    shorter = min(old.total(), new.total())
    return (old & new).total() / shorter if shorter else 0.0


def _compared(old: _Tokens, new: _Tokens) -> list[_Span]:
    a, b = old.words, new.words
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    whole = _Span(start, len(a) - end, start, len(b) - end)
    if _is_small(a, b, whole):
        return _by_word(a, b, whole)
    return _by_line(old, new, whole)


def _is_small(a: Sequence[str], b: Sequence[str], span: _Span) -> bool:
    if max(span.a1 - span.a0, span.b1 - span.b0) > MOST_TOKENS:
        return False
    return _pairs(a[span.a0 : span.a1], b[span.b0 : span.b1]) <= MOST_PAIRS


def _pairs(a: Iterable[object], b: Iterable[object]) -> int:
    old, new = Counter(a), Counter(b)
    return sum(number * new[item] for item, number in old.items())


def _by_word(a: Sequence[str], b: Sequence[str], span: _Span) -> list[_Span]:
    return _differing(a[span.a0 : span.a1], b[span.b0 : span.b1], span.a0, span.b0)


def _differing(a: Sequence[object], b: Sequence[object], at_a: int, at_b: int) -> list[_Span]:
    if not a or not b:
        return [_Span(at_a, at_a + len(a), at_b, at_b + len(b))] if a or b else []
    found = SequenceMatcher(None, a, b, autojunk=False).get_opcodes()
    return [
        _Span(at_a + a0, at_a + a1, at_b + b0, at_b + b1)
        for kind, a0, a1, b0, b1 in found
        if kind != "equal"
    ]


def _by_line(old: _Tokens, new: _Tokens, whole: _Span) -> list[_Span]:
    """Lines first, then words where few enough differ; what is too much even so, as one block."""
    rows_a, rows_b = _rows(old, whole.a0, whole.a1), _rows(new, whole.b0, whole.b1)
    lines_a = [tuple(old.words[s:e]) for s, e in rows_a]
    lines_b = [tuple(new.words[s:e]) for s, e in rows_b]
    if max(len(lines_a), len(lines_b)) > MOST_TOKENS or _pairs(lines_a, lines_b) > MOST_PAIRS:
        return [whole]
    spans: list[_Span] = []
    for rows in _differing(lines_a, lines_b, 0, 0):
        span = _Span(
            *_range(rows_a, rows.a0, rows.a1, whole.a1), *_range(rows_b, rows.b0, rows.b1, whole.b1)
        )
        small = _is_small(old.words, new.words, span)
        spans += _by_word(old.words, new.words, span) if small else [span]
    return spans


def _rows(tokens: _Tokens, start: int, end: int) -> list[tuple[int, int]]:
    """The lines of the tokens ``[start, end)``, as ranges of tokens."""
    rows: list[tuple[int, int]] = []
    lines = tokens.lines()
    first = start
    for at in range(start + 1, end + 1):
        if at == end or lines[at] != lines[at - 1]:
            rows.append((first, at))
            first = at
    return rows


def _range(rows: Sequence[tuple[int, int]], first: int, last: int, end: int) -> tuple[int, int]:
    start = rows[first][0] if first < len(rows) else end
    return start, rows[last - 1][1] if first < last else start


def _joined(spans: list[_Span], old: _Tokens, new: _Tokens) -> list[_Span]:
    """Changes with next to nothing between them, as one: else a new sentence is told as a dozen
    changes around each `the` that the old one had too."""
    found: list[_Span] = []
    for span in spans:
        last = found[-1] if found else None
        if last and _belong(last, span, new):
            found[-1] = _Span(last.a0, span.a1, last.b0, span.b1)
        else:
            found.append(span)
    return found


def _belong(one: _Span, two: _Span, new: _Tokens) -> bool:
    between = new.words[one.b1 : two.b0]
    if between and "\n\n" in new.between(max(one.b1 - 1, 0), two.b0):
        return False  # a paragraph ends there
    words = sum(1 for word in between if _WORD.match(word))
    if words == 0:
        return len(between) <= 2
    return 2 * words <= min(_replaced(one), _replaced(two))


def _replaced(span: _Span) -> int:
    """Tokens that others stand for; none where text was only added or taken out."""
    return min(span.a1 - span.a0, span.b1 - span.b0)


def _hunk(span: _Span, old: _Tokens, new: _Tokens, first_line: int) -> Hunk:
    lines = new.lines()
    at = min(span.b0, len(lines) - 1)
    first, last = max(span.b0 - CONTEXT, 0), min(span.b1 + CONTEXT, len(lines))
    lead, trail = new.between(first, span.b0), new.between(span.b1, last)
    return Hunk(
        before=old.between(span.a0, span.a1),
        after=new.between(span.b0, span.b1),
        line=first_line + (lines[at] if at >= 0 else 0),
        lead=f"… {lead}" if first else lead,
        trail=f"{trail} …" if last < len(lines) else trail,
    )


def as_text(hunk: Hunk) -> str:
    """The change on one line: ``… few words [-old-] {+new+} few words …``."""
    parts = (
        one_line(hunk.lead),
        f"[-{shortened(hunk.before)}-]" if hunk.before else "",
        f"{{+{shortened(hunk.after)}+}}" if hunk.after else "",
        one_line(hunk.trail),
    )
    return " ".join(part for part in parts if part)


def as_markdown(hunk: Hunk) -> str:
    """The change on one line of Markdown: ``… few words ~~old~~ **new** few words …``."""
    parts = (
        escaped(hunk.lead),
        f"~~{escaped(shortened(hunk.before))}~~" if hunk.before else "",
        f"**{escaped(shortened(hunk.after))}**" if hunk.after else "",
        escaped(hunk.trail),
    )
    return " ".join(part for part in parts if part)


def one_line(text: str) -> str:
    """``text`` on one line, without control characters."""
    return printable(" ".join(text.split()))


def shortened(text: str, most: int = MOST_SHOWN) -> str:
    """``text`` on one line; of a long one both ends, and how many words are left out."""
    text = one_line(text)
    if len(text) <= most:
        return text
    half = most // 2
    left_out = len(text[half:-half].split())
    return f"{text[:half].rstrip()} … ({left_out} words) … {text[-half:].lstrip()}"


# What is markup wherever it stands; what begins a block at the start of a text; what makes a link
# of an address.
_SIGNS = re.compile(r"[!#$&*<>@\[\\\]_`{|}~]|^[-+=]|^\d{1,9}[.)](?!\S)|:(?=[\w/])|(?<=[wW]{3})\.")


def escaped(text: str) -> str:
    """``text`` as Markdown that shows just that, on one line: no markup, HTML, link or table cell
    of its own, and nobody is called by an `@name`."""
    return _SIGNS.sub(_escape, one_line(text))


def _escape(match: re.Match[str]) -> str:
    # A backslash does not stop a forge from reading @name or #12 in the finished page; an empty
    # comment between the sign and the name does.
    found = match.group()
    return f"{found[:-1]}\\{found[-1]}" + ("<!-- -->" if found in "@#" else "")
