"""A ledger in figures."""

from memory_palace.core.ledger_status import status
from support.ledgers import dropped, eid, entry, folded, ledger, observed, reflected


def test_the_figures() -> None:
    """Of the current branch, with what each stage has and needs."""
    rows = [entry(n, "x" * 20_000) for n in range(5)]
    rows += [entry(9, parent=0, seconds=1), observed(1, "a", "b"), dropped(1, "a")]
    rows += [reflected(1, "so", "b"), folded(0)]
    found = status(ledger(*rows))
    assert (found.entries, found.elsewhere, found.tokens) == (5, 1, 25_000)
    assert (found.pending, found.pending_tokens) == (3, 15_000)
    assert (found.observations, found.dropped, found.reflections, found.folds) == (1, 1, 1, 1)
    stages = [(s.name, s.due, s.tokens, s.threshold, s.waits) for s in found.stages]
    assert stages == [
        ("observer", True, 15_000, 10_000, ""),
        ("reflector", False, 15_000, 20_000, "nothing new is observed"),
        ("fold", False, 20_000, 81_000, ""),
    ]


def test_backoff_and_window() -> None:
    """Move when a stage is due, and leave what is pending."""
    rows = [entry(n, "x" * 20_000) for n in range(5)] + [observed(0, "a")]
    found = status(ledger(*rows), {"observe": eid(3), "reflect": eid(4)}, 30_000)
    assert [(s.due, s.tokens) for s in found.stages] == [(False, 5000), (False, 0), (True, 25_000)]
    assert [s.threshold for s in found.stages] == [10_000, 10_000, 20_400] and found.pending == 4
