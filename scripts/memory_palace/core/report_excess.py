"""What to merge, archive or let go of where the situation report is nearly full. Pure advice."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import NamedTuple

from memory_palace.core.memories import Memory
from memory_palace.core.report import Report, eligible
from memory_palace.core.topics import CATEGORIES

COSINE = 0.80
"""The cosine from which on two entries of a category may be one."""

OVERLAP = 0.6
"""The share of common words from which on they may, where there is no embedder."""

WEAKEST = 2
"""Entries of each category that are named as the weakest."""


class Pair(NamedTuple):
    """Two entries of one category that say nearly the same, and how near they are, 0 to 1."""

    first: Memory
    second: Memory
    similarity: float


class Advice(NamedTuple):
    """One thing that makes room: ``why``, the entries, and the commands to run."""

    why: str
    memories: tuple[Memory, ...]
    commands: tuple[str, ...]


def plan(
    memories: Iterable[Memory], at: datetime, report: Report, pairs: Iterable[Pair]
) -> list[Advice]:
    """What makes room in ``report``, the most telling first; each entry is named once.

    Pinned entries and those that a rule holds are left alone.
    """
    live = [memory for memory in memories if not (memory.archived or memory.safe)]
    named: set[str] = set()
    found = _merges(pairs, named)
    found += _cold([memory for memory in live if memory.is_cold(at)], named)
    of = eligible([m for m in live if not m.forgotten], at)
    cut = {memory.id for section in report.sections for memory in section.cut}
    for name in CATEGORIES:
        over = [memory for memory in of[name] if memory.id in cut and memory.id not in named]
        found += _forget(f"{_heading(name)} that do not fit into the report", over)
        named |= {memory.id for memory in over}
    for name in CATEGORIES:
        left = [memory for memory in of[name] if memory.id not in named]
        # With one alone nothing is weaker than anything.
        weakest = left[::-1][: min(WEAKEST, max(len(left) - 1, 0))]
        found += _forget(f"the weakest of {len(left)} {_heading(name)}", weakest)
    return found


def _heading(name: str) -> str:
    return CATEGORIES[name].heading.lower()


def _merges(pairs: Iterable[Pair], named: set[str]) -> list[Advice]:
    ordered = sorted(pairs, key=lambda p: (-p.similarity, p.first.id, p.second.id))
    found = []
    for pair in ordered:
        keep, drop = sorted((pair.first, pair.second), key=lambda m: (-m.strength, m.id))
        if drop.safe:
            keep, drop = drop, keep
        if drop.safe or {keep.id, drop.id} & named:
            continue
        named |= {keep.id, drop.id}
        commands = (f'palace edit {keep.id} "ONE TEXT FOR BOTH"', f"palace forget {drop.id}")
        why = f"say nearly the same ({pair.similarity:.2f})"
        found.append(Advice(why, (keep, drop), commands))
    return found


def _cold(cold: Sequence[Memory], named: set[str]) -> list[Advice]:
    left = sorted((m for m in cold if m.id not in named), key=lambda m: (m.strength, m.id))
    if not left:
        return []
    named |= {memory.id for memory in left}
    why = "cold: nothing reinforced them for two half-lives, or they were let go"
    return [Advice(why, tuple(left), ("palace archive --dry-run", "palace archive"))]


def _forget(why: str, memories: Sequence[Memory]) -> list[Advice]:
    commands = tuple(f"palace forget {memory.id}" for memory in memories)
    return [Advice(why, tuple(memories), commands)] if memories else []
