"""Words of a question as an FTS5 expression, and texts made ready for the keyword index.

Chinese, Japanese and Korean have no spaces that FTS5 could cut at: runs of those scripts are
indexed, and asked for, as pairs of neighbouring characters.
"""

import re
import unicodedata
from collections.abc import Iterator
from itertools import groupby

MOST_TERMS = 64
"""Distinct words of a question that are looked up; a longer question is cut there."""

STOP_WORDS = frozenset(
    """
    a about after again all also am an and any are as at be because been before being between
    both but by can could d did do does doing done down during each either else ever few for
    from get give go had has have having he her here hers herself him himself his how i if in
    into is it its itself just ll m may me might mine more most much must my myself neither no
    nor not now of off on once only or other our ours ourselves out over own re s
    same shall she should since so some such t than that the their theirs them themselves then
    there these they this those through to too under until up upon us ve very was we were what
    when where which while who whom whose why will with within without would yet you your
    yours yourself yourselves
    """.split()
)

_CJK = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff]+"
)


def pairs(text: str) -> str:
    """``text`` with every run of Chinese, Japanese or Korean as overlapping pairs."""
    return _CJK.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", text)


def _pairs(run: str) -> list[str]:
    return [run[n : n + 2] for n in range(len(run) - 1)] or [run]


def indexable(text: str) -> str:
    """``text`` as the keyword index takes it: compatibility forms folded, pairs made.

    The last character of a run starts no pair: it is added, so that it is found alone too.
    """
    if text.isascii():
        return text
    return _CJK.sub(
        lambda run: f" {' '.join([*_pairs(run.group()), run.group()[-1]])} ", _folded(text)
    )


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def terms(question: str) -> list[str]:
    """The distinct words to look up, in order: without stop words, unless there are no others."""
    words = list(dict.fromkeys(word.lower() for word in _words(pairs(_folded(question)))))
    kept = [word for word in words if word not in STOP_WORDS] or words
    return kept[:MOST_TERMS]


def _words(text: str) -> Iterator[str]:
    """The runs of letters and digits with their marks (accents, vowel signs)."""
    for inside, run in groupby(text, _in_word):
        word = "".join(run)
        if inside and any(c.isalnum() for c in word):
            yield word


def _in_word(character: str) -> bool:
    return character.isalnum() or unicodedata.category(character).startswith("M")


def fts_expression(question: str) -> str:
    """An FTS5 expression: any of the words. Empty if the question has none."""
    return " OR ".join(_quoted(term) for term in terms(question))


def _quoted(term: str) -> str:
    # One character of a script written in pairs starts a pair, or stands alone at a run's end.
    star = "*" if len(term) == 1 and _CJK.match(term) else ""
    return f'"{term}"{star}'
