"""When keywords alone prove that a text is about what is asked: some of them, and rare ones.

Stricter than a search, where one word makes a hit: what is put before an agent unasked has to fit.
"""

from collections.abc import Iterable
from typing import NamedTuple

from memory_palace.core.rarity import rarity

PROVEN = 0.5
"""The share of the question's weight that stands in the text, times that weight in rarest words:
a small part of a question says little, and so does all of one that has only everyday words
(bench/README.md has what it finds)."""

ALONE_SHARE = 0.55
"""Of a question of few words one rare word proves it, if it has so much of the weight."""

ALONE_ROWS = 0.002
"""How rare that is: the share of rows that have it, or :data:`ALONE_LEAST` rows."""
ALONE_LEAST = 5

ENOUGH = 2.5
"""For a long question it is enough to have so much, in rarest words."""

COMMON_SHARE = 0.1
"""A word of more rows than this share proves nothing, nor is it looked up."""
COMMON_LEAST = 40
"""In a palace of a few notes its subject stands in many: a word is common from so many rows on."""

UNKNOWN = 0.5
"""What a word counts that no row has, beside the rarest that one has."""


def common_from(rows: int) -> int:
    """A word that so many rows have is common."""
    return max(int(rows * COMMON_SHARE), COMMON_LEAST)


class Weighed(NamedTuple):
    """The words of a question by their weight; 0 for a common one. ``having`` says how many of
    ``rows`` have each."""

    weights: tuple[float, ...]
    having: tuple[int, ...]
    rows: int

    def worth(self, has: Iterable[int]) -> float:
        """The weight of the words at these places, each once."""
        return sum(self.weights[place] for place in set(has))

    def proves(self, has: Iterable[int]) -> bool:
        """True if a text with the words at these places is about the question."""
        telling = {place for place in has if self.weights[place] > 0.0}
        if not telling:
            return False
        whole, found = sum(self.weights), self.worth(telling)
        if len(telling) == 1:
            (only,) = telling
            rare = self.having[only] <= max(self.rows * ALONE_ROWS, ALONE_LEAST)
            return rare and found >= ALONE_SHARE * whole
        amount = found / rarity(self.rows, 1)
        return amount >= ENOUGH or found / whole * amount >= PROVEN


def weighed(rows: int, having: Iterable[int]) -> Weighed:
    """The words of a question that ``having`` of ``rows`` rows have each."""
    counts = tuple(having)
    common = common_from(rows)
    weights = tuple(
        UNKNOWN * rarity(rows, 1) if not count else 0.0 if count > common else rarity(rows, count)
        for count in counts
    )
    return Weighed(weights, counts, rows)
