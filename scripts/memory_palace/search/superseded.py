"""Superseded notes: which they are, and how they rank behind their successors."""

from collections.abc import Sequence
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from memory_palace.core.scoring import Scores
from memory_palace.core.weights import SUPERSEDED
from memory_palace.index.catalog import Catalog

RELEVANCE = SUPERSEDED
"""What is left of a superseded note's relevance."""

_STEP = 1e-9
"""How far behind its successor a superseded note comes at least."""

_LONGEST = 100
"""Successors of successors that are followed; a ring of notes ends there."""

Ids = NDArray[np.int64]


def pairs(catalog: Catalog, files: Sequence[int]) -> Ids:
    """Places in ``files`` of each superseded note and its successor, shape (s, 2).

    Either note may say so: ``superseded_by`` in the old one, ``supersedes`` in the new one.
    """
    place = {file: n for n, file in enumerate(files)}
    rows = catalog.db.execute(
        """SELECT l.file_id, t.id, l.key FROM links l JOIN files t ON t.path = l.path
           WHERE l.key IN ('supersedes', 'superseded_by') AND t.id != l.file_id"""
    ).fetchall()
    found = {
        (place[target], place[source]) if key == "supersedes" else (place[source], place[target])
        for source, target, key in rows
    }
    return np.array(sorted(found), dtype=np.int64).reshape(-1, 2)


def as_of(older: Ids, time: Scores, moment: datetime) -> Ids:
    """Those of the pairs whose successor was there at that moment. ``time`` is of the files, in
    seconds (NaN: none)."""
    return older[~(time[older[:, 1]] > moment.timestamp())]


def behind(score: Scores, file: Ids, proven: NDArray[np.bool_], older: Ids) -> Scores:
    """``score`` with each superseded file's chunks under the best of its successor's, where that
    is a hit. ``score``, ``file`` and ``proven`` have shape (n,), one element a chunk."""
    score = score.copy()
    # A file's chunks stand together, in the order of the files.
    starts = np.searchsorted(file, older, side="left").tolist()
    ends = np.searchsorted(file, older, side="right").tolist()
    pairs = [
        (slice(start[0], end[0]), slice(start[1], end[1]))
        for start, end in zip(starts, ends, strict=True)
        if start[0] < end[0] and start[1] < end[1]
    ]
    hit = np.where(proven, score, -np.inf)
    for _ in range(min(len(older), _LONGEST)):
        changed = False
        for mine, theirs in pairs:
            most = float(hit[theirs].max()) - _STEP
            if most > -np.inf and float(score[mine].max()) > most:
                score[mine] = np.minimum(score[mine], most)
                hit[mine] = np.minimum(hit[mine], most)
                changed = True
        if not changed:
            break
    return score
