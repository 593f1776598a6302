"""A ledger in figures, and how far each stage is from being due."""

from collections.abc import Mapping
from dataclasses import dataclass

from memory_palace.core import ledger_branch, ledger_due
from memory_palace.core.ledger import Ledger, branch


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage: ``due`` or not, with ``tokens`` since its last run (or since it deliberately
    recorded nothing), and ``threshold`` tokens that make it due. ``waits`` says what else is
    wanting."""

    name: str
    due: bool
    tokens: int
    threshold: int
    waits: str = ""


@dataclass(frozen=True, slots=True)
class Status:
    """What stands on the current branch. ``elsewhere`` counts entries on other branches;
    ``observations`` are those that are not ``dropped``; ``tokens`` are those of all entries, and
    ``pending_tokens`` of the ``pending`` ones."""

    entries: int
    elsewhere: int
    tokens: int
    pending: int
    pending_tokens: int
    observations: int
    dropped: int
    reflections: int
    folds: int
    stages: tuple[Stage, ...]


def status(
    ledger: Ledger, backoff: Mapping[str, str] | None = None, window: int | None = None
) -> Status:
    """The figures of the current branch. ``backoff`` has the entry at which a stage (``observe``,
    ``reflect``) deliberately recorded nothing; ``window`` as for ``ledger_due.fold_due``."""
    here = ledger_branch.of(ledger, branch(ledger))
    waited = backoff or {}
    gone = here.dropped()
    dropped = sum(one.id in gone for _, one in here.observations)
    new = ledger_due.something_new(here)
    stages = (
        ("observer", ledger_due.observer_wait(here, waited.get("observe", "")), True),
        ("reflector", ledger_due.reflector_wait(here, waited.get("reflect", "")), new),
        ("fold", ledger_due.fold_wait(here, window), True),
    )
    pending = here.entries[here.observed + 1 :]
    return Status(
        entries=len(here.entries),
        elsewhere=len(ledger.entries) - len(here.entries),
        tokens=sum(one.tokens for one in here.entries),
        pending=len(pending),
        pending_tokens=sum(one.tokens for one in pending),
        observations=len(here.observations) - dropped,
        dropped=dropped,
        reflections=len(here.reflections),
        folds=len(here.folds),
        stages=tuple(
            Stage(
                name,
                ready and wait.is_over,
                wait.tokens,
                wait.threshold,
                "" if ready else "nothing new is observed",
            )
            for name, wait, ready in stages
        ),
    )
