"""Lasting conclusions."""

from hypothesis import given
from hypothesis import strategies as st

from core.talked import START, observation
from memory_palace.core.ledger import Observation, Reflection, record_id
from memory_palace.core.reflector import MOST_SUPPORTS, reflect

ERROR = "Error `TypeError: win.matchMedia is not a function`, gone after src/setup.ts."


def drawn(*rows: Observation, cited: dict[str, str] | None = None) -> tuple[Reflection, ...]:
    """What is concluded of them."""
    return reflect(rows, cited or {}, START)


def test_nothing_rather_than_noise() -> None:
    """Observations that have nothing in common, and edits of a file, say nothing more."""
    assert drawn() == ()
    rows = [observation(f"Changed a.py: `{word}`", "low", "change", ["a.py"]) for word in "xyz"]
    assert drawn(*rows, observation("Amber."), observation("Birch."), observation(ERROR)) == ()


def test_an_error_that_comes_back() -> None:
    """The same error twice, whatever its numbers, with what helped last."""
    first = observation("Failed: `Port 5173 is already in use` in `pnpm dev`", day=0)
    again = observation(
        "Error `Port 5174 is already in use`, gone after `kill 4`.", "high", "bugfix"
    )
    (found,) = drawn(first, again)
    assert found.supports == tuple(sorted((first.id, again.id), key=found.supports.index))
    assert set(found.supports) == {first.id, again.id}
    assert "came up 2 times" in found.content and "kill 4" in found.content
    assert found.id == record_id(found.content)


def test_a_wish_that_is_said_again() -> None:
    """The newest words of it."""
    first = observation("User: No, use pnpm instead of npm here.", "critical", "decision")
    again = observation("User: please use pnpm, not npm!", "critical", "decision", day=3)
    (found,) = drawn(first, again)
    assert found.content == (
        "Said 2 times, 2026-11-29 to 2026-12-02: User: please use pnpm, not npm!"
    )


def test_a_file_that_breaks_again() -> None:
    """Two fixes and more about one file."""
    rows = [
        observation(f"Error `assert {word}`, gone.", "high", "bugfix", ["a/money.py"])
        for word in ("alpha == 1", "omega == 2")
    ]
    rows.append(observation("Changed a/money.py: `x`", "low", "change", ["a/money.py"], day=1))
    (found,) = drawn(*rows)
    assert found.content.startswith(
        "a/money.py needed mending again: 2 bugfix, 1 change, 2026-11-29"
    )
    assert len(found.supports) == 3


def test_a_name_on_several_days() -> None:
    """Names of several words and tickets; not a greeting."""
    rows = [observation(f"Ana: I met Bo Larsen, {n} times", day=n) for n in range(4)]
    (found,) = drawn(*rows)
    assert found.content.startswith("Bo Larsen comes up again and again: 4 times, 2026-11-29 to")
    assert drawn(*(observation(f"Ana: Hey Bo, {n} times", day=n) for n in range(4))) == ()


def test_the_same_is_not_concluded_again() -> None:
    """Two observations that no reflection cites are needed."""
    rows = [observation(f"Ana: I met Bo Larsen, {n} times", day=n) for n in range(4)]
    cited = {one.id: "partial" for one in rows}
    assert drawn(*rows, cited=cited) == ()
    assert drawn(*rows, cited=cited | {rows[0].id: "none"}) == ()
    assert len(drawn(*rows, cited=cited | {rows[0].id: "none", rows[1].id: "none"})) == 1


WORDS = st.sampled_from(("pnpm", "npm", "use", "Bo Larsen", "Error `x is not y`", "BILL-48", "/"))
MADE = st.builds(
    lambda words, kind, day, files: observation(" ".join(words), type=kind, day=day, files=files),
    st.lists(WORDS, min_size=1, max_size=6),
    st.sampled_from(("", "decision", "bugfix", "change")),
    st.integers(0, 9),
    st.lists(st.sampled_from(("a.py", "b/c.py")), max_size=2),
)


@given(st.lists(MADE, max_size=40, unique_by=lambda one: one.id))
def test_what_holds_for_every_reflection(rows: list[Observation]) -> None:
    """It rests on two known observations or more, on one line; order does not matter."""
    found = drawn(*rows)
    assert found == drawn(*reversed(rows))
    known = {one.id for one in rows}
    for one in found:
        assert 2 <= len(set(one.supports)) == len(one.supports) <= MOST_SUPPORTS
        assert set(one.supports) <= known
        assert one.id == record_id(one.content) and "\n" not in one.content
