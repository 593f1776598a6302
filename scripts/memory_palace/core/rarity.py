"""How much a word says: the fewer rows have it, the more."""

import math

LEAST_IDF = 1e-6
"""What a word counts that is in half of the rows or more, as in FTS5."""


def rarity(rows: int, having: int) -> float:
    """The weight of a word (or phrase, or prefix) that ``having`` of ``rows`` rows have.

    Always above 0, as in Lucene: in a palace of a few notes, where a word soon stands in half of
    them, FTS5's weight would be none.
    """
    return math.log1p((rows - having + 0.5) / (having + 0.5))


def idf(rows: int, having: int) -> float:
    """The same as FTS5 has it."""
    weight = math.log((rows - having + 0.5) / (having + 0.5))
    return weight if weight > 0.0 else LEAST_IDF
