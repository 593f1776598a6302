"""When each note was last retrieved and last cited: what reverse elimination asks."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory_palace.core import dates
from memory_palace.core.events import Event
from memory_palace.core.links import TREE, in_metadata
from memory_palace.core.text import sha256

MOVES = frozenset({"archived", "restored", "demoted", "moved"})
"""Events after which the note ``path`` is called ``to``."""


@dataclass(frozen=True, slots=True)
class Retrieval:
    """Notes that were given as hits: how often each, and when."""

    at: datetime
    counts: Mapping[str, int]

    @property
    def day(self) -> str:
        """The day in UTC, as in ``2026-11-29``."""
        return dates.stamp(self.at)[:10]


@dataclass(frozen=True, slots=True)
class Used:
    """The newest moments at which a note was retrieved and cited (None: never), and how often it
    was retrieved. Of a day that is only known by its total it is the first moment."""

    retrieved: datetime | None = None
    cited: datetime | None = None
    retrievals: int = 0


def retrieval(data: Mapping[str, Any]) -> Retrieval | None:
    """One line of the local log, ``{"at", "paths"}``; None if it is none."""
    at, paths = data.get("at"), data.get("paths")
    moment = dates.parse(at) if isinstance(at, str) else None
    if moment is None or not isinstance(paths, list):
        return None
    return Retrieval(moment, Counter(path for path in paths if isinstance(path, str)))


def totals(retrievals: Iterable[Retrieval]) -> dict[str, dict[str, int]]:
    """{day: {path: how often}}, days and paths in order."""
    days: dict[str, Counter[str]] = {}
    for one in retrievals:
        days.setdefault(one.day, Counter()).update(one.counts)
    return {day: dict(sorted(days[day].items())) for day in sorted(days)}


def total_uid(by: str, piece: str, day: str, counts: Mapping[str, int]) -> str:
    """16 hex digits for the total of ``day`` in one ``piece`` of the local log: told again, it is
    the same event."""
    listed = [f"{path}\x1f{count}" for path, count in sorted(counts.items())]
    return sha256("\x1e".join(["retrieved", by, piece, day, *listed]))[:16]


def as_path(source: str) -> str | None:
    """The note's path in an event's ``source``, where that is a path or a link that is one
    (``palace/topics/a.md:12``, ``[[topics/a#B]]``); None for anything else."""
    links = in_metadata({"source": source}, {})
    place = links[0].target if links else source.strip().partition("#")[0]
    base, _, line = place.rpartition(":")
    place = base if base and line.replace("-", "").isdecimal() else place
    if not place or "://" in place or "\n" in place:
        return None
    if "/" not in place:
        return None
    place = place if place.startswith(TREE) else TREE + place
    return place if place.lower().endswith(".md") else place + ".md"


def last_used(
    events: Iterable[Event],
    local: Iterable[Retrieval],
    links: Iterable[tuple[str, datetime, str]],
    resolve: Callable[[str], str | None] = as_path,
) -> dict[str, Used]:
    """{path: when it was last used}, of every note that was; what a note was called before it
    moved counts for it.

    ``local`` are retrievals that no event has yet. ``links`` are (source path, the source's time,
    target path) as they stand now; a note's links to itself do not count. ``resolve`` gives the
    path that an event's ``source`` names.
    """
    happened: list[tuple[datetime, int, str, Any]] = []
    for event in events:
        happened += _of_event(event, resolve)
    for one in local:
        happened.append((one.at, _SEEN, "", one.counts))
    found: dict[str, Used] = {}
    for moment, kind, path, value in sorted(happened, key=lambda h: h[:2]):
        if kind == _MOVED:
            if path in found:
                found[value] = _both(found.pop(path), found.get(value, _NEVER))
        elif kind == _CITED:
            found[path] = _both(found.get(path, _NEVER), Used(cited=moment))
        else:
            for name, count in value.items():
                found[name] = _both(found.get(name, _NEVER), Used(moment, None, count))
    for source, moment, target in links:
        if source != target:
            found[target] = _both(found.get(target, _NEVER), Used(cited=moment))
    return found


_NEVER = Used()
_SEEN, _CITED, _MOVED = 0, 1, 2  # of one moment: what was used, then what moved


def _of_event(
    event: Event, resolve: Callable[[str], str | None]
) -> list[tuple[datetime, int, str, Any]]:
    data = event.data
    if event.event == "retrieved":
        # From the day's first moment on: the names are those that the notes had on that day.
        moment, counts = dates.parse(event.id), data.get("counts")
        if moment is None or not isinstance(counts, Mapping):
            return []
        kept = {path: n for path, n in counts.items() if type(n) is int and n > 0}
        return [(moment, _SEEN, "", kept)]
    found: list[tuple[datetime, int, str, Any]] = []
    source, path, to = data.get("source"), data.get("path"), data.get("to")
    cited = resolve(source) if isinstance(source, str) and source else None
    if cited:
        found.append((event.at, _CITED, cited, None))
    # An entry that moves (its id has no slash) leaves its note where it is.
    of_a_note = event.event in MOVES and "/" in event.id
    if of_a_note and isinstance(path, str) and isinstance(to, str) and path != to:
        found.append((event.at, _MOVED, path, to))
    return found


def _both(one: Used, other: Used) -> Used:
    return replace(
        one,
        retrieved=_later(one.retrieved, other.retrieved),
        cited=_later(one.cited, other.cited),
        retrievals=one.retrievals + other.retrievals,
    )


def _later(one: datetime | None, other: datetime | None) -> datetime | None:
    return max(one, other) if one and other else one or other
