"""What is ready to grow up, and for what."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import promotion
from memory_palace.core.promotion import Source, suggestions


def tasks(*days: int, project: str = "") -> list[Source]:
    """One card for each day of November."""
    return [
        Source(f"palace/dispatch_corridor/cards/{n}.md", date(2026, 11, day), project)
        for n, day in enumerate(days)
    ]


def found(category: str, text: str, evidence: int, *days: int, enforced: bool = False) -> list[str]:
    """The destinations that are suggested."""
    return [s.destination for s in suggestions(category, text, evidence, tasks(*days), enforced)]


@pytest.mark.parametrize(
    ("evidence", "mark"),
    [(0, 0), (2, 0), (3, 3), (4, 3), (5, 5), (6, 6), (8, 6), (9, 9), (10, 9), (300, 300)],
)
def test_marks(evidence: int, mark: int) -> None:
    """3, 5, then each multiple of 3."""
    assert promotion.mark(evidence) == mark


@given(st.integers(0, 1000))
def test_what_was_looked_at_once_is_looked_at_later(evidence: int) -> None:
    """A scan that comes late misses nothing."""
    assert promotion.looked_at(evidence) == (evidence >= 3)
    assert promotion.mark(evidence) <= promotion.mark(evidence + 1)


@pytest.mark.parametrize(
    ("category", "text", "evidence", "days", "expected"),
    [
        ("lesson", "Never run `make wipe`", 2, (), []),
        ("lesson", "Never run `make wipe`", 3, (), ["enforcement"]),
        ("lesson", "Never run `make wipe`", 3, (1, 1, 2), ["enforcement", "principle"]),
        ("decision", "Never run `make wipe`", 4, (), []),
        ("decision", "Dates are UTC", 5, (), ["project_rule"]),
        ("preference", "Dates are UTC", 4, (1, 2, 3), []),
        ("preference", "Dates are UTC", 5, (), ["project_rule"]),
        ("lesson", "Filter early", 30, (1, 2), []),
        ("lesson", "Filter early", 3, (1, 1, 1), []),
        ("lesson", "Filter early", 3, (1, 1, 2), ["principle"]),
        ("mistake", "Read it twice", 3, (1, 1, 2), ["failure_pattern"]),
        ("pattern", "Write it whole", 3, (), ["skill"]),
        ("pattern", "Write it whole", 3, (1, 2, 3), ["skill"]),
        ("pattern", "Look first, cut later", 3, (1, 2, 3), ["skill", "thinking_path"]),
        ("pattern", "End the prompt with a list", 3, (1, 2, 3), ["skill", "prompt_kernel"]),
        ("done", "Shipped", 30, (1, 2, 3), []),
    ],
)
def test_destinations(
    category: str, text: str, evidence: int, days: tuple[int, ...], expected: list[str]
) -> None:
    """By category and threshold; the reflection wing only with several tasks."""
    assert found(category, text, evidence, *days) == expected


def test_an_enforced_entry_needs_no_rule() -> None:
    """The rule is there already."""
    assert found("lesson", "Never run `make wipe`", 3, enforced=True) == []


def test_a_source_counts_once() -> None:
    """The same card on three days is one task."""
    same = [Source("a", date(2026, 11, day)) for day in (1, 2, 3)]
    assert not promotion.several_tasks(same)
    assert promotion.told(same) == "1 task on 1 day"


def test_articles_take_weight_tasks_and_more_than_one_room() -> None:
    """No local trick, and nothing that costs little to ignore."""
    some = tasks(1, 2, 3)
    assert promotion.is_constitutional(some, True, [])
    assert promotion.is_constitutional(some, True, ["", "a", "b"])
    assert not promotion.is_constitutional(some, True, ["", "a"])
    assert not promotion.is_constitutional(some, False, [])
    assert not promotion.is_constitutional(tasks(1, 1, 1), True, [])


def test_the_room_that_most_evidence_speaks_for() -> None:
    """By name where two are even; general without any."""
    assert promotion.room_of([]) == "general"
    assert promotion.room_of(tasks(1)) == "general"
    two = tasks(1, 2, project="b")
    assert promotion.room_of([*tasks(1, project="a"), *two]) == "b"
    assert promotion.room_of([*tasks(1, 2, project="a"), *two]) == "a"
