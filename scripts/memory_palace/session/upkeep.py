"""`palace observe --auto`: the queue drained, and what is due in all ledgers of this machine, or in
one, done now and told. What hooks start in the background stands in ``settled``."""

import os
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memory_palace.core.errors import PalaceError
from memory_palace.files import ledgers
from memory_palace.session import drain, marks, observing, settled, workers
from memory_palace.session import ledgers as chosen
from memory_palace.session.observing import Ran


class Kept(NamedTuple):
    """What was recorded in each ledger that was looked at; ``entries`` are new from the queue,
    where ``left`` bytes still wait; ``faults`` are those of all."""

    ran: tuple[Ran, ...] = ()
    entries: int = 0
    left: int = 0
    faults: tuple[str, ...] = ()


def run(
    root: Path,
    now: datetime,
    *,
    path: str = "",
    flush: bool = False,
    dry_run: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Kept:
    """Drain the queue, then observe what is due in ``path``, or in every ledger of this machine.
    Sessions that are over are observed to their end; all are with ``flush``.

    Faults are counted in the palace's health file; one of the worker ends the run, since it would
    be that of the next ledger too. Raises :class:`BadInput` for a configuration that cannot be
    read, and what :func:`observing.run` raises for the one ledger ``path``.
    """
    workers.chosen(root)
    drained = drain.Drained() if dry_run else drain.drain(root, now, wait_seconds=10.0)
    idle = () if dry_run else settled.idle(root)
    over = list(dict.fromkeys((*drained.ended, *idle)))
    faults = list(drained.faults)
    ran: list[Ran] = []
    for one in [path] if path else _unsettled(root, over):
        try:
            done = observing.run(
                root, one, now, flush=flush or one in over, say=say, dry_run=dry_run
            )
        except PalaceError as error:
            if path:
                raise
            faults.append(f"{one}: {error}")
            continue
        ran.append(done)
        faults += done.faults
        if done.faults:
            break
    if not (faults or path or dry_run):
        faults += settled.after(root, (), over)
    if faults and not dry_run:
        from memory_palace.session import health

        health.add(root, faults, now)
    return Kept(tuple(ran), drained.entries, drained.left, tuple(faults))


def _unsettled(root: Path, over: list[str]) -> Iterator[str]:
    """Those that are not as they were when they were observed to their end, and are ours."""
    known = marks.read(root, settled.FLUSHED)
    for path in ledgers.every(root):
        try:
            size = str(os.lstat(root / path).st_size)
            if path not in over and (
                known.get(path, {}).get("size") == size
                or not chosen.is_ours(ledgers.load(root, path).ledger)
            ):
                continue
            yield path
        except (PalaceError, OSError):
            continue  # whoever reads it says what is wrong with it
