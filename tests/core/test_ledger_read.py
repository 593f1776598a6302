"""The lines of a ledger, read: what is whole counts, once, whatever order it stands in."""

import random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.random_ledgers import lines
from memory_palace.core.ledger import LONGEST, Ledger, content, record_id, tokens
from memory_palace.core.ledger_read import read
from support.ledgers import (
    Line,
    dropped,
    eid,
    entry,
    folded,
    header,
    hexes,
    ledger,
    line,
    observed,
    oid,
    reflected,
)


def refused(*rows: Line) -> list[tuple[int, str]]:
    """What a ledger of these lines leaves out."""
    return list(ledger(*rows).refused)


def test_what_is_in_it() -> None:
    """Each kind of line becomes a value with all its keys."""
    found = ledger(
        header("s", "demo"),
        entry(0, "hello", role="tool", tool="Bash", files=["a.py"], failed=True, ref="r1"),
        observed(0, "It failed.", type="bugfix", room="src", files=["src/a.py"], work=12),
        reflected(0, "It fails.", "It failed."),
        dropped(0, "It failed.", "not seen yet"),
        folded(0, full=True, first_kept=0),
        line("summarized", 90, request="Mend  it", learned="") | {"covers_up_to": eid(0)},
    )
    assert found.refused == ()
    [one] = found.entries.values()
    assert (one.id, one.tool, one.files, one.failed, one.ref) == (
        eid(0), "Bash", ("a.py",), True, "r1",
    )  # fmt: skip
    [seen] = found.observations
    assert (seen.type, seen.room, seen.files, seen.work) == ("bugfix", "src", ("src/a.py",), 12)
    assert (seen.id, seen.sources, seen.covers_up_to) == (oid("It failed."), (eid(0),), eid(0))
    assert found.reflections[0].supports == (seen.id,)
    assert found.dropped == {oid("It failed."), oid("not seen yet")}
    assert found.folds[0].full and found.folds[0].first_kept == eid(0)
    assert found.summaries[0].parts == {"request": "Mend it"}
    assert found.header is not None and found.header.wing == "demo"


def test_tokens_are_a_quarter_rounded_up() -> None:
    """Of the characters, whatever they are."""
    assert [tokens(text) for text in ("", "a", "abcd", "abcde", "宮殿宮殿宮")] == [0, 1, 1, 2, 2]


def test_what_is_too_long_is_cut_before_the_id() -> None:
    """With a marker that says how many are gone, on one line; what was cut stays as it is."""
    long = "x" * LONGEST
    assert content(long) == long
    assert content(f" {long}yy\n") == f"{long} [2 more characters]"
    assert content("a\u2028b\r\n c") == "a b c"
    [one] = ledger(entry(0), observed(0, f"{long}yyy")).observations
    assert one.content == f"{long} [3 more characters]" and one.id == record_id(one.content)
    again = observed(0, one.content)
    again["observations"][0]["id"] = one.id
    assert ledger(entry(0), again).observations == (one,)
    uncut = observed(0, f"{long}yyy")
    uncut["observations"][0]["id"] = record_id(f"{long}yyy")
    assert "is not that of its content" in refused(entry(0), uncut)[0][1]


@given(st.text(max_size=40), st.integers(0, 30))
def test_cutting_again_changes_nothing(text: str, more: int) -> None:
    """Whatever stands around the cut."""
    for one in (text, "x" * (LONGEST - more) + text):
        assert content(content(one)) == content(one)


def test_the_first_of_a_repeat_counts() -> None:
    """Same id and content: the earlier line; the later one covers what it covers all the same."""
    found = ledger(
        entry(0), entry(1), observed(1, "Same.", relevance="high"), observed(0, "Same.", seconds=1)
    )
    assert [one.relevance for one in found.observations] == ["medium"]
    assert [one.covers_up_to for one in found.observed_again] == [eid(1)]
    assert found.refused == ()


def test_same_id_other_content_is_refused() -> None:
    """An entry with other text, a record whose id is not that of what it says."""
    other = entry(0, "other", seconds=9) | {"uid": hexes("other")}
    [(number, why)] = refused(entry(0, "one"), other)
    assert number == 2 and "has other content on line 1" in why
    of_tool = entry(0, "one", role="tool", seconds=9) | {"uid": hexes("tool")}
    assert len(refused(entry(0, "one"), of_tool)) == 1
    same_uid = entry(0, "other", seconds=9)
    assert len(refused(entry(0, "one"), same_uid)) == 1
    wrong = observed(0, "It says this.")
    wrong["observations"][0]["id"] = oid("It says that.")
    [(number, why)] = refused(entry(0), wrong)
    assert number == 2 and f"write {oid('It says this.')}" in why


def test_a_source_that_is_named_twice() -> None:
    """Counts once, in the order in which they were named."""
    found = ledger(entry(0), entry(1), observed(1, "a", sources=[1, 0, 1]))
    assert found.observations[0].sources == (eid(1), eid(0))


def test_a_record_without_id() -> None:
    """Does not count in a ledger, where it could not be found by its id; the id is told."""
    bare = observed(0, "a")
    del bare["observations"][0]["id"]
    assert refused(entry(0), bare) == [(2, f"a record has no `id`: write {oid('a')}")]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"id": ""}, "id '' is not that of its content"),
        ({"id": 5}, "id '5' is not that of its content"),
        ({"relevance": "urgent"}, "relevance `urgent`: use low, medium, high, critical"),
        ({"relevance": 3}, "`relevance` is missing or no text"),
        ({"sources": []}, "`sources` names nothing: give one id or more"),
        ({"sources": ["nope"]}, "`sources` has 'nope': an id has 12 hex digits"),
        ({"sources": "0123456789ab"}, "`sources` names nothing"),
        ({"sources": [["0123456789ab"]]}, "an id has 12 hex digits"),
        ({"content": " \n "}, "`content` is blank"),
        ({"content": None}, "`content` is missing or no text"),
        ({"type": "idea"}, "type `idea`: use decision"),
        ({"at": "yesterday"}, "`at` is 'yesterday': write 2026-11-29"),
        ({"files": "a.py"}, "`files` is no list of texts"),
    ],
)
def test_one_bad_record_voids_its_line(change: dict[str, Any], why: str) -> None:
    """None of the line counts; the lines around it do."""
    bad = observed(1, "A.", "B.", "C.")
    bad["observations"][1] |= change
    found = ledger(entry(0), entry(1), observed(0, "Z."), bad, observed(1, "D."))
    assert [one.content for one in found.observations] == ["Z.", "D."]
    assert [number for number, _ in found.refused] == [4] and why in found.refused[0][1]


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (entry(0) | {"at": 5}, "`at` is '5'"),
        (entry(0) | {"uid": ""}, "`uid` is missing or no text"),
        (entry(0) | {"event": "enrty"}, "unknown event `enrty`: did you mean `entry`?"),
        (entry(0) | {"role": "system"}, "role `system`: use user, assistant, tool"),
        (entry(0) | {"id": "ABCDEF012345"}, "`id` is 'ABCDEF012345': an id has 12 hex digits"),
        (entry(0) | {"text": None}, "`text` is missing or no text"),
        (entry(0) | {"parent": 7}, "`parent` is '7'"),
        (observed(0, "x") | {"observations": []}, "`observations` is no list of objects"),
        (observed(0, "x") | {"observations": ["x"]}, "`observations` is no list of objects"),
        (observed(0, "x") | {"covers_up_to": "last"}, "`covers_up_to` is 'last'"),
        (dropped(0, "x") | {"ids": None}, "`ids` names nothing"),
        (line("summarized", 1, request=" "), "a summary says nothing: write one of request"),
        (line("session", 1, ""), "`id` is missing or no text"),
    ],
)
def test_a_line_that_does_not_count(data: Line, why: str) -> None:
    """Is named, with what to write; what is good under the same uid counts."""
    good = entry(5, parent=None) | {"uid": data["uid"] or "u"}
    found = ledger(data, good)
    assert [number for number, _ in found.refused] == [1] and why in found.refused[0][1]
    assert list(found.entries) == [eid(5)]


@given(lines(), st.randoms(use_true_random=False), st.data())
def test_order_and_repetition_change_nothing(
    rows: list[Line], chance: random.Random, data: st.DataObject
) -> None:
    """Any order of the lines, each once or more: the same ledger, in the same order."""
    expected = ledger(*rows)
    again = [*rows, *data.draw(st.lists(st.sampled_from(rows), max_size=5))]
    chance.shuffle(again)
    found = ledger(*again)
    assert found == expected
    assert list(found.entries) == list(expected.entries)
    assert {why for _, why in found.refused} == {why for _, why in expected.refused}


@given(lines(), st.integers(0, 40), st.integers(0, 40))
def test_a_union_of_two_copies_is_both(rows: list[Line], a: int, b: int) -> None:
    """Two machines went on from one copy: whichever side comes first, and nothing is lost."""
    base, more = rows[: len(rows) // 2], rows[len(rows) // 2 :]
    ours, theirs = base + more[:a], base + more[b:]
    union = ledger(*ours, *theirs)
    assert union == ledger(*theirs, *ours)
    assert set(union.entries) == set(ledger(*ours).entries) | set(ledger(*theirs).entries)


def test_lines_that_share_uid_and_time() -> None:
    """Which one counts does not hang on their order."""
    a, b = (folded(0, full=full) | {"uid": "0" * 16} for full in (True, False))
    assert ledger(a, b) == ledger(b, a) != Ledger()
    assert len(ledger(a, b).folds) == 1


def test_no_line_number() -> None:
    """Lines that are not in a file are numbered 0."""
    assert [one.line for one in read([(0, entry(0))]).entries.values()] == [0]
