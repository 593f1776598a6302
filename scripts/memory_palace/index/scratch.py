"""Keywords in texts that are not in the index: the same tokenizer, in memory."""

import sqlite3
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from memory_palace.index.schema import TOKENIZE


def matching(texts: Sequence[str], expressions: Sequence[str]) -> NDArray[np.bool_]:
    """Which texts, as ``tokens.indexable`` makes them, each FTS5 expression matches, shape
    (expressions, texts)."""
    found = np.zeros((len(expressions), len(texts)), dtype=bool)
    if not found.size:
        return found
    db = sqlite3.connect(":memory:", isolation_level=None)
    try:
        db.execute(f'CREATE VIRTUAL TABLE texts USING fts5(body, tokenize = "{TOKENIZE}")')
        db.execute("BEGIN")
        db.executemany(
            "INSERT INTO texts (rowid, body) VALUES (?, ?)",
            list(enumerate(texts)),
        )
        for number, expression in enumerate(expressions):
            rows = db.execute("SELECT rowid FROM texts WHERE texts MATCH ?", (expression,))
            found[number, [row[0] for row in rows]] = True
    finally:
        db.close()
    return found
