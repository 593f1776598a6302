"""What is due in a ledger, and what may be dropped. Thresholds decide when, never whether."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import floor
from typing import NamedTuple

from memory_palace.core import ledger_branch
from memory_palace.core.ledger import RELEVANCES, Entry, Ledger, Observation
from memory_palace.core.ledger_branch import NOWHERE, Branch

OBSERVE_TOKENS = 10_000
"""Tokens of entries since its coverage at which the observer is due."""

REFLECT_TOKENS = 20_000
"""The same for the reflector."""

BACKOFF_TOKENS = 10_000
"""Tokens of entries for which a stage waits that deliberately recorded nothing."""

FOLD_TOKENS = 81_000
"""Tokens of entries since the last fold at which the next is due, for a window of unknown size."""

FOLD_SHARE = 0.68
"""The share of a window of known size."""

FULL_TOKENS = 20_000
"""Tokens of a normal fold's observations at which it becomes a full one."""

POOL_TARGET = 10_000
"""Tokens of active observations that the dropper leaves alone."""

CITED = ("none", "partial", "strong")
"""How many reflections cite an observation: 0, 1, or more."""


class Wait(NamedTuple):
    """Tokens of entries that a stage has not read, and the ``threshold`` at which it is due."""

    tokens: int
    threshold: int

    @property
    def is_over(self) -> bool:
        return self.tokens >= self.threshold


def pending(ledger: Ledger, branch: Sequence[Entry]) -> tuple[Entry, ...]:
    """What no observer has read: the entries right after its coverage."""
    return tuple(branch[ledger_branch.of(ledger, branch).observed + 1 :])


def cursor(ledger: Ledger, branch: Sequence[Entry]) -> str:
    """The last entry that an observer has read; empty where there is none."""
    place = ledger_branch.of(ledger, branch).observed
    return "" if place == NOWHERE else branch[place].id


def observer_due(ledger: Ledger, branch: Sequence[Entry], backoff: str = "") -> bool:
    """True if the observer should run. ``backoff`` is the last entry it read when it deliberately
    found nothing: it is due again :data:`BACKOFF_TOKENS` after that."""
    return observer_wait(ledger_branch.of(ledger, branch), backoff).is_over


def reflector_due(ledger: Ledger, branch: Sequence[Entry], backoff: str = "") -> bool:
    """True if the reflector should run: only where there is something observed that it has not
    seen. ``backoff`` is the last entry that there was when it deliberately concluded nothing."""
    here = ledger_branch.of(ledger, branch)
    return something_new(here) and reflector_wait(here, backoff).is_over


def fold_due(ledger: Ledger, branch: Sequence[Entry], window: int | None = None) -> bool:
    """True if the session should be folded; ``window`` is its window in tokens, where known."""
    return fold_wait(ledger_branch.of(ledger, branch), window).is_over


def observer_wait(here: Branch, backoff: str = "") -> Wait:
    """How far the observer is from being due; ``backoff`` as for :func:`observer_due`."""
    return _wait(here, here.observed, backoff, OBSERVE_TOKENS)


def reflector_wait(here: Branch, backoff: str = "") -> Wait:
    """The same of the reflector, whether or not there is something new."""
    return _wait(here, here.reflected, backoff, REFLECT_TOKENS)


def fold_wait(here: Branch, window: int | None = None) -> Wait:
    """The same of a fold; ``window`` as for :func:`fold_due`."""
    last = max((place for place, _ in here.folds), default=NOWHERE)
    threshold = floor(FOLD_SHARE * window) if window and window > 0 else FOLD_TOKENS
    return Wait(_after(here, last), threshold)


def _wait(here: Branch, cursor: int, backoff: str, threshold: int) -> Wait:
    """Since the ``cursor``; where that is over, since the stage backed off."""
    wait = Wait(_after(here, cursor), threshold)
    nothing = here.places.get(backoff, NOWHERE)
    if wait.is_over and nothing > cursor:
        return Wait(_after(here, nothing), BACKOFF_TOKENS)
    return wait


def something_new(here: Branch) -> bool:
    """True if there is an observation beyond the reflector's coverage."""
    gone = here.dropped()
    return any(
        one.id not in gone and (place > here.reflected or here.reflected == NOWHERE)
        for place, one in here.observations
    )


def _after(here: Branch, place: int) -> int:
    return sum(one.tokens for one in here.entries[place + 1 :])


def active(ledger: Ledger, branch: Sequence[Entry]) -> tuple[Observation, ...]:
    """The observations on the branch that are not dropped, oldest first."""
    here = ledger_branch.of(ledger, branch)
    gone = here.dropped()
    return tuple(one for _, one in here.observations if one.id not in gone)


def citations(ledger: Ledger, branch: Sequence[Entry]) -> dict[str, str]:
    """For each observation on the branch, one of :data:`CITED`."""
    here = ledger_branch.of(ledger, branch)
    cited = Counter(support for _, one in here.reflections for support in one.supports)
    return {one.id: CITED[min(cited[one.id], 2)] for _, one in here.observations}


def drops(
    observations: Sequence[Observation],
    citations: Mapping[str, str],
    survives: Callable[[Observation], bool],
) -> tuple[str, ...]:
    """The ids to drop of the active ``observations``, so that they come near their target.

    None where they are at or below it. At most as many as make up what is over by their average
    size, whether or not some must survive: strongly cited first, then low relevance, then old.
    """
    pool = sum(one.tokens for one in observations)
    if pool <= POOL_TARGET:
        return ()
    # Whole numbers: over / average, rounded up.
    most = max(1, -(-(pool - POOL_TARGET) * len(observations) // pool))
    chosen = sorted(
        (one for one in observations if not survives(one)),
        key=lambda one: (
            -CITED.index(citations.get(one.id, CITED[0])),
            RELEVANCES.index(one.relevance),
            one.at,
            one.id,
        ),
    )
    return tuple(one.id for one in chosen[:most])
