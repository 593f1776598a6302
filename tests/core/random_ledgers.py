"""Random ledgers: trees of entries, and records of every kind over them, some of them odd."""

from hypothesis import strategies as st

from support.ledgers import Line, dropped, entry, folded, observed, reflected

SAYINGS = tuple(f"{name} " * times for name in "abcdef" for times in (3, 900, 4000))
"""What records say: few, so that there are repeats; up to 2,000 tokens each, so that folds grow
full."""


@st.composite
def lines(draw: st.DrawFn, most: int = 14) -> list[Line]:
    """A tree of entries (clocks may jump) and up to ``most`` records."""
    rows = draw(trees())
    known = st.integers(0, len(rows) - 1)
    covers = st.one_of(known, st.none(), st.just(99)) if draw(st.booleans()) else known
    return rows + draw(st.lists(records(covers, known), max_size=most))


@st.composite
def trees(draw: st.DrawFn) -> list[Line]:
    """Entries, each after any one before it; mostly after the last one."""
    rows: list[Line] = []
    for number in range(draw(st.integers(1, 10))):
        parents = [st.just(number - 1), st.just(number - 1), st.integers(-1, number - 1)]
        parent = draw(st.one_of(*parents)) if number else None
        text = draw(st.sampled_from(("x", "y" * 900, "z" * 30_000)))
        seconds = 60 * number if draw(st.integers(0, 5)) else draw(st.integers(0, 900))
        rows.append(entry(number, f"{number} {text}", None if parent == -1 else parent, seconds))
    return rows


@st.composite
def records(
    draw: st.DrawFn, covers: st.SearchStrategy[int | None], known: st.SearchStrategy[int]
) -> Line:
    """One record; ids of what is not there are among them."""
    said = st.lists(st.sampled_from(SAYINGS), min_size=1, max_size=4, unique=True)
    kind = draw(st.sampled_from(("observed",) * 5 + ("reflected", "dropped", "folded")))
    seconds = draw(st.integers(0, 900))
    if kind == "observed":
        sources = draw(st.lists(known, min_size=1, max_size=3))
        return observed(draw(covers), *draw(said), sources=sources, seconds=seconds)
    if kind == "reflected":
        text = f"so {draw(st.sampled_from(SAYINGS))}"
        return reflected(draw(covers), text, *draw(said), seconds=seconds)
    if kind == "dropped":
        return dropped(draw(covers), *draw(said), seconds=seconds)
    kept = draw(st.one_of(st.none(), known))
    return folded(draw(known), draw(st.booleans()), kept, seconds)
