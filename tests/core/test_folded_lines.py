"""What of a fold fits."""

from hypothesis import given
from hypothesis import strategies as st

from core.talked import START, observation
from memory_palace.core import fold as forms
from memory_palace.core.fold import Fold
from memory_palace.core.folded_lines import fitted
from memory_palace.core.ledger import Observation, Reflection, record_id, tokens


def folded(*rows: Observation, reflections: tuple[Reflection, ...] = ()) -> Fold:
    """A fold of these lines."""
    return Fold(forms.text(reflections, rows), reflections, rows, False, ())


def reflection(text: str) -> Reflection:
    """A conclusion from two observations."""
    return Reflection(record_id(text), text, ("0" * 12, "1" * 12), START)


ROWS = tuple(observation(f"User: amber birch cedar {n} dogwood elm", day=n) for n in range(30))


def test_what_fits_is_unchanged() -> None:
    """A fold that has room is its own text; an empty one is empty."""
    fold = folded(*ROWS, reflections=(reflection("Trees again."),))
    assert fitted(fold, tokens(fold.text)) == fold.text
    assert fitted(folded(), 100) == ""


def test_nothing_fits() -> None:
    """No room for a line: no heading either."""
    assert fitted(folded(*ROWS), 0) == fitted(folded(*ROWS), 12) == ""


def test_its_format_and_order() -> None:
    """Lines keep their heads and order, and each section says how many more it has."""
    fold = folded(*ROWS, reflections=(reflection("Trees again."),))
    lines = fitted(fold, 200).split("\n")
    assert lines[:4] == [
        "## Reflections",
        f"[{record_id('Trees again.')}] Trees again.",
        "",
        "## Observations",
    ]
    shown = lines[4:-1]
    heads = [forms.observation_line(one).partition("User")[0] for one in ROWS]
    placed = [next(n for n, head in enumerate(heads) if line.startswith(head)) for line in shown]
    assert placed == sorted(placed) and shown
    assert lines[-1] == f"[{30 - len(shown)} more: palace ledger show]"


def test_the_important_comes_first() -> None:
    """What is critical stays before what is low."""
    low = [observation(f"Changed file{n}.py: `value{n}`", "low", "change") for n in range(20)]
    high = observation("User: from now on sign every commit with the harbour key", "critical")
    assert high.id in fitted(folded(*low[:10], high, *low[10:]), 60)


def test_the_same_twice_leaves_room_for_something_else() -> None:
    """A near duplicate comes after a line about another subject."""
    same = [observation(f"User: the harbour crane broke its cable again {n}") for n in "ab"]
    other = observation("User: parking permits expire soon")
    text = fitted(folded(*same, other), 60)
    assert other.id in text and sum(one.id in text for one in same) == 1


def test_lines_are_shortened_where_more_is_told_so() -> None:
    """With little room, several short lines stand instead of one long one; ids stay."""
    rows = [
        observation(
            f"Ana: I was at the harbour{n} of the city{n} and it was with my aunt{n} there. "
            f"We have been in the tavern{n} with all of the crew{n} for most of the night."
        )
        for n in range(8)
    ]
    text = fitted(folded(*rows), 130)
    shown = [one for one in rows if one.id in text]
    assert len(shown) >= 4
    assert not any(one.content in text for one in shown)


TEXTS = st.one_of(
    st.text(max_size=400),
    st.lists(st.sampled_from(("Ana: I sail", " / ", "`x y`", "amber. ", "no")), max_size=40).map(
        "".join
    ),
)


@given(
    st.lists(TEXTS.filter(str.strip), max_size=12),
    st.lists(TEXTS.filter(str.strip), max_size=3),
    st.integers(0, 900),
)
def test_never_over_its_budget(said: list[str], concluded: list[str], most: int) -> None:
    """Whatever stands in it, a cut fold has at most its tokens; the same fold, the same text."""
    fold = folded(
        *(observation(text, "high") for text in said),
        reflections=tuple(reflection(" ".join(text.split())) for text in concluded),
    )
    text = fitted(fold, most)
    assert tokens(text) <= most
    assert text == fitted(fold, most)
    for line in text.split("\n"):
        assert not line or line[0] in "#["
