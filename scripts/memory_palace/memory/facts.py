"""Facts in time, written: what holds from when, and what ended it. The log only grows."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from memory_palace.core import dates, facts, facts_text, privacy
from memory_palace.core.errors import BadInput, Missing, Refused
from memory_palace.core.events import Event
from memory_palace.core.fact import LONGEST_NAME
from memory_palace.core.facts import Fact, Facts
from memory_palace.core.text import nearest
from memory_palace.files import facts as logs
from memory_palace.memory.pen import Pen

_MOST_COMPARED = 1000  # facts that are looked through for the nearest of what is not there


@dataclass(frozen=True, slots=True)
class Added:
    """What adding came to: the fact, False for ``new`` where it was there already, the facts that
    it closed, the paths of the conflict records that it opened."""

    fact: Fact
    new: bool = True
    closed: tuple[Fact, ...] = ()
    opened: tuple[str, ...] = ()


def add(
    held: Pen,
    subject: str,
    predicate: str,
    object_: str,
    *,
    start: datetime | None = None,
    end: datetime | None = None,
    confidence: float | None = None,
    source: str = "",
    look: Callable[[Sequence[str]], Facts] | None = None,
) -> Added:
    """Add a fact that holds from ``start`` (None: from now) on, until ``end`` if there is one; one
    that holds is returned as it is.

    Of a one-valued predicate (``facts.one_valued``) the value before ends where this one begins,
    and this one where a later one does; with ``facts.on_new: conflict`` both stay and a conflict
    is opened. Private spans and secrets are taken out. ``look`` gives the facts about entities,
    for who adds many (None: the log is read). Raises :class:`BadInput` for a name with nothing in
    it, an end that is not after the start, and a start within a time for which the fact is written
    already.
    """
    names = _names(subject, predicate, object_)
    source = _clean("the source", source)
    if confidence is not None and not 0 <= confidence <= 1:
        raise BadInput(f"the confidence is {confidence:g}: write 0 to 1")
    entities = [names[0], names[2]]
    known = look(entities) if look else logs.load(held.root, entities)
    now = held.now.replace(microsecond=0)
    begins = (start or now).replace(microsecond=0)
    ends = end.replace(microsecond=0) if end else facts.NEVER
    if ends <= begins:
        raise BadInput(f"it would end on {facts_text.moment(ends)}, not after it begins")
    there = _there(known, names, begins, ends, now)
    if there is not None:
        return Added(there, new=False)
    others = _others(known, held.config.one_valued, names, begins, ends)
    closing = held.config.on_new == "close"
    until = min([ends, *(o.begins for o in others if closing and o.begins > begins)])
    earlier = [o for o in others if closing and o.begins <= begins]
    event = _event(held, known, names, begins, now, until, confidence, source)
    why = f"followed by {names[2]}"
    closes = [_ending(held, fact, begins, held.reason or why) for fact in earlier]
    _append(held, [event, *closes])
    fact = facts.fold([(0, event.as_line())]).found[0]
    subject, object_ = (known.spelled.get(fact.names[n], names[n]) for n in (0, 2))
    predicate = known.predicates.get(fact.names[1], names[1])
    fact = fact._replace(subject=subject, predicate=predicate, object=object_)
    closed = tuple(_ended(*pair) for pair in zip(earlier, closes, strict=True))
    opened = () if closing else tuple(_conflict(held, fact, other) for other in others)
    return Added(fact, True, closed, opened)


def _there(
    known: Facts, names: tuple[str, str, str], begins: datetime, ends: datetime, now: datetime
) -> Fact | None:
    """The identical fact that holds from ``begins`` on; None if there is none until ``ends``.

    Raises :class:`BadInput` for one that covers a part of that time.
    """
    same = [fact for fact in known.same(*names) if _overlaps(fact, begins, ends)]
    for fact in same:
        if fact.holds(max(now, begins)):
            return fact
    for fact in same:
        shown = f"{fact.sentence} {facts_text.period(fact, now)}"
        if fact.begins > begins:
            raise BadInput(
                f"{shown} is planned already ({fact.id}): take it back first, "
                f"`palace kg invalidate {fact.id}`"
            )
        raise BadInput(
            f"{shown} is written already ({fact.id}), and from {facts_text.moment(begins)} on it "
            f"would hold twice: use --from {facts_text.moment(fact.ends)} or later"
        )
    return None


def _overlaps(fact: Fact, begins: datetime, ends: datetime) -> bool:
    return max(begins, fact.begins) < min(ends, fact.ends)


def _others(
    known: Facts,
    one_valued: Iterable[str],
    names: tuple[str, str, str],
    begins: datetime,
    ends: datetime,
) -> list[Fact]:
    """Facts with other values that hold at some time between the two, where only one can."""
    subject, predicate, object_ = (facts.normal(name) for name in names)
    if predicate not in {facts.normal(name) for name in one_valued}:
        return []
    return [
        fact
        for fact in known.about(subject, "subject")
        if fact.names[1] == predicate and fact.names[2] != object_ and _overlaps(fact, begins, ends)
    ]


def _event(
    held: Pen,
    known: Facts,
    names: tuple[str, str, str],
    begins: datetime,
    now: datetime,
    ends: datetime,
    confidence: float | None,
    source: str,
) -> Event:
    at, ids = now, {fact.id for fact in known.same(*names)}
    # A fact that comes back within the second needs an id of its own.
    while (key := facts.fact_id(*names, begins, at)) in ids:
        at += timedelta(seconds=1)
    subject, predicate, object_ = names
    data = {
        "subject": subject,
        "predicate": predicate,
        "object": object_,
        "valid_from": facts_text.moment(begins),
        "valid_to": facts_text.moment(ends) if ends < facts.NEVER else None,
        "confidence": confidence,
        "source": source or None,
    }
    return _made(held, "added", key, at, held.reason, data)


def _ending(held: Pen, fact: Fact, ended: datetime, reason: str) -> Event:
    data = {
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "valid_to": facts_text.moment(ended),
    }
    return _made(held, "invalidated", fact.id, held.now, reason, data)


def _made(
    held: Pen, event: str, about: str, at: datetime, reason: str, data: dict[str, Any]
) -> Event:
    kept = {key: value for key, value in data.items() if value is not None}
    assert not set(kept) - set(facts.KINDS[event]), kept
    moment = at.replace(microsecond=0)
    return Event(moment, held.by, event, secrets.token_hex(8), about, reason, kept)


def _ended(fact: Fact, event: Event) -> Fact:
    ended = dates.parse(event.data["valid_to"])
    return fact._replace(valid_to=ended, ended_at=event.at, ended_by=event.by, reason=event.reason)


def _append(held: Pen, made: list[Event]) -> None:
    try:
        logs.append(held.root, made)
    except OSError as error:
        raise Missing(
            f"{facts.PATH} cannot be written ({error.strerror}): nothing was added; free disk "
            "space or mend that place, and run this again"
        ) from None
    held.touched[facts.PATH] = None
    held.logged += made


def _conflict(held: Pen, fact: Fact, other: Fact) -> str:
    from memory_palace.memory import conflicts  # where both are to stay

    lines = {one.id: one.line for one in logs.load(held.root).found}
    a, b = (f"{facts.PATH}:{lines[one.id]}" for one in (other, fact))
    return conflicts.open_pair(held, a, b).path


def invalidate(
    held: Pen, subject: str, predicate: str, object_: str, *, ended: datetime | None = None
) -> tuple[Fact, ...]:
    """End the facts with these names that have not ended, at ``ended`` (None: now).

    One that has not begun ends where it would begin. Returns them as they are then. Raises
    :class:`Refused` if there is none, naming the nearest; :class:`BadInput` for an end before the
    start.
    """
    names = _names(subject, predicate, object_)
    same = logs.load(held.root, [names[0]]).same(*names)
    now = held.now.replace(microsecond=0)
    still = [fact for fact in same if fact.ends > now]
    if not still:
        raise Refused(_nothing(held, same, *names))
    return _invalidate(held, still, ended)


def invalidate_id(held: Pen, key: str, *, ended: datetime | None = None) -> tuple[Fact, ...]:
    """As :func:`invalidate`, of the fact with this id. An ``ended`` may shorten one that ended."""
    now = held.now.replace(microsecond=0)
    same = tuple(fact for fact in logs.load(held.root).found if fact.id == key)
    if not same or (ended is None and same[0].ends <= now):
        raise Refused(_nothing(held, same, key))
    return _invalidate(held, same, ended)


def _invalidate(held: Pen, still: Sequence[Fact], ended: datetime | None) -> tuple[Fact, ...]:
    now = held.now.replace(microsecond=0)
    if ended is not None:
        ended = ended.replace(microsecond=0)
        begun = [fact for fact in still if fact.begins <= ended]
        if not begun:
            first = still[0]
            raise BadInput(
                f"{first.sentence} would end on {facts_text.moment(ended)}, before it began on "
                f"{facts_text.moment(first.begins)} ({first.id}): write a later --ended"
            )
        still = [fact for fact in begun if ended < fact.ends]
        if not still:
            first = begun[0]
            raise Refused(
                f"{first.sentence} ends on {facts_text.moment(first.ends)} already ({first.id}): "
                "write an earlier --ended, or none"
            )
    made = [_ending(held, f, ended or max(now, f.begins), held.reason) for f in still]
    _append(held, made)
    return tuple(_ended(*pair) for pair in zip(still, made, strict=True))


def _nothing(held: Pen, same: tuple[Fact, ...], *names: str) -> str:
    """Why nothing was ended: with what did end, or the nearest of what holds."""
    called = " ".join(names)
    if same:
        last = same[-1]
        ended = facts_text.moment(last.ends)
        return f"nothing to end: {last.sentence} ended on {ended} already ({last.id})"
    if len(names) == 1:
        return f"nothing to end: no fact has the id {called}; `palace kg query` shows ids"
    said = f"nothing to end: no fact {called}"
    known = logs.load(held.root)
    entities = {*names[::2], *(near for name in names[::2] for near in known.near(name))}
    some = [fact for name in entities for fact in known.about(name, "both", held.now)]
    holding = {" ".join(fact.names): fact for fact in some[:_MOST_COMPARED]}
    near = nearest(" ".join(facts.normal(name) for name in names), holding)
    if near:
        return f"{said}; the nearest is {holding[near].sentence} ({holding[near].id})"
    return f"{said}; `palace kg entities` lists the names"


def _names(subject: str, predicate: str, object_: str) -> tuple[str, str, str]:
    given = (("subject", subject), ("predicate", predicate), ("object", object_))
    cleaned = tuple(_clean(f"the {what}", name) for what, name in given)
    for (what, _), name in zip(given, cleaned, strict=True):
        if not facts.normal(name.replace(privacy.PRIVATE_MARK, "")):
            raise BadInput(f"the {what} has nothing in it that can be kept: write a name")
    subject, predicate, object_ = cleaned
    # What is a secret only beside its name: `db password hunter2`.
    for name in (predicate, subject):
        told = privacy.redact(f"{name}={object_}")
        if told.secrets and told.text.startswith(f"{name}="):
            object_ = told.text.removeprefix(f"{name}=")
    return subject, predicate, object_


def _clean(what: str, text: str) -> str:
    """``text`` on one line, without private spans and secrets."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise BadInput(f"{what} is not UTF-8: write it as UTF-8")
    kept = " ".join(privacy.redact(text).text.split())
    if len(kept) > LONGEST_NAME:
        raise BadInput(f"{what} has {len(kept)} characters: write at most {LONGEST_NAME}")
    return kept
