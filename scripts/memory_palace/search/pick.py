"""From ranked chunks to hits: checked against their files, each note once, doubles folded."""

import json
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import dates
from memory_palace.core.relevance import Scale
from memory_palace.core.text import is_mined
from memory_palace.core.weights import Weights
from memory_palace.embed.port import Embedder
from memory_palace.index.catalog import Catalog
from memory_palace.index.freshness import Checker
from memory_palace.search import alike, closer, lines, reread
from memory_palace.search.hits import Hit, Same
from memory_palace.search.lines import Line
from memory_palace.search.query import Query
from memory_palace.search.question import Question
from memory_palace.search.rank import Ranked
from memory_palace.search.table import Table

if TYPE_CHECKING:
    from pathspec import PathSpec

Vector = NDArray[np.float32]

MOST_OF_A_SOURCE = 3
"""Hits of one source file, which has many things, where a note is about one."""


@dataclass(frozen=True, slots=True)
class Asking:
    """One query of one catalog, what has been found for it, and what it was asked with.

    ``excluded`` are the files that the configuration leaves out; ``cold`` marks the archive.
    """

    query: Query
    question: Question
    ranked: Ranked
    catalog: Catalog
    checker: Checker
    now: datetime
    cold: bool
    weights: Weights
    scale: Scale
    embedder: Embedder | None
    excluded: "PathSpec[Any] | None"


def hits(asking: Asking) -> list[Hit]:
    """The hits in order, as the query wants them: chunks or lines, the best or unlike ones."""
    if asking.query.lines:
        return _lines(asking)
    if asking.query.diverse:
        return _diverse(asking)
    return _first(asking, asking.query.top_k)


def _first(asking: Asking, most: int) -> list[Hit]:
    """The first hits in order, each note once and each source a few times, unless all chunks
    are wanted; what says nearly the same as one before it is folded into that."""
    ranked = asking.ranked
    kept: list[Hit] = []
    vectors: list[Vector | None] = []
    left: dict[int, int] = {}
    defined: set[int] = set()
    for n in ranked.in_order():
        file = int(ranked.table.file[n])
        if left.get(file) == 0 and not asking.query.all_chunks:
            continue
        hit = _hit(n, asking)
        if hit is None:
            continue
        if file in defined and not (hit.heading or asking.query.all_chunks):
            continue  # what stands between definitions
        if hit.heading:
            defined.add(file)
        left[file] = left.get(file, MOST_OF_A_SOURCE if _is_source(hit) else 1) - 1
        # The vector of a file that has changed since may be that of another text.
        changed = asking.checker.has_changed(hit.path)
        vector = None if changed else _vector(ranked.table, n)
        twin = alike.folds(vector, vectors)
        if twin is None:
            if len(kept) == most:
                break
            kept.append(hit)
            vectors.append(vector)
        else:
            kept[twin] = _with(kept[twin], hit)
    return kept


def _is_source(hit: Hit) -> bool:
    return is_mined(hit.path) and hit.type == "code"


def _lines(asking: Asking) -> list[Hit]:
    """The best lines; one that says the same as one before it is folded into that."""
    kept: dict[str, Hit] = {}
    for line in lines.lines(asking.catalog, asking.ranked, asking.question, asking.weights):
        hit = _line(line, asking)
        if hit is None:
            continue
        said = " ".join(hit.text.split())
        if said in kept:
            kept[said] = _with(kept[said], hit)
        elif len(kept) == asking.query.top_k:
            break
        else:
            kept[said] = hit
    return list(kept.values())


def _diverse(asking: Asking) -> list[Hit]:
    """Of the best, some that are unlike each other."""
    table = asking.ranked.table
    found = _first(asking, max(closer.CANDIDATES, asking.query.top_k))
    if not found:
        return []
    place = {row: n for n, row in enumerate(table.chunk.tolist())}
    vectors = [_vector(table, place[hit.row]) for hit in found]
    wide = table.vectors.dimension if table.vectors else 1
    stacked = np.stack([np.zeros(wide, np.float32) if v is None else v for v in vectors])
    score = np.array([hit.score for hit in found])
    order = alike.diverse(score, stacked, asking.query.top_k, asking.query.diverse)
    return [found[n] for n in order]


def _with(hit: Hit, same: Hit) -> Hit:
    return replace(hit, same=(*hit.same, Same(same.path, same.start, same.end)))


def _vector(table: Table, n: int) -> Vector | None:
    """The vector of the table's n-th chunk."""
    if table.vectors is None or table.row[n] < 0:
        return None
    vector: Vector = table.vectors.vectors_of(table.row[n : n + 1])[0]
    return vector


def _hit(n: int, asking: Asking) -> Hit | None:
    """The table's n-th chunk as it stands in its file now; None if its text is gone."""
    ranked, catalog = asking.ranked, asking.catalog
    row = catalog.db.execute(
        """SELECT f.path, f.sha256, f.title, f.time, f.type, f.priority, f.room,
                  c.chunk_id, c.heading, c.start, c."end", c.text
           FROM chunks c JOIN files f ON f.id = c.file_id WHERE c.id = ?""",
        (int(ranked.table.chunk[n]),),
    ).fetchone()
    path, sha256, title, at, kind, priority, room, chunk_id, heading, start, end, text = row
    if asking.excluded and not is_mined(path) and asking.excluded.match_file(path):
        return None  # palace.yaml changed since the index
    terms = asking.question.asked.terms
    has = tuple(t.text for t, there in zip(terms, ranked.matched[:, n], strict=False) if there)
    hit = Hit(
        path=path,
        id=chunk_id,
        title=title,
        heading=tuple(json.loads(heading)),
        start=start,
        end=end,
        date=None if at is None else dates.from_seconds(at),
        type=kind,
        priority=priority,
        score=float(ranked.score[n]),
        parts=replace(ranked.parts(n), terms=has),
        text=text,
        archived=asking.cold,
        row=int(ranked.table.chunk[n]),
        room=room,
    )
    if asking.checker.unchanged(path, sha256):
        return replace(hit, best=lines.best_line(catalog, ranked, asking.question, n))
    parsed = asking.checker.as_it_is(path)
    return reread.reread(hit, parsed, asking) if parsed else None


def _line(line: Line, asking: Asking) -> Hit | None:
    """A line as a hit; None if it is not in its chunk any more."""
    hit = _hit(line.place, asking)
    if hit is None:
        return None
    start, end = line.start, line.end
    if asking.checker.has_changed(hit.path):
        at = f"\n{hit.text}\n".find(f"\n{line.text}\n")  # whole lines
        if at < 0:
            return None
        start = hit.start + hit.text.count("\n", 0, at)
        end = start + line.text.count("\n")
    parts = replace(hit.parts, relevance=line.relevance, late=line.late)
    return replace(
        hit,
        id=line.id,
        start=start,
        end=end,
        text=line.text,
        score=line.score,
        parts=parts,
        best=None,
    )
