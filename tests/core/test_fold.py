"""The fold: its text, what a normal and a full one take in, and that it only grows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core.fold import Fold, fold
from memory_palace.core.ledger import branch
from support.ledgers import Line, dropped, eid, entry, folded, ledger, observed, oid, reflected

BIG = 10_000
"""Characters of an observation that takes 2,500 tokens: eight of them make a fold full."""


def made(*rows: Line, first_kept: int | None = None) -> Fold:
    """The fold of a ledger of these lines."""
    found = ledger(*rows)
    return fold(found, branch(found), "" if first_kept is None else eid(first_kept))


def entries(number: int) -> list[Line]:
    """So many entries in a row."""
    return [entry(n) for n in range(number)]


def test_the_text() -> None:
    """Reflections, then observations, each with its id; times in UTC; empty sections left out."""
    rows = [
        *entries(2),
        observed(0, "Amber was chosen.", relevance="high", at="2026-11-29T23:30+01:00"),
    ]
    line = f"[{oid('Amber was chosen.')}] 2026-11-29 22:30 [high] Amber was chosen."
    assert made(*rows).text == f"## Observations\n{line}"
    rows += [reflected(0, "Amber it is.", "Amber was chosen."), folded(1, full=True)]
    reflection = f"[{oid('Amber it is.')}] Amber it is."
    assert made(*rows).text == f"## Reflections\n{reflection}\n\n## Observations\n{line}"
    rows += [dropped(1, "Amber was chosen.", seconds=998)]
    assert made(*rows).text == f"## Reflections\n{reflection}\n\n## Observations\n{line}"
    rows += [folded(1, full=True, seconds=999)]
    assert made(*rows).text == f"## Reflections\n{reflection}"
    assert made().text == made(*entries(3)).text == ""


def test_what_is_kept_raw_by_the_client() -> None:
    """Observations count whose coverage is at or before the first kept entry; the rest is raw."""
    rows = [*entries(6), observed(1, "a"), observed(3, "b"), observed(4, "c")]
    for first_kept, said, raw in (
        (0, "", 0),
        (1, "a", 2),
        (2, "a", 2),
        (3, "ab", 4),
        (5, "abc", 5),
    ):
        found = made(*rows, first_kept=first_kept)
        assert "".join(one.content for one in found.observations) == said
        assert [one.id for one in found.raw] == [eid(n) for n in range(raw, 6)]
    with pytest.raises(ValueError, match="is not on the branch"):
        made(*rows, first_kept=9)


def test_a_normal_fold_waits_for_a_full_one() -> None:
    """Reflections and drops count up to what the last full fold took in."""
    rows = [
        *entries(8),
        observed(1, "a", "b"),
        reflected(1, "first", "a"),
        dropped(1, "b"),
        observed(3, "c"),
        reflected(3, "second", "c"),
        dropped(3, "a"),
    ]
    assert not made(*rows).reflections and len(made(*rows).observations) == 3
    rows.append(folded(2, full=True))
    found = made(*rows)
    assert [one.content for one in found.reflections] == ["first"] and not found.full
    assert [one.content for one in found.observations] == ["a", "c"]
    # The client kept from entry 2 on: the second reflection was not taken in.
    assert made(*rows, folded(5, full=True, first_kept=2)).text == found.text
    assert [one.content for one in made(*rows, folded(5, full=True)).observations] == ["c"]
    # A normal fold moves nothing, and neither does a full one after the boundary.
    assert made(*rows, folded(5)).text == found.text
    assert made(*rows, folded(6, full=True), first_kept=2).text == made(*rows, first_kept=2).text


@pytest.mark.parametrize(("number", "full"), [(7, False), (8, True)])
def test_a_fold_becomes_full(number: int, full: bool) -> None:
    """When the observations of a normal one reach 20,000 tokens."""
    said = [f"{n}" + "x" * (BIG - 1) for n in range(number)]
    rows = [*entries(4), observed(1, *said), reflected(1, "so", said[0]), dropped(1, *said[1:])]
    found = made(*rows)
    assert found.full is full
    assert [len(found.reflections), len(found.observations)] == ([1, 1] if full else [0, number])
    assert found.raw == branch(ledger(*rows))[2:]


def test_drops_beyond_the_boundary_wait() -> None:
    """A full fold takes in what was recorded through its boundary."""
    said = [f"{n}" + "x" * (BIG - 1) for n in range(9)]
    rows = [*entries(5), observed(1, *said), dropped(1, said[0]), dropped(3, said[1])]
    assert len(made(*rows, first_kept=2).observations) == 8
    assert len(made(*rows).observations) == 7


def test_a_drop_of_what_is_not_seen_yet() -> None:
    """Hides it from the next full fold, however much later it is observed."""
    rows = [*entries(3), dropped(0, "a"), observed(2, "a", "b"), folded(0, full=True)]
    assert [one.content for one in made(*rows).observations] == ["b"]


def test_records_without_coverage() -> None:
    """An observation stands at its last source; what was written later waits for a full fold."""
    rows = [
        *entries(4),
        observed(None, "a", sources=[0, 2], seconds=30),
        observed(None, "b", sources=[1], seconds=400),
        reflected(None, "so", "a", seconds=130),
        dropped(None, "b", seconds=130),
    ]
    assert [one.content for one in made(*rows, first_kept=1).observations] == ["b"]
    found = made(*rows)
    assert [one.content for one in found.observations] == ["b", "a"] and not found.reflections
    assert [one.id for one in found.raw] == [eid(n) for n in range(4)]
    assert made(*rows, folded(1, full=True)).text == found.text
    assert [one.content for one in made(*rows, folded(2, full=True)).observations] == ["a"]
    assert made(*rows, folded(2, full=True)).reflections


def test_another_branch_is_not_folded() -> None:
    """Records of a fork that was left stay out, and so does the fold that it made."""
    rows = [
        *entries(3),
        entry(3, parent=0, seconds=500),
        observed(0, "both"),
        observed(2, "left"),
        dropped(2, "both"),
        folded(2, full=True),
        reflected(2, "so", "left"),
        observed(3, "here", sources=[3]),
    ]
    assert [one.content for one in made(*rows).observations] == ["both", "here"]
    assert made(*rows).raw == () and not made(*rows).reflections


def test_a_repeat_on_two_branches() -> None:
    """Counts on each."""
    rows = [*entries(3), entry(3, parent=0, seconds=500), observed(2, "a"), observed(3, "a")]
    assert [one.content for one in made(*rows).observations] == ["a"]
    assert made(*rows).raw == ()


@given(
    st.lists(st.sampled_from(["observed", "reflected", "dropped"]), min_size=1, max_size=12),
    st.booleans(),
)
def test_a_normal_fold_only_grows(kinds: list[str], late: bool) -> None:
    """What was rendered is the beginning of what is rendered next, until a full fold."""
    rows = [entry(0), observed(0, "zero"), reflected(0, "so", "zero"), folded(0, full=True)]
    before = made(*rows).text
    for number, kind in enumerate(kinds, start=1):
        rows.append(entry(number))
        if kind == "observed":
            rows.append(observed(number, f"say {number}"))
        elif kind == "reflected":
            rows.append(
                reflected(number if late else 0, f"so {number}", "zero", seconds=60 * number)
            )
        else:
            rows.append(dropped(number if late else 0, "zero", seconds=60 * number))
        after = made(*rows).text
        assert after.startswith(before)
        before = after


def test_a_strangers_line_moves_no_cursor_and_shows_nothing_private() -> None:
    """Control characters are escapes, private spans a mark; the id stays that of the content."""
    text = "Amber \x1b[31mwas\u202e chosen <private>by Ada</private>."
    rows = [*entries(1), observed(0, text, relevance="high"), reflected(0, text + "!", text)]
    shown = "Amber \\x1b[31mwas\\u202e chosen [PRIVATE]."
    assert made(*rows, folded(0, full=True)).text == (
        f"## Reflections\n[{oid(text + '!')}] {shown}!\n\n"
        f"## Observations\n[{oid(text)}] 2026-11-29 08:00 [high] {shown}"
    )
