"""Reverse elimination on the notes of a palace: strikes, moves a tier down, and the way back."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_palace.core import archiving, dates, demotion, elimination
from memory_palace.core import note as notes
from memory_palace.core.archiving import Planned, Sweep
from memory_palace.core.elimination import Case
from memory_palace.core.errors import BadInput, Changed, Refused
from memory_palace.core.events import SKEW, Event
from memory_palace.core.problems import Problem
from memory_palace.core.text import nfc
from memory_palace.core.usage import Used, last_used
from memory_palace.files import commit, read, roots, tree
from memory_palace.files import config as configs
from memory_palace.memory import standing, usage
from memory_palace.memory.evidence import Shelf
from memory_palace.memory.pen import Pen
from memory_palace.memory.standing import Survey
from memory_palace.memory.state import State


@dataclass(frozen=True, slots=True)
class Demotion:
    """One note that goes a tier down: from ``path`` to ``target``. ``aliases`` are what links with
    its old folder call it."""

    path: str
    target: str
    rule: str
    detail: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Gathered:
    """What speaks against which notes, by path.

    ``counted`` is since when retrievals are counted. ``demotions`` are due, as are ``useless``
    ones ((path, why)), which the archive takes; ``more`` are due and above the day's bound.
    ``articles`` are the paths of notes with a case that the constitution rests on. ``sweeps`` is
    the reflection wing where it would lose more than a quarter.
    """

    cases: tuple[Case, ...]
    counted: datetime | None
    demotions: tuple[Demotion, ...] = ()
    useless: tuple[tuple[str, str], ...] = ()
    more: int = 0
    articles: tuple[str, ...] = ()
    sweeps: tuple[Sweep, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def strikes(self) -> tuple[Case, ...]:
        """The cases in which a strike is to be recorded."""
        return tuple(case for case in self.cases if case.strikes_now)


def gather(root: Path, shelf: Shelf, state: State, now: datetime) -> Gathered:
    """Judge every note of ``shelf`` at ``now``; writes nothing."""
    seen = tree.scan(root, configs.load(root).exclude)
    happened = tuple(event for event in state.events if event.at <= now + SKEW)
    local = [one for one in usage.local(root) if one.at <= now]
    counted = elimination.counted_since(happened, local)
    survey = Survey(root, shelf, seen, now)
    used = last_used(happened, local, survey.cited, survey.named)
    beaten = standing.beaten(root, survey, happened)
    returned = elimination.returned(happened)
    told = elimination.struck(happened)
    cases = []
    for path in survey.tiers:
        note = survey.standing(
            path, used.get(path, Used()), returned.get(path), beaten.get(path, ())
        )
        finding = elimination.judge(note, now, counted)
        if finding:
            cases.append(elimination.weigh(finding, note, told, now))
    return _planned(root, survey, tuple(cases), counted, _moved_on(happened, now))


def _planned(
    root: Path, survey: Survey, cases: tuple[Case, ...], counted: datetime | None, moved: int
) -> Gathered:
    problems: list[Problem] = list(survey.problems)
    due = []
    changed = commit.changed(root) if any(case.is_due for case in cases) else set()
    for case in cases:
        path = case.finding.path
        if case.is_due and path in changed:
            what = "has uncommitted changes: commit them, then run this again"
            problems.append(Problem(path, None, what, "warning"))
        elif case.is_due:
            due.append(case.finding)
    due.sort(key=lambda finding: (finding.tier, finding.path))
    room = max(elimination.MOST_MOVES - moved, 0)
    taken = {nfc(path) for path in survey.shelf.notes}
    demotions, useless = [], []
    for finding in due[:room]:
        if finding.rule == "low value":
            useless.append((finding.path, f"low value: {finding.detail}"))
            continue
        target, called = survey.way_down(finding, taken)
        taken.add(nfc(target))
        demotions.append(Demotion(finding.path, target, finding.rule, finding.detail, called))
    leaving = [Planned("note", d.path, d.path, d.target, d.rule) for d in demotions]
    rooms = Counter(
        archiving.room(path) for path, tier in survey.tiers.items() if tier != "ordinary"
    )
    return Gathered(
        cases=cases,
        counted=counted,
        demotions=tuple(demotions),
        useless=tuple(useless),
        more=len(due) - len(due[:room]),
        articles=tuple(c.finding.path for c in cases if c.finding.path in survey.articles),
        sweeps=archiving.sweeps(leaving, 0, rooms),
        problems=tuple(problems),
    )


def _moved_on(events: Iterable[Event], now: datetime) -> int:
    """How many notes were moved by this on the day of ``now`` already."""
    day = dates.stamp(now)[:10]
    useless = {e.id for e in events if e.event == "struck" and e.data.get("rule") == "low value"}
    return sum(
        event.event == "demoted" or (event.event == "archived" and event.id in useless)
        for event in events
        if dates.stamp(event.at)[:10] == day
    )


def strike(pen: Pen, cases: Iterable[Case]) -> None:
    """Record the strikes that are due."""
    for case in cases:
        if case.strikes_now:
            pen.log("struck", case.finding.path, rule=case.finding.rule, detail=case.finding.detail)


def demote(pen: Pen, demotions: Iterable[Demotion]) -> tuple[list[Demotion], list[Problem]]:
    """Move notes a tier down, each with its record; what cannot be moved is a problem, and the
    rest goes on."""
    done: list[Demotion] = []
    problems: list[Problem] = []
    for one in demotions:
        try:
            _demote(pen, one)
        except (BadInput, Refused) as error:
            problems.append(Problem(one.path, None, str(error)))
        else:
            done.append(one)
    return done, problems


def _demote(pen: Pen, one: Demotion) -> None:
    before = pen.read(one.path)
    if before is None:
        raise Refused("it is gone: run this again")
    place = roots.inside(pen.root, one.target)
    if place.exists():
        raise Refused(f"{one.target} is there already: rename one of them")
    # The record first: a kill in between leaves a note that still says where it belongs.
    if _origin(one.path, before) != one.path:
        day, reason = archiving.day(pen.now), f"{one.rule}: {one.detail}"
        text = demotion.demoted(before, one.path, day, reason, one.aliases)
        pen.put(one.path, text)
    pen.move(one.path, one.target)
    pen.log("demoted", one.path, path=one.path, to=one.target, rule=one.rule)


@dataclass(frozen=True, slots=True)
class Undone:
    """A note that is back where it was: from ``source`` to ``target``."""

    source: str
    target: str


def where(root: Path, name: str) -> str | None:
    """Where the demoted note lies that ``name`` is the path of, now or before; None if there is
    none. Raises :class:`Refused` if two notes came from there."""
    found = []
    for file in tree.scan(root, configs.load(root).exclude).notes:
        got = read.read(root, file.path)
        if isinstance(got, read.Unreadable) or "demoted_from" not in got.text:
            continue
        came_from = _origin(file.path, got.text)
        if came_from and file.path == name:
            return name
        if came_from == name:
            found.append(file.path)
    if len(found) > 1:
        raise Refused(f"{' and '.join(found)} both came from {name}: name one of these")
    return found[0] if found else None


def _origin(path: str, text: str) -> str | None:
    said = notes.parse(path, text).metadata.get("demoted_from")
    fits = isinstance(said, str) and archiving.is_live(said) and elimination.natural(said)
    return said if fits else None


def undo(pen: Pen, name: str) -> Undone:
    """Put a demoted note back; ``name`` is its path, or the one that it had.

    The event counts as a use. Raises :class:`Refused` if no demoted note is called so, and where
    another note is in the way; then nothing was written.
    """
    source = where(pen.root, name)
    if source is None:
        raise Refused(f"{name} was not demoted: nothing to put back")
    before = pen.read(source)
    target = _origin(source, before or "")
    if before is None or target is None:
        raise Changed(f"{source} changed underneath: run this again")
    text = demotion.undone(before)
    if source != target:  # else a kill ended this half-way
        pen.move(source, target)
    pen.put(target, text)
    pen.log("restored", target, path=source, to=target)
    return Undone(source, target)
