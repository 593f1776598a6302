"""What of a session nobody has read yet, for an agent that observes it itself."""

from pathlib import Path
from typing import Any

from memory_palace.core import ledger as forms
from memory_palace.core import ledger_due
from memory_palace.files import ledgers
from memory_palace.session import marks, observing, workers


def shown(root: Path, path: str) -> dict[str, Any]:
    """The oldest pending entries of the ledger ``path``, at most one part of them.

    ``due`` says whether the observer is; ``covers_up_to`` is what to name as read afterwards;
    ``more`` counts the entries that come after.
    """
    loaded = ledgers.load(root, path)
    ledger = loaded.ledger
    branch = forms.branch(ledger)
    backoff = marks.read(root, marks.BACKOFF).get(path, {}).get("observe", "")
    left = ledger_due.pending(ledger, branch)
    part = next(observing.parts(left, True), ())
    return {
        "session": loaded.session,
        "wing": ledger.wing,
        "ledger": path,
        "due": ledger_due.observer_due(ledger, branch, backoff),
        "entries": [workers.entry_data(one) for one in part],
        "covers_up_to": part[-1].id if part else ledger_due.cursor(ledger, branch),
        "more": len(left) - len(part),
    }
