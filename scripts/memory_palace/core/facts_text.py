"""A fact as people and programs read it: a line, a period, an object with fixed keys."""

from datetime import datetime
from typing import Any

from memory_palace.core import dates
from memory_palace.core.facts import Fact


def moment(when: datetime) -> str:
    """A day where it is the first moment of one, else the time: the form in which it is stored."""
    return dates.stamp(when).removesuffix("T00:00:00Z")


def period(fact: Fact, now: datetime | None = None) -> str:
    """``[2026-11-20 .. now]``; with an end, which is exclusive, ``[2026-11-20 .. 2026-11-25)``;
    what begins after ``now`` and has no end, or without ``now``: ``[2027-01-01 ..]``."""
    start = f"{moment(fact.valid_from)} .." if fact.valid_from else ".."
    if fact.valid_to is not None:
        return f"[{start} {moment(fact.valid_to)})"
    return f"[{start} now]" if now and fact.begins <= now else f"[{start}]"


def line(fact: Fact, now: datetime) -> str:
    """``id  subject predicate object  [2026-11-20 .. now]  by pi@laptop 2026-11-20, source``."""
    by = " ".join(part for part in (fact.by, fact.at and dates.stamp(fact.at)[:10]) if part)
    told = [f"by {by}" if fact.by else f"added {by}" if by else "by hand"]
    told += [fact.source] if fact.source else []
    told += [f"confidence {fact.confidence:g}"] if fact.confidence is not None else []
    if fact.ended_at is not None:
        word = "taken back" if fact.taken_back else "ended" if fact.ends <= now else "end set"
        why = f": {fact.reason}" if fact.reason else ""
        told.append(f"{word} by {fact.ended_by or 'hand'}{why}")
    elif fact.reason:
        told.append(f"because {fact.reason}")
    return f"{fact.id}  {fact.sentence}  {period(fact, now)}  {', '.join(told)}"


def as_dict(fact: Fact, now: datetime) -> dict[str, Any]:
    """A fact with the keys that ``--format jsonl`` promises. ``holds``: at ``now``."""
    return {
        "id": fact.id,
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "valid_from": moment(fact.valid_from) if fact.valid_from else None,
        "valid_to": moment(fact.valid_to) if fact.valid_to else None,
        "holds": fact.holds(now),
        "confidence": fact.confidence,
        "source": fact.source or None,
        "at": dates.stamp(fact.at) if fact.at else None,
        "by": fact.by or None,
        "ended_at": dates.stamp(fact.ended_at) if fact.ended_at else None,
        "ended_by": fact.ended_by or None,
        "reason": fact.reason or None,
    }
