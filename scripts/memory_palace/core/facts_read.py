"""Lines of ``manifests/facts.jsonl``, in any order, as facts."""

import contextlib
import re
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, Literal, NamedTuple

from memory_palace.core import dates
from memory_palace.core.fact import (
    KINDS,
    LONG_AGO,
    LONGEST_NAME,
    NEVER,
    PATH,
    Fact,
    fact_id,
    normal,
)
from memory_palace.core.problems import Problem
from memory_palace.core.text import did_you_mean, short_id

_HALF = re.compile("[\ud800-\udfff]")
"""Half a character, and a byte that was not UTF-8: no database takes it, no terminal shows it."""


class Read(NamedTuple):
    """The facts, the first spelling of each entity and of each predicate by its name as compared,
    what is wrong."""

    found: tuple[Fact, ...]
    spelled: dict[str, str]
    predicates: dict[str, str]
    problems: tuple[Problem, ...]


def read(lines: Iterable[tuple[int, dict[str, Any]]], about: Collection[str] | None = None) -> Read:
    """The facts of (line number, object) pairs, each line once by its ``uid``.

    A line that a person wrote needs subject, predicate and object: what else it lacks follows
    from those. What does not count is among the problems. With ``about`` only facts with one of
    these names (as compared) as subject or object, which is quicker; lines that name none of them
    are not looked at further.
    """
    return _Fold(lines, about).result()


class _Void(ValueError):
    """Why a line, or a key of it, does not count."""


class _End(NamedTuple):
    """A line that ends a fact: which one, when, and when that was said."""

    number: int
    data: dict[str, Any]
    key: str
    ended: datetime
    at: datetime | None


class _Fold:
    """One pass over the lines for each of: what is there once, additions, ends."""

    def __init__(
        self, lines: Iterable[tuple[int, dict[str, Any]]], about: Collection[str] | None
    ) -> None:
        self.problems: list[Problem] = []
        self.facts: dict[str, Fact] = {}
        self.uids: dict[str, str] = {}
        self.about = about
        self.passed: set[str] = set()
        self.void: set[str] = set()
        # A log repeats its names: (as shown, as compared) of each that a line says.
        self.names: dict[str, tuple[str, str]] = {}
        self.lines = self._once(lines)

    def result(self) -> Read:
        ends: list[_End] = []
        for uid, (number, data) in self.lines.items():
            kind = data.get("event")
            try:
                if kind == "added":
                    self._add(uid, number, data)
                elif kind == "invalidated":
                    ends.append(_ending(number, data))
                elif not isinstance(kind, str) or not kind:
                    raise _Void("has no `event`: every line has one; left out")
                else:
                    raise _Void(f"unknown event `{kind}`, kept{did_you_mean(kind, KINDS)}")
            except _Void as why:
                self.void.add(uid)
                self._wrong(number, str(why))
        self._end(ends)
        spelled, predicates = self._spell()
        self.problems.sort(key=lambda p: (p.line or 0, p.message))
        return Read(tuple(self.facts.values()), spelled, predicates, tuple(self.problems))

    def _wrong(self, number: int, what: str, grade: Literal["error", "warning"] = "error") -> None:
        self.problems.append(Problem(PATH, number, what, grade))

    def _once(
        self, lines: Iterable[tuple[int, dict[str, Any]]]
    ) -> dict[str, tuple[int, dict[str, Any]]]:
        found: dict[str, tuple[int, dict[str, Any]]] = {}
        for line in lines:
            data = line[1]
            uid = data.get("uid")
            if not isinstance(uid, str) or not uid:
                uid = short_id(_content(data))
            first = found.setdefault(uid, line)
            if first is line:
                continue
            one, other = _content(first[1]), _content(data)
            if one != other:
                what = f"uid {uid} has other content on line {first[0]}: give one another uid"
                self._wrong(line[0], what)
                found[uid] = line if other < one else first
        return found

    def _add(self, uid: str, number: int, data: dict[str, Any]) -> None:
        subject, one = self._name(data, "subject")
        predicate, two = self._name(data, "predicate")
        object_, three = self._name(data, "object")
        key = id_of(data)
        if self.about is not None and one not in self.about and three not in self.about:
            if key:
                self.passed.add(key)
            else:
                with contextlib.suppress(_Void):
                    self.passed.add(fact_id(subject, predicate, object_, *_times(data)))
            return
        start, at = _times(data)
        confidence = data.get("confidence")
        if confidence is not None and not _is_share(confidence):
            self._wrong(number, f"`confidence` is {confidence!r}: write 0 to 1; left out")
            confidence = None
        key = key or fact_id(subject, predicate, object_, start, at)
        made = Fact(
            key,
            subject,
            predicate,
            object_,
            (one, two, three),
            valid_from=start,
            valid_to=_when(data, "valid_to"),
            confidence=confidence,
            source=_text(data, "source"),
            at=at,
            by=_text(data, "by"),
            reason=_text(data, "reason"),
            line=number,
        )
        first = self.facts.setdefault(key, made)
        if first is made:
            self.uids[key] = uid
            return
        if first.names != made.names:
            self._wrong(number, f"id {key} is another fact on line {first.line}: change one")
        if (made.at or LONG_AGO, uid) < (first.at or LONG_AGO, self.uids[key]):
            self.facts[key] = made
            self.uids[key] = uid

    def _name(self, data: dict[str, Any], key: str) -> tuple[str, str]:
        """The name under ``key``, as it is shown and as it is compared."""
        said = data.get(key)
        if isinstance(said, str) and (found := self.names.get(said)):
            return found
        name = _text(data, key)
        if not name:
            raise _Void(f"has no `{key}`: a fact has subject, predicate and object; left out")
        if len(name) > LONGEST_NAME:
            what = f"`{key}` has {len(name)} characters: write at most {LONGEST_NAME}; left out"
            raise _Void(what)
        compared = normal(name)
        if not compared:
            raise _Void(f"`{key}` is {name!r}, which names nothing: write a name; left out")
        if isinstance(said, str):
            self.names[said] = name, compared
        return name, compared

    def _end(self, ends: list[_End]) -> None:
        """Give facts their ends. The earliest counts, whichever line stands first."""
        ends.sort(key=lambda end: (end.ended, end.at or LONG_AGO, _content(end.data)))
        for end in ends:
            fact = self.facts.get(end.key)
            if fact is None and end.key not in self.passed:
                what = f"ends {end.key}, which no line adds: merge what does, or mend `id`"
                self._wrong(end.number, what, "warning")
            elif fact is not None and end.ended < fact.ends:
                self.facts[end.key] = fact._replace(
                    valid_to=end.ended,
                    ended_at=end.at,
                    ended_by=_text(end.data, "by"),
                    reason=_text(end.data, "reason"),
                )

    def _spell(self) -> tuple[dict[str, str], dict[str, str]]:
        """The first spelling of each entity and of each predicate, which all facts then show."""
        spelled: dict[str, str] = {}
        several = set()
        for shown, name in self.names.values():
            if spelled.setdefault(name, shown) != shown:
                several.add(name)
        firsts = self._firsts(several) if several else {}
        entities, predicates = {}, {}
        for key, fact in self.facts.items():
            one, two, three = fact.names
            if several and several & {one, two, three}:
                self.facts[key] = fact = fact._replace(
                    subject=firsts.get((True, one), fact.subject),
                    predicate=firsts.get((False, two), fact.predicate),
                    object=firsts.get((True, three), fact.object),
                )
            entities[one], predicates[two], entities[three] = fact[1:4]
        return entities, predicates

    def _firsts(self, names: set[str]) -> dict[tuple[bool, str], str]:
        """The first spelling of these names, by (True for an entity, name as compared)."""
        found: dict[tuple[bool, str], tuple[datetime, str]] = {}
        for uid, (_, data) in self.lines.items():
            counts = data.get("event") == "added" and uid not in self.void
            for key in ("subject", "predicate", "object"):
                said = data.get(key) if counts else None
                shown, name = self.names.get(said, ("", "")) if isinstance(said, str) else ("", "")
                if name in names:
                    at = data.get("at")
                    moment = dates.parse(at) if isinstance(at, str) else LONG_AGO
                    here = (moment or NEVER, shown)
                    kind = key != "predicate", name
                    found[kind] = min(found.get(kind, here), here)
        return {kind: shown for kind, (_, shown) in found.items()}


def id_of(data: dict[str, Any]) -> str:
    """The id that a line names; empty for none."""
    return _text(data, "id")


def ending(data: dict[str, Any]) -> tuple[str, datetime] | None:
    """Which fact an ``invalidated`` line ends, by its id, and when; None if it does not count."""
    try:
        end = _ending(0, data)
    except _Void:
        return None
    return end.key, end.ended


def _ending(number: int, data: dict[str, Any]) -> _End:
    key = id_of(data)
    if not key:
        raise _Void("has no `id`: name the fact that it ends; left out")
    at = _when(data, "at")
    ended = _when(data, "valid_to") or at
    if ended is None:
        raise _Void(f"has no `valid_to`: write {dates.FORMS}; left out")
    return _End(number, data, key, ended, at)


def _times(data: dict[str, Any]) -> tuple[datetime | None, datetime | None]:
    """When the fact of an ``added`` line begins, and when that was said."""
    at = _when(data, "at")
    return _when(data, "valid_from") or at, at


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if isinstance(value, str):
        said = " ".join(value.split())
        return said if said.isascii() else _HALF.sub("\ufffd", said)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return ""
    return str(value)


def _when(data: dict[str, Any], key: str) -> datetime | None:
    value = data.get(key)
    if value is None or value == "":
        return None
    moment = dates.parse(value) if isinstance(value, str) else None
    if moment is None:
        raise _Void(f"`{key}` is {str(value)[:40]!r}: write {dates.FORMS}; left out")
    return moment


def _is_share(value: Any) -> bool:
    return not isinstance(value, bool) and isinstance(value, int | float) and 0 <= value <= 1


def _content(data: dict[str, Any]) -> str:
    return repr(sorted(data.items(), key=lambda pair: pair[0]))
