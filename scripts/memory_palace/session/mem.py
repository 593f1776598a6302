"""Search over what happened: the records of all sessions, ranked by their own values.

The index answers with vectors and keywords. What stands in ledgers and not in the index yet is
found by its words all the same.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

import numpy as np

from memory_palace.core import keywords, ledger_chunks, rarity, relevance, scoring, tokens
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.layers import MOST
from memory_palace.core.ledger import TYPES
from memory_palace.core.relevance import Evidence, Scale
from memory_palace.core.text import did_you_mean
from memory_palace.core.weights import SUPERSEDED, Weights
from memory_palace.files import left_out
from memory_palace.index import scratch
from memory_palace.search.hits import Answer
from memory_palace.search.hits import Hit as SearchHit
from memory_palace.search.query import Query
from memory_palace.session import mem_ledgers
from memory_palace.session.mem_ledgers import Found, Known, Source

KINDS = (*TYPES, *ledger_chunks.KINDS)
"""What ``--type`` takes: what an observation is of, or the kind of a record."""

MOST_BYTES = 64 * 1024 * 1024
"""Of ledgers that the index does not know, so much is read, the newest first."""

FEWEST = 40
MOST_ASKED = 2_560
"""Hits that the index is asked for at first, and at most where filters leave too few."""

Ask = Callable[[Query], Answer]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked. ``types`` are of :data:`KINDS`; ``since`` and ``until`` are inclusive moments
    of the records themselves. ``text`` may be empty where a filter is set."""

    text: str = ""
    types: tuple[str, ...] = ()
    wing: str = ""
    since: datetime | None = None
    until: datetime | None = None
    limit: int = 10

    @property
    def filtered(self) -> bool:
        return bool(self.types or self.wing or self.since or self.until)


class Hit(NamedTuple):
    """A record that answers. ``also`` are other ledgers that have it."""

    found: Found
    score: float
    relevance: float
    also: tuple[Source, ...] = ()


@dataclass(slots=True)
class Result:
    """The hits, best first; how many more were found; lines for whoever asked."""

    hits: list[Hit] = field(default_factory=list)
    more: int = 0
    said: list[str] = field(default_factory=list)


def check(asked: Asked) -> None:
    """Raises :class:`BadInput` for a question that asks nothing, or of a type that is none."""
    if not asked.text.strip() and not asked.filtered:
        raise BadInput("nothing is asked: give some words, or --type, --wing, --since or --until")
    for one in asked.types:
        if one not in KINDS:
            raise BadInput(f"--type {one!r} is no type{did_you_mean(one, KINDS)}")
    if asked.since and asked.until and asked.since > asked.until:
        raise BadInput("--since is after --until: swap them")


def search(
    root: Path, asked: Asked, now: datetime, ask: Ask | None, weights: Weights | None = None
) -> Result:
    """The records that answer, best first; equal scores by id.

    ``ask`` asks the index; None where there is none, and if it raises :class:`Missing` there is
    none either. Raises as :func:`check` does.
    """
    check(asked)
    done = Result()
    every = mem_ledgers.paths(root)
    with Known(root) as known:
        rows = known.rows()
        reader = _Reader(root, asked)
        relevant: dict[tuple[str, str], tuple[Found, float]] = {}
        why = "" if ask else known.why or "the index cannot be asked"
        # Without one here the index may be elsewhere, in Milvus.
        if ask and every and (rows or known.why):
            try:
                relevant = _of_index(reader, asked, ask, set(every))
            except Missing as missing:
                why = str(missing).split(": run ", 1)[0]
        if why and every:
            done.said.append(f"{why}: keywords only, in the ledgers: `palace index` makes one")
        fresh = mem_ledgers.unknown(root, every, {} if why else rows)
        for one, close in _by_words(reader, asked, _within(root, fresh, done), known):
            relevant.setdefault((one.source.path, one.record.id), (one, close))
    if unread := mem_ledgers.unreadable(root, every):
        said = "1 ledger is" if unread == 1 else f"{unread} ledgers are"
        done.said.append(f"{said} not searched, for nothing can read it: `palace index --check`")
    hits = _ranked(list(relevant.values()), now, weights or Weights())
    done.hits, done.more = hits[: asked.limit], max(len(hits) - asked.limit, 0)
    if not every and left_out.of_ledgers(root):
        done.said.append("no ledger can be read: `palace ledger check` says why")
    elif not every:
        done.said.append("no ledger yet: sessions make one, or `palace ledger import` does")
    elif not hits:
        done.said.append("nothing matched: try other words or fewer filters")
    return done


class _Reader:
    """Records of ledgers that pass the filters, each file read once."""

    def __init__(self, root: Path, asked: Asked) -> None:
        self._root, self._asked = root, asked
        self._read: dict[str, dict[str, Found]] = {}

    def all(self, path: str) -> dict[str, Found]:
        """{id: record} of a ledger; the first of an id counts."""
        if path not in self._read:
            self._read[path] = {}
            for one in mem_ledgers.records(self._root, path):
                if passes(self._asked, one):
                    self._read[path].setdefault(one.record.id, one)
        return self._read[path]


def passes(asked: Asked, one: Found) -> bool:
    """True if the filters let a record through."""
    record = one.record
    return (
        (not asked.types or record.type in asked.types or record.kind in asked.types)
        and (not asked.wing or mem_ledgers.same_wing(one.source.wing, asked.wing))
        and (asked.since is None or record.at >= asked.since)
        and (asked.until is None or record.at <= asked.until)
    )


def _within(root: Path, fresh: list[str], done: Result) -> list[str]:
    """As many of the ledgers as are read."""
    kept: list[str] = []
    size = 0
    for path in fresh:
        size += (root / path).stat().st_size if (root / path).is_file() else 0
        if size > MOST_BYTES and kept:
            break
        kept.append(path)
    if len(kept) < len(fresh):
        more = len(fresh) - len(kept)
        done.said.append(f"{more} older ledgers are not in the index: `palace index` adds them")
    return kept


def _of_index(
    reader: _Reader, asked: Asked, ask: Ask, there: set[str]
) -> dict[tuple[str, str], tuple[Found, float]]:
    """What the index finds. More is asked for as long as the filters leave too little."""
    most = max(FEWEST, 4 * asked.limit)
    query = Query(
        text=asked.text.strip(),
        types=("observation",),
        since=asked.since,
        neighbors=0,
        all_chunks=True,
        without=frozenset({"context"}),
    )
    while True:
        hits = ask(replace(query, top_k=most)).hits
        found: dict[tuple[str, str], tuple[Found, float]] = {}
        for hit in hits:
            for one in _records_of(reader, hit, there):
                key = one.source.path, one.record.id
                found.setdefault(key, (one, hit.parts.relevance))
        if len(found) >= asked.limit or len(hits) < most or most >= MOST_ASKED:
            return found
        most *= 4


def _records_of(reader: _Reader, hit: SearchHit, there: set[str]) -> Iterator[Found]:
    """The record that a hit is, and those that were folded into it for saying the same."""
    if hit.path in there and hit.id in reader.all(hit.path):
        yield reader.all(hit.path)[hit.id]
    words = set(hit.text.split())
    for same in hit.same:
        on_line = reader.all(same.path).values() if same.path in there else ()
        twins = [one for one in on_line if one.record.line == same.start]
        if twins:
            yield max(twins, key=lambda one: len(words & set(one.record.content.split())))


def _by_words(
    reader: _Reader, asked: Asked, paths: Sequence[str], known: Known
) -> list[tuple[Found, float]]:
    """Records of ledgers that the index does not know, by their words; each with its relevance, on
    the index's scale."""
    listed = [one for path in paths for one in reader.all(path).values()]
    if not listed:
        return []
    parsed = keywords.parse(asked.text)
    if not asked.text.strip():
        return [(one, scoring.RELEVANCE_WITHOUT_WORDS) for one in listed]
    texts = [tokens.indexable(_words(one)) for one in listed]
    expressions = [term.expression for term in parsed.terms]
    has = scratch.matching(texts, expressions)
    not_wanted = scratch.matching(texts, [term.expression for term in parsed.excluded])
    bm25 = np.zeros(len(listed))
    for term, there in zip(expressions, has, strict=True):
        having, every = known.spread(term)
        here = int(np.count_nonzero(there))
        bm25 += there * rarity.rarity(every + len(listed), min(having + here, every + len(listed)))
    none = np.full(len(listed), np.nan)
    close = relevance.relevance(Evidence(none, bm25, none, none, none), Scale())
    wanted = (bm25 > 0.0) & ~not_wanted.any(axis=0)
    return [(listed[n], float(close[n])) for n in np.flatnonzero(wanted).tolist()]


def _words(one: Found) -> str:
    record = one.record
    return f"{ledger_chunks.line(record)} {one.source.wing} {record.room}"


def _ranked(found: list[tuple[Found, float]], now: datetime, weights: Weights) -> list[Hit]:
    """By the compound score of each record's own time and type; what is in several ledgers once."""
    if not found:
        return []
    records = [one.record for one, _ in found]
    days = np.array([(now - record.at).total_seconds() / 86_400.0 for record in records])
    close = np.array([near * (SUPERSEDED if one.record.dropped else 1.0) for one, near in found])
    high = np.array([record.importance / MOST for record in records])
    recent = scoring.recency(days, weights.half_life_days)
    scores = scoring.compound(close, recent, high, weights)
    hits = [
        Hit(one, float(score), float(near))
        for (one, _), score, near in zip(found, scores, close, strict=True)
    ]
    hits.sort(key=lambda hit: (-hit.score, hit.found.record.id, hit.found.source.path))
    first: dict[str, Hit] = {}
    for hit in hits:
        key = hit.found.record.id
        if key in first:
            before = first[key]
            first[key] = before._replace(also=(*before.also, hit.found.source))
        else:
            first[key] = hit
    return list(first.values())
