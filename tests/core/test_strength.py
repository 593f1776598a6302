"""Strength, lifecycle, caps: the numbers."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import strength
from memory_palace.core.topics import CATEGORIES, CUES

CAPS = {name: category.cap for name, category in CATEGORIES.items()}


def test_the_tables_are_those_of_the_reference() -> None:
    """Cues, files, half-lives and caps, each number."""
    assert CUES == {"explicit": 1.0, "structural": 0.9, "behavioral": 0.7, "recurrence": 0.6}
    assert {c.name: (c.file, c.half_life, c.cap) for c in CATEGORIES.values()} == {
        "preference": ("preferences.md", 90, 8),
        "lesson": ("lessons.md", 60, 8),
        "pattern": ("patterns.md", 30, 6),
        "decision": ("decisions.md", 30, 4),
        "done": ("completions.md", 14, 4),
        "mistake": ("mistakes.md", 14, 4),
    }
    assert list(CATEGORIES) == [c.name for c in CATEGORIES.values()]
    assert CATEGORIES["done"].path == "palace/topics/completions.md"


@pytest.mark.parametrize(
    ("cue", "evidence", "days", "half_life", "expected"),
    [
        (1.0, 1, 0.0, 60, math.log(2)),
        (1.0, 2, 0.0, 60, math.log(3)),
        (0.9, 3, 30.0, 30, 0.9 * math.exp(-1) * math.log(4)),
        (0.6, 10, 28.0, 14, 0.6 * math.exp(-2) * math.log(11)),
        (0.7, 1, -5.0, 14, 0.7 * math.log(2)),
        (1.0, 0, 0.0, 90, 0.0),
        (1.0, -3, 0.0, 90, 0.0),
    ],
)
def test_strength_is_its_formula(
    cue: float, evidence: int, days: float, half_life: float, expected: float
) -> None:
    """cue × exp(−days / h) × ln(1 + evidence); a time to come counts as now."""
    assert strength.strength(cue, evidence, days, half_life) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5.0, "active"),
        (1.0, "active"),
        (math.nextafter(1.0, 0), "provisional"),
        (0.4, "provisional"),
        (math.nextafter(0.4, 0), "candidate"),
        (0.2, "candidate"),
        (math.nextafter(0.2, 0), "dropped"),
        (0.0, "dropped"),
    ],
)
def test_each_threshold_belongs_to_the_better_side(value: float, expected: str) -> None:
    """From 1.0 on active, from 0.4 provisional, from 0.2 candidate, below that dropped."""
    assert strength.lifecycle(value) == expected


@pytest.mark.parametrize("half_life", sorted({c.half_life for c in CATEGORIES.values()}))
def test_one_explicit_mention_is_provisional_for_about_half_its_half_life(half_life: float) -> None:
    """ln 2 falls to 0.4 after 0.55 half-lives; two mentions are active at once."""
    until = half_life * math.log(math.log(2) / 0.4)
    assert until / half_life == pytest.approx(0.55, abs=0.005)
    before, after = (strength.strength(1.0, 1, until + d, half_life) for d in (-0.01, 0.01))
    assert (strength.lifecycle(before), strength.lifecycle(after)) == ("provisional", "candidate")
    assert strength.lifecycle(strength.strength(1.0, 2, 0, half_life)) == "active"


@pytest.mark.parametrize(
    ("cue", "first"), [("behavioral", "provisional"), ("recurrence", "provisional")]
)
def test_a_weak_cue_starts_as_provisional(cue: str, first: str) -> None:
    """Also what was only noticed, or came up again, is in reports on its first day."""
    assert strength.lifecycle(strength.strength(CUES[cue], 1, 0, 14)) == first


def test_cold_is_later_than_two_half_lives() -> None:
    """Exactly two half-lives are not cold yet."""
    assert not strength.is_cold(28.0, 14)
    assert strength.is_cold(math.nextafter(28.0, 29), 14)
    assert not strength.is_cold(-1, 14)


def crowd(**many: int) -> list[tuple[str, float, str]]:
    """So many active memories a category, of falling strength."""
    return [
        (f"{category}{n:02}", 3.0 - n / 100, category)
        for category, count in many.items()
        for n in range(count)
    ]


@pytest.mark.parametrize("category", list(CAPS))
def test_a_category_holds_its_cap_and_the_overflow(category: str) -> None:
    """Above cap + 6 the weakest become provisional, and only these."""
    cap = CAPS[category]
    full = crowd(**{category: cap + 6})
    assert strength.crowded_out(full, CAPS) == set()
    over = crowd(**{category: cap + 9})
    assert strength.crowded_out(over, CAPS) == {f"{category}{cap + 6 + n:02}" for n in range(3)}


def test_the_overflow_is_shared_and_forty_are_active_in_all() -> None:
    """Six more than their caps, the strongest of all categories: 34 + 6."""
    active = crowd(**dict.fromkeys(CAPS, 20))
    out = strength.crowded_out(active, CAPS)
    kept = [one for one in active if one[0] not in out]
    assert len(kept) == 40 == strength.MOST_ACTIVE
    above = sorted(
        (one for one in active if int(one[0][-2:]) >= CAPS[one[2]]),
        key=lambda one: (-one[1], one[0]),
    )
    assert {one[0] for one in above[:6]} == {
        one[0] for one in kept if int(one[0][-2:]) >= CAPS[one[2]]
    }


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10_000).map(str),
            st.sampled_from([1.0, 1.5, 2.0]),
            st.sampled_from(list(CAPS)),
        ),
        unique_by=lambda one: one[0],
        max_size=80,
    ),
    st.randoms(),
)
def test_what_is_crowded_out_does_not_depend_on_the_order(
    active: list[tuple[str, float, str]], random: object
) -> None:
    """Of equal strength the id decides; nobody stronger is out while a weaker one is in."""
    out = strength.crowded_out(active, CAPS)
    shuffled = list(active)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    assert strength.crowded_out(shuffled, CAPS) == out
    for category in CAPS:
        kept = [one[1] for one in active if one[2] == category and one[0] not in out]
        gone = [one[1] for one in active if one[2] == category and one[0] in out]
        assert len(kept) <= CAPS[category] + strength.OVERFLOW
        assert not kept or not gone or min(kept) >= max(gone)
    assert len(active) - len(out) <= strength.MOST_ACTIVE
