"""Compaction: a checkpoint before it, and after it what the session keeps of itself.

Nothing is asked of a model, and only rules observe here: a hook has seconds.
"""

import os
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from memory_palace.core import fence, folded_lines
from memory_palace.core import fold as folds
from memory_palace.core import ledger as forms
from memory_palace.core.errors import PalaceError
from memory_palace.core.fold import Fold
from memory_palace.core.ledger import TOKEN, Entry, Folded, Ledger
from memory_palace.files import identity, ledgers
from memory_palace.session import capture, drain, observing, record, workers
from memory_palace.session.events import Event, Reply

SECONDS = 2.0
"""After so long no further part of a session is observed, before a compaction and after it."""

WAIT_SECONDS = 0.5
"""For whoever else writes ledgers, or drains the queue."""

LEAST = 4_000
"""Characters that a fold has at least after a compaction; the story and the report are cut."""

_Found = TypeVar("_Found")

TITLE = "# This session before the compaction"
_NOTE = "`palace recall ID` shows what a line was made of."


def checkpoint(root: Path, event: Event, now: datetime) -> Reply:
    """Before a compaction: what was shown is no longer in the agent's context; what was said is
    observed, and that it is folded is written down. What fails is a fault of the reply, and the
    rest is done all the same."""
    session = record.key(event.client, event.session, event.agent)
    faults = record.noted(root, session, [{"k": "compacted"}])
    return Reply(faults=(*faults, *caught_up(root, event, now)))


def caught_up(root: Path, event: Event, now: datetime) -> tuple[str, ...]:
    """Have everything that was said in the session observed, and a fold of it noted, unless that
    is so already; the faults."""
    faults: list[str] = []
    if not capture.state(root).on:
        return ()
    until = time.monotonic() + SECONDS
    drained = _tried(faults, lambda: drain.drain(root, now, WAIT_SECONDS))
    faults += drained.faults if drained else ()
    path = _tried(faults, lambda: path_of(root, event, now))
    if not path or not os.path.lexists(root / path):
        return tuple(faults)
    ran = _tried(
        faults,
        lambda: observing.run(
            root,
            path,
            now,
            flush=True,
            worker=workers.Rules(),
            until=until,
            wait_seconds=WAIT_SECONDS,
        ),
    )
    faults += ran.faults if ran else ()
    _tried(faults, lambda: _note_fold(root, path, now))
    return tuple(faults)


def newest(root: Path, event: Event, now: datetime) -> Fold | None:
    """The fold of all that the event's session said; None where there is nothing to give. It is
    made again of the ledger, whether or not it could be noted."""
    try:
        if not capture.state(root).on:
            return None
        ledger = ledgers.load(root, path_of(root, event, now)).ledger
    except PalaceError:
        return None
    fold = folds.fold(ledger, forms.branch(ledger))
    return fold if fold.text else None


def shown(fold: Fold | None, room: int) -> str:
    """What of a fold fits ``room`` characters as clients count them, with what leads back to its
    sources; empty where there is nothing to give."""
    if fold is None:
        return ""
    notes = [_NOTE]
    if fold.raw:
        many = f"{len(fold.raw)} entries are" if len(fold.raw) > 1 else "1 entry is"
        notes.append(f"{many} in no line yet: `palace observe --pending` shows that.")
    head = f"{TITLE}\n\n{' '.join(notes)}\n\n"
    left = room - fence.size(head)
    for _ in range(3):
        text = fence.harmless(folded_lines.fitted(fold, max(left, 0) // TOKEN))
        over = fence.size(head + text) - room
        if not text or over <= 0:
            break
        left -= over  # a client counts some characters as two
    else:
        return ""
    return head + text if text else ""


def _last(ledger: Ledger, branch: tuple[Entry, ...]) -> Folded | None:
    """The fold that reaches furthest along the branch: a clock may have been set back."""
    at = {one.id: place for place, one in enumerate(branch)}
    there = [one for one in ledger.folds if one.covers_up_to in at]
    return max(there, key=lambda one: (at[one.covers_up_to], one.at), default=None)


def path_of(root: Path, event: Event, now: datetime) -> str:
    """The ledger of the event's session, a subagent's its own."""
    session = capture.short_id(event.session) or f"unnamed-{now:%Y-%m-%d}"
    agent = capture.short_id(event.agent)
    return ledgers.path_of(root, event.client, f"{session}.{agent}" if agent else session)


def _note_fold(root: Path, path: str, now: datetime) -> None:
    with ledgers.locked(root, "a compaction", WAIT_SECONDS):
        ledger = ledgers.load(root, path).ledger
        branch = forms.branch(ledger)
        last = _last(ledger, branch)
        if not branch or (last and last.covers_up_to == branch[-1].id):
            return
        row = ledgers.row(path, ledger, "folded", now, f"rules@{identity.device()}")
        full = folds.fold(ledger, branch).full
        ledgers.append(root, path, [row | {"covers_up_to": branch[-1].id, "full": full}])


def _tried(faults: list[str], work: Callable[[], _Found]) -> _Found | None:
    """What ``work`` gives; None, and a fault, where it fails."""
    try:
        return work()
    except PalaceError as error:
        faults.append(f"compaction: {error}")
    except Exception as error:  # the rest still has to be done
        faults.append(f"compaction: {type(error).__name__}: {error}: run `palace doctor`")
    return None
