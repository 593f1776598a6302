"""What a regular expression needs of a text, and how long it may take at worst, by its look.

Both are read off the pattern's own characters: compiling two hundred patterns takes longer than a
hook may, and one that backtracks would not come back.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

UNBOUNDED = float("inf")
_FEW = 20
"""Repetitions up to which a bounded quantifier counts as that many ways."""


class Token(NamedTuple):
    """A piece of a pattern: ``kind`` is char, any (of several characters), place, open, close, or
    or odd; ``text`` the character; it is taken ``least`` to ``most`` times."""

    kind: str
    text: str = ""
    least: float = 1
    most: float = 1


_TOKEN = re.compile(
    r"(?P<odd>\\[1-9]|\(\?P=|\(\?\(|\(\?#|\(\?[a-zA-Z]*x)"
    r"|(?P<open>\((?:\?(?:P<\w+>|<[=!]|[:=!>]|[aiLmsu-]+[:)])?)?)|(?P<close>\))|(?P<alt>\|)"
    r"|(?P<place>\^|\$|\\[AbBZ])|(?P<any>\.|\\[dDsSwW]|\[\^?\]?(?:\\.|[^\]\\])*\])"
    r"|(?P<char>\\x[0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\U[0-9a-fA-F]{8}|\\0[0-7]+|\\N\{[^}]*\}|\\.|.)",
    re.DOTALL,
)
_QUANTIFIER = re.compile(r"(?:([*+?])|\{(\d*)(?:(,)(\d*))?\})[?+]?")


def _tokens(pattern: str) -> Iterator[Token]:
    at = 0
    while at < len(pattern):
        found = _TOKEN.match(pattern, at)
        assert found
        kind, text, at = str(found.lastgroup), found.group(), found.end()
        if kind == "open" and text.endswith(")"):  # flags of the whole pattern
            continue
        times = _QUANTIFIER.match(pattern, at)
        least, most = 1.0, 1.0
        if times and kind not in ("open", "alt") and times.group() != "{}":
            least, most = _times(times)
            at = times.end()
        if kind == "char" and len(text) == 2:
            text = text[1] if not text[1].isalnum() else ""
        yield Token(kind, "" if len(text) > 2 else text, least, most)


def _times(found: "re.Match[str]") -> tuple[float, float]:
    sign = found[1]
    if sign:
        return (1.0 if sign == "+" else 0.0), (1.0 if sign == "?" else UNBOUNDED)
    least = float(found[2] or 0)
    return least, (float(found[4]) if found[4] else UNBOUNDED) if found[3] else least


def steps(pattern: str, length: int) -> float:
    """About how many steps a search in ``length`` characters takes at most; infinite where what
    repeats can itself be read in several ways."""
    ways = float(length + 1)
    inside = [False]
    for token in _tokens(pattern):
        if token.kind == "odd":
            return UNBOUNDED
        if token.kind == "alt":
            ways *= 2
            inside[-1] = True
        if token.kind == "open":
            inside.append(False)
            continue
        varies = token.most > token.least
        if token.kind == "close" and len(inside) > 1:
            several = inside.pop()
            if several and token.most > 1:
                return UNBOUNDED
            varies = varies or several
        if token.most > token.least:
            spread = token.most - token.least + 1
            ways *= spread if spread <= _FEW else length + 1
        inside[-1] = inside[-1] or varies
    return ways


def literal(pattern: str) -> str:
    """The longest text that stands in whatever ``pattern`` matches; empty if none is known."""
    if re.match(r"\(\?[a-zA-Z]*[ix]", pattern):
        return ""
    runs, run, depth = [""], "", 0
    for token in _tokens(pattern):
        if token.kind in ("alt", "odd") and (depth == 0 or token.kind == "odd"):
            return ""
        if token.kind == "open":
            depth += 1
        elif token.kind == "close":
            depth -= 1
        if depth or token.kind != "char" or not token.text or token.least < 1:
            runs.append(run)
            run = ""
        elif token.most == 1:
            run += token.text
        else:
            runs.append(run + token.text)
            run = ""
    return max([*runs, run], key=len)
