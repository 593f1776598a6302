"""How the tools show facts: a line each, fields, and moments as a client writes them."""

from collections.abc import Iterable
from datetime import datetime

from pydantic import BaseModel

from memory_palace.core import dates, excerpts, facts_text
from memory_palace.core.errors import BadInput
from memory_palace.core.fact import Fact
from memory_palace.core.fence import fenced
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable

MOST_SHOWN = 40_000
LONGEST = 600
"""Characters of a fact's line."""


class Row(BaseModel):
    """A fact. Times as they are stored, empty where there is none; ``valid_to`` is exclusive.

    ``confidence`` 0: not said. ``at`` and ``by`` tell who added it when, ``ended_by`` and
    ``reason`` who ended it and why (before that, ``reason`` is the one of adding).
    """

    id: str
    subject: str
    predicate: str
    object: str
    valid_from: str
    valid_to: str
    holds: bool
    confidence: float
    source: str
    at: str
    by: str
    ended_by: str
    reason: str


def lines(facts: Iterable[Fact], now: datetime) -> str:
    """Facts, a line each, fenced; empty without any."""
    return fenced("\n".join(line(fact, now) for fact in facts), "facts", MOST_SHOWN)


def plain_lines(facts: Iterable[Fact], now: datetime) -> list[str]:
    """Facts, a line each, for a text that is fenced as a whole."""
    return [line(fact, now) for fact in facts]


def row(fact: Fact, now: datetime) -> Row:
    """A fact as fields."""
    return Row(
        id=fact.id,
        subject=hidden(fact.subject),
        predicate=hidden(fact.predicate),
        object=hidden(fact.object),
        valid_from=facts_text.moment(fact.valid_from) if fact.valid_from else "",
        valid_to=facts_text.moment(fact.valid_to) if fact.valid_to else "",
        holds=fact.holds(now),
        confidence=fact.confidence or 0,
        source=hidden(fact.source),
        at=dates.stamp(fact.at) if fact.at else "",
        by=fact.by,
        ended_by=fact.ended_by,
        reason=hidden(fact.reason),
    )


def line(fact: Fact, now: datetime) -> str:
    """``id  subject predicate object  [2026-11-20 .. now]  by …``, not endless."""
    return excerpts.cut(printable(hidden(facts_text.line(fact, now))), LONGEST)


def moment(name: str, text: str, end: bool = False) -> datetime | None:
    """The moment of a day or a time, ``end`` the last one of a day; None for an empty text.

    Raises :class:`BadInput` for any other text, dates in words too.
    """
    found = (dates.end_of(text) if end else dates.parse(text)) if text else None
    if text and found is None:
        raise BadInput(f"{name} {text!r} is no date: write {dates.FORMS}")
    return found
