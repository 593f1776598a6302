"""What a question asks for, as FTS5 expressions: words, phrases, prefixes, and what to leave out.

`core/tokens.py` has the other side: the texts as they are indexed.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from itertools import chain
from typing import Literal

from memory_palace.core import datewords, stopwords, tokens
from memory_palace.core.spellings import LONGEST_PHRASE, Phrase, completed, is_short_hash, spellings
from memory_palace.core.tokens import (
    ASCII_WORD,
    EMOJI,
    NAMED,
    RUN,
    WORD,
    compiled,
    folded,
    indexable,
    is_run,
)

__all__ = [
    "MOST_TERMS",
    "STOP_WORDS",
    "Asked",
    "Term",
    "indexable",
    "parse",
    "terms",
]

MOST_TERMS = 64
"""Distinct terms of a question that are looked up; a longer question is cut there."""

STOP_WORDS = stopwords.ENGLISH

Kind = Literal["word", "phrase", "prefix"]


@dataclass(frozen=True, slots=True)
class Term:
    """One thing asked for: as it is shown, and as an FTS5 expression that is always valid."""

    text: str
    expression: str
    kind: Kind


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart. ``text`` is what to embed: without quotes and what is excluded."""

    terms: tuple[Term, ...]
    excluded: tuple[Term, ...]
    text: str


@dataclass(frozen=True, slots=True)
class _Found:
    """A term of a question, and the grade of its substance: 2, a stop word 1, an emoji 0."""

    term: Term
    grade: int = 2


# A straight quote opens and closes at the edge of a word only: in 5" it is an inch.
_QUOTED = r"""
        (?P<minus>(?<!\S)-)?(?:
        (?<![0-9A-Za-z\u00c0-\u024f])"(?P<q1>[^"]*)"(?![0-9A-Za-z\u00c0-\u024f])
      | [“”„‟](?P<q2>[^“”„‟]*)[“”„‟] | [«»](?P<q3>[^«»]*)[«»]
      | 「(?P<q4>[^「」]*)」 | 『(?P<q5>[^『』]*)』 | ＂(?P<q6>[^＂]*)＂
    )"""
_JOINT = r"(?:_*[.\-/\\:@&'=~%+]_*|_+|::|->|:?[/\\]{1,2}|,(?=\d{3}(?!\d)))"
_SHORT = re.compile(r"(?i)(.+)'(s|t|d|m|re|ve|ll)")
_ELISION = re.compile(
    r"(?i)(?:[cdjlmnst]|qu|(?:jus|lors|puis|quoi)qu|dell|all|nell|un|dall|sull)'(.+)"
)


@dataclass(frozen=True, slots=True)
class _Patterns:
    """What a question is cut by: a sign that excludes, a term, and a word of a quoted text."""

    minus: re.Pattern[str]
    piece: re.Pattern[str]
    quoted: re.Pattern[str]


@cache
def _patterns(ascii_only: bool) -> _Patterns:
    """Those for a text of ASCII alone, or for any; the latter take ten times as long to compile."""
    never = "(?!)"
    word, run, emoji = (ASCII_WORD, never, never) if ascii_only else (WORD, RUN, EMOJI)
    # After a blank, and before two letters or a name: not in `-5`, `--flag`, `-v`, `well-known`.
    minus = rf"(?<!\S)-(?=[^\W\d_][^\W_]|{run}|{NAMED})(\S*[^\s-])(?!\S)"
    piece = rf"""
        (?P<url>(?<![^\W_])[A-Za-z][A-Za-z0-9+.-]{{1,20}}://(?:(?!{run})[^\s<>"'`(){{}}\[\]])+)
      | (?P<named>(?<!\w){NAMED})
      | (?P<word>{word}(?:{_JOINT}{word})*)(?P<star>\*(?![*\w]))?
      | (?P<run>{run}+)
      | (?P<emoji>{emoji})"""
    return _Patterns(re.compile(minus), re.compile(piece, re.VERBOSE), re.compile(f"{word}|{run}+"))


def parse(question: str) -> Asked:
    """Take a question apart.

    Terms are what it asks for, in order, each once, MOST_TERMS at most: without stop words,
    unless nothing else is left; emoji count if not even those are. A minus sign excludes only
    beside a term of substance: `-Xmx` and `what is -Xmx` ask for that word.
    """
    wanted: list[tuple[str, bool]] = []
    unwanted: list[tuple[str, bool]] = []
    for text, quoted, excluded in _split(question):
        (unwanted if excluded else wanted).append((text, quoted))
    found, grade = _kept(wanted)
    if unwanted and grade < 2:
        return Asked(_kept(wanted + unwanted)[0], (), _to_embed(wanted + unwanted, " "))
    left_out = (term for text, quoted in unwanted for term in _excluded(text, quoted))
    return Asked(found, tuple(dict.fromkeys(left_out))[:MOST_TERMS], _to_embed(wanted))


def terms(question: str) -> list[str]:
    """The distinct words and phrases to look up, in order, in lower case."""
    return list(dict.fromkeys(term.text.lower() for term in parse(question).terms))


def _split(question: str) -> Iterator[tuple[str, bool, bool]]:
    """The parts of a question: (text, is it quoted, is it excluded)."""
    at = 0
    for found in compiled(_QUOTED, re.VERBOSE).finditer(question):
        inside = found[found.lastgroup or 0]
        if not _pieces_in(inside):
            continue
        yield from _split_plain(question[at : found.start()])
        yield inside, True, bool(found["minus"])
        at = found.end()
    yield from _split_plain(question[at:])


def _pieces_in(text: str) -> bool:
    """True if there is a term in ``text``."""
    plain = folded(text)
    return bool(_patterns(plain.isascii()).piece.search(plain))


def _split_plain(text: str) -> Iterator[tuple[str, bool, bool]]:
    at = 0
    for found in _patterns(text.isascii()).minus.finditer(text) if "-" in text else ():
        yield text[at : found.start()], False, False
        yield found[1], False, True
        at = found.end()
    yield text[at:], False, False


def _to_embed(parts: Iterable[tuple[str, bool]], between: str = "") -> str:
    return " ".join(between.join(text for text, _ in parts).split())


def _kept(parts: Iterable[tuple[str, bool]]) -> tuple[tuple[Term, ...], int]:
    """The terms to look up, of the best grade that there is, and that grade."""
    found: dict[str, _Found] = {}
    count = 0
    for one in chain.from_iterable(_phrase(t) if quoted else _pieces(t) for t, quoted in parts):
        if one.term.expression not in found:
            found[one.term.expression] = one
            count += one.grade == 2
        if count >= MOST_TERMS:
            break
    said = [one for one in found.values() if one.grade == 2]
    stop = stopwords.foreign(one.term.text.lower() for one in found.values())
    said = [one for one in said if one.term.text.lower() not in stop] or said
    best = said or [one for one in found.values() if one.grade == 1] or list(found.values())
    return tuple(one.term for one in best[:MOST_TERMS]), best[0].grade if best else 0


def _pieces(text: str) -> Iterator[_Found]:
    """The terms of plain text."""
    plain = folded(text)
    at = 0
    for date in datewords.dates_in(plain):
        yield from _words(plain[at : date.start], not at)
        # Notes that lie near the day say its month or year: those count as words of their own.
        yield _Found(_term(plain[date.start : date.end], datewords.spellings(date)))
        for word in datewords.words(date):
            yield _Found(_term(word[0], [(name,) for name in word]))
        at = date.end
    yield from _words(plain[at:], not at)


def _words(text: str, first: bool) -> Iterator[_Found]:
    seen: set[tuple[str, bool]] = set()
    for found in _patterns(text.isascii()).piece.finditer(text):
        written = found.group()
        if (written, first) in seen:
            continue
        seen.add((written, first))
        if found["run"]:
            for pair in dict.fromkeys(tokens.pairs(written)):
                yield _Found(_pair(pair), 1 if stopwords.is_stop(pair, False) else 2)
        elif found["named"]:
            yield _Found(_term(written, [(tokens.named_token(written),)]))
        elif found["emoji"]:
            yield _Found(_term(written, [(tokens.emoji_token(written),)]), 0)
        elif found["url"]:
            yield _Found(_url(written))
        elif found["star"] and len(written) > 2 and text[found.start() - 1 : found.start()] != "*":
            yield _Found(_prefix(found["word"]))
        else:
            yield from _word(found["word"], first)
        first = False


def _word(written: str, first: bool) -> Iterator[_Found]:
    """The terms of a word or an identifier: a compound counts as its words."""
    words = tokens.words(written)
    compound = "-".join(words) == written or (len(words) == 2 and "/".join(words) == written)
    if compound and all(len(word) > 1 and not any(map(str.isdigit, word)) for word in words):
        yield from (_single(word, first) for word in words)
    else:
        yield _single(written, first)


def _single(written: str, first: bool = False) -> _Found:
    """The term of one word or identifier: `Caroline's` without its ending, `l'avion` likewise."""
    grade = 2
    if short := _SHORT.fullmatch(written):
        if short[2].lower() == "t" or stopwords.is_stop(short[1], first):
            grade = 1
        else:
            written = short[1]
    elif elided := _ELISION.fullmatch(written):
        written = elided[1]
    words = tokens.words(written)
    if all(stopwords.is_stop(word, first) for word in words):
        grade = 1
    return _Found(_term(written, spellings(written)), grade)


def _excluded(text: str, quoted: bool) -> list[Term]:
    """What ``text`` excludes: each word by itself, but a compound or a run only as a whole."""
    if quoted:
        return [one.term for one in _phrase(text)]
    plain, left_out = folded(text), []
    for found in _patterns(plain.isascii()).piece.finditer(plain):
        if found["run"]:
            left_out += [one.term for one in _phrase(found.group())]
        elif found["word"] and not found["star"]:
            left_out.append(_single(found["word"]).term)
        else:
            left_out += [one.term for one in _words(found.group(), False)]
    return left_out


def _phrase(text: str) -> Iterator[_Found]:
    """The one term of quoted text, if it has words: side by side, stop words and all."""
    plain = folded(text)
    last, words, star = "", [], False
    for found in _patterns(plain.isascii()).quoted.finditer(plain):
        if last:
            words += tokens.run_tokens(last) if is_run(last) else [last]
        last = found.group()
        if len(words) >= LONGEST_PHRASE:
            break
    if last:
        words += tokens.pairs(last) if is_run(last) else [last]
        star = len(last) == 1 and is_run(last)
        shown = " ".join(plain.split())
        yield _Found(_term(shown, [tuple(words[:LONGEST_PHRASE])], star))
    else:
        yield from _words(plain, False)


def _pair(pair: str) -> Term:
    # One character starts a pair, or stands alone at a run's end.
    return _term(pair, [(pair,)], star=len(pair) == 1)


def _prefix(written: str) -> Term:
    ways = spellings(written)
    made = _term(f"{written}*", ways, star=True)
    whole = completed(written)
    more = f"({made.expression} OR {_quoted(whole)})" if whole else made.expression
    return Term(made.text, more, "prefix")


def _url(written: str) -> Term:
    shown = written.rstrip(".,;:!?'*_~")
    words = tuple(tokens.words(shown.partition("://")[2] or shown))[:LONGEST_PHRASE]
    return _term(shown, [words or tuple(tokens.words(shown))])


def _term(text: str, ways: list[Phrase], star: bool = False) -> Term:
    if is_short_hash(text):
        ways, star = ways[:1], True
    end = "*" if star else ""
    kind: Kind = "prefix" if star else "word" if len(ways[0]) == 1 else "phrase"
    expression = " OR ".join(_quoted(" ".join(way)) + end for way in ways)
    return Term(text, f"({expression})" if len(ways) > 1 else expression, kind)


def _quoted(words: str) -> str:
    return f'"{words}"'
