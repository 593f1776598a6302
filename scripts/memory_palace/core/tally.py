"""What the events on one memory come to, in a form that can be added up and kept."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from memory_palace.core.events import Event
from memory_palace.core.topics import CUES

COUNT = ("remembered", "reinforced", "restored")
"""Each of these is one more piece of evidence, and starts the decay anew."""

_FORGET = ("forgotten", "conflict_resolved")
_ABOUT_OTHERS = ("archived", "restored", "conflict_resolved")

Moment = tuple[datetime, str]
"""When, and the uid that orders what happened in one second."""


@dataclass(frozen=True, slots=True)
class Tally:
    """The events on one memory so far.

    ``told`` is when it was first remembered (None: a person wrote its line), ``evidence`` how many
    events count, ``cue`` the strongest of theirs (empty for none), ``last`` the last of them,
    ``forgot`` and ``revived`` when it was last let go, and last brought back.
    """

    told: datetime | None = None
    evidence: int = 0
    cue: str = ""
    last: datetime | None = None
    forgot: Moment | None = None
    revived: Moment | None = None

    @property
    def forgotten(self) -> bool:
        """True if it was let go and not brought back since."""
        return self.forgot is not None and (self.revived is None or self.revived < self.forgot)


NOTHING = Tally()


def count(events: Iterable[Event], before: Mapping[str, Tally] | None = None) -> dict[str, Tally]:
    """The tally of each memory, added to those ``before``. The order of events is no matter."""
    found = dict(before or {})
    for event in events:
        if event.event in COUNT or event.event in _FORGET or event.event == "pinned":
            found[event.id] = _with(found.get(event.id, NOTHING), event)
        if event.event in _ABOUT_OTHERS:
            for key in others(event):
                found[key] = _with(found.get(key, NOTHING), event)
    return found


def others(event: Event) -> set[str]:
    """The memories that an event is about, besides the one that it names as its ``id``."""
    if event.event not in _ABOUT_OTHERS:
        return set()
    listed = event.data.get("entries", [])
    keys = [*(listed if isinstance(listed, list) else []), event.data.get("loser")]
    return {key for key in keys if isinstance(key, str)} - {event.id}


def _with(tally: Tally, event: Event) -> Tally:
    moment = (event.at, event.uid)
    if event.event in _FORGET:
        return replace(tally, forgot=max(tally.forgot or moment, moment))
    if event.event not in COUNT:
        if event.event == "pinned":
            return replace(tally, revived=max(tally.revived or moment, moment))
        return tally
    cue, told = tally.cue, tally.told
    new = event.data.get("cue")
    if isinstance(new, str) and CUES.get(new, 0.0) > CUES.get(cue, 0.0):
        cue = new  # the strongest counts, so the order of a merge does not matter
    if event.event == "remembered":
        told = min(told or event.at, event.at)
    return Tally(
        told,
        tally.evidence + 1,
        cue,
        max(tally.last or event.at, event.at),
        tally.forgot,
        max(tally.revived or moment, moment),
    )
