"""Whether two short texts may contradict each other, and why. A person or an agent decides.

No model: shared words, negation, different values. What it misses, nobody is told of; what it
finds wrongly, costs a look. It is written to find little and that plainly.
"""

from collections import Counter
from dataclasses import dataclass
from itertools import product
from typing import Literal

from memory_palace.core import claimwords
from memory_palace.core.claimwords import CHOOSING, COPULAS, Claim, Token

Kind = Literal["polarity", "value", "one_valued", "choice", "merge"]
KINDS: tuple[Kind, ...] = ("polarity", "value", "one_valued", "choice", "merge")

SHARED = 0.5
"""The share of content words in common (twice the common by the sum) from which on two texts are
about the same thing."""
ALIKE = 0.80
"""The cosine from which on they are too."""
MOST_PROPOSED = 20
"""Pairs that a scan proposes unless it is asked for more."""
APART = 0.6
"""What a contradiction weighs where each text has words of its own too: the api has two replicas,
the worker three."""
MOST_SHOWN = 4
"""Words that a reason names."""

OPPOSITES = frozenset(
    frozenset(map(claimwords.root, pair.split("/")))
    for pair in """
    enable/disable enabled/disabled allow/forbid allowed/forbidden include/exclude accept/reject
    required/optional public/private before/after on/off true/false more/less most/least
    first/last start/stop add/remove increase/decrease sync/async local/remote
    manual/automatic mutable/immutable pass/fail open/closed sorted/unsorted safe/unsafe yes/no
    """.split()
)
"""Pairs of words of which each denies the other."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Why two texts may contradict. ``weight``, 0 to 1, is how plain it is."""

    kind: Kind
    why: str
    weight: float


def compare(a: str, b: str, similarity: float | None = None) -> Contradiction | None:
    """How ``a`` and ``b`` may contradict, None if nothing says so; the same for ``b`` and ``a``.

    ``similarity`` is their cosine, where there is one: from :data:`ALIKE` on it makes up for
    words that they do not share.
    """
    return between(claimwords.read(a), claimwords.read(b), similarity)


def between(a: Claim, b: Claim, similarity: float | None = None) -> Contradiction | None:
    """:func:`compare` for claims that were read before."""
    a, b = sorted((a, b), key=_order)
    if a.plain == b.plain and not _values_apart(a, b):
        return None
    near = max(overlap(a, b), similarity if similarity and similarity >= ALIKE else 0.0)
    if near < SHARED:
        return None
    found = _polarity(a, b)
    if found is None:
        found = _value(a, b) or _choice(a, b)
    if found is None or not found[1]:
        return None
    apart = bool(a.frame - b.frame and b.frame - a.frame) and found[0] != "choice"
    return Contradiction(*found, round(min(near, 1.0) * (APART if apart else 1.0), 3))


def overlap(a: Claim, b: Claim) -> float:
    """The share of content words that two claims have in common, 0 to 1; values do not count."""
    both = len(a.frame) + len(b.frame)
    return 2.0 * len(a.frame & b.frame) / both if both else 0.0


_Found = tuple[Kind, str]


def _order(claim: Claim) -> tuple[object, ...]:
    return claim.plain, [(t.kind, t.key, t.shown, t.denied) for t in claim.tokens]


def _polarity(a: Claim, b: Claim) -> _Found | None:
    """One denies what the other says. An empty reason: they differ in that, but agree so."""
    flipped, agreeing = [], 0
    for word in sorted((a.frame & b.frame) - CHOOSING):
        mine, theirs = a.words[word], b.words[word]
        if mine.isdisjoint(theirs):
            flipped.append(word)
        elif mine == theirs:
            agreeing += 1
    flipped += _flipped_quotes(a, b)
    opposed = _opposed(a, b)
    if flipped and opposed:
        return "polarity", ""  # `never on` and `off`
    if opposed and len(a.frame & b.frame - CHOOSING) >= 1:
        return "polarity", f"opposites: {opposed[0]} and {opposed[1]}"
    if not flipped:
        return ("polarity", "") if _denies(a) != _denies(b) and _verbs_flip(a, b) else None
    if len(flipped) < agreeing:
        return None
    shown = ", ".join(_shown(a, b, flipped)[:MOST_SHOWN])
    directions = {True in (a.words.get(word) or _quote(a, word)) for word in flipped}
    if len(directions) == 2:
        return "choice", f"what one takes the other leaves: {shown}"
    return "polarity", f"one denies what the other says: {shown}"


def _flipped_quotes(a: Claim, b: Claim) -> list[str]:
    keys = {t.key for t in a.tokens if t.kind == "quoted"}
    keys &= {t.key for t in b.tokens if t.kind == "quoted"}
    return sorted(key for key in keys if _quote(a, key).isdisjoint(_quote(b, key)))


def _quote(claim: Claim, key: str) -> frozenset[bool]:
    return frozenset(t.denied for t in claim.tokens if t.kind == "quoted" and t.key == key)


def _denies(claim: Claim) -> bool:
    return any(token.denied for token in claim.tokens)


def _verbs_flip(a: Claim, b: Claim) -> bool:
    """`never use 3.11` and `use 3.12`: the verb differs in polarity, its object is another."""
    verbs = a.frame & b.frame & CHOOSING
    return any(a.words[verb].isdisjoint(b.words[verb]) for verb in verbs)


def _opposed(a: Claim, b: Claim) -> tuple[str, str] | None:
    """The first pair of opposites of which each text has one alone, in order of the alphabet."""
    mine = {claimwords.root(word): word for word in a.plain}
    theirs = {claimwords.root(word): word for word in b.plain}
    only, other = mine.keys() - theirs.keys(), theirs.keys() - mine.keys()
    for pair in sorted(tuple(sorted(pair)) for pair in OPPOSITES if len(pair) == 2):
        if (pair[0] in only and pair[1] in other) or (pair[1] in only and pair[0] in other):
            written = theirs | mine
            return written[pair[0]], written[pair[1]]
    return None


def _shown(a: Claim, b: Claim, keys: list[str]) -> list[str]:
    """The words as written (in the one of the two that sorts first), in its order."""
    wanted = set(keys)
    shown = {t.key: t.shown.lower() for t in reversed(a.tokens) if t.key in wanted}
    return [shown[key] for key in dict.fromkeys(t.key for t in a.tokens) if key in shown]


def _values_apart(a: Claim, b: Claim) -> bool:
    return [t.key for t in a.tokens if t.is_value] != [t.key for t in b.tokens if t.is_value]


def _value(a: Claim, b: Claim) -> _Found | None:
    """The same words beside values of one kind that differ."""
    mine = [n for n, t in enumerate(a.tokens) if t.is_value]
    theirs = [n for n, t in enumerate(b.tokens) if t.is_value]
    had = Counter(a.tokens[n].key for n in mine), Counter(b.tokens[n].key for n in theirs)
    pairs = []
    for m, n in product(mine[:12], theirs[:12]):
        one, other = a.tokens[m], b.tokens[n]
        if one.kind != other.kind or one.denied != other.denied:
            continue
        if one.key in had[1] or other.key in had[0] or not _beside(a, m, b, n):
            continue
        pairs.append(tuple(sorted((one.shown, other.shown))))
    if not pairs:
        return None
    said = ", ".join(f"{one} and {other}" for one, other in dict.fromkeys(pairs[:MOST_SHOWN]))
    return "value", f"different values: {said}"


def _beside(a: Claim, m: int, b: Claim, n: int) -> bool:
    """True if the same word stands before, or the same after, the two values."""
    before = _word(a.tokens, m - 1), _word(b.tokens, n - 1)
    after = _word(a.tokens, m + 1), _word(b.tokens, n + 1)
    return (bool(before[0]) and before[0] == before[1]) or (bool(after[0]) and after[0] == after[1])


def _word(tokens: tuple[Token, ...], at: int) -> str:
    return tokens[at].key if 0 <= at < len(tokens) and not tokens[at].is_value else ""


def _choice(a: Claim, b: Claim) -> _Found | None:
    """All words equal but one, in a sentence that takes one thing."""
    if len(a.tokens) != len(b.tokens) or _denies(a) or _denies(b):
        return None
    apart = [
        (one, other)
        for one, other in zip(a.tokens, b.tokens, strict=True)
        if (one.kind, one.key) != (other.kind, other.key)
    ]
    if len(apart) != 1 or any(token.is_value for token in apart[0]):
        return None
    one, other = apart[0]
    frame = a.frame & b.frame
    takes = not frame.isdisjoint(CHOOSING) or "always" in {*a.plain} & {*b.plain}
    if not takes and not (_is(a, one) and _is(b, other) and len(frame) >= 2):
        return None
    shown = sorted((one.shown, other.shown))
    return "choice", f"{shown[0]} or {shown[1]}, all else being equal"


def _is(claim: Claim, token: Token) -> bool:
    """True for `the branch is main`: the word follows a form of `to be`."""
    at = claim.plain.index(token.shown.lower()) if token.shown.lower() in claim.plain else 0
    return at > 0 and claim.plain[at - 1] in COPULAS
