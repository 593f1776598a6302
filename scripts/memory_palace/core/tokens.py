"""Texts made ready for the keyword index, and the folding that what is asked shares with them.

FTS5 cuts a text at everything that is no letter or digit. What that loses is put back here:
scripts without spaces are cut into pairs of neighbouring characters, and a few extra words stand
at the end of a text for names that FTS5 cannot see (`C++`, the parts of `snakeCase`, emoji), once
each, so that lengths and frequencies stay as they are.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import cache

from memory_palace.core.stopwords import ENGLISH

_THAI = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1050-\u108f\u1780-\u17d3"
)
_CJK = (
    "\u3005-\u3007\u3041-\u309f\u30a1-\u30fa\u30fc-\u30ff\u3105-\u312f\u31a0-\u31bf\u31f0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff"
)
UNSPACED = _CJK + _THAI
"""Inside of a regular expression's set: the characters of scripts without spaces, and Korean."""

RUN = f"[{UNSPACED}]"
"""A regular expression: one of them."""

# Marks of spaced scripts are part of their words. Whole blocks, where marks and letters mix.
_MARKS = (
    "\u0300-\u036f\u0483-\u0489\u0900-\u0963\u0971-\u0dff\u0f18-\u0f84\u1ab0-\u1aff\u1dc0-\u1dff"
)
# Possessive: letters of these blocks are in both sets, and would be shared out in 2^n ways.
WORD = f"(?:[^\\W_{UNSPACED}][{_MARKS}]*+)++"
"""A regular expression: letters, digits and their marks."""

ASCII_WORD = "[0-9A-Za-z]++"
"""The same for a text of ASCII alone, which needs no sets of every script's characters."""

# Soft hyphens, zero-width and direction marks, variation selectors, tags.
_UNSEEN = (
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
# Vowel points of Arabic and Hebrew are optional, and Arabic letters are drawn out at will. The
# marks of Thai and its kin are letters to their readers, but FTS5 would cut at each of them.
_POINTS = (
    "[\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed"
    "\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ece\u102b-\u103e\u1056-\u1059\u105e-\u1060"
    "\u1062-\u1064\u1067-\u106d\u1071-\u1074\u1082-\u108d\u108f\u17b6-\u17d3]"
)
_SURROGATE = "[\ud800-\udfff]"
_LETTERS = "άέήίόύώΐΰϊϋΆΈΉΊΌΎΏΪΫёЁʼ’", "αεηιουωιυιυΑΕΗΙΟΥΩΙΥеЕ''"  # accents that FTS5 leaves
_SPELLED_OUT = str.maketrans(*_LETTERS) | str.maketrans(
    {"ß": "ss", "ẞ": "SS", "œ": "oe", "Œ": "OE", "æ": "ae", "Æ": "AE"}
)

NAMED = r"(?:[A-Za-z](?:\+\+|\#)(?![+#A-Za-z_])|\.[Nn][Ee][Tt](?!\w))"
"""A regular expression: `C++`, `F#`, `.NET`, which FTS5 knows as `c`, `f` and `net`."""
_NAMED = rf"(?<!\w){NAMED}"

EMOJI = (
    "(?:[\U0001f1e6-\U0001f1ff]{2}"
    "|[\u2300-\u23ff\u2600-\u2775\u2794-\u27bf\u2b00-\u2bff\U0001f300-\U0001f3fa\U0001f400-\U0001faff])"
)
_CAMEL = r"(?<![^\W_])[A-Za-z0-9]*(?:[a-z0-9][A-Z]|[A-Z][A-Z][a-z])[A-Za-z0-9]*"
_HUMP = r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*|[0-9]+"
_LONGEST_NAME = 60
_SHORTEST_PARTS = 2.5  # letters, on average: below that it is a key or a hash, not a name


@cache
def compiled(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A regular expression, compiled when it is first used: large sets of characters take long."""
    return re.compile(pattern, flags)


def folded(text: str) -> str:
    """``text`` with compatibility forms, ligatures and optional marks made plain."""
    if text.isascii():
        return text
    seen = compiled(_SURROGATE).sub(" ", compiled(_UNSEEN).sub("", text))
    return compiled(_POINTS).sub("", unicodedata.normalize("NFKC", seen)).translate(_SPELLED_OUT)


def indexable(text: str) -> str:
    """``text`` as the keyword index takes it. To be called on each column by itself."""
    plain = folded(text)
    extra = " ".join(dict.fromkeys(_extra(plain)))
    if not plain.isascii():
        plain = compiled(f"{RUN}+").sub(lambda run: f" {' '.join(run_tokens(run.group()))} ", plain)
    return f"{plain} {extra}" if extra else plain


def words(text: str) -> list[str]:
    """The words of ``text``, which is folded: letters, digits and their marks."""
    return compiled(ASCII_WORD if text.isascii() else WORD).findall(text)


def is_run(text: str) -> bool:
    """True if ``text`` begins with a character of a script without spaces."""
    return not text.isascii() and bool(compiled(RUN).match(text))


def pairs(run: str) -> list[str]:
    """The overlapping pairs of a run of a script without spaces; of one character, itself."""
    return [run[n : n + 2] for n in range(len(run) - 1)] or [run]


def run_tokens(run: str) -> list[str]:
    """A whole run as it is indexed: its pairs and its last character, which starts no pair."""
    return [*pairs(run), run[-1]] if len(run) > 1 else [run]


def camel_parts(name: str) -> list[str]:
    """The parts of `snakeCase`, `HTTPServer`; of any other word, itself."""
    if len(name) > _LONGEST_NAME or not compiled(_CAMEL).fullmatch(name):
        return [name]
    parts = compiled(_HUMP).findall(name)
    plural = parts[-1] == "s" or (len(parts) == 2 and parts[-1][1:] == "s" and name[:-1].isupper())
    return [name] if plural or len(name) < _SHORTEST_PARTS * len(parts) else parts


def named_token(name: str) -> str:
    """The word that stands for `C++` (cplusplus), `F#` (fsharp) or `.NET` (dotnet)."""
    if name[0] == ".":
        return "dotnet"
    return name[0].lower() + ("plusplus" if name[1] == "+" else "sharp")


def emoji_token(unit: str) -> str:
    """The word that stands for an emoji or a flag, such as u1f680."""
    return "".join(f"u{ord(character):x}" for character in unit)


def _extra(text: str) -> Iterator[str]:
    """The words to add at the end of a text."""
    for found in compiled(_CAMEL).finditer(text):
        parts = camel_parts(found.group())
        if len(parts) > 1 and not text[found.end() : found.end() + 1].isalnum():
            # From last to first: `snake case` asked for as a phrase is then found where it is
            # written so, and does not count twice where `snakeCase` is.
            lower = (part.lower() for part in reversed(parts))
            yield from (part for part in lower if len(part) > 1 and part not in ENGLISH)
    for found in compiled(_NAMED).finditer(text):
        yield named_token(found.group())
    if not text.isascii():
        for found in compiled(EMOJI).finditer(text):
            yield emoji_token(found.group())
