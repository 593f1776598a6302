"""One fact: its names, when it holds, where it is from, and the id that follows from those."""

from datetime import UTC, datetime
from typing import NamedTuple

from memory_palace.core import dates
from memory_palace.core.text import nfc, short_id

PATH = "manifests/facts.jsonl"
KINDS: dict[str, tuple[str, ...]] = {
    "added": (
        *("subject", "predicate", "object", "valid_from", "valid_to", "confidence", "source"),
    ),
    "invalidated": ("subject", "predicate", "object", "valid_to"),
}
"""Each kind of line, and the keys that it has besides those that all events share."""

LONGEST_NAME = 500
"""Characters of a subject, predicate, object or source."""

LONG_AGO = datetime.min.replace(tzinfo=UTC)
"""Stands for the start of a fact that has none."""
NEVER = datetime.max.replace(tzinfo=UTC)
"""Stands for the end of a fact that has none."""

_APOSTROPHES = str.maketrans("", "", "'’‘ʼ`")


class Fact(NamedTuple):
    """One fact. Names are as first spelled; ``names`` are the three as they are compared.

    ``valid_from`` None: always so far; ``valid_to`` (exclusive) None: until further notice. ``at``
    and ``by`` tell who added it when, ``ended_at``, ``ended_by`` and ``reason`` who ended it and
    why (before that, ``reason`` is the one of adding). ``line`` counts from 1. A named tuple: a
    log has a hundred thousand.
    """

    id: str
    subject: str
    predicate: str
    object: str
    names: tuple[str, str, str]
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    confidence: float | None = None
    source: str = ""
    at: datetime | None = None
    by: str = ""
    ended_at: datetime | None = None
    ended_by: str = ""
    reason: str = ""
    line: int = 0

    @property
    def sentence(self) -> str:
        """Subject, predicate and object."""
        return f"{self.subject} {self.predicate} {self.object}"

    @property
    def begins(self) -> datetime:
        """The start, :data:`LONG_AGO` without one."""
        return self.valid_from or LONG_AGO

    @property
    def ends(self) -> datetime:
        """The end, exclusive, :data:`NEVER` without one."""
        return self.valid_to or NEVER

    @property
    def taken_back(self) -> bool:
        """True if it ends where it begins, so that it never holds."""
        return self.valid_to is not None and self.ends == self.begins

    def holds(self, at: datetime) -> bool:
        """True if the fact is valid at that moment."""
        return self.begins <= at and (self.valid_to is None or at < self.valid_to)


def normal(name: str) -> str:
    """``name`` as names of facts are compared: trimmed, lower case, no apostrophes, `_` for
    spaces."""
    kept = nfc(nfc(name).lower()).translate(_APOSTROPHES)
    return "_".join(kept.split())


def fact_id(
    subject: str, predicate: str, object_: str, valid_from: datetime | None, at: datetime | None
) -> str:
    """12 hex digits of the names as compared, the start and the time of adding."""
    times = [dates.stamp(moment) if moment else "" for moment in (valid_from, at)]
    return short_id(normal(subject), normal(predicate), normal(object_), *times)


def in_time(fact: Fact) -> tuple[datetime, str]:
    """The order of a timeline: by start, ties by id."""
    return fact.begins, fact.id
