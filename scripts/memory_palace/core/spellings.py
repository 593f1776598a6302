"""A word, name or identifier in the ways that a text may write it."""

import re
from itertools import pairwise

from memory_palace.core.tokens import camel_parts, words

Phrase = tuple[str, ...]
"""Tokens that stand side by side."""

LONGEST_PHRASE = 64
"""Tokens of a phrase or an identifier that are looked for; a longer one is cut there."""

_MOST_JOINED = 6
_GROUPED = re.compile(r"\d{1,3}(?:[,.'_ ]\d{3})+")
_VERSION = re.compile(r"[vV]?\d+(?:\.\d+)+(?:[-.+]\w+)*")
_LETTERS_DIGITS = re.compile(r"([A-Za-z]{1,20})(\d{1,9})")
_HEX = re.compile(r"(?=[a-f]*\d)(?=\d*[a-f])[0-9a-f]{7,40}")
_ENDINGS = (
    *("ing", "ion", "ation", "ization", "alize", "ality", "ity", "ive", "ize", "ible", "able"),
    *("ical", "ism", "ness", "ence", "ance", "ment", "ous", "ful"),
)
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})


def spellings(written: str) -> list[Phrase]:
    """The different ways to look for ``written``, the way it is written first.

    A text that has it once is found by one of them: `snake_case` as "snake case" or as snakecase
    (what FTS5 makes of `snakeCase`). A path is found by its file's name too.
    """
    tokens = tuple(words(written))[:LONGEST_PHRASE]
    ways = [tokens]
    parts = tuple(part for token in tokens for part in camel_parts(token))
    ways.append(parts[:LONGEST_PHRASE])
    if _GROUPED.fullmatch(written):
        ways.append(("".join(tokens),))
    elif _VERSION.fullmatch(written):
        bare = tokens[0].lstrip("vV")
        ways.append((bare if bare != tokens[0] else f"v{bare}", *tokens[1:]))
    elif len(tokens) == 1:
        ways.append(_apart(tokens[0]))
    elif "/" in written or "\\" in written:
        name = tuple(words(re.split(r"[/\\]", written.rstrip("/\\"))[-1]))
        if len(name) > 1:
            ways.append(name[:LONGEST_PHRASE])
    elif _can_be_joined(written, tokens):
        ways.append(("".join(tokens),))
    distinct: dict[Phrase, Phrase] = {}
    for way in ways:
        distinct.setdefault(tuple(map(str.lower, way)), way)
    return list(distinct.values())


def is_short_hash(written: str) -> bool:
    """True for what may be the start of a longer hash: 7 to 40 hex digits, not all alike."""
    return bool(_HEX.fullmatch(written))


def completed(start: str) -> str:
    """``start`` as a whole word, if it reaches into an ending that the stemmer takes off.

    `universit*` is to find "university", which is indexed as "univers". Any word with that ending
    will do, as it has the same stem. Empty if there is no such ending.
    """
    best, reach = "", 0
    for ending in _ENDINGS:
        for length in range(reach + 1, min(len(ending), len(start) - 3)):
            if start.lower().endswith(ending[:length]):
                best, reach = start[:-length] + ending, length
    return best


def _apart(token: str) -> Phrase:
    """One token in another way: `python3` as two, 1000 as `1,000`, Müller as Mueller."""
    if found := _LETTERS_DIGITS.fullmatch(token):
        return (found[1], found[2])
    if token.isascii() and token.isdigit() and 4 <= len(token) <= 12 and token[0] != "0":
        first = len(token) % 3 or 3
        ends = [0, *range(first, len(token) + 1, 3)]
        return tuple(token[a:b] for a, b in pairwise(ends))
    return (token.translate(_UMLAUTS),)


def _can_be_joined(written: str, tokens: Phrase) -> bool:
    """True for `snake_case`, `e-mail`, `node.js`, `GPT-4`: what is also written in one word."""
    if len(tokens) > _MOST_JOINED or set(written) & set(":@?=%~+"):
        return False
    if all(token.isalpha() for token in tokens):
        return sum(map(len, tokens)) > 2
    return len(tokens) == 2 and tokens[0].isalpha() and tokens[1].isdigit()
