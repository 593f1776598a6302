"""The tools of ``--tools all`` for facts in time: add, ask, end, look back, propose."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from memory_palace.agents import mcp_texts
from memory_palace.agents.mcp_desk import Desk, Listed, Reason
from memory_palace.agents.mcp_fact_rows import (
    LONGEST,
    MOST_SHOWN,
    Row,
    line,
    lines,
    moment,
    row,
)
from memory_palace.agents.mcp_schema import Said
from memory_palace.core import excerpts, extract
from memory_palace.core.errors import BadInput
from memory_palace.core.fact import Fact
from memory_palace.core.facts import Direction
from memory_palace.core.facts import Facts as Known
from memory_palace.core.fence import fenced
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable

Subject = Annotated[str, Field(description="What the fact is about.")]
Predicate = Annotated[str, Field(description="The relation, say `uses` or `owned_by`.")]
Object = Annotated[str, Field(description="The other side, or the value.")]
Entity = Annotated[str, Field(description="A name, in any spelling of case.")]
Moment = Annotated[str, Field(description="2026-11-29 or 2026-11-29T20:15:03Z; empty: now.")]


class Told(Said):
    """What `kg_query` and `kg_timeline` answer; ``more`` are older ones."""

    facts: list[Row]
    more: int


class Kept(Said):
    """What `kg_add` answers: the fact, whether it is ``new``, those that it closed, the conflict
    records that it opened."""

    fact: Row
    new: bool
    closed: list[Row]
    opened: list[str]


class Ended(Said):
    """What `kg_invalidate` answers."""

    facts: list[Row]


class Proposal(BaseModel):
    """A fact that a text may state: the parameters of `kg_add`, and where it stands."""

    line: int
    subject: str
    predicate: str
    object: str
    valid_from: str
    confidence: float
    rule: str


class Proposals(Said):
    """What `kg_extract` answers; nothing was written."""

    path: str
    proposals: list[Proposal]


class Named(BaseModel):
    """A predicate, and how many facts have it."""

    name: str
    facts: int


class Stats(Said):
    """What `kg_stats` answers. ``problems`` are lines of the log that do not count."""

    facts: int
    holding: int
    entities: int
    predicates: list[Named]
    problems: list[str]


class Facts:
    """The tools; see the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def kg_add(
        self,
        subject: Subject,
        predicate: Predicate,
        object: Object,
        valid_from: Moment = "",
        source: Annotated[str, Field(description="Where it is known from.")] = "",
        confidence: Annotated[
            float, Field(ge=0, le=1, description="How sure it is; 0: not said.")
        ] = 0,
        reason: Reason = "",
    ) -> Kept:
        """Add a fact that holds from ``valid_from`` on, until it is ended; one that holds already
        is returned (``new`` false).

        Of a one-valued predicate the value before is closed, or a conflict is opened, as the
        palace is configured. Raises :class:`BadInput` for a blank name, a date in words, a start
        within a time for which the fact is written.
        """
        from memory_palace.memory import facts, pen

        desk, said = self._desk, list[str]()
        begins = moment("valid_from", valid_from)
        with pen.begin(desk.root, desk.now(), "palace kg add", reason, said.append) as held:
            done = facts.add(
                held,
                subject,
                predicate,
                object,
                start=begins,
                confidence=confidence or None,
                source=source,
            )
        now = desk.now()
        lines = [f"{'added' if done.new else 'there already:'} {line(done.fact, now)}"]
        lines += [f"closed {line(fact, now)}" for fact in done.closed]
        lines += [f"opened {path}" for path in done.opened]
        return Kept(
            text="\n".join([fenced("\n".join(lines), "facts"), *map(mcp_texts.told, said)]),
            fact=row(done.fact, now),
            new=done.new,
            closed=[row(fact, now) for fact in done.closed],
            opened=list(done.opened),
        )

    def kg_query(
        self,
        entity: Entity,
        as_of: Annotated[
            str, Field(description="A day (its end) or a time; empty: what holds now.")
        ] = "",
        direction: Annotated[
            Literal["subject", "object", "both"], Field(description="Its place in the fact.")
        ] = "both",
        history: Annotated[bool, Field(description="Also what ended or is to come.")] = False,
        most: Listed = 50,
    ) -> Told:
        """The facts of an entity that hold now, or as of a day (its end, UTC), oldest first.

        No fact is an empty list, and what to ask for instead. Raises :class:`BadInput` for a date
        in words, and for ``history`` together with ``as_of``.
        """
        if history and as_of:
            raise BadInput("`history` shows all times: leave out `as_of`, or `history`")
        at = moment("as_of", as_of, end=True) or self._desk.now()
        known = self._known()
        found = known.about(entity, direction, None if history else at)
        return self._told(known, entity, found, most, at, direction)

    def kg_invalidate(
        self,
        subject: Annotated[str, Field(description="What the fact is about.")] = "",
        predicate: Annotated[str, Field(description="The relation.")] = "",
        object: Annotated[str, Field(description="The other side, or the value.")] = "",
        id: Annotated[str, Field(description="Instead of the names: the id of the fact.")] = "",
        ended: Annotated[
            str, Field(description="From when on it does not hold: a day or a time; empty: now.")
        ] = "",
        reason: Reason = "",
    ) -> Ended:
        """End a fact, by its three names or its id; its past stays. What has not begun is taken
        back; by its id an end may be made earlier, never later.

        Raises :class:`Refused` where nothing is to end, with the nearest; :class:`BadInput` for a
        date in words and an end before the start.
        """
        from memory_palace.memory import facts, pen

        desk, said = self._desk, list[str]()
        names = (subject, predicate, object)
        if any(names) == bool(id) or (any(names) and not all(names)):
            raise BadInput("give `subject`, `predicate` and `object`, or `id` alone")
        end = moment("ended", ended)
        with pen.begin(desk.root, desk.now(), "palace kg invalidate", reason, said.append) as held:
            if id:
                done = facts.invalidate_id(held, id, ended=end)
            else:
                done = facts.invalidate(held, *names, ended=end)
        now = desk.now()
        text = fenced("\n".join(f"ended {line(fact, now)}" for fact in done), "facts")
        return Ended(
            text="\n".join([text, *map(mcp_texts.told, said)]),
            facts=[row(fact, now) for fact in done],
        )

    def kg_timeline(self, entity: Entity, most: Listed = 50) -> Told:
        """Every fact that an entity was ever in, by start, ties by id: the newest ``most``."""
        known = self._known()
        return self._told(known, entity, known.timeline(entity), most, self._desk.now())

    def kg_stats(self) -> Stats:
        """How many facts there are, how many hold, and of which predicates, most facts first."""
        known, now = self._known(), self._desk.now()
        count = Counter(hidden(fact.predicate) for fact in known.found)
        listed = sorted(count.items(), key=lambda pair: (-pair[1], pair[0]))[:20]
        holding = len(known.active(now))
        problems = [mcp_texts.told(str(problem)) for problem in known.problems]
        head = (
            f"facts: {len(known.found)}, holding now: {holding}; entities: {len(known.spelled)}, "
            f"predicates: {len(count)}"
        )
        shown = fenced("\n".join(f"{printable(name)} ({n})" for name, n in listed), "facts")
        return Stats(
            text="\n".join(part for part in (head, shown, *problems[:20]) if part),
            facts=len(known.found),
            holding=holding,
            entities=len(known.spelled),
            predicates=[Named(name=name, facts=n) for name, n in listed],
            problems=problems[:20],
        )

    def kg_extract(
        self,
        path: Annotated[str, Field(description="A note: its path, name or [[link]].")] = "",
        text: Annotated[str, Field(description="Instead of a note: a text.")] = "",
        subject: Annotated[
            str, Field(description="What it is about, where it does not say; empty: its title.")
        ] = "",
        least: Annotated[
            float, Field(ge=0, le=1, description="Only proposals of this confidence or more.")
        ] = extract.LEAST,
    ) -> Proposals:
        """Propose facts that a note or a text states, by rules for English; nothing is written.

        Each has its line and a confidence, and is added by `kg_add`. Raises :class:`BadInput`
        unless one of ``path`` and ``text`` is given.
        """
        if bool(path.strip()) == bool(text.strip()):
            raise BadInput("give `path` or `text`")
        name = ""
        if path:
            from memory_palace.search import reading

            note = reading.read(self._desk.root, path, "", None, None, withhold=True)
            name, text = note.path, "\n" * (note.start - 1) + "\n".join(note.lines)
        found = [one for one in extract.extract(name, text, subject) if one.confidence >= least]
        lines = [
            f"{one.line}: {excerpts.cut(printable(extract.sentence(one)), LONGEST)}  "
            f"({one.rule}, confidence {one.confidence:g})"
            for one in found
        ]
        return Proposals(
            text=fenced("\n".join(lines), "facts", MOST_SHOWN) or "no rule knows a fact in it",
            path=name,
            proposals=[
                Proposal(
                    line=one.line,
                    subject=one.subject,
                    predicate=one.predicate,
                    object=one.object,
                    valid_from=one.since,
                    confidence=one.confidence,
                    rule=one.rule,
                )
                for one in found
            ],
        )

    def _known(self) -> Known:
        from memory_palace.files import facts

        return facts.load(self._desk.root)

    def _told(
        self,
        known: Known,
        entity: str,
        found: Sequence[Fact],
        most: int,
        at: datetime,
        direction: Direction = "both",
    ) -> Told:
        """The last ``most`` facts; where there is none, the names that are like it."""
        # Of what begins after now it is not said that it holds "now".
        now = min(at, self._desk.now())
        shown = found[-most:]
        more = len(found) - len(shown)
        said = [f"{more} older: ask for more with `most`"] if more else []
        if not found:
            said.append(mcp_texts.told(_none(known, entity, direction)))
        said += [mcp_texts.told(str(problem)) for problem in known.problems[:5]]
        return Told(
            text="\n".join(part for part in (lines(shown, now), *said) if part),
            facts=[row(fact, at) for fact in shown],
            more=more,
        )


def _none(known: Known, entity: str, direction: Direction) -> str:
    """Why there is no fact of ``entity``, and what to ask for instead."""
    if every := len(known.about(entity, direction)):
        return f"no fact of {entity}: {every} at other times, with `history`"
    if every := len(known.about(entity)):
        return f"no fact has {entity} as {direction}: {every} with `direction` both and `history`"
    near = hidden(", ".join(known.near(entity)))
    return f"no fact of {entity}: {f'did you mean {near}?' if near else 'no name is like it'}"
