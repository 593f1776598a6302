"""The fold: what a session keeps of itself when it is compacted, as text, with no model.

A normal fold takes in reflections and drops only up to the last full one, so that what was
rendered stays the beginning of what is rendered next, and prompt caches keep it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_palace.core import dates, ledger_branch
from memory_palace.core.ledger import Entry, Ledger, Observation, Reflection
from memory_palace.core.ledger_branch import NOWHERE, Branch
from memory_palace.core.ledger_due import FULL_TOKENS
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable


@dataclass(frozen=True, slots=True)
class Fold:
    """A fold: its ``text``, what stands in it, whether it is ``full``, and the entries that reach
    the reader ``raw`` because no record in it covers them."""

    text: str
    reflections: tuple[Reflection, ...]
    observations: tuple[Observation, ...]
    full: bool
    raw: tuple[Entry, ...]


def fold(ledger: Ledger, branch: Sequence[Entry], first_kept: str = "") -> Fold:
    """The fold of a branch. ``first_kept`` is the first entry that the client keeps raw; empty:
    it keeps none.

    Observations count whose coverage is at or before that entry. Raises ValueError for one that
    is not on the branch.
    """
    here = ledger_branch.of(ledger, branch)
    if first_kept and first_kept not in here.places:
        raise ValueError(f"{first_kept} is not on the branch")
    boundary = here.places[first_kept] if first_kept else len(here.entries) - 1
    settled, by = _last_full(here)
    reflections, observations = _through(here, boundary, min(settled, boundary), by)
    full = sum(one.tokens for one in observations) >= FULL_TOKENS
    if full:
        reflections, observations = _through(here, boundary, boundary)
    covered = max((place for place in here.coverage if place <= boundary), default=NOWHERE)
    return Fold(
        text(reflections, observations),
        reflections,
        observations,
        full,
        here.entries[covered + 1 :],
    )


def _last_full(here: Branch) -> tuple[int, datetime | None]:
    """The place up to which the last full fold took in reflections and drops, and when that was:
    what is written after it waits, though the place it stands at was folded."""
    full = [(place, one) for place, one in here.folds if one.full]
    if not full:
        return NOWHERE - 1, None
    place, one = max(full, key=lambda pair: (pair[0], pair[1].at))
    return here.places.get(one.first_kept, place), one.at


def _through(
    here: Branch, boundary: int, settled: int, by: datetime | None = None
) -> tuple[tuple[Reflection, ...], tuple[Observation, ...]]:
    """Observations through ``boundary``, with reflections and drops through ``settled`` that were
    written up to ``by``."""
    gone = here.dropped(settled, by)
    return (
        tuple(
            one
            for place, one in here.reflections
            if place <= settled and (by is None or one.at <= by)
        ),
        tuple(one for at, one in here.observations if at <= boundary and one.id not in gone),
    )


def text(reflections: Sequence[Reflection], observations: Sequence[Observation]) -> str:
    """The lines of a fold; a section that has none is left out."""
    sections = (
        ("Reflections", [reflection_line(one) for one in reflections]),
        ("Observations", [observation_line(one) for one in observations]),
    )
    return "\n\n".join("\n".join((f"## {name}", *lines)) for name, lines in sections if lines)


def reflection_line(one: Reflection) -> str:
    """``[id] content``."""
    return f"[{one.id}] {_seen(one.content)}"


def observation_line(one: Observation) -> str:
    """``[id] YYYY-MM-DD HH:MM [relevance] content``, in UTC."""
    return f"[{one.id}] {dates.minute(one.at)} [{one.relevance}] {_seen(one.content)}"


def _seen(content: str) -> str:
    """A record's content as an agent may see it: a ledger may come from a stranger."""
    return printable(hidden(content))
