"""What follows once a session was observed: a person's wishes as proposals, and at its end a
summary. Both are made again of the same entries without doing anything twice."""

from datetime import datetime
from pathlib import Path

from memory_palace.core import ledger as forms
from memory_palace.core import ledger_due
from memory_palace.core.errors import PalaceError
from memory_palace.core.ledger import Ledger
from memory_palace.files import ledgers
from memory_palace.session import marks


def run(root: Path, path: str, now: datetime, ledger: Ledger, flushed: bool) -> tuple[str, ...]:
    """Propose what the person wished in entries that were observed since last time, and sum the
    session up if it was ``flushed``; the faults. ``ledger`` is what ``path`` held when it was
    observed."""
    faults = []
    for work in (_wishes, _summary) if flushed else (_wishes,):
        try:
            work(root, path, now, ledger)
        except PalaceError as error:
            faults.append(f"{path}: {error}")
    return tuple(faults)


def _wishes(root: Path, path: str, now: datetime, ledger: Ledger) -> None:
    """A mark says how far they were looked at; without it all are looked at again, and what was
    proposed before is not proposed twice."""
    branch = forms.branch(ledger)
    read = branch[: len(branch) - len(ledger_due.pending(ledger, branch))]
    mark = marks.read(root, marks.BACKOFF).get(path, {}).get("wishes", "")
    ids = [one.id for one in read]
    new = read[ids.index(mark) + 1 :] if mark in ids else read
    if not new:
        return
    said = [one for one in new if one.role == "user"]
    if said:
        from memory_palace.memory import wishes

        wishes.propose(root, said, now, path)
    with ledgers.locked(root, "palace observe"):
        marks.change(root, marks.BACKOFF, path, {"wishes": read[-1].id})


def _summary(root: Path, path: str, now: datetime, ledger: Ledger) -> None:
    from memory_palace.session import summary

    if not summary.is_done(ledger, forms.branch(ledger)):
        summary.by_rules(root, path, now)
