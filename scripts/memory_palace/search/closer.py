"""A closer look at the best: late interaction of the question's words with theirs."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import late as interaction
from memory_palace.core import naming
from memory_palace.core.chunk import Unit
from memory_palace.core.keywords import Asked
from memory_palace.core.scoring import Scores
from memory_palace.core.text import is_mined
from memory_palace.embed.port import Vectors
from memory_palace.index.catalog import Catalog

CANDIDATES = 100
"""So many chunks are looked at: more found nothing more on conversations of 550 chunks."""

_A_HIT = 4
"""So many chunks for each hit that is asked for, where those are more."""

Ids = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Looked:
    """Late interaction of chunks, shape (k,): their own, and their notes'; NaN without tokens.

    ``matches[i]``, shape (q, tokens), are the i-th chunk's; ``starts[i]`` where its tokens start
    in the embedded text.
    """

    late: Scores
    note_late: Scores
    matches: tuple[interaction.Matches | None, ...]
    starts: tuple[NDArray[np.uint32], ...]

    def line(self, i: int, start: int, end: int) -> float:
        """Late interaction of a part of the i-th chunk: characters ``start`` up to ``end`` of its
        embedded text; NaN where no token stands."""
        found, at = self.matches[i], self.starts[i]
        inside = (at >= start) & (at < end)
        if found is None or not inside.any():
            return float("nan")
        return float(found[:, inside].max(axis=1).mean())


def candidates(score: Scores, proven: NDArray[np.bool_], file: Ids, top_k: int) -> Ids:
    """The places of the chunks to look at: the best by ``score``, and the best of each of the best
    notes, which a huge one would crowd out; ascending."""
    places = np.flatnonzero(proven)
    if len(places) <= most(top_k):
        return places
    places = places[np.argsort(-score[places], kind="stable")]
    _, firsts = np.unique(file[places], return_index=True)
    notes = places[np.sort(firsts)[: most_notes(top_k)]]
    return np.union1d(places[: most(top_k)], notes)


def most(top_k: int) -> int:
    """How many chunks are looked at."""
    return max(CANDIDATES, _A_HIT * top_k)


def most_notes(top_k: int) -> int:
    """Of how many notes, the best, the best chunk is looked at in any case."""
    return _A_HIT * top_k


def look(catalog: Catalog, question: Vectors, chunks: Ids, vectors: Ids, files: Ids) -> Looked:
    """Look at ``chunks``, shape (k,), with the ids of their vectors (-1: none) and their files."""
    rows = catalog.tokens([int(v) for v in vectors if v >= 0])
    width = question.shape[1] // 8
    held = [rows.get(int(v)) for v in vectors]
    bits = [
        np.frombuffer(row[1] if row else b"", dtype=np.uint8).reshape(-1, width) for row in held
    ]
    starts = tuple(np.frombuffer(row[0] if row else b"", dtype=np.uint32) for row in held)
    own = np.full(len(chunks), np.nan)
    whole = np.full(len(chunks), np.nan)
    lengths = np.array([len(one) for one in bits], dtype=np.int64)
    there = np.flatnonzero(lengths)
    parts: list[interaction.Matches | None] = [None] * len(chunks)
    if len(there):
        found = interaction.matches(question, np.concatenate([bits[i] for i in there]))
        begins = np.concatenate([[0], np.cumsum(lengths[there])[:-1]])
        best = interaction.best(found, begins)
        own[there] = best.mean(axis=0)
        for column, i in enumerate(there):
            parts[i] = found[:, begins[column] : begins[column] + lengths[i]]
        for file in np.unique(files[there]):
            same = files[there] == file
            whole[files == file] = best[:, same].max(axis=1).mean()
        whole[np.isnan(own)] = np.nan
    return Looked(own, whole, tuple(parts), starts)


def names(catalog: Catalog, question: Asked, chunks: Ids) -> Scores:
    """How well the question names what is defined at the start of each of ``chunks``, shape (k,);
    0 for all that is no code."""
    found = np.zeros(len(chunks))
    asked = naming.asked_for(question.terms)
    if not asked:
        return found
    rows = catalog.db.execute(
        """SELECT w.key, c.heading, f.path FROM json_each(?) w JOIN chunks c ON c.id = w.value
           JOIN files f ON f.id = c.file_id
           WHERE f.type = 'code' AND c.ordinal = 0 AND c.heading != '[]'""",
        (json.dumps(chunks.tolist()),),
    )
    for place, heading, path in rows:
        if is_mined(path):
            found[place] = naming.likeness(asked, json.loads(heading), path.partition("/")[2])
    return found


def units_of(text: str) -> tuple[Unit, ...]:
    """A chunk's units, as the catalog has them."""
    return tuple(Unit(*unit) for unit in json.loads(text))


def spans(units: Sequence[Unit], length: int) -> list[tuple[int, int]]:
    """Where each unit starts and ends in an embedded text of ``length`` characters."""
    ends = [*(unit.offset for unit in units[1:]), length]
    return [(unit.offset, end) for unit, end in zip(units, ends, strict=True)]
