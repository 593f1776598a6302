"""Facts in time: lines of ``manifests/facts.jsonl`` in any order, and the states they come to.

A fact holds from ``valid_from`` until ``valid_to``, which is exclusive. No line is ever removed: an
``invalidated`` one gives a fact its end, and of several ends the earliest counts. So the states
depend on the set of lines alone, and two branches merge to the union.
"""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime
from functools import cached_property
from typing import Any, Literal, NamedTuple

from memory_palace.core import facts_read
from memory_palace.core.fact import KINDS, LONG_AGO, NEVER, PATH, Fact, fact_id, in_time, normal
from memory_palace.core.problems import Problem

__all__ = ["KINDS", "LONG_AGO", "NEVER", "PATH", "Fact", "Facts", "fact_id", "fold", "normal"]

Direction = Literal["subject", "object", "both"]
DIRECTIONS: tuple[Direction, ...] = ("subject", "object", "both")


class Entity(NamedTuple):
    """A name that facts have as subject or object, as first spelled; how many, how many hold."""

    name: str
    as_subject: int
    as_object: int
    holding: int


class Facts:
    """All facts of a log, and what is wrong with any line. ``spelled`` has the first spelling of
    each entity by its name as compared, ``predicates`` that of each predicate."""

    def __init__(
        self,
        found: Iterable[Fact],
        spelled: dict[str, str],
        predicates: dict[str, str],
        problems: Iterable[Problem],
    ) -> None:
        self.found = tuple(found)
        self.spelled = spelled
        self.predicates = predicates
        self.problems = tuple(problems)

    @cached_property
    def all(self) -> tuple[Fact, ...]:
        """Every fact ever, in the order of time."""
        return tuple(sorted(self.found, key=in_time))

    @cached_property
    def _by_entity(self) -> dict[str, list[Fact]]:
        found: dict[str, list[Fact]] = defaultdict(list)
        for fact in self.found:
            subject, _, object_ = fact.names
            found[subject].append(fact)
            if object_ != subject:
                found[object_].append(fact)
        return dict(found)

    def active(self, at: datetime) -> tuple[Fact, ...]:
        """The facts that hold at that moment, in order; of identical ones the first."""
        return _once(fact for fact in self.found if fact.holds(at))

    def about(
        self, entity: str, direction: Direction = "both", at: datetime | None = None
    ) -> tuple[Fact, ...]:
        """The facts with this subject, object or either, that hold at ``at``, in order.

        Without ``at`` every one that ever was. Of identical facts that hold, the first.
        """
        name = normal(entity)
        found = [
            fact
            for fact in self._by_entity.get(name, ())
            if direction == "both" or fact.names[0 if direction == "subject" else 2] == name
        ]
        if at is None:
            return tuple(sorted(found, key=in_time))
        return _once(fact for fact in found if fact.holds(at))

    def timeline(self, entity: str) -> tuple[Fact, ...]:
        """Every fact that the entity was ever in, ascending by start, ties by id."""
        return self.about(entity)

    def same(self, subject: str, predicate: str, object_: str) -> tuple[Fact, ...]:
        """Every fact with these names, in order."""
        names = normal(subject), normal(predicate), normal(object_)
        found = (fact for fact in self._by_entity.get(names[0], ()) if fact.names == names)
        return tuple(sorted(found, key=in_time))

    def entities(self, prefix: str = "", at: datetime | None = None) -> tuple[Entity, ...]:
        """The names that begin with ``prefix`` as names are compared, in their order.

        ``holding`` counts what holds at ``at``; without it, what has no end.
        """
        start = normal(prefix)
        found = []
        for name in sorted(name for name in self._by_entity if name.startswith(start)):
            facts = self._by_entity[name]
            found.append(
                Entity(
                    self.spelled[name],
                    sum(fact.names[0] == name for fact in facts),
                    sum(fact.names[2] == name for fact in facts),
                    sum(fact.holds(at) if at else fact.valid_to is None for fact in facts),
                )
            )
        return tuple(found)

    def near(self, entity: str, most: int = 3) -> tuple[str, ...]:
        """Up to ``most`` known entities whose names are like this one's, likest first."""
        import difflib  # for faults only

        found = difflib.get_close_matches(normal(entity), self._by_entity, n=most, cutoff=0.6)
        return tuple(self.spelled[name] for name in found)

    def clashes(
        self, one_valued: Iterable[str], at: datetime | None = None
    ) -> tuple[tuple[Fact, Fact], ...]:
        """Pairs of facts of one subject that hold at one time, though only one value can.

        At ``at``, or without it at any time. Each fact is paired with the one before it that
        lasts longest, so there are fewer pairs than facts.
        """
        wanted = {normal(name) for name in one_valued}
        sets: dict[tuple[str, str], list[Fact]] = defaultdict(list)
        for fact in self.all:
            if fact.names[1] in wanted and (at is None or fact.holds(at)):
                sets[fact.names[:2]].append(fact)
        return tuple(
            pair
            for facts in sets.values()
            for pair in overlapping(facts)
            if pair[0].names != pair[1].names
        )


def overlapping(facts: Iterable[Fact]) -> list[tuple[Fact, Fact]]:
    """Pairs of ``facts`` (in the order of time) that hold at one moment.

    Each is paired once at most: with the one before it that lasts longest, if possible one that
    says something else.
    """
    found: list[tuple[Fact, Fact]] = []
    lasting: list[Fact] = []  # the longest, and the longest that says something else than it
    for fact in facts:
        if fact.begins >= fact.ends:
            continue
        open_ = [other for other in lasting if fact.begins < other.ends]
        other = next((o for o in open_ if o.names != fact.names), open_[0] if open_ else None)
        if other is not None:
            found.append((other, fact))
        longest = max((*lasting, fact), key=lambda f: f.ends)
        rest = [f for f in (*lasting, fact) if f.names != longest.names]
        lasting = [longest, *sorted(rest, key=lambda f: f.ends)[-1:]]
    return found


def _once(facts: Iterable[Fact]) -> tuple[Fact, ...]:
    kept: dict[tuple[str, str, str], Fact] = {}
    for fact in sorted(facts, key=in_time):
        kept.setdefault(fact.names, fact)
    return tuple(kept.values())


def fold(lines: Iterable[tuple[int, dict[str, Any]]], about: Iterable[str] | None = None) -> Facts:
    """The facts of (line number, object) pairs, in any order; see :func:`facts_read.read`.

    With ``about`` only those of these entities.
    """
    wanted = None if about is None else {normal(name) for name in about}
    return Facts(*facts_read.read(lines, wanted))
