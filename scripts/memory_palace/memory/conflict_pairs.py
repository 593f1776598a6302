"""Which of many short texts may contradict, without looking at every pair.

Candidates share rare words, stand side by side when sorted without their values, or have similar
vectors; each candidate is then compared word by word.
"""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from memory_palace.core import claimwords, contradiction
from memory_palace.core.claimwords import Claim
from memory_palace.core.contradiction import ALIKE, Contradiction
from memory_palace.embed.port import Vectors

MOST_SHARING = 40
"""A word that more texts have brings no pair together by itself."""
RAREST = 5
"""Words of a text, rarest first, by which others are found."""
NEIGHBOURS = 3
"""Texts after it in sorted order that each is compared with."""
NEAREST = 8
"""Texts with the most similar vectors that each is compared with."""
MOST_PAIRS = 40_000
"""Pairs that are compared word by word; those that share the most are kept."""
_ROWS = 1024


def contradicting(
    texts: Sequence[str], vectors: Vectors | None
) -> Iterator[tuple[int, int, Contradiction]]:
    """(place, place, why) of the pairs of ``texts`` that may contradict, the smaller place first.

    ``vectors`` has shape (n, d), rows of length 1.
    """
    claims = [claimwords.read(text) for text in texts]
    weights = _by_words(claims)
    for pair in _neighbours(claims):
        weights.setdefault(pair, 1.0)
    cosines = _by_vectors(vectors) if vectors is not None else {}
    for pair, cosine in cosines.items():
        weights[pair] = max(weights.get(pair, 0.0), cosine)
    best = sorted(weights, key=lambda pair: (-weights[pair], pair))[:MOST_PAIRS]
    for one, other in sorted(best):
        found = contradiction.between(claims[one], claims[other], cosines.get((one, other)))
        if found:
            yield one, other, found


def _by_words(claims: Sequence[Claim]) -> dict[tuple[int, int], float]:
    """Pairs that share rare words, and how many: each word counts by how few texts have it."""
    having: dict[str, list[int]] = defaultdict(list)
    for place, claim in enumerate(claims):
        for word in claim.frame:
            having[word].append(place)
    found: dict[tuple[int, int], float] = defaultdict(float)
    rarest: dict[str, list[int]] = defaultdict(list)
    for place, claim in enumerate(claims):
        shared = [word for word in claim.frame if 1 < len(having[word]) <= MOST_SHARING]
        for word in sorted(shared, key=lambda w: (len(having[w]), w))[:RAREST]:
            rarest[word].append(place)
    for word, places in rarest.items():
        for pair in combinations(places, 2):
            found[pair] += 1.0 / len(having[word])
    return found


def _neighbours(claims: Sequence[Claim]) -> Iterator[tuple[int, int]]:
    """Pairs that stand close when sorted by their words: the same sentence with another number."""
    order = sorted(range(len(claims)), key=lambda n: (sorted(claims[n].frame), n))
    for at, place in enumerate(order):
        for other in order[at + 1 : at + 1 + NEIGHBOURS]:
            yield (place, other) if place < other else (other, place)


def _by_vectors(vectors: Vectors) -> dict[tuple[int, int], float]:
    """Pairs with a cosine of at least :data:`ALIKE`, the nearest of each text."""
    found: dict[tuple[int, int], float] = {}
    for start in range(0, len(vectors), _ROWS):
        cosines = vectors[start : start + _ROWS] @ vectors.T
        rows = np.arange(len(cosines))
        cosines[rows, start + rows] = -1.0
        alike = cosines >= ALIKE
        for row in np.flatnonzero(alike.any(axis=1)).tolist():
            places = np.flatnonzero(alike[row])
            if len(places) > NEAREST:
                places = places[np.argsort(-cosines[row, places], kind="stable")[:NEAREST]]
            for place in places.tolist():
                pair = (min(start + row, place), max(start + row, place))
                found[pair] = float(cosines[row, place])
    return found
