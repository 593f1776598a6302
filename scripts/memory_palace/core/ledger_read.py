"""The lines of a ledger, read: what is whole counts, what is not is named and left out.

One bad record voids the whole line that it stands in. The same id with the same content is a
repeat, and the first counts; with other content the later line is refused.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import groupby
from typing import Any, TypeVar

from memory_palace.core import dates
from memory_palace.core.ledger import (
    EVENTS,
    RELEVANCES,
    ROLES,
    SUMMARY,
    TYPES,
    Drop,
    Entry,
    Folded,
    Header,
    Ledger,
    Observation,
    Reflection,
    Summary,
    content,
    is_id,
    record_id,
)
from memory_palace.core.text import did_you_mean

_Record = TypeVar("_Record", Observation, Reflection)


class Void(ValueError):
    """Why a line does not count; the message says what to write in its place."""


def read(lines: Iterable[tuple[int, Mapping[str, Any]]]) -> Ledger:
    """The ledger of (line number, object) pairs."""
    kept = _Kept()
    known: list[_Line] = []
    refused: list[tuple[int, str]] = []
    for number, data in lines:
        try:
            known.append((moment(data, "at"), text(data, "uid"), number, data))
        except Void as why:
            refused.append((number, str(why)))
    for at, uid, number, data in _in_order(known):
        try:
            kept.add(at, uid, number, data)
        except Void as why:
            refused.append((number, str(why)))
    return kept.ledger(tuple(sorted(refused)))


_Line = tuple[datetime, str, int, Mapping[str, Any]]


def _in_order(lines: list[_Line]) -> Iterator[_Line]:
    """By time and uid, whatever their order in the file: lines that share both, by what they
    say."""
    for _, same in groupby(sorted(lines, key=lambda one: one[:3]), key=lambda one: one[:2]):
        few = list(same)
        yield from sorted(few, key=_said) if len(few) > 1 else few


def _said(line: _Line) -> str:
    return json.dumps(line[3], sort_keys=True)


class _Kept:
    """What counts so far."""

    def __init__(self) -> None:
        self.uids: set[str] = set()
        self.entries: dict[str, Entry] = {}
        self.observations: dict[str, Observation] = {}
        self.reflections: dict[str, Reflection] = {}
        self.drops: list[Drop] = []
        self.folds: list[Folded] = []
        self.summaries: list[Summary] = []
        self.headers: list[Header] = []
        self.observed_again: list[Observation] = []
        self.reflected_again: list[Reflection] = []

    def ledger(self, refused: tuple[tuple[int, str], ...]) -> Ledger:
        return Ledger(
            self.entries,
            tuple(self.observations.values()),
            tuple(self.reflections.values()),
            tuple(self.drops),
            tuple(self.folds),
            tuple(self.summaries),
            tuple(self.headers),
            refused,
            tuple(self.observed_again),
            tuple(self.reflected_again),
        )

    def add(self, at: datetime, uid: str, number: int, data: Mapping[str, Any]) -> None:
        if uid in self.uids and data.get("event") != "entry":
            return
        kind = text(data, "event")
        if kind not in EVENTS:
            raise Void(f"unknown event `{kind[:40]}`{did_you_mean(kind[:40], EVENTS)}")
        by = data.get("by") if isinstance(data.get("by"), str) else ""
        getattr(self, f"_{kind}")(at, number, data, by)
        self.uids.add(uid)

    def _session(self, at: datetime, number: int, data: Mapping[str, Any], by: str) -> None:
        client, wing, version, forked = (optional(data, key) for key in EVENTS["session"])
        self.headers.append(Header(text(data, "id"), client, wing, version, forked, at, by))

    def _entry(self, at: datetime, number: int, data: Mapping[str, Any], by: str) -> None:
        role = text(data, "role")
        if role not in ROLES:
            raise Void(f"role `{role[:40]}`: use {', '.join(ROLES)}")
        made = Entry(
            id=identity(data, "id"),
            parent=optional_id(data, "parent"),
            role=role,
            text=data["text"] if isinstance(data.get("text"), str) else text(data, "text"),
            at=at,
            tool=optional(data, "tool"),
            files=texts(data, "files"),
            failed=data.get("failed") is True,
            ref=optional(data, "ref"),
            by=by,
            line=number,
        )
        first = self.entries.setdefault(made.id, made)
        if (first.role, first.text) != (made.role, made.text):
            raise Void(f"entry {made.id} has other content on line {first.line}: remove one")

    def _observed(self, at: datetime, number: int, data: Mapping[str, Any], by: str) -> None:
        covers = optional_id(data, "covers_up_to")
        given = objects(data, "observations")
        made = [observation(one, at, covers, by, number) for one in given]
        _all_or_nothing(self.observations, self.observed_again, made, given)

    def _reflected(self, at: datetime, number: int, data: Mapping[str, Any], by: str) -> None:
        covers = optional_id(data, "covers_up_to")
        given = objects(data, "reflections")
        made = [reflection(one, at, covers, by, number) for one in given]
        _all_or_nothing(self.reflections, self.reflected_again, made, given)

    def _dropped(self, at: datetime, number: int, data: Mapping[str, Any], by: str) -> None:
        self.drops.append(Drop(ids(data, "ids"), at, optional_id(data, "covers_up_to"), by))

    def _folded(self, at: datetime, number: int, data: Mapping[str, Any], by: str) -> None:
        covers = optional_id(data, "covers_up_to")
        kept = optional_id(data, "first_kept")
        self.folds.append(Folded(covers, kept, data.get("full") is True, at))

    def _summarized(self, at: datetime, number: int, data: Mapping[str, Any], by: str) -> None:
        parts = {key: content(optional(data, key)) for key in SUMMARY}
        parts = {key: value for key, value in parts.items() if value}
        if not parts:
            raise Void(f"a summary says nothing: write one of {', '.join(SUMMARY)}")
        self.summaries.append(Summary(parts, optional_id(data, "covers_up_to"), at, by, number))


def _all_or_nothing(
    known: dict[str, _Record],
    again: list[_Record],
    made: list[_Record],
    given: list[Mapping[str, Any]],
) -> None:
    for one, data in zip(made, given, strict=True):
        if data.get("id") is None:  # a ledger that has an id is found by its bytes
            raise Void(f"a record has no `id`: write {one.id}")
        first = known.get(one.id)
        if first is not None and first.content != one.content:
            raise Void(f"record {one.id} has other content on line {first.line}: remove one")
    for one in made:
        if known.setdefault(one.id, one) is not one:
            again.append(one)


def observation(
    data: Mapping[str, Any], at: datetime, covers: str, by: str = "", line: int = 0
) -> Observation:
    """An observation of its JSON object. ``at`` is that of the line where it has none of its own.

    Raises :class:`Void` with what is wrong.
    """
    said = _content(data)
    relevance = text(data, "relevance")
    if relevance not in RELEVANCES:
        raise Void(f"relevance `{relevance[:40]}`: use {', '.join(RELEVANCES)}")
    kind = optional(data, "type")
    if kind and kind not in TYPES:
        raise Void(f"type `{kind[:40]}`: use {', '.join(TYPES)}")
    work = data.get("work", 0)
    return Observation(
        id=_identity(data, said),
        content=said,
        at=moment(data, "at") if data.get("at") is not None else at,
        relevance=relevance,
        sources=ids(data, "sources"),
        covers_up_to=covers,
        type=kind,
        room=optional(data, "room"),
        files=texts(data, "files"),
        work=work if isinstance(work, int) and not isinstance(work, bool) and work > 0 else 0,
        by=by,
        line=line,
    )


def reflection(
    data: Mapping[str, Any], at: datetime, covers: str, by: str = "", line: int = 0
) -> Reflection:
    """A reflection of its JSON object. Raises :class:`Void` with what is wrong."""
    said = _content(data)
    return Reflection(_identity(data, said), said, ids(data, "supports"), at, covers, by, line)


def _content(data: Mapping[str, Any]) -> str:
    said = content(text(data, "content"))
    if not said:
        raise Void("`content` is blank: write one line")
    return said


def _identity(data: Mapping[str, Any], said: str) -> str:
    made = record_id(said)
    given = data.get("id")
    if given is not None and given != made:
        raise Void(f"id {str(given)[:20]!r} is not that of its content: write {made}")
    return made


def objects(data: Mapping[str, Any], key: str) -> list[Mapping[str, Any]]:
    """A list of one object or more."""
    value = data.get(key)
    if not isinstance(value, list) or not value or not all(isinstance(v, dict) for v in value):
        raise Void(f"`{key}` is no list of objects")
    return value


def text(data: Mapping[str, Any], key: str) -> str:
    """A text that is not empty."""
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise Void(f"`{key}` is missing or no text")
    return value


def optional(data: Mapping[str, Any], key: str) -> str:
    """A text, empty where there is none."""
    value = data.get(key)
    if value is not None and not isinstance(value, str):
        raise Void(f"`{key}` is no text")
    return value or ""


def texts(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """A list of texts, empty where there is none."""
    value = data.get(key)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(v, str) for v in value):
        raise Void(f"`{key}` is no list of texts")
    return tuple(value)


def identity(data: Mapping[str, Any], key: str) -> str:
    """An id of 12 hex."""
    value = data.get(key)
    if not is_id(value):
        raise Void(f"`{key}` is {str(value)[:40]!r}: an id has 12 hex digits")
    return str(value)


def optional_id(data: Mapping[str, Any], key: str) -> str:
    """An id, empty where there is none."""
    return identity(data, key) if data.get(key) else ""


def ids(data: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """One id or more, each once."""
    value = data.get(key)
    if not isinstance(value, list) or not value:
        raise Void(f"`{key}` names nothing: give one id or more")
    for one in value:
        if not is_id(one):
            raise Void(f"`{key}` has {str(one)[:40]!r}: an id has 12 hex digits")
    return tuple(dict.fromkeys(value))


def moment(data: Mapping[str, Any], key: str) -> datetime:
    """A time."""
    value = data.get(key)
    found = dates.parse(value) if isinstance(value, str) else None
    if found is None:
        raise Void(f"`{key}` is {str(value)[:40]!r}: write {dates.FORMS}")
    return found
