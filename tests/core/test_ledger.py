"""A ledger's values: ids, branches, tips, and the lines that hold them."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from core.random_ledgers import trees
from memory_palace.core import ledger as ledgers
from memory_palace.core.ledger import Entry, Ledger, branch, newest_tip
from support.ledgers import START, Line, eid, entry, header, ledger


def ids(found: Ledger, tip: str = "") -> list[str]:
    """The ids on a branch."""
    return [one.id for one in branch(found, tip)]


def test_a_branch_goes_by_parents() -> None:
    """From the tip back to the first; by default from the newest entry that no other follows."""
    found = ledger(entry(0), entry(1), entry(2), entry(3, parent=0, seconds=90))
    assert ids(found) == [eid(n) for n in (0, 1, 2)]
    assert ids(found, eid(3)) == [eid(0), eid(3)]
    assert ids(found, eid(1)) == [eid(0), eid(1)]
    assert ids(found, eid(9)) == ids(Ledger()) == []


def test_a_clock_that_was_set_back() -> None:
    """The last entry is the one that no other follows, whatever its time."""
    found = ledger(entry(0, seconds=900), entry(1, seconds=500), entry(2, seconds=1))
    assert ids(found) == [eid(n) for n in (0, 1, 2)]


def test_entries_of_one_second() -> None:
    """Of two tips the one of the greater id: the same on every machine."""
    rows = [entry(0), entry(1, parent=0, seconds=60), entry(2, parent=0, seconds=60)]
    assert newest_tip(ledger(*rows).entries.values()) == max(eid(1), eid(2))


def test_broken_parents() -> None:
    """A missing parent begins the branch; a ring ends."""
    assert ids(ledger(entry(5), entry(6))) == [eid(5), eid(6)]
    ring = [entry(n) for n in range(3)]
    ring[0]["parent"] = eid(2)
    assert sorted(ids(ledger(*ring))) == sorted(eid(n) for n in range(3))
    assert ids(ledger(entry(0) | {"parent": eid(0)})) == [eid(0)]


@given(trees())
def test_every_entry_is_on_a_branch(rows: list[Line]) -> None:
    """Branches of all tips have all entries; each is a chain."""
    found = ledger(*rows)
    parents = {one.parent for one in found.entries.values()}
    seen: set[str] = set()
    for tip in found.entries.keys() - parents:
        here = branch(found, tip)
        assert [one.parent for one in here] == ["", *(one.id for one in here[:-1])]
        seen |= {one.id for one in here}
    assert seen == set(found.entries)
    assert branch(found)[-1].id not in parents


@given(
    st.builds(
        Entry,
        st.just("0123456789ab"),
        st.sampled_from(["", "ba9876543210"]),
        st.sampled_from(ledgers.ROLES),
        st.text(),
        st.just(START),
        st.text(max_size=5),
        st.lists(st.text(max_size=5)).map(tuple),
        st.booleans(),
        st.text(max_size=5),
        st.just("pi@laptop"),
    )
)
def test_an_entry_and_its_line(one: Entry) -> None:
    """What is written is what is read."""
    made = ledgers.entry_line(one, "0123456789abcdef")
    assert ledger(made).entries == {one.id: replace(one, line=1)}
    assert list(made)[:5] == ["at", "by", "event", "uid", "id"]


def test_whose_session() -> None:
    """The newest header that names a project, else the newest."""
    assert Ledger().header is None
    rows = [header("s", "", "pi"), header("s", "demo", "pi", 5), header("s", "", "pi", 9)]
    found = ledger(*rows).header
    assert found is not None and found.wing == "demo"
    found = ledger(rows[0], rows[2]).header
    assert found is not None and found.at is not None and found.at.second == 9


def test_a_uid_hangs_on_every_part() -> None:
    """And not on where one part ends and the next begins."""
    parts = ("pi", "s", "", "tool", "r1")
    made = {ledgers.entry_uid(*parts[:n], "x", *parts[n + 1 :]) for n in range(5)}
    made |= {ledgers.entry_uid(*parts), ledgers.entry_uid("pi", "s", "tool", "", "r1")}
    assert len(made) == 7 and all(len(one) == 16 for one in made)
