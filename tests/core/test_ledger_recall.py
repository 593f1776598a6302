"""From an id back to what it rests on; every gap named."""

import pytest

from memory_palace.core.ledger import Ledger, Observation, branch
from memory_palace.core.ledger_recall import RESULTS, Recalled, recall
from memory_palace.core.ledger_text import recalled
from support.ledgers import START, Line, dropped, eid, entry, ledger, observed, oid, reflected

ROWS = [
    entry(0, "Use amber.\n\tPlease."),
    entry(1, "Done.", role="tool", tool="Edit", files=["src/a.py"], failed=True),
    entry(2, "left"),
    entry(3, "current", parent=1, seconds=900),
    observed(1, "Amber was asked for.", sources=[1, 0], type="decision", files=["src/a.py"]),
    observed(1, "Half of it.", sources=[0, 42]),
    observed(1, "Nothing of it.", sources=[42, 43]),
    observed(2, "On the branch that was left.", sources=[2]),
    observed(3, "Reaches over.", sources=[2, 3]),
    reflected(1, "Amber it is.", "Amber was asked for.", "Half of it."),
    reflected(1, "Whole.", "Amber was asked for."),
    reflected(1, "In the air.", "never seen"),
    reflected(1, "On sand.", "Nothing of it."),
    reflected(2, "Left too.", "On the branch that was left."),
    dropped(1, "Amber was asked for."),
]  # fmt: skip


def asked(id: str, *rows: Line) -> Recalled:
    """What an id leads to in a ledger."""
    found = ledger(*(rows or ROWS))
    assert found.refused == ()
    return recall(found, branch(found), id)


@pytest.mark.parametrize(
    ("id", "result", "gaps"),
    [
        (oid("Amber was asked for."), "ok", []),
        (oid("Whole."), "ok", []),
        (eid(0), "ok", []),
        (oid("Half of it."), "partial", [f"entry {eid(42)} is not in this ledger"]),
        (oid("Amber it is."), "partial", [f"entry {eid(42)} is not in this ledger"]),
        (oid("Reaches over."), "partial", [f"entry {eid(2)} stands on another branch"]),
        (oid("Nothing of it."), "source_unavailable",
         [f"entry {eid(42)} is not in this ledger", f"entry {eid(43)} is not in this ledger"]),
        (oid("On sand."), "source_unavailable",
         [f"entry {eid(42)} is not in this ledger", f"entry {eid(43)} is not in this ledger"]),
        (oid("In the air."), "no_source",
         [f"observation {oid('never seen')} is not in this ledger"]),
        (oid("On the branch that was left."), "not_found",
         [f"observation {oid('On the branch that was left.')} stands on another branch"]),
        (oid("Left too."), "not_found",
         [f"reflection {oid('Left too.')} stands on another branch"]),
        (eid(2), "not_found", [f"entry {eid(2)} stands on another branch"]),
        ("0" * 12, "not_found", []),
        ("0" * 11, "invalid_id", ["an id has 12 hex digits, in lower case"]),
        (oid("Whole.").upper() + "F", "invalid_id", ["an id has 12 hex digits, in lower case"]),
        ("amber", "invalid_id", ["an id has 12 hex digits, in lower case"]),
        ("", "invalid_id", ["an id has 12 hex digits, in lower case"]),
    ],
)  # fmt: skip
def test_results(id: str, result: str, gaps: list[str]) -> None:
    """One exact id on the current branch; what is not there is named, each once."""
    found = asked(id)
    assert (found.id, found.result, list(found.gaps)) == (id, result, gaps)
    assert result in RESULTS and (found.record is None) == (result in ("not_found", "invalid_id"))


def test_sources_in_full() -> None:
    """In the order of the branch; a reflection's observations with theirs; dropped ones too."""
    found = asked(oid("Amber was asked for."))
    assert [one.id for one in found.sources] == [eid(0), eid(1)] and found.dropped
    assert found.sources[0].text == "Use amber.\n\tPlease."
    found = asked(oid("Amber it is."))
    assert {one.content for one in found.observations} == {"Amber was asked for.", "Half of it."}
    assert [one.id for one in found.sources] == [eid(0), eid(1)] and not found.dropped
    assert found.hidden == {oid("Amber was asked for.")}
    both = asked(oid("Whole."), *ROWS, dropped(1, "Half of it."))
    assert both.hidden == {oid("Amber was asked for.")}


def test_a_record_that_names_nothing() -> None:
    """As no ledger's line can: there is no source."""
    bare = Observation(oid("x"), "x", START, "low", ())
    found = recall(Ledger(observations=(bare,)), (), bare.id)
    assert (found.result, found.record) == ("no_source", bare)


def test_as_text() -> None:
    """The record, what it was drawn from, the sources as they were, the gaps."""
    a, half = oid("Amber was asked for."), oid("Half of it.")
    one = (
        f"[{eid(0)}] 2026-11-29 08:00 user\nUse amber.\n\tPlease.\n\n"
        f"[{eid(1)}] 2026-11-29 08:01 tool Edit (failed) src/a.py\nDone."
    )
    assert recalled(asked(a)) == (
        f"[{a}] 2026-11-29 08:01 [medium] Amber was asked for. (dropped)\ndecision · src/a.py\n\n"
        f"## Sources\n{one}"
    )
    whole = recalled(asked(oid("Amber it is.")))
    assert whole.startswith(f"[{oid('Amber it is.')}] Amber it is.\n\n## Observations\n[")
    assert f"[{half}] 2026-11-29 08:01 [medium] Half of it.\n" in whole
    assert f"[{a}] 2026-11-29 08:01 [medium] Amber was asked for. (dropped)\n" in whole
    assert whole.endswith(f"## Sources\n{one}\n\n## Gaps\n- entry {eid(42)} is not in this ledger")
    assert recalled(asked(eid(1))) == one.split("\n\n")[1]
    assert recalled(asked("0" * 12)) == ""
    assert recalled(asked(eid(2))) == f"- entry {eid(2)} stands on another branch"
