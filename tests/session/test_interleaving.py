"""Whatever comes in whatever order: each turn is an entry once, and is observed once."""

import contextlib
from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_palace.core import fold as folds
from memory_palace.core import ledger as forms
from memory_palace.core import ledger_due
from memory_palace.files import ledgers
from memory_palace.session import drain, observing, starting, turn, upkeep
from session.ledgered import Killed, killed_at
from session.test_folding import Compacted

OPERATIONS = ("prompt", "drain", "observe", "flush", "record", "compact", "start", "upkeep", "back")


def do(session: Compacted, operation: str, number: int) -> None:
    """One thing that happens to a session."""
    root, path = session.root, session.path
    if operation == "prompt":
        session.prompt(f"Decided {number}: item {number} is called n{number * 7919}. " * 150)
    elif operation == "drain":
        drain.drain(root, session.now)
    elif operation in ("observe", "flush"):
        observing.run(root, path, session.now, flush=operation == "flush")
    elif operation == "record":
        ledger = ledgers.load(root, path).ledger
        branch = forms.branch(ledger)
        if branch:
            made = {"content": f"seen {number}", "relevance": "low", "sources": [branch[-1].id]}
            data = {"observations": [made], "covers_up_to": "tip"}
            observing.record(root, path, data, session.now, "pi@laptop")
    elif operation == "compact":
        turn.handle(root, session.event("compact"), session.now)
    elif operation == "start":
        starting.reply(root, session.event("start", source="compact"), session.now)
    elif operation == "upkeep":
        upkeep.run(root, session.now)
    else:
        session.now -= timedelta(days=2)


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    steps=st.lists(
        st.tuples(st.sampled_from(OPERATIONS), st.none() | st.integers(0, 5)),
        min_size=4,
        max_size=14,
    )
)
def test_any_order(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int | None]]
) -> None:
    """With a kill in any of it, and a clock that is set back."""
    session = Compacted(tmp_path_factory.mktemp("root") / "root")
    said = 0
    for number, (operation, kill) in enumerate(steps):
        said += operation == "prompt"
        if kill is None:
            do(session, operation, number)
            continue
        with contextlib.suppress(Killed), killed_at(kill):
            do(session, operation, number)
    do(session, "drain", 0)
    do(session, "flush", 0)
    ledger = ledgers.load(session.root, session.path).ledger
    branch = forms.branch(ledger)
    assert len(branch) == len(ledger.entries) == said
    assert ledger.refused == () and ledger.observed_again == ()
    fold = folds.fold(ledger, branch)
    left = ledger_due.pending(ledger, branch)
    assert fold.raw == left == branch[len(branch) - len(left) :]
    places = {one.id: place for place, one in enumerate(branch)}
    for one in ledger.observations:
        assert max(places[source] for source in one.sources) <= places[one.covers_up_to]
