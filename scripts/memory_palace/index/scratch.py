"""Keywords in texts that are not in the index: the same tokenizer, in memory."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from typing import TYPE_CHECKING

from memory_palace.index.schema import TOKENIZE

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def matching(texts: Sequence[str], expressions: Sequence[str]) -> NDArray[np.bool_]:
    """Which texts, as ``tokens.indexable`` makes them, each FTS5 expression matches, shape
    (expressions, texts)."""
    import numpy as np  # what only wants the places does without

    found = np.zeros((len(expressions), len(texts)), dtype=bool)
    for number, having in enumerate(places(texts, expressions)):
        found[number, having] = True
    return found


def places(texts: Sequence[str], expressions: Sequence[str]) -> list[list[int]]:
    """The same as places in ``texts``, ascending, a list for each expression."""
    if not texts or not expressions:
        return [[] for _ in expressions]
    made = Texts(texts)
    try:
        return made.places(expressions)
    finally:
        made.close()


class Texts:
    """Texts that are asked more than once; close it. For one thread at a time."""

    def __init__(self, texts: Sequence[str]) -> None:
        """``texts`` are as ``tokens.indexable`` makes them."""
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._db.execute(f'CREATE VIRTUAL TABLE texts USING fts5(body, tokenize = "{TOKENIZE}")')
        self._db.execute("BEGIN")
        self._db.executemany(
            "INSERT INTO texts (rowid, body) VALUES (?, ?)", list(enumerate(texts))
        )

    def close(self) -> None:
        self._db.close()

    def places(self, expressions: Sequence[str]) -> list[list[int]]:
        """As :func:`places`."""
        rows = (
            self._db.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (expression,))
            for expression in expressions
        )
        return [[row[0] for row in having] for having in rows]
