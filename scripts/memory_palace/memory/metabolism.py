"""The whole cycle: scan, propose, strike, demote, archive, and what is left to be judged."""

import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import islice
from pathlib import Path

from memory_palace.core import dates, links
from memory_palace.core.archiving import Planned, Sweep
from memory_palace.core.conflicts import Record
from memory_palace.core.errors import Refused
from memory_palace.core.problems import Problem, in_order
from memory_palace.core.proposals import Proposal
from memory_palace.core.text import stem
from memory_palace.files import config as configs
from memory_palace.files import identity
from memory_palace.memory import (
    archive,
    conflict_scan,
    conflicts,
    constitution,
    elimination,
    proposals,
    usage,
)
from memory_palace.memory import state as states
from memory_palace.memory.archive import Plan
from memory_palace.memory.conflict_scan import Scan
from memory_palace.memory.elimination import Demotion, Gathered
from memory_palace.memory.evidence import Shelf
from memory_palace.memory.pen import Pen
from memory_palace.memory.proposals import Found
from memory_palace.memory.standing import CONSTITUTION

LIMIT = 10
"""Items of a section that are shown, and of the work list, unless more are asked for."""
_PAIRS = 200


@dataclass(frozen=True, slots=True)
class Task:
    """One thing for a person or an agent to judge: its evidence, and the commands that decide."""

    kind: str
    about: str
    evidence: tuple[str, ...]
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cycle:
    """One turn of the metabolism at a moment, planned or done.

    ``found`` are new proposals, ``waiting`` earlier ones that nobody decided. ``folded`` are the
    days of retrievals that were (or would be) shared. ``records`` are conflicts that are open.
    ``tasks`` are to be judged, all of them. ``written`` is False of a plan, ``moved`` None until
    something may move.
    """

    at: datetime
    found: Found
    waiting: tuple[Proposal, ...]
    eliminated: Gathered
    archive: Plan
    folded: int
    pairs: Scan
    records: tuple[Record, ...]
    tasks: tuple[Task, ...]
    problems: tuple[Problem, ...]
    written: bool = False
    moved: "Moves | None" = None

    @property
    def sweeps(self) -> tuple[Sweep, ...]:
        """The rooms that would lose more than a quarter."""
        return (*self.eliminated.sweeps, *self.archive.sweeps)

    @property
    def movable(self) -> int:
        """How many moves are planned."""
        return len(self.eliminated.demotions) + len(self.archive.items)


@dataclass(frozen=True, slots=True)
class Moves:
    """What was moved."""

    demotions: tuple[Demotion, ...]
    archived: tuple[Planned, ...]
    problems: tuple[Problem, ...]


def look(root: Path, now: datetime, at: datetime | None = None, by: str = "") -> Cycle:
    """The cycle as it would be ``now``, or at another moment; writes nothing."""
    moment = at or now
    config = configs.load(root)
    by = by or identity.who(config.identity)
    state = states.load(root, now, at)
    shelf = Shelf(root, config.exclude)
    queue = proposals.load(root)
    today = dates.stamp(moment)[:10]
    # A second run on the same day proposes nothing more.
    made = sum(dates.stamp(one.created)[:10] == today for one in queue.proposals)
    room = max(proposals.LIMIT - made, 0)
    found = proposals.plan(shelf, state, queue, moment, by, room)
    found = replace(found, new=tuple(one for one in found.new if not _came_down(shelf, one)))
    eliminated = elimination.gather(root, shelf, state, moment)
    plan = archive.plan(root, state, now, at, notes=eliminated.useless)
    pairs = conflict_scan.scan(root, config, state, _PAIRS)
    records = tuple(record for record in conflicts.load(root)[0] if record.is_open)
    days = {one.day for one in usage.local(root)}
    problems = (
        *shelf.problems,
        *state.problems,
        *queue.problems,
        *eliminated.problems,
        *pairs.problems,
        *plan.left_out,
    )
    cycle = Cycle(
        at=moment,
        found=found,
        waiting=queue.open,
        eliminated=eliminated,
        archive=plan,
        folded=sum(day < today for day in days),
        pairs=pairs,
        records=records,
        tasks=(),
        problems=tuple(in_order(list(problems))),
    )
    return _with_tasks(root, cycle)


def _with_tasks(root: Path, cycle: Cycle) -> Cycle:
    return replace(cycle, tasks=tuple(_tasks(root, cycle)))


def _came_down(shelf: Shelf, one: Proposal) -> bool:
    """True for an article out of a principle that has just come down from the candidates."""
    if one.destination != "constitution_candidate" or not one.links:
        return False
    path = shelf.resolve(one.links[0]).path
    return path is not None and "demoted_from" in shelf.notes[path].metadata


def run(pen: Pen, yes: bool) -> Cycle:
    """Fold retrievals, write proposals and strikes; with ``yes`` also demote and archive."""
    folded = usage.fold(pen)
    cycle = look(pen.root, pen.now, by=pen.by)
    proposals.scan(pen, cycle.found)
    elimination.strike(pen, cycle.eliminated.cases)
    cycle = _with_tasks(pen.root, replace(cycle, folded=folded, written=True))
    return move(pen, cycle) if yes else cycle


def agreed(pen: Pen, shown: Cycle, yes: bool) -> Cycle:
    """Move what a person said yes to in ``shown``, and nothing that came up since.

    Raises :class:`Refused` if a room would lose more than a quarter and ``yes`` is False.
    """
    check_sweeps(shown, yes)
    fresh = look(pen.root, pen.now, by=pen.by)
    down = set(shown.eliminated.demotions)
    away = {(item.id, item.source, item.target) for item in shown.archive.items}
    kept = tuple(one for one in fresh.eliminated.demotions if one in down)
    items = tuple(i for i in fresh.archive.items if (i.id, i.source, i.target) in away)
    return move(
        pen,
        replace(
            shown,
            eliminated=replace(shown.eliminated, demotions=kept),
            archive=replace(fresh.archive, items=items),
        ),
    )


def move(pen: Pen, cycle: Cycle) -> Cycle:
    """Demote and archive what the cycle plans."""
    demoted, problems = elimination.demote(pen, cycle.eliminated.demotions)
    archived = archive.run(pen, replace(cycle.archive, left_out=()), yes=True)
    problems += archived.problems
    return replace(cycle, moved=Moves(tuple(demoted), archived.items, tuple(problems)))


def check_sweeps(cycle: Cycle, yes: bool) -> None:
    """Raises :class:`Refused` if a room would lose more than a quarter and ``yes`` is False."""
    if cycle.sweeps and not yes:
        listed = ", ".join(map(str, cycle.sweeps))
        raise Refused(
            f"nothing was moved: this takes {listed}; if that is meant, run "
            "`palace metabolism --yes`"
        )


def _tasks(root: Path, cycle: Cycle) -> Iterator[Task]:
    for record in cycle.records:
        name = shlex.quote(stem(record.path))
        said = f'palace conflict resolve {name} --winner {{}} --reason "why"'
        sources = tuple(f"[[{s.source}]]" for s in (record.a, record.b) if s.is_link)
        about = f"{record.title} ({record.kind or 'choice'})"
        evidence = (*sources, *record.evidence, record.path)
        yield Task("conflict", about, evidence, (said.format("a"), said.format("b")))
    for candidate in constitution.waiting(root):
        about = f"{candidate.title or stem(candidate.path)}: is it to be an article?"
        evidence = (*_evidence(candidate.metadata.get("evidence")), candidate.path)
        yield Task("article", about, evidence, _decide(shlex.quote(candidate.path)))
    for case in cycle.eliminated.cases:
        if case.finding.path in cycle.eliminated.articles:
            about = f"{case.finding.path} ({case.finding.rule}) bears an article: does that hold?"
            yield Task("constitution", about, (case.finding.detail, CONSTITUTION), ())
    # What is not written yet cannot be decided yet.
    for one in (*(cycle.found.new if cycle.written else ()), *cycle.waiting):
        about = f"{one.destination.replace('_', ' ')}: {one.text}"
        yield Task("proposal", about, (*one.links, one.path), _decide(one.id))
    for pair in islice(cycle.pairs.proposals, _PAIRS):
        if not pair.record:
            sides = (f"{pair.a}: {pair.a_text}", f"{pair.b}: {pair.b_text}")
            yield Task("contradiction", f"{pair.kind}: {pair.why}", sides, (pair.command,))


def _decide(name: str) -> tuple[str, ...]:
    return tuple(
        f'palace promote {verb} {name} --by NAME --reason "why"' for verb in ("approve", "reject")
    )


def _evidence(value: object) -> list[str]:
    return [str(link) for link in links.in_metadata({"evidence": value}, {})]
