"""What a short text claims, word by word: its content words, which of them it denies, its values.

English word lists; the values of any language.
"""

import re
from dataclasses import dataclass
from typing import Literal

from memory_palace.core.stopwords import ENGLISH
from memory_palace.core.tokens import UNSPACED, compiled, folded, pairs

LONGEST = 2_000
"""Characters of a text that are read: a claim is short."""

DENYING = frozenset(
    "no nor neither nothing none nobody without avoid avoids avoided avoiding stop stops stopped "
    "stopping skip skips refuse refuses reject rejects".split()
)
"""Deny what follows in their clause."""
DENYING_ALL = frozenset(
    "never cannot forbidden banned prohibited disallowed deprecated forbid forbids ban bans "
    "prohibit prohibits hardly".split()
)
"""Deny their whole clause, before them and after."""
INSTEAD = (("instead", "of"), ("rather", "than"))
"""Deny what follows: the thing that is not taken."""
PREFERRING = frozenset("prefer choose favor favour pick".split())
"""With one of these before it, `over` denies what follows."""
AFFIRMING = frozenset("always must should may allow allowed ok fine please ever".split())
"""Say only how strongly: no content."""
COPULAS = frozenset("is are was were be become named called as".split())
AUXILIARIES = COPULAS | frozenset(
    "do does did must should shall can could will would may might has have had to need".split()
)
"""`not` after one of these denies its whole clause; elsewhere (`tabs not spaces`) what follows."""
NUMBERS = dict(
    zip(
        "zero one two three four five six seven eight nine ten eleven twelve".split(),
        map(str, range(13)),
        strict=True,
    )
)
CLAUSE_ENDS = frozenset("but whereas although though however".split())

_AS_THEY_ARE = (
    ENGLISH | DENYING | DENYING_ALL | AFFIRMING | AUXILIARIES | CLAUSE_ENDS | set(NUMBERS)
)

Kind = Literal["word", "number", "date", "quoted", "break"]

_LINK = re.compile(r"!?\[\[([^\[\]\n]{1,300})\]\]")
_MARKS = re.compile(r"\*\((?:pinned|enforced)\)\*|\s\^[A-Za-z0-9-]+\s*$")
_TOKEN = re.compile(
    r"""
      `(?P<q1>[^`\n]{1,120})` | (?<!\w)"(?P<q2>[^"\n]{1,120})"(?!\w) | “(?P<q3>[^“”\n]{1,120})”
    | (?P<date>(?<![\w.-])\d{4}-\d\d-\d\d(?![\w-]))
    | (?<![\w.])(?P<number>[vV]?\d+(?:[.,_]\d+)*%?)(?=[A-Za-zµ]{0,3}(?![\w]))
    | (?P<word>[^\W_]+(?:['’][^\W_]+)*(?:[-.][^\W_]+)*)
    | (?P<break>[.,;:!?()—–]|\s-\s)
    """,
    re.VERBOSE,
)
_GROUPED = re.compile(r"\d{1,3}(?:[,_]\d{3})+(?:\.\d+)?%?")
_WHOLE_VALUE = re.compile(r"[vV]?\d+(?:[.,_]\d+)*%?|\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Token:
    """One word or value: its ``key`` is what is compared, ``shown`` what was written."""

    kind: Kind
    key: str
    shown: str
    denied: bool = False

    @property
    def is_value(self) -> bool:
        return self.kind in ("number", "date", "quoted")


@dataclass(frozen=True, slots=True)
class Claim:
    """A text taken apart. ``tokens`` are its content words and values in order, ``plain`` its
    words in lower case, stop words included; ``words`` maps each content word (values left out) to
    whether it is denied, affirmed, or both."""

    tokens: tuple[Token, ...]
    plain: tuple[str, ...]
    words: dict[str, frozenset[bool]]

    @property
    def frame(self) -> frozenset[str]:
        """The content words, without the values."""
        return frozenset(self.words)


def read(text: str) -> Claim:
    """What ``text`` claims. Never raises; only the first :data:`LONGEST` characters count."""
    listed = list(_tokens(_prepared(text[:LONGEST])))
    tokens: list[Token] = []
    clause: list[Token] = []
    for token in [*listed, Token("break", "", "")]:
        if token.kind == "break" or token.key in CLAUSE_ENDS:
            tokens += _denied(clause)
            clause = []
        else:
            clause.append(token)
    content = tuple(token for token in tokens if token.is_value or _is_content(token.key))
    words: dict[str, frozenset[bool]] = {}
    for token in content:
        if not token.is_value:
            words[token.key] = words.get(token.key, frozenset()) | {token.denied}
    plain = tuple(token.shown.lower() for token in listed if token.kind != "break")
    return Claim(content, plain, words)


def _prepared(text: str) -> str:
    """``text`` as plain words: links by what they show, scripts without spaces as pairs."""
    text = _LINK.sub(lambda link: f" {link.group(1).rpartition('|')[2]} ", text)
    text = folded(_MARKS.sub(" ", text)).replace("’", "'")
    if text.isascii():
        return text
    runs = compiled(f"[{UNSPACED}]+")
    return runs.sub(lambda run: f" {' '.join(pairs(run.group()))} ", text)


def _tokens(text: str) -> list[Token]:
    found: list[Token] = []
    for match in _TOKEN.finditer(text):
        kind, written = match.lastgroup or "", match.group(match.lastgroup or 0)
        if kind.startswith("q"):
            found += _quoted(written.strip())
        elif kind in ("number", "date"):
            found.append(_value(written))
        elif kind == "break":
            found.append(Token("break", "", written))
        else:
            found += _words(written)
    return found


def _quoted(written: str) -> list[Token]:
    if _WHOLE_VALUE.fullmatch(written):
        return [_value(written)]
    return [Token("quoted", " ".join(written.lower().split()), written)] if written else []


def _value(written: str) -> Token:
    if re.fullmatch(r"\d{4}-\d\d-\d\d", written):
        return Token("date", written, written)
    key = written.lower().lstrip("v")
    if _GROUPED.fullmatch(key):
        key = key.replace(",", "").replace("_", "")
    return Token("number", key, written)


def _words(written: str) -> list[Token]:
    lower = written.lower()
    if lower in NUMBERS:
        return [Token("number", NUMBERS[lower], written)]
    if lower.endswith("n't"):
        return [Token("word", root(lower[:-3]), lower[:-3]), Token("word", "not", "not")]
    if lower == "dont":
        return [Token("word", "do", "do"), Token("word", "not", "not")]
    lower = lower.removesuffix("'s").replace("'", "")
    parts = [lower] if any(map(str.isdigit, lower)) else re.split("[-.]", lower)
    return [Token("word", root(part), part) for part in parts if part]


def root(word: str) -> str:
    """``word`` without a common English ending: `uses`, `used`, `using` are `use`."""
    if not word.isascii() or word in _AS_THEY_ARE:
        return word
    stem = word
    for ending, instead in (("ies", "y"), ("ing", ""), ("ed", ""), ("s", "")):
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            if ending != "s":
                stem = word[: -len(ending)] + instead
            elif not word.endswith(("ss", "us", "is")):
                stem = word[:-1]
            break
    if stem != word and len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "aeioulsz":
        stem = stem[:-1]
    if stem.endswith("e") and len(stem) > 2:
        stem = stem[:-1]
    if stem in _AS_THEY_ARE:  # `notes` are no `not`
        return f"{stem}e"
    return stem if any(letter in "aeiouy" for letter in stem) else word


PREFERRING = frozenset(map(root, "prefer choose pick favor favour".split()))
"""With one of these before it, `over` denies what follows."""
CHOOSING = PREFERRING | frozenset(
    map(
        root,
        "use adopt take run write keep set put default switch move want like call store deploy "
        "build install live lie".split(),
    )
)
"""Verbs of choice: that two texts share one says little of what they are about."""


def _is_content(key: str) -> bool:
    return key not in ENGLISH and key not in DENYING | DENYING_ALL and key not in AFFIRMING


def _denied(clause: list[Token]) -> list[Token]:
    """The tokens of one clause, each marked if the clause denies it; two denials cancel out."""
    keys = [token.key if token.kind == "word" else "" for token in clause]
    every = sum(key in DENYING_ALL for key in keys)
    starts: list[int] = []
    for at, key in enumerate(keys):
        before = keys[at - 1] if at else ""
        if key == "not" and keys[at + 1 : at + 2] != ["only"]:
            if not before or before in AUXILIARIES:
                every += 1
            else:
                starts.append(at)
        elif key in DENYING or _takes_instead(keys, at):
            starts.append(at)
    if not every and not starts:
        return clause
    return [
        Token(token.kind, token.key, token.shown, (every + sum(s < at for s in starts)) % 2 == 1)
        for at, token in enumerate(clause)
    ]


def _takes_instead(keys: list[str], at: int) -> bool:
    if keys[at] == "over":
        return not PREFERRING.isdisjoint(keys[:at])
    return any(tuple(keys[at : at + len(words)]) == words for words in INSTEAD)
