"""What happened to memories: one JSON object a line, in any order, each once by its ``uid``."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import Any, NamedTuple, TypeGuard

from memory_palace.core import dates
from memory_palace.core.problems import Problem
from memory_palace.core.text import did_you_mean

PATH = "manifests/memory_events.jsonl"

KINDS: dict[str, tuple[str, ...]] = {
    "remembered": ("category", "text", "cue", "path", "source"),
    "reinforced": ("cue", "source"),
    "pinned": (),
    "unpinned": (),
    "forgotten": (),
    "edited": ("text", "before"),
    "archived": ("path", "to", "entries"),
    "restored": ("path", "to", "entries"),
    "retrieved": ("counts",),
    "struck": ("rule", "detail"),
    "demoted": ("path", "to", "rule"),
    "proposed": ("destination", "path"),
    "applied": ("destination", "path", "page", "who"),
    "rejected": ("destination", "who"),
    "card_opened": ("path",),
    "card_completed": ("path",),
    "conflict_opened": ("path", "kind"),
    "conflict_resolved": ("path", "winner", "loser", "who"),
    "noted": ("path", "digest", "base"),
    "moved": ("path", "to"),
}
"""Each kind, and the keys that it has besides those that all share."""

SHARED = ("at", "by", "event", "uid", "id", "reason")
SKEW = timedelta(days=1)
"""Clocks of several machines may differ by so much; what is later still is from the future."""


class Event(NamedTuple):
    """One event. ``data`` holds the keys of its kind, ``line`` its line in the log, from 1.

    A named tuple: a log has a hundred thousand.
    """

    at: datetime
    by: str
    event: str
    uid: str
    id: str
    reason: str = ""
    data: Mapping[str, Any] = MappingProxyType({})
    line: int = 0

    def as_line(self) -> dict[str, Any]:
        """The object that the log holds."""
        shared = {
            "at": dates.stamp(self.at),
            "by": self.by,
            "event": self.event,
            "uid": self.uid,
            "id": self.id,
        }
        reason = {"reason": self.reason} if self.reason else {}
        return shared | reason | dict(self.data)


def read_all(lines: Iterable[tuple[int, dict[str, Any]]]) -> tuple[list[Event], list[Problem]]:
    """The events of (line number, object) pairs, by time and uid, each uid once.

    Unknown kinds are kept and reported; a uid with other content is an error, the earlier counts.
    """
    found: dict[str, Event] = {}
    problems: list[Problem] = []
    for number, data in lines:
        event = _event(number, data, problems)
        if event is None:
            continue
        first = found.setdefault(event.uid, event)
        if first is not event:
            found[event.uid] = min(first, event, key=_content)
        if first is not event and _what(first) != _what(event):
            what = f"uid {event.uid} has other content on line {first.line}: give one another uid"
            problems.append(Problem(PATH, number, what))
        elif first is event and event.event not in KINDS:
            what = f"unknown event `{event.event}`, kept{did_you_mean(event.event, KINDS)}"
            problems.append(Problem(PATH, number, what, "warning"))
    return sorted(found.values(), key=lambda e: (e.at, e.uid)), problems


def _what(event: Event) -> tuple[Any, ...]:
    # Two machines may see the same thing, each at its time; a line that a person wrote, each with
    # the mark and in the place that it had there.
    varies = ("cue", "path") if event.event == "remembered" else ()
    return event.event, event.id, {k: v for k, v in event.data.items() if k not in varies}


def _content(event: Event) -> tuple[datetime, str]:
    # Whichever line stands first after a merge: the earlier in time counts.
    return event.at, repr(sorted(event.as_line().items(), key=lambda pair: pair[0]))


def _event(number: int, data: dict[str, Any], problems: list[Problem]) -> Event | None:
    rest = dict(data)
    values = [rest.pop(key, None) for key in SHARED]
    at, by, event, uid, about, reason = values
    if not (_is_text(at) and _is_text(event) and _is_text(uid) and _is_text(about)):
        lacking = next(key for key in ("at", "event", "uid", "id") if not _is_text(data.get(key)))
        what = f"has no `{lacking}`: every event has at, event, uid and id; left out"
        problems.append(Problem(PATH, number, what))
        return None
    moment = dates.parse(at)
    if moment is None:
        what = f"`at` is {at!r}: write {dates.FORMS}; left out"
        problems.append(Problem(PATH, number, what))
        return None
    by, reason = by if _is_text(by) else "", reason if _is_text(reason) else ""
    return Event(moment, by, event, uid, about, reason, rest, number)


def _is_text(value: Any) -> TypeGuard[str]:
    return isinstance(value, str) and value != ""


def from_the_future(events: Iterable[Event], now: datetime) -> list[Problem]:
    """Events that are dated after ``now``, more than clocks may differ."""
    return [
        Problem(
            PATH,
            event.line,
            f"from the future ({dates.stamp(event.at)}): counts from then on; mend its `at`",
            "warning",
        )
        for event in events
        if event.at > now + SKEW
    ]
