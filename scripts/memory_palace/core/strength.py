"""How strong a memory is, and what follows from it. Times are in days."""

import math
from collections.abc import Sequence
from typing import Literal

Lifecycle = Literal["active", "provisional", "candidate", "dropped"]
STANDING: tuple[Lifecycle, ...] = ("active", "provisional")
"""What an agent is told of unasked."""

ACTIVE, PROVISIONAL, CANDIDATE = 1.0, 0.4, 0.2
"""The least strength of each lifecycle; below the last a memory is dropped from reports."""

COLD_HALF_LIVES = 2
"""So many half-lives without a reinforcement make a memory cold."""

OVERFLOW = 6
"""So many active entries, the strongest of all categories, may stand above their caps."""

MOST_ACTIVE = 40


def strength(cue: float, evidence: int, days: float, half_life: float) -> float:
    """cue × exp(−days / half_life) × ln(1 + evidence).

    ``days`` count since the last reinforcement; a time to come counts as now.
    """
    return cue * math.exp(-max(days, 0.0) / half_life) * math.log1p(max(evidence, 0))


def lifecycle(value: float) -> Lifecycle:
    """What a strength makes of a memory."""
    if value >= ACTIVE:
        return "active"
    if value >= PROVISIONAL:
        return "provisional"
    return "candidate" if value >= CANDIDATE else "dropped"


def is_cold(days: float, half_life: float) -> bool:
    """True if ``days`` without a reinforcement are more than two half-lives."""
    return days > COLD_HALF_LIVES * half_life


def crowded_out(active: Sequence[tuple[str, float, str]], caps: dict[str, int]) -> set[str]:
    """The ids of those that are too many: they become provisional.

    ``active`` holds (id, strength, category), ``caps`` how many of a category may be active. The
    strongest of what is above the caps stay while the overflow has room, and 40 in all.
    """
    strongest_first = sorted(active, key=lambda one: (-one[1], one[0]))
    room = dict(caps)
    above = []
    kept = 0
    for one in strongest_first:
        if room[one[2]] > 0:
            room[one[2]] -= 1
            kept += 1
        else:
            above.append(one[0])
    return set(above[max(0, min(OVERFLOW, MOST_ACTIVE - kept)) :])
