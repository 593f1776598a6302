"""What of a ledger stands on one branch, and where: its records by the entries they were made of.

A place is an entry's index in the branch; -1 is before the first. A record that says what it
covers stands at that entry, or not on this branch if the entry is on another.
"""

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import accumulate
from typing import TypeVar

from memory_palace.core.ledger import Drop, Entry, Folded, Ledger, Observation, Reflection

_Record = TypeVar("_Record", Observation, Reflection)
NOWHERE = -1
"""The place before the first entry."""


@dataclass(frozen=True, slots=True)
class Branch:
    """The entries of a branch, and the records on it with their places, ordered by place, time
    and id. ``reflected`` is the reflector's cursor: the furthest place that it covers."""

    entries: tuple[Entry, ...]
    places: Mapping[str, int]
    observations: tuple[tuple[int, Observation], ...] = ()
    reflections: tuple[tuple[int, Reflection], ...] = ()
    drops: tuple[tuple[int, Drop], ...] = ()
    folds: tuple[tuple[int, Folded], ...] = ()
    coverage: tuple[int, ...] = ()
    """The place that each ``observed`` line covers up to, in order."""
    reflected: int = NOWHERE

    @property
    def observed(self) -> int:
        """The place of the observer's cursor."""
        return self.coverage[-1] if self.coverage else NOWHERE

    def dropped(self, through: int | None = None, by: datetime | None = None) -> frozenset[str]:
        """The ids that drops name, up to the place ``through``, written up to ``by``."""
        chosen = (
            drop
            for place, drop in self.drops
            if (through is None or place <= through) and (by is None or drop.at <= by)
        )
        return frozenset(one for drop in chosen for one in drop.ids)


def of(ledger: Ledger, entries: Sequence[Entry]) -> Branch:
    """The branch of ``entries``, which :func:`ledger.branch` gave."""
    places = {one.id: place for place, one in enumerate(entries)}
    at = _Places(ledger, places, list(accumulate((one.at for one in entries), max)))
    observed = (*ledger.observations, *ledger.observed_again)
    reflected = (*ledger.reflections, *ledger.reflected_again)
    observations = _first((at.observation(one), one) for one in observed)
    supports = {one.id for _, one in observations}
    return Branch(
        tuple(entries),
        places,
        observations,
        _first((at.reflection(one, supports), one) for one in reflected),
        tuple((place, one) for one in ledger.drops if (place := at.written(one)) is not None),
        tuple((place, one) for one in ledger.folds if (place := at.written(one)) is not None),
        tuple(sorted({places[o.covers_up_to] for o in observed if o.covers_up_to in places})),
        max((places.get(one.covers_up_to, NOWHERE) for one in reflected), default=NOWHERE),
    )


def _first(placed: Iterable[tuple[int | None, _Record]]) -> tuple[tuple[int, _Record], ...]:
    """Those that have a place, in order; of each id the one that stands first."""
    kept: dict[str, tuple[int, _Record]] = {}
    for place, one in placed:
        if place is not None and (one.id not in kept or place < kept[one.id][0]):
            kept[one.id] = (place, one)
    return tuple(sorted(kept.values(), key=lambda pair: (pair[0], pair[1].at, pair[1].id)))


class _Places:
    """Where a record stands; None: on another branch."""

    def __init__(
        self, ledger: Ledger, places: Mapping[str, int], times: Sequence[datetime]
    ) -> None:
        self.ledger = ledger
        self.places = places
        self.times = times
        self.known = {o.id for o in ledger.observations}

    def observation(self, one: Observation) -> int | None:
        """Where it covers up to; without that, its last source."""
        if one.covers_up_to in self.ledger.entries:
            return self.places.get(one.covers_up_to)
        if any(s in self.ledger.entries and s not in self.places for s in one.sources):
            return None
        return max((self.places.get(s, NOWHERE) for s in one.sources), default=NOWHERE)

    def reflection(self, one: Reflection, supports: set[str]) -> int | None:
        """Where it covers up to; without that, where it was written, if what it was drawn from
        stands on this branch."""
        if one.covers_up_to not in self.ledger.entries and any(
            s in self.known and s not in supports for s in one.supports
        ):
            return None
        return self.written(one)

    def written(self, one: Reflection | Drop | Folded) -> int | None:
        """Where it covers up to; without that, the last entry that is not later."""
        if one.covers_up_to in self.ledger.entries:
            return self.places.get(one.covers_up_to)
        return bisect_right(self.times, one.at) - 1
