"""Recall, first hits and reciprocal ranks, against figures worked out by hand."""

import math

from hypothesis import given
from hypothesis import strategies as st

from memory_palace.search import recall
from memory_palace.search.hits import Hit, Parts
from memory_palace.search.questions import Place
from support.palaces import NOW

PARTS = Parts(0.5, 1.0, 1.0, None, 0.0)
ranks = st.lists(st.one_of(st.none(), st.integers(1, 12)), max_size=4).map(tuple)


def hit(path: str, start: int = 1, *heading: str) -> Hit:
    """A hit at a line of a note."""
    return Hit(path, "0" * 12, "", heading, start, start + 3, NOW, "palace", None, 0.5, PARTS, "")


def test_a_note_ranks_where_its_best_hit_stands() -> None:
    """Further hits of a note take no place of another."""
    hits = [hit("a"), hit("b"), hit("a", 9), hit("c")]
    assert recall.of_notes({"c", "a", "missing"}, hits) == (1, 3, None)


def test_a_line_ranks_where_a_hit_has_it() -> None:
    """From its start to its end; a line that comes twice takes one place."""
    hits = [hit("a", 4), hit("a", 4), hit("b", 5), hit("a", 5)]
    last = hit("a", 4).end
    assert recall.of_places({Place("a", last, last)}, hits) == (1,)
    assert recall.of_places({Place("a", last + 1, last + 1)}, hits) == (3,)
    assert recall.of_places({Place("a", 4, 4), Place("b", 60, 60)}, hits) == (1, None)


def test_a_section_is_found_by_its_lines_or_its_heading() -> None:
    """In its own note only; a place without a heading is not found by one."""
    section = Place("a", 10, 20, "Engine")
    assert recall.covers(hit("a", 10), section)
    assert recall.covers(hit("a", 20), section)
    assert recall.covers(hit("a", 8, "Boats", "Engine"), section)
    assert not recall.covers(hit("a", 21), section)
    assert not recall.covers(hit("b", 10, "Engine"), section)
    assert not recall.covers(hit("a", 2, ""), Place("a", 10, 20))


def test_figures_are_means_over_questions() -> None:
    """A question without an answer counts as found."""
    found = recall.figures([(1, None), (6,), (None, None), ()])
    assert found.questions == 4
    assert found.first == 50.0
    assert found.recall == {5: 37.5, 10: 62.5}
    assert found.mrr == round((1 + 1 / 6 + 0 + 1) / 4, 3)
    assert recall.figures([]) == recall.Figures(0, 0.0, {5: 0.0, 10: 0.0}, 0.0)


def test_two_ways_are_compared_question_by_question() -> None:
    """What is gained and what is lost are both seen, also where they even out."""
    pair = recall.paired([(1,), (7,), (5, None)], [(6,), (1,), (5, 5)], 5)
    assert pair == recall.Paired(16.7, better=(1, 2), worse=(0,))
    assert recall.paired([(1,)], [(2,)], 5) == recall.Paired(0.0, (), ())


@given(ranks, st.integers(1, 12))
def test_recall_only_grows_with_depth(found: recall.Ranks, depth: int) -> None:
    """It lies between 0 and 1, and one more hit never takes from it."""
    assert 0.0 <= recall.at(found, depth) <= recall.at(found, depth + 1) <= 1.0
    reached = recall.best(found)
    assert (recall.at(found, depth) > 0) == (reached is not None and reached <= depth)


@given(st.lists(st.tuples(ranks, ranks), min_size=1, max_size=8), st.integers(1, 12))
def test_a_comparison_turned_round_is_its_mirror(
    pairs: list[tuple[recall.Ranks, recall.Ranks]], depth: int
) -> None:
    """Better becomes worse, and the difference changes its sign."""
    one, two = zip(*pairs, strict=True)
    there, back = recall.paired(one, two, depth), recall.paired(two, one, depth)
    assert (there.better, there.worse) == (back.worse, back.better)
    assert math.isclose(there.difference, -back.difference)
