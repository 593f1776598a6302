"""What follows when captured turns were put into their ledgers: observe, end what is over, commit.

Whoever has more to do with new entries does it in :func:`after`.
"""

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import ledger as core
from memory_palace.core import ledger_due
from memory_palace.core.errors import PalaceError
from memory_palace.files import commit, ledgers, locks, roots
from memory_palace.files import config as configs
from memory_palace.session import clock, drain, marks, mem_index, observing
from memory_palace.session import ledgers as chosen
from memory_palace.session.drain import Drained

IDLE_SECONDS = 1_800.0
"""A session that nothing was added to for so long is over, whether it said so or not."""

OLD_SECONDS = 14 * 86_400.0
"""One that is older is not looked at any more."""

MOST_IDLE = 20
"""Sessions that are looked at in one run for that, the newest first."""

FLUSHED = "flushed"
"""The marks ``{path: {"size": bytes}}``: how long ledgers were that were observed to their end."""

MOST_ROUNDS = 50


class Settled(NamedTuple):
    """``entries`` are new; ``left`` are the bytes that still wait, ``faults`` lines for the health
    file."""

    entries: int
    left: int
    faults: tuple[str, ...]


def run(root: Path) -> Settled:
    """Drain the queue until nothing waits, observe what came in, and end sessions that are over.

    For whoever holds the queue's :data:`queue.WORK` lock. Raises nothing that the palace or the
    disk is the cause of.
    """
    entries = 0
    faults: list[str] = []
    done = Drained()
    for _ in range(MOST_ROUNDS):
        before = done.left
        done = drain.drain(root, clock.now(), wait_seconds=60.0)
        entries += done.entries
        faults += done.faults
        faults += after(root, done.touched, done.ended)
        if not done.left or done.faults or done.left == before:
            break
    if not done.faults:
        faults += after(root, (), list(idle(root)))
    return Settled(entries, done.left, tuple(dict.fromkeys(faults)))


def after(root: Path, touched: Sequence[str], ended: Sequence[str]) -> list[str]:
    """Observe the ledgers ``touched``, and those whose session ``ended`` to their end, which are
    then committed if the palace does so; the index catches up. What went wrong."""
    faults: list[str] = []
    for path in dict.fromkeys((*touched, *ended)):
        try:
            ran = observing.run(root, path, clock.now(), flush=path in ended)
            faults += ran.faults
            if path in ended and not ran.faults:
                _mark(root, path)
        except Exception as error:  # of whatever kind: the others are observed, and commits made
            known = isinstance(error, PalaceError)
            named = f"{type(error).__name__}: {error}"  # its repr may have all of a text
            what = str(error) if known else f"{named}: `palace observe --auto` tries it again"
            faults.append(f"{path} was not observed: {what}")
    if touched or ended:
        mem_index.refresh(root)
    return faults + _committed(root, ended)


def idle(root: Path) -> Iterator[str]:
    """The ledgers of sessions of this machine that nothing was added to for
    :data:`IDLE_SECONDS` and that have entries which nobody has observed."""
    moment = time.time()
    known = marks.read(root, FLUSHED)
    found: list[tuple[float, str]] = []
    for path in ledgers.every(root):
        try:
            info = os.lstat(root / path)
        except OSError:
            continue
        age = moment - info.st_mtime
        flushed = known.get(path, {}).get("size") == str(info.st_size)
        if IDLE_SECONDS <= age < OLD_SECONDS and not flushed:
            found.append((age, path))
    for _, path in sorted(found)[:MOST_IDLE]:
        try:
            ledger = ledgers.load(root, path).ledger
            if chosen.is_ours(ledger) and ledger_due.pending(ledger, core.branch(ledger)):
                yield path
            else:
                _mark(root, path)
        except (PalaceError, OSError):
            continue  # whoever reads it says what is wrong with it


def _mark(root: Path, path: str) -> None:
    size = str(os.lstat(root / path).st_size)
    with ledgers.locked(root, "palace: captured turns"):
        marks.change(root, FLUSHED, path, {"size": size})


def _committed(root: Path, paths: Sequence[str]) -> list[str]:
    """Commit ledgers of sessions that are over, where the palace commits by itself."""
    if not paths:
        return []
    try:
        if configs.load(root).git_commit != "auto":
            return []
        names = ", ".join("/".join(ledgers.names(path)) for path in paths[:3])
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        with locks.writer(roots.inside(root, roots.MEMORY), "palace: captured turns"):
            why = commit.commit(root, list(paths), f"Captured sessions: {names}{more}")
    except (PalaceError, OSError) as error:
        why = str(error)
    listed = " ".join(paths)
    return [f"captured, not committed: {why}; commit it yourself: {listed}"] if why else []
