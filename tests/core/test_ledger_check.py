"""What does not hold together in a ledger."""

from memory_palace.core.ledger_check import check
from support.ledgers import Line, dropped, eid, entry, folded, ledger, observed, oid, reflected


def found(*rows: Line) -> list[str]:
    """The problems of a ledger of these lines."""
    return [str(problem) for problem in check("l.jsonl", ledger(*rows))]


def test_nothing_is_wrong() -> None:
    """With forks, repeats, and drops of what is not seen yet."""
    rows = [entry(0), entry(1), entry(2, parent=0), observed(1, "a"), observed(2, "a")]
    assert found(*rows, reflected(1, "so", "a"), dropped(1, "never"), folded(2)) == []
    assert found() == []


def test_what_is_not_there() -> None:
    """Parents, sources, supports and coverage, each on its line."""
    rows = [entry(5), observed(7, "a", sources=[8]), reflected(5, "so", "b")]
    assert found(*rows) == [
        f"l.jsonl:1: warning: entry {eid(5)} follows {eid(4)}, which is not there: the branch "
        "begins here until that line is back",
        f"l.jsonl:2: warning: observation {oid('a')} covers up to entry {eid(7)}, which is not "
        "there: what it read counts as unread until that line is back",
        f"l.jsonl:2: warning: observation {oid('a')} rests on entry {eid(8)}, which is not there: "
        "bring that line back from another copy",
        f"l.jsonl:3: warning: reflection {oid('so')} rests on observation {oid('b')}, which is "
        "not there: bring that line back from another copy",
    ]


def test_a_ring() -> None:
    """Is told once, whatever leads into it."""
    rows = [entry(n) for n in range(4)]
    rows[0]["parent"] = eid(2)
    [problem] = found(*rows)
    assert "comes before and after itself: mend its `parent`" in problem
    alone = entry(0) | {"parent": eid(0)}
    assert len(found(alone)) == 1
