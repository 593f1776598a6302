"""The pipeline over a ledger: observer, reflector, dropper. Each appends once, or nothing.

A part of a session is read while no lock is held; it counts only if, under the lock, coverage is
still where it was. So a run that is killed, or two at once, record nothing twice and skip nothing.
"""

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from memory_palace.core import ledger as forms
from memory_palace.core import ledger_branch, ledger_due
from memory_palace.core.errors import Busy
from memory_palace.core.ledger import Entry, Ledger, Observation, Reflection
from memory_palace.core.survival import survives
from memory_palace.files import identity, ledgers
from memory_palace.session import marks, workers
from memory_palace.session.observed import Recorded, record
from memory_palace.session.workers import Worker, WorkerFault

__all__ = ["MOST_TOKENS", "Ran", "Recorded", "parts", "record", "run"]

LEAST_TOKENS = ledger_due.OBSERVE_TOKENS
MOST_TOKENS = 20_000
"""Tokens of entries that one call of an observer is given: between these, unless one entry alone
has more, or a flush leaves less."""

_MOST_TRIES = 10

_Record = TypeVar("_Record", Observation, Reflection)
_Part = tuple[Entry, ...]
_Read = tuple[_Part, tuple[Observation, ...]]
"""A part that was read, and what is proposed for it."""


class Ran(NamedTuple):
    """What a run recorded in the ledger ``path``. ``nothing`` names the stages that deliberately
    recorded nothing; ``faults`` say what is wrong and what to do."""

    path: str
    observations: tuple[Observation, ...] = ()
    reflections: tuple[Reflection, ...] = ()
    drops: tuple[str, ...] = ()
    nothing: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


def run(
    root: Path,
    path: str,
    now: datetime,
    *,
    flush: bool = False,
    worker: Worker | None = None,
    say: Callable[[str], None] = lambda _: None,
    dry_run: bool = False,
    until: float | None = None,
    wait_seconds: float = 60.0,
) -> Ran:
    """Observe, reflect and drop what is due in the ledger ``path``; then its wishes are proposed.

    ``flush`` observes all that is pending, due or not, and sums the session up; reflecting waits
    until it is due. ``until`` (on the monotonic clock) is when no further part is begun: what is
    left then is a fault, and nothing follows. With ``dry_run`` nothing is written.

    What the worker does wrong is a fault of the result. Raises :class:`Busy` and :class:`Missing`
    where the ledger cannot be had or written, and :class:`BadInput` for a configuration or a
    ledger that cannot be read.
    """
    stamp = ledgers.stamp(root, path)
    found = ledgers.load(root, path).ledger
    if worker is None:
        worker = workers.chosen(root, ledgers.session_of(path, found), found.wing)
    pipeline = _Pipeline(root, path, now, worker, say, found, stamp, dry_run, until, wait_seconds)
    if pipeline.observe(flush):
        pipeline.reflect()
    done = pipeline.ran()
    if done.faults or dry_run or until is not None:
        return done
    from memory_palace.session import afterwards

    return done._replace(faults=afterwards.run(root, path, now, pipeline.ledger, flush))


def parts(pending: Sequence[Entry], whole: bool) -> Iterator[_Part]:
    """``pending`` in the parts that an observer is given one by one; a last one that is short of
    :data:`LEAST_TOKENS` only with ``whole``.

    Where parts end depends on the entries alone, not on when somebody looked.
    """
    part: list[Entry] = []
    size = 0
    for one in pending:
        if part and (size >= LEAST_TOKENS or size + one.tokens > MOST_TOKENS):
            yield tuple(part)
            part, size = [], 0
        part.append(one)
        size += one.tokens
    if part and (whole or size >= LEAST_TOKENS):
        yield tuple(part)


class _Pipeline:
    """One run over one ledger."""

    def __init__(
        self,
        root: Path,
        path: str,
        now: datetime,
        worker: Worker,
        say: Callable[[str], None],
        ledger: Ledger,
        stamp: ledgers.Stamp,
        dry_run: bool,
        until: float | None,
        wait_seconds: float,
    ) -> None:
        self.root = root
        self.path = path
        self.now = now
        self.worker = worker
        self.say = say
        self.ledger = ledger
        self.stamp = stamp
        self.dry_run = dry_run
        self.until = until
        self.wait_seconds = wait_seconds
        self.by = f"{worker.name}@{identity.device()}"
        self.backoff: Mapping[str, str] = marks.read(root, marks.BACKOFF).get(path, {})
        self.observations: list[Observation] = []
        self.reflections: list[Reflection] = []
        self.drops: tuple[str, ...] = ()
        self.nothing: list[str] = []
        self.faults: list[str] = []

    def ran(self) -> Ran:
        return Ran(
            self.path,
            tuple(self.observations),
            tuple(self.reflections),
            self.drops,
            tuple(dict.fromkeys(self.nothing)),
            tuple(self.faults),
        )

    # --- observer

    def observe(self, flush: bool) -> bool:
        """Observe what is due; False where the pipeline stops at a fault."""
        for _ in self._tries():
            branch = forms.branch(self.ledger)
            read_to = self.backoff.get("observe", "")
            if not flush and not ledger_due.observer_due(self.ledger, branch, read_to):
                return True
            waiting = _after(parts(ledger_due.pending(self.ledger, branch), flush), read_to)
            if not waiting:
                return True
            # A command takes its time: what it has read is kept before it reads on.
            done, fault = self._read(waiting[:1] if self.worker.slow else waiting)
            if done:
                self._keep_observations(done)
                self._catch_up()
            if fault:
                self.faults.append(fault)
                return False
        return True

    def _read(self, waiting: Sequence[_Part]) -> tuple[list[_Read], str]:
        """Each part that was read with what is proposed for it, and why it ended early."""
        done: list[_Read] = []
        for part in waiting:
            if self.until is not None and time.monotonic() > self.until:
                return done, "no time to observe all of a session: `palace observe --auto --flush`"
            size = sum(one.tokens for one in part)
            many = "1 entry" if len(part) == 1 else f"{len(part)} entries"
            self.say(f"observing {many} ({size:,} tokens) by {self.worker.name}")
            try:
                done.append((part, _checked(self.worker.observe(part), part)))
            except WorkerFault as why:
                return done, f"the observer ({self.worker.name}): {why}"
        return done, ""

    def _keep_observations(self, done: Sequence[_Read]) -> None:
        with self._locked():
            before = [one.id for part, _ in done for one in part]
            branch = forms.branch(self.ledger)
            pending = [one.id for one in ledger_due.pending(self.ledger, branch)]
            start = pending.index(before[0]) if before[0] in pending else -1
            if start < 0 or pending[start : start + len(before)] != before:
                return  # somebody else has read it
            known = {one.id for _, one in ledger_branch.of(self.ledger, branch).observations}
            rows: list[dict[str, Any]] = []
            found: list[Observation] = []
            read_to = ""
            for part, proposed in done:
                new = [one for one in proposed if one.id not in known]
                known.update(one.id for one in new)
                read_to = "" if new else part[-1].id
                if new:
                    data = [forms.observation_data(one) for one in new]
                    rows.append(self._row("observed", part[-1].id) | {"observations": data})
                    found += new
            self._append(rows, {"observe": read_to})
            self.observations += found
            if read_to:
                self.nothing.append("observe")
            if self.dry_run:
                self.ledger = replace(self.ledger, observations=(*self.ledger.observations, *found))

    # --- reflector and dropper

    def reflect(self) -> None:
        """Reflect if that is due, and drop if something was concluded."""
        branch = forms.branch(self.ledger)
        if not ledger_due.reflector_due(self.ledger, branch, self.backoff.get("reflect", "")):
            return
        active = ledger_due.active(self.ledger, branch)
        covers = ledger_due.cursor(self.ledger, branch)
        if not active or not covers:
            return
        before = self._reflected()
        self.say(f"reflecting on {len(active)} observations by {self.worker.name}")
        citations = ledger_due.citations(self.ledger, branch)
        try:
            proposed = self.worker.reflect(active, citations, self.now)
        except WorkerFault as why:
            self.faults.append(f"the reflector ({self.worker.name}): {why}")
            return
        known = {one.id for one in active}
        if not all(known.issuperset(one.supports) for one in proposed):
            self.faults.append(f"the reflector ({self.worker.name}) cites what it was not given")
            return
        proposed = tuple(_kept(one, covers) for one in proposed)
        with self._locked():
            if self._reflected() != before:
                return  # somebody else has reflected
            known = set(before)
            new = [one for one in {p.id: p for p in proposed}.values() if one.id not in known]
            if not new:
                self._append([], {"reflect": branch[-1].id})
                self.nothing.append("reflect")
                return
            row = self._row("reflected", covers)
            row["reflections"] = [forms.reflection_data(one) for one in new]
            drops = self._drops(replace(self.ledger, reflections=(*self.ledger.reflections, *new)))
            rows = [row, self._row("dropped", covers) | {"ids": list(drops)}] if drops else [row]
            self._append(rows, {"reflect": ""})
            self.reflections += new
            self.drops = drops

    def _reflected(self) -> list[str]:
        branch = forms.branch(self.ledger)
        return [one.id for _, one in ledger_branch.of(self.ledger, branch).reflections]

    def _drops(self, ledger: Ledger) -> tuple[str, ...]:
        branch = forms.branch(ledger)
        active = ledger_due.active(ledger, branch)
        return ledger_due.drops(active, ledger_due.citations(ledger, branch), survives)

    # --- the ledger on disk

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock, with the ledger as it is now."""
        if self.dry_run:
            yield
            return
        with ledgers.locked(self.root, "observing", self.wait_seconds, self.say):
            self._catch_up()
            yield

    def _catch_up(self) -> None:
        """The ledger as it is now, read again only where its file has changed."""
        stamp = ledgers.stamp(self.root, self.path)
        if self.dry_run or stamp == self.stamp:
            return
        self.stamp = stamp
        self.ledger = ledgers.load(self.root, self.path).ledger

    def _row(self, event: str, covers: str) -> dict[str, Any]:
        row = ledgers.row(self.path, self.ledger, event, self.now, self.by)
        return row | {"covers_up_to": covers}

    def _append(self, rows: list[dict[str, Any]], words: Mapping[str, str]) -> None:
        self.backoff = {**self.backoff, **words}
        if self.dry_run:
            return
        if rows:
            ledgers.append(self.root, self.path, rows)
        marks.change(self.root, marks.BACKOFF, self.path, words)

    def _tries(self) -> Iterator[int]:
        """Again as long as that leads on."""
        last: object = None
        same = 0
        while same < _MOST_TRIES:
            yield same
            state = (len(self.ledger.observations), self.backoff.get("observe"))
            same = same + 1 if state == last else 0
            last = state
        raise Busy(f"others keep writing {self.path}: run this again when they are done")


def _after(found: Iterable[_Part], read_to: str) -> list[_Part]:
    """The parts that have not been read: those after the one that ends at ``read_to``."""
    left = list(found)
    ends = [part[-1].id for part in left]
    return left[ends.index(read_to) + 1 :] if read_to in ends else left


def _checked(proposed: Sequence[Observation], part: Sequence[Entry]) -> tuple[Observation, ...]:
    """The proposal, each line once. Raises :class:`WorkerFault` if it cites any other entry."""
    given = {one.id for one in part}
    for one in proposed:
        for source in one.sources:
            if source not in given:
                raise WorkerFault(f"it cites {source}, which it was not given: report this")
    made = (_kept(one, part[-1].id) for one in proposed)
    return tuple({one.id: one for one in made}.values())


def _kept(one: _Record, covers: str) -> _Record:
    """A record as it is read again: with another id its whole line would be void."""
    said = forms.content(one.content)
    return replace(one, id=forms.record_id(said), content=said, covers_up_to=covers)
