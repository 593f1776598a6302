"""What to merge or archive so that the situation report fits its budget. Nothing is changed."""

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from memory_palace.core.memories import Memory
from memory_palace.core.report import WARNING, Report
from memory_palace.core.report_excess import COSINE, OVERLAP, Advice, Pair, plan
from memory_palace.core.topics import CATEGORIES
from memory_palace.memory import state as states
from memory_palace.memory.state import State
from memory_palace.session import report, withheld

if TYPE_CHECKING:
    from memory_palace.memory.alike import Entries


class Consolidation(NamedTuple):
    """The report as it is, and what would make room; empty where it has room, unless all was
    asked for."""

    report: Report
    advice: tuple[Advice, ...]
    state: State


def consolidate(
    root: Path, now: datetime, entries: "Entries | None" = None, always: bool = False
) -> Consolidation:
    """What makes room in the report of ``root``, where it is nearly full or something did not fit;
    ``always`` says what would."""
    state = withheld.without_private(states.load(root, now))
    found = report.compose(root, now, state=state)
    if not (always or found.percent >= WARNING or found.more):
        return Consolidation(found, (), state)
    pairs = [pair for name in CATEGORIES for pair in _alike(_of(state, name), entries)]
    return Consolidation(found, tuple(plan(state.live, now, found, pairs)), state)


def _of(state: State, category: str) -> list[Memory]:
    return [m for m in state.live if m.category == category and not m.forgotten]


def _alike(memories: Sequence[Memory], entries: "Entries | None") -> list[Pair]:
    """The pairs of entries that may be one."""
    if len(memories) < 2:
        return []
    if entries is not None and entries.usable:
        import numpy as np  # only where there are vectors

        vectors = entries.of([memory.text for memory in memories])
        cosines = np.triu(vectors @ vectors.T, k=1)
        places = np.argwhere(cosines >= COSINE)
        return [Pair(memories[a], memories[b], float(cosines[a, b])) for a, b in places]
    from memory_palace.core.raising import overlap

    found = []
    for place, first in enumerate(memories):
        for second in memories[place + 1 :]:
            share = overlap(first.text, second.text)
            if share >= OVERLAP:
                found.append(Pair(first, second, share))
    return found
