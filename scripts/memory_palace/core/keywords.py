"""Words of a question as an FTS5 expression, and texts made ready for the keyword index.

Chinese, Japanese and Korean have no spaces that FTS5 could cut at: runs of those scripts are
indexed, and asked for, as pairs of neighbouring characters.
"""

import re
import unicodedata

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

_WORD = re.compile(r"[^\W_]+")
_CJK = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af\U00020000-\U0003ffff]+"
)


def pairs(text: str) -> str:
    """``text`` with every run of Chinese, Japanese or Korean as overlapping pairs."""
    return _CJK.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", text)


def _pairs(run: str) -> list[str]:
    return [run[n : n + 2] for n in range(len(run) - 1)] or [run]


def indexable(text: str) -> str:
    """``text`` as the keyword index takes it: compatibility forms folded, pairs made."""
    if text.isascii():
        return text
    return pairs(unicodedata.normalize("NFKC", text))


def terms(question: str) -> list[str]:
    """The distinct words to look up, in order: without stop words, unless there are no others."""
    words = list(dict.fromkeys(_WORD.findall(indexable(question).lower())))
    kept = [word for word in words if word not in STOP_WORDS] or words
    return kept[:MOST_TERMS]


def fts_expression(question: str) -> str:
    """An FTS5 expression: any of the words. Empty if the question has none."""
    return " OR ".join(_quoted(term) for term in terms(question))


def _quoted(term: str) -> str:
    # One character of a script written in pairs only ever stands at the start of a pair.
    star = "*" if len(term) == 1 and _CJK.match(term) else ""
    return f'"{term}"{star}'
