"""How much a sentence says: rare words, names, numbers and days, what people did or plan.

No word is known to be important by itself; what counts is that it is neither one of those that
every sentence has, nor one of those that people say to be kind.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from memory_palace.core import rarity
from memory_palace.core.stopwords import ENGLISH, OTHERS, PAIRED, foreign
from memory_palace.core.tokens import RUN, compiled, folded, is_run, pairs, words

NEGATIONS = frozenset("no nor not never neither without cannot none".split())
"""Stop words without which a sentence says the opposite."""

FILLERS = frozenset(
    """
    absolutely actually ah aha aw aww amazing anyway anytime awesome basically bet bye cheers cool
    congrats congratulations cya definitely exactly exciting fab fabulous fantastic glad goodbye
    gosh great guess haha hello hey hi hmm hooray hope incredible inspiring interesting kinda kudos
    lol love lovely luck maybe nice nope oh ok okay omg oops perfect pleasure please pretty probably
    proud quite really right sorry sounds stuff super sure talk thank thankful thanks that'd thing
    things think totally true truly ugh um understood wanna way well welcome whoa wish wonderful
    wow yay yea yeah yep yes yup hear know look looks looking good lot lots bit gonna gotta keep
    feel feeling feels awful always also even still
    """.split()
)
"""Words that people say to be kind, to begin with or to go on: they state nothing."""

_ENGLISH_ALONE = ENGLISH.difference(*OTHERS)
_SHORT = frozenset(
    """
    i'm i've i'd i'll it's that's there's here's what's who's how's he's she's we're we've we'd
    we'll you're you've you'd you'll they're they've they'd they'll let's
    """.split()
)
# Without these a telegram says something else.
_BETWEEN = frozenset("before after until since under over off out during only than but".split())
_LEFT_OUT = (ENGLISH - NEGATIONS - _BETWEEN) | FILLERS | _SHORT
_SENTENCE = re.compile(r"[^.!?…。！？\n]*(?:[.!?…。！？]+(?![\w/])|\n|[.!?…。！？]|\Z)")
_CLOSING = ")]`"
_CLOSED = re.compile(r"[)\]`]{1,9}(?=\s+[^\Wa-z\d_]|\s*\Z|\n)")  # then a capital, or nothing more
_FIRST_PERSON = frozenset("i i'm i've i'd i'll me my mine we we're we've we'd we'll our us".split())
_SECOND_PERSON = frozenset("you you're you've you'd you'll your yours".split())
_WHEN = frozenset(
    """
    yesterday today tonight tomorrow week weeks weekend month months year years day days ago last
    next monday tuesday wednesday thursday friday saturday sunday january february march april june
    july august september october november december since
    """.split()
)
_COUNTS = frozenset(
    """
    two three four five six seven eight nine ten eleven twelve dozen hundred thousand million
    first second third once twice
    """.split()
)
_SIGNS = '.,!?;:"()*…'
# Measured on LoCoMo (bench/README.md): above all, questions have to count less.
_TOLD_WHEN = _COUNTED = 0.35
_OWN, _OTHERS, _ASKED, _ASIDE = 1.4, 0.5, 0.3, 0.4

LONGEST = 16_000
"""Characters of a text that are looked at; of a longer one, its beginning and its end."""


def bounded(text: str) -> str:
    """``text``, or its beginning and end if it is longer than :data:`LONGEST`."""
    if len(text) <= LONGEST:
        return text
    return f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"


def sentences(text: str) -> list[str]:
    """The sentences of ``text`` with their signs, each on one line, without empty ones.

    A sign inside of a word (``3.5``, ``a.py``) ends none.
    """
    found = (" ".join(one.split()) for one in _parts(text))
    return [one for one in found if any(map(str.isalnum, one))]


def _parts(text: str) -> Iterable[str]:
    start = 0
    for found in _SENTENCE.finditer(text):
        end = _end(text, found.end())
        if end > start:
            yield text[start:end]
            start = end


def _end(text: str, end: int) -> int:
    """Where the sentence ends that has its last sign before ``end``, with what closes after it; 0
    for a sign inside of a word (a point between letters or digits), or of brackets or code."""
    last, after = text[max(end - 1, 0) : end], text[end : end + 1]
    if not last.isascii() or last == "\n" or not after:
        return end
    if after in _CLOSING:
        closed = _CLOSED.match(text, end)
        return closed.end() if closed else 0
    return 0 if after.isalnum() or after in "/_" else end


@lru_cache(maxsize=20_000)
def stem(word: str) -> str:
    """``word`` (lower case) without the endings that English adds: ``painted`` is ``paint``."""
    if not word.isascii() or len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            word = word[: -len(ending)]
            if word[-1] == word[-2] and word[-1] not in "lsz":
                word = word[:-1]
            break
    return word[:-1] if word.endswith("e") and len(word) > 4 else word


def terms(text: str) -> list[str]:
    """The words of ``text`` that say something, in order, stemmed, in lower case."""
    plain = folded(text).lower()
    found: list[str] = []
    said = words(plain)
    if not plain.isascii():
        said += [pair for run in compiled(f"{RUN}+").findall(plain) for pair in pairs(run)]
    strange = foreign(said) if _ENGLISH_ALONE.isdisjoint(said) else frozenset()
    for word in said:
        if word in ENGLISH or word in FILLERS or word in PAIRED or word in strange:
            continue
        if len(word) > 1 or word.isdigit() or is_run(word):
            found.append(stem(word))
    return found


class Rarity:
    """How rare each term is among some texts: 1 for one that a single text has, towards 0 for one
    that all have."""

    def __init__(self, texts: Iterable[str]) -> None:
        found = [set(terms(text)) for text in texts]
        having = Counter(term for one in found for term in one)
        rows = max(len(found), 1)
        once = rarity.rarity(rows, 1)
        self._known = {term: rarity.rarity(rows, n) / once for term, n in having.items()}

    def __call__(self, term: str) -> float:
        """The weight of a term, above 0, at most 1."""
        return self._known.get(term, 1.0)


def weights(text: str, rare: Rarity) -> Mapping[str, float]:
    """What each term of ``text`` counts, by its rarity."""
    return {term: rare(term) for term in dict.fromkeys(terms(text))}


def worth(sentence: str, rare: Rarity) -> float:
    """How much a sentence says, about the number of rare words in it; 0 for one that only is kind.

    More with a day or a number, and where people tell of themselves; less where they speak of the
    other or something stands in brackets, least in a question.
    """
    total = sum(weights(sentence, rare).values())
    if not total:
        return 0.0
    if sentence.startswith("["):
        return total * _ASIDE
    bare = {word.strip(_SIGNS) for word in sentence.lower().replace("’", "'").split()}
    if bare & _WHEN:
        total += _TOLD_WHEN
    if bare & _COUNTS or any(map(str.isdigit, sentence)):
        total += _COUNTED
    if sentence.endswith(("?", "？")):
        return total * _ASKED
    if bare & _FIRST_PERSON:
        return total * _OWN
    return total * _OTHERS if bare & _SECOND_PERSON else total


def says_nothing(word: str) -> bool:
    """True for a word, with the signs around it, that a telegram leaves out."""
    bare = word.lower().replace("’", "'").strip(_SIGNS)
    return not bare or bare in _LEFT_OUT
