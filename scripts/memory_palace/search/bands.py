"""Questions as Milvus conditions: filters, and bands of equal standing.

A compound score is relevance and *standing* (recency and importance). Milvus orders by relevance
only: by cosine, by BM25. So a question is asked in several bands of standing, from the highest
down, and in each the most relevant units are taken: what is old and unimportant cannot crowd out
what is fresh, nor the other way round.
"""

import json
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory_palace.core import scoring
from memory_palace.core.scoring import Scores
from memory_palace.core.text import MINED
from memory_palace.core.weights import Weights
from memory_palace.index.milvus_rows import UNDATED
from memory_palace.search.query import Query, bare_tag, places_of

BANDS = 5
"""Bands of standing: each is two searches."""

_DATED = UNDATED / 10
_SECONDS_A_DAY = 86400.0
_PRIORITIES: tuple[str | None, ...] = (*scoring.IMPORTANCE, None)


def literal(text: str) -> str:
    """A text in a Milvus condition. No note has control characters where filters look."""
    return json.dumps("".join(c if c >= " " else "\ufffd" for c in text), ensure_ascii=False)


def _list(texts: Sequence[str]) -> str:
    return f"[{', '.join(literal(text) for text in texts)}]"


def condition(palace: str, query: Query) -> str:
    """The palace and the query's filters as a Milvus condition, for notes and units alike."""
    parts = [f"palace == {literal(palace)}"]
    if query.types:
        parts.append(f"type in {_list(query.types)}")
    if query.notes_only:
        parts.append(f"type != {literal('observation')}")
        parts.append(f"not array_contains(rooms, {literal(MINED)})")
    if query.priorities:
        parts.append(f"priority in {_list(query.priorities)}")
    if query.rooms:
        places = [place for room in query.rooms for place in places_of(room)]
        parts.append(f"array_contains_any(rooms, {_list(places)})")
    if query.tags:
        parts.append(f"array_contains_any(tags, {_list([bare_tag(t) for t in query.tags])})")
    if query.since:
        parts.append(f"time >= {query.since.timestamp()!r}")
    if query.latest:
        parts.append(f"time <= {query.latest.timestamp()!r}")
        parts.append(f"time > {_DATED!r}")
    return " and ".join(parts)


def outside(projects: Collection[str]) -> str:
    """The condition for what belongs to none of these projects, ``project:NAME`` each."""
    folders = [f"{project}/" for project in sorted(projects)]
    return f"not array_contains_any(rooms, {_list(folders)})"


@dataclass(frozen=True, slots=True)
class Band:
    """Units whose standing is at least ``low`` and below ``high``; what they meet in Milvus."""

    low: float
    high: float
    condition: str


def every(weights: Weights) -> Band:
    """The one band of all units."""
    return Band(0.0, weights.recency + weights.importance, "")


def bands(weights: Weights, now: datetime, count: int = BANDS) -> list[Band]:
    """Bands that every unit lies in exactly one of, the highest first."""
    least = weights.importance * min(*scoring.IMPORTANCE.values(), scoring.IMPORTANCE_ABSENT)
    most = weights.recency + weights.importance
    edges = [least + (most - least) * n / count for n in range(1, count)]
    found = []
    for low, high in zip([-math.inf, *edges], [*edges, math.inf], strict=True):
        parts = [_of_priority(priority, low, high, weights, now) for priority in _PRIORITIES]
        joined = " or ".join(part for part in parts if part)
        if joined:
            found.append(Band(max(low, 0.0), min(high, most), f"({joined})"))
    return found[::-1]


def _of_priority(
    priority: str | None, low: float, high: float, weights: Weights, now: datetime
) -> str:
    """The condition for notes of one priority to lie in a band; empty if none can."""
    first, end = (_oldest(priority, edge, weights, now) for edge in (low, high))
    times = []
    if first < end:
        parts = [f"time >= {max(first, _DATED)!r}"]
        if math.isfinite(end):
            parts.append(f"time < {end!r}")
        times.append(f"({' and '.join(parts)})")
    undated = float(standing([None], [priority], weights, now)[0])
    if low <= undated < high:
        times.append(f"time < {_DATED!r}")
    if not times:
        return ""
    others = f"priority not in {_list(tuple(scoring.IMPORTANCE))}"
    which = others if priority is None else f"priority == {literal(priority)}"
    return f"({which} and ({' or '.join(times)}))"


def _oldest(priority: str | None, edge: float, weights: Weights, now: datetime) -> float:
    """The time from which on notes of a priority have a standing of ``edge`` or more, in seconds;
    ±infinity where all have, or none."""
    missing = edge - weights.importance * scoring.importance(priority)
    if missing <= 0.0:
        return -math.inf
    if missing > weights.recency:
        return math.inf
    days = -weights.half_life_days * math.log2(missing / weights.recency)
    return now.timestamp() - days * _SECONDS_A_DAY


def standing(
    times: Sequence[float | None],
    priorities: Sequence[str | None],
    weights: Weights,
    now: datetime,
) -> Scores:
    """Recency's and importance's share of the compound score; no time as None or UNDATED."""
    undated = [time is None or time < _DATED for time in times]
    time = np.array([np.nan if no else at for at, no in zip(times, undated, strict=True)])
    age_days = (now.timestamp() - time.astype(np.float64)) / _SECONDS_A_DAY
    recent = scoring.recency(age_days, weights.half_life_days)
    important = np.array([scoring.importance(priority) for priority in priorities])
    return weights.recency * recent + weights.importance * important
