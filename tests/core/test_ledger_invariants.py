"""The four invariants of a ledger, over random ones: forks, repeats, odd records, clock jumps."""

import random

from hypothesis import given
from hypothesis import strategies as st

from core.random_ledgers import SAYINGS, lines
from memory_palace.core import ledger_due
from memory_palace.core.fold import fold
from memory_palace.core.ledger import Entry, Ledger, branch
from support.ledgers import Line, dropped, entry, ledger, observed, reflected


def covered(found: Ledger, here: tuple[Entry, ...], through: int) -> list[tuple[int, str]]:
    """(place, id) of each observation that covers up to an entry of the branch, no further than
    ``through``: found without the code that is tested."""
    places = {one.id: place for place, one in enumerate(here)}
    every = (*found.observations, *found.observed_again)
    pairs = ((places.get(one.covers_up_to, 99), one.id) for one in every)
    return [(place, about) for place, about in pairs if place <= through]


def boundaries(here: tuple[Entry, ...]) -> list[tuple[int, str]]:
    """Each boundary that a branch can be folded at, with its place."""
    return [(len(here) - 1, ""), *((place, one.id) for place, one in enumerate(here))]


@given(lines())
def test_coverage(rows: list[Line]) -> None:
    """Every entry reaches the reader once: raw, or through a record that covers it."""
    found = ledger(*rows)
    here = branch(found)
    for place, first_kept in boundaries(here):
        made = fold(found, here, first_kept)
        covering = covered(found, here, place)
        cut = max((at for at, _ in covering), default=-1) + 1
        assert here[:cut] + made.raw == here
        shown = {one.id for one in made.observations}
        assert {about for _, about in covering} <= shown | found.dropped
        assert len(shown) == len(made.observations)


@given(lines(), st.integers(0, 10))
def test_contiguity(rows: list[Line], chosen: int) -> None:
    """What is pending starts right after the cursor, on every branch."""
    found = ledger(*rows)
    tips = sorted(found.entries)
    here = branch(found, tips[chosen % len(tips)])
    cut = max((place for place, _ in covered(found, here, 98)), default=-1) + 1
    assert ledger_due.pending(found, here) == here[cut:]


@given(lines(), st.integers(0, 10), st.integers(1, 200_000))
def test_thresholds_decide_when_never_whether(rows: list[Line], chosen: int, window: int) -> None:
    """No backoff, window or size changes what is pending or what is folded, only when; and what
    is due stays due as the session goes on."""
    found = ledger(*rows)
    here = branch(found)
    backoff = here[chosen % len(here)].id
    waiting = sum(one.tokens for one in ledger_due.pending(found, here))
    assert ledger_due.observer_due(found, here) == (waiting >= ledger_due.OBSERVE_TOKENS)
    longer = ledger(*rows, *grown(rows, here, 3))
    later = branch(longer)
    assert later[: len(here)] == here
    for is_due in (
        lambda a, b: ledger_due.observer_due(a, b, backoff),
        lambda a, b: ledger_due.reflector_due(a, b, backoff),
        lambda a, b: ledger_due.fold_due(a, b, window),
    ):
        assert is_due(longer, later) or not is_due(found, here)
    assert ledger_due.observer_due(longer, later, backoff)
    assert ledger_due.pending(longer, later) == ledger_due.pending(found, here) + later[len(here) :]
    for _, first_kept in boundaries(here):
        made = fold(found, here, first_kept)
        hidden = {one.id for one in fold_of_all(found, here, first_kept)} - {
            one.id for one in made.observations
        }
        assert hidden <= found.dropped and (made.full or hidden <= settled(found))


def grown(rows: list[Line], here: tuple[Entry, ...], number: int) -> list[Line]:
    """More entries after the branch, later than all that is there, of 5,000 tokens each."""
    made: list[Line] = []
    parent = here[-1].id
    for n in range(50, 50 + number):
        made.append(entry(n, "w" * 20_000, None) | {"parent": parent})
        parent = made[-1]["id"]
    return made


def fold_of_all(found: Ledger, here: tuple[Entry, ...], first_kept: str) -> tuple[object, ...]:
    """The observations of a fold where nothing was ever dropped."""
    whole = Ledger(
        found.entries, found.observations, found.reflections, observed_again=found.observed_again
    )
    return fold(whole, here, first_kept).observations


def settled(found: Ledger) -> frozenset[str]:
    """What a normal fold may leave out: nothing before there was a full one."""
    return found.dropped if any(one.full for one in found.folds) else frozenset()


@given(lines(), st.randoms(use_true_random=False))
def test_a_fold_is_a_pure_function(rows: list[Line], chance: random.Random) -> None:
    """Of the entries and the boundary: the same bytes in any order of the lines, and whatever
    was recorded beyond the boundary later."""
    found = ledger(*rows)
    here = branch(found)
    mixed = list(rows)
    chance.shuffle(mixed)
    # Later in the session, though a clock may have gone back; what is said may be a repeat.
    beyond = grown(rows, here, 2)
    some = chance.sample(SAYINGS, 4)
    seconds = chance.randrange(900)
    more = [
        observed(50, *some[:2], sources=[0], seconds=seconds),
        reflected(51, "so it is", some[0], seconds=seconds),
        dropped(50, *some[2:], seconds=seconds),
    ]
    longer = ledger(*beyond, *more, *mixed)
    for _, first_kept in boundaries(here):
        made = fold(found, here, first_kept)
        assert fold(ledger(*mixed), here, first_kept).text == made.text
        if first_kept:
            assert fold(longer, branch(longer), first_kept).text == made.text
    assert fold(found, here).text == fold(found, here, here[-1].id).text
