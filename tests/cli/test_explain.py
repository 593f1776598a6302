"""What `--explain` says: points that add up to the score that is printed."""

import dataclasses
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.cli import explain
from memory_palace.core import keywords, relevance, scoring
from memory_palace.core.relevance import Evidence, Scale
from memory_palace.core.weights import Weights
from memory_palace.search import superseded
from memory_palace.search.hits import Hit, Parts
from support.palaces import NOW

SCALE = Scale(0.3, 0.1, 0.9)
WEIGHTS = Weights(0.6, 0.3, 0.1)
unit = st.floats(0.0, 1.0)
some = st.none() | st.floats(-0.2, 1.0)
bm25 = st.floats(0.01, 60.0)


def array(value: float | None) -> scoring.Scores:
    """One value as the library takes it; None is NaN."""
    return np.array([np.nan if value is None else value])


def scored(parts: Parts, behind: float = 0.0) -> Hit:
    """A hit whose score is that of its parts, less ``behind``."""
    close, recent, high = map(array, (parts.relevance, parts.recency, parts.importance))
    score = float(scoring.compound(close, recent, high, WEIGHTS)[0]) - behind
    names = ("palace/a.md", "0" * 12, "A", ("A",), 1, 2, NOW, "palace", "high")
    return Hit(*names, score, parts, "text " * 20)


@st.composite
def hits(draw: st.DrawFn) -> Hit:
    """A hit with any parts, of a superseded note or not, behind its successor or not."""
    cosine, late, note_late = draw(some), draw(some), draw(some)
    own, note = draw(bm25), draw(st.floats(0.0, 60.0) | st.just(float("nan")))
    close = relevance.relevance(Evidence(*map(array, (cosine, own, note, late, note_late))), SCALE)[
        0
    ]
    older, name = draw(st.booleans()), draw(unit)
    close = relevance.with_name(close, np.array(name)) * (superseded.RELEVANCE if older else 1.0)
    told = cosine, own, note, late, note_late, older, ("a", "b"), name
    parts = Parts(float(close), draw(unit), draw(unit), *told)
    return scored(parts, draw(st.floats(0.0, 0.2)) if older else 0.0)


def printed(hit: Hit, rows: list[explain.Row]) -> tuple[list[float], float]:
    """The points of the table as it is printed, and the score below them."""
    *points, total = (
        float(re.search(r"= +(-?\d+\.\d{3})", line)[1])  # type: ignore[index]
        for line in explain.as_lines(rows, hit.score)
    )
    return points, total


@given(hits())
def test_the_points_add_up_to_the_printed_score(hit: Hit) -> None:
    """In the table, to the last digit, and in JSON."""
    points, total = printed(hit, explain.explain(hit, WEIGHTS, SCALE))
    assert total == float(f"{hit.score:.3f}")
    assert sum(points) == pytest.approx(total, abs=1e-9)
    six = explain.as_list(explain.explain(hit, WEIGHTS, SCALE, digits=6))
    assert sum(row["points"] for row in six) == pytest.approx(round(hit.score, 6), abs=1e-9)


@given(hits())
def test_each_value_is_that_of_the_relevance(hit: Hit) -> None:
    """Values are on the scales of `core.relevance`, shares those that are there, and share × value
    is the points but for their rounding."""
    rows = explain.explain(hit, WEIGHTS, SCALE, digits=6)
    by_name = {row.part: row for row in rows}
    parts = hit.parts
    expected = {
        "keyword": relevance.keyword_term(array(parts.keyword)),
        "note's keyword": relevance.keyword_term(array(parts.note_keyword)),
        "cosine": relevance.cosine_term(array(parts.cosine), SCALE),
        "late": relevance.late_term(array(parts.late)),
        "note's late": relevance.late_term(array(parts.note_late)),
    }
    for name, (value,) in expected.items():
        assert (name in by_name) == (not np.isnan(value))
        if name in by_name:
            assert by_name[name].value == pytest.approx(value, abs=1e-9)
    relevant = sum(row.share or 0.0 for row in rows[:-2] if row.part in expected)
    assert relevant == pytest.approx(WEIGHTS.semantic * relevance.STEEPNESS)
    for row in rows:
        if row.share is not None and row.value is not None:
            assert row.points == pytest.approx(row.share * row.value, abs=1.01e-6)


@given(late=some, words=unit, chunk=unit, recent=unit, text=st.text(min_size=1, max_size=600))
def test_the_points_of_a_line_add_up_too(
    late: float | None, words: float, chunk: float, recent: float, text: str
) -> None:
    """A line has parts of its own; what is not told of it stands in one row."""
    length = array(float(len(text)))
    close = relevance.line_relevance(array(late), array(words), array(chunk), length)[0]
    hit = scored(Parts(float(close), recent, 0.6, 0.5, 3.0, late=late, superseded=True))
    rows = explain.explain(dataclasses.replace(hit, text=text), WEIGHTS, SCALE, lines=True)
    points, total = printed(hit, rows)
    assert sum(points) == pytest.approx(total, abs=1e-9)
    rest = next(row for row in rows if row.part == "words, chunk")
    share = relevance.LINE_WORDS, relevance.LINE_CHUNK
    assert rest.value == pytest.approx((share[0] * words + share[1] * chunk) / sum(share))


def test_without_words_the_relevance_is_one_row() -> None:
    """A query of filters alone has no evidence to show."""
    hit = scored(Parts(scoring.RELEVANCE_WITHOUT_WORDS, 1.0, 1.0, None, 0.0))
    rows = explain.explain(hit, WEIGHTS, SCALE)
    assert [row.part for row in rows] == ["no words", "recency", "importance"]
    assert [row.points for row in rows] == [0.3, 0.3, 0.1]


def test_what_is_taken_off_is_told() -> None:
    """Half of the relevance of a superseded note, and what it lies behind its successor."""
    found = Evidence(*map(array, (None, 6.0, None, None, None)))
    close = float(relevance.relevance(found, SCALE)[0])
    assert close == pytest.approx(0.5)
    parts = Parts(close / 2, 1.0, 1.0, None, 6.0, float("nan"), superseded=True, terms=("a",))
    rows = explain.explain(scored(parts, behind=0.05), WEIGHTS, SCALE)
    assert sum(row.points for row in rows[:2]) == pytest.approx(0.3)
    assert [(row.part, row.points) for row in rows[2:]] == [
        ("superseded", -0.15),
        ("recency", 0.3),
        ("importance", 0.1),
        ("behind", -0.05),
    ]


@given(st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=9), st.sampled_from([3, 6]))
def test_rounded_points_are_next_to_the_true_ones(points: list[float], digits: int) -> None:
    """They add up to the rounded total, and none is off by more than one in the last digit."""
    rounded = explain.settled(points, sum(points), digits)
    assert sum(rounded) == pytest.approx(round(sum(points), digits), abs=1e-9)
    assert all(abs(a - b) <= 10**-digits + 1e-9 for a, b in zip(points, rounded, strict=True))


def test_the_columns_are_aligned() -> None:
    """Every `=` stands under the one above."""
    parts = Parts(0.5, 1.0, 1.0, 0.4, 6.0, superseded=True)
    hit = scored(parts, behind=0.1)
    lines = explain.as_lines(explain.explain(hit, WEIGHTS, SCALE), hit.score)
    assert len({line.index("=") for line in lines}) == 1


@pytest.mark.parametrize(
    ("question", "line"),
    [
        ("how is the index made", "looked up: index, made"),
        ('index* -faiss -"in the box"', "looked up: index*; excluded: faiss, in the box"),
        ("?!", "looked up: no term"),
    ],
)
def test_the_terms_of_a_question_are_told(question: str, line: str) -> None:
    """What was looked up, and what excluded."""
    assert explain.looked_up(keywords.parse(question)) == line


def test_the_scale_of_an_embedder_is_that_of_the_registry() -> None:
    """For each embedder that can be chosen, by the name under which it answers."""
    from memory_palace.embed import bge_m3, e5, minilm
    from memory_palace.embed.registry import Choice

    for model in (bge_m3, e5):
        assert explain.scale_of(model.NAME) == Scale(model.FLOOR, model.LOW, model.HIGH)
    default = Choice("", "", "")
    for name in (minilm.NAME, "none"):
        assert explain.scale_of(name) == Scale(default.floor, default.low, default.high)
