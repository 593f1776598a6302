"""What is due, by tokens; what may be dropped."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import ledger_branch, ledger_due
from memory_palace.core.ledger import RELEVANCES, Observation, branch, tokens
from memory_palace.core.ledger_due import CITED, POOL_TARGET
from support.ledgers import (
    START,
    Line,
    at,
    dropped,
    eid,
    entry,
    folded,
    hexes,
    ledger,
    observed,
    oid,
    reflected,
)


def due(*rows: Line, backoff: int | None = None, window: int | None = None) -> str:
    """The stages that are due, by their first letters."""
    found = ledger(*rows)
    here = branch(found)
    at = "" if backoff is None else eid(backoff)
    return (
        "o" * ledger_due.observer_due(found, here, at)
        + "r" * ledger_due.reflector_due(found, here, at)
        + "f" * ledger_due.fold_due(found, here, window)
    )


def long(number: int, size: int) -> Line:
    """An entry of ``size`` tokens."""
    return entry(number, "x" * 4 * size)


def test_the_observer() -> None:
    """At 10,000 tokens of entries since its coverage, or since it backed off."""
    rows = [long(0, 4000), long(1, 5999)]
    assert due(*rows) == ""
    rows.append(long(2, 1))
    assert due(*rows) == "o"
    assert due(*rows, backoff=2) == ""
    assert due(*rows, observed(1, "a")) == due(*rows, observed(2, "a")) == ""
    rows.append(long(3, 9999))
    assert due(*rows, backoff=2) == "" and due(*rows, backoff=1) == "o"
    assert due(*rows, observed(2, "a"), backoff=1) == ""
    assert due() == ""


def test_coverage_that_names_nothing_there() -> None:
    """Leaves the cursor where it was; so does an observation without coverage."""
    rows = [long(0, 10_000), observed(99, "a", sources=[0]), observed(None, "b", sources=[0])]
    assert due(*rows) == "o"


def test_the_furthest_coverage_counts() -> None:
    """A line that was written later and covers less takes nothing back."""
    rows = [long(n, 6000) for n in range(3)]
    rows += [observed(2, "a", seconds=500), observed(0, "b", seconds=600)]
    assert due(*rows) == "" and due(*rows, long(3, 10_000)) == "or"


def test_the_cursor() -> None:
    """The last entry that was read; none where nothing was, or nothing is there."""
    rows = [entry(0), entry(1)]
    for more, cursor in (([], ""), ([observed(0, "a")], eid(0)), ([observed(1, "a")], eid(1))):
        found = ledger(*rows, *more)
        assert ledger_due.cursor(found, branch(found)) == cursor
    assert ledger_due.cursor(ledger(), ()) == ""


def test_the_reflector() -> None:
    """At 20,000 tokens since its coverage, and only where something new is observed."""
    rows = [long(0, 12_000), long(1, 8000)]
    assert "r" not in due(*rows)
    rows.append(observed(1, "a"))
    assert due(*rows) == "r" and due(*rows, backoff=1) == ""
    assert due(*rows, dropped(1, "a")) == ""
    rows.append(reflected(1, "so", "a"))
    rows.append(long(2, 20_000))
    assert due(*rows) == "o"
    assert due(*rows, observed(2, "b")) == "r"


def test_a_deliberate_nothing_backs_off() -> None:
    """For another 10,000 tokens, whichever stage; what was not due before is not hastened."""
    rows = [long(0, 20_000), observed(0, "a"), long(1, 9_999)]
    assert due(*rows) == "r" and due(*rows, backoff=0) == ""
    assert due(*rows, long(2, 1), backoff=0) == "or"
    few = [long(0, 500), long(1, 9_600), observed(None, "a", sources=[0])]
    assert due(*few) == "o" and due(*few, backoff=0) == ""
    assert due(*few, long(2, 400), backoff=0) == "o"
    late = [long(0, 5_000), long(1, 10_000), observed(1, "a")]
    assert due(*late, backoff=0) == ""


@pytest.mark.parametrize(
    ("size", "window", "is_due"),
    [(80_999, None, False), (81_000, None, True), (135_999, 200_000, False),
     (136_000, 200_000, True), (99, 147, True), (99, 148, False), (81_000, 0, True)],
)  # fmt: skip
def test_the_fold(size: int, window: int | None, is_due: bool) -> None:
    """At 81,000 tokens since the last one, or 0.68 of the window."""
    assert ("f" in due(long(0, size), window=window)) is is_due
    assert "f" not in due(long(0, size), folded(0), window=window)


def test_without_coverage_a_record_stands_by_its_sources_or_its_time() -> None:
    """What rests on another branch is not on this one; a clock that was set back moves nothing."""
    rows = [entry(0), entry(1), entry(2, parent=0, seconds=900)]
    rows += [observed(None, "here", sources=[0, 2]), observed(None, "there", sources=[1, 2])]
    found = ledger(*rows)
    assert [one.content for one in ledger_due.active(found, branch(found))] == ["here"]
    jump = [entry(0, seconds=500), entry(1, seconds=100), entry(2, seconds=600)]
    fold = folded(0, seconds=550) | {"covers_up_to": None}
    found = ledger(*jump, {key: value for key, value in fold.items() if value is not None})
    here = branch(found)
    assert ledger_due.fold_wait(ledger_branch.of(found, here)).tokens == here[2].tokens
    early = fold | {"at": at(300)}
    found = ledger(*jump, {key: value for key, value in early.items() if value is not None})
    waits = ledger_due.fold_wait(ledger_branch.of(found, here))
    assert waits.tokens == sum(one.tokens for one in here)


def test_what_is_active_and_how_often_it_is_cited() -> None:
    """Observations that no drop on this branch names; none, one reflection, or more."""
    rows = [
        entry(0), entry(1), entry(2, parent=0, seconds=900),
        observed(0, "a", "b", "c"), observed(1, "other"), dropped(0, "c"), dropped(1, "a"),
        reflected(0, "one", "a", "b"), reflected(0, "two", "b"), reflected(1, "three", "a", "b"),
    ]  # fmt: skip
    found = ledger(*rows)
    here = branch(found)
    assert sorted(one.content for one in ledger_due.active(found, here)) == ["a", "b"]
    assert ledger_due.citations(found, here) == {
        oid("a"): "partial", oid("b"): "strong", oid("c"): "none",
    }  # fmt: skip


def observation(number: int, size: int, relevance: str = "low") -> Observation:
    """An observation of ``size`` tokens."""
    text = f"{number} ".ljust(size * 4, "x")
    made = Observation(
        hexes(number, 12), text, START.replace(minute=number), relevance, ("a" * 12,)
    )
    assert tokens(text) == size
    return made


def test_nothing_is_dropped_at_the_target() -> None:
    """Only a pool above it is."""
    pool = [observation(n, 2500) for n in range(4)]
    assert ledger_due.drops(pool, {}, lambda _: False) == ()
    assert ledger_due.drops([], {}, lambda _: False) == ()
    assert len(ledger_due.drops([*pool, observation(5, 1)], {}, lambda _: False)) == 1


def test_what_is_dropped_first() -> None:
    """Strongly cited, then of low relevance, then old; never what must survive."""
    pool = [observation(n, 2500, RELEVANCES[n % 4]) for n in range(8)]
    cited = {pool[6].id: "strong", pool[3].id: "strong", pool[1].id: "partial"}
    kept = pool[6]
    found = ledger_due.drops(pool, cited, lambda one: one == kept)
    assert found == tuple(pool[n].id for n in (3, 1, 0, 4))


@given(
    st.lists(st.tuples(st.integers(1, 2500), st.sampled_from(RELEVANCES), st.sampled_from(CITED)),
             max_size=30),
    st.sets(st.integers(0, 29)),
)  # fmt: skip
def test_how_much_is_dropped(rows: list[tuple[int, str, str]], must: set[int]) -> None:
    """At most min(n, max(1, ceil((pool - target) / average))), each once, in its order."""
    pool = [observation(n, size, relevance) for n, (size, relevance, _) in enumerate(rows)]
    cited = {one.id: rows[n][2] for n, one in enumerate(pool)}
    survive = {one.id for n, one in enumerate(pool) if n in must}
    found = ledger_due.drops(pool, cited, lambda one: one.id in survive)
    total = sum(size for size, _, _ in rows)
    if total <= POOL_TARGET:
        assert found == ()
        return
    most = 0
    while most * total < (total - POOL_TARGET) * len(pool):
        most += 1
    assert len(found) == min(len(pool) - len(survive), max(1, most))
    assert len(set(found)) == len(found) and not set(found) & survive
