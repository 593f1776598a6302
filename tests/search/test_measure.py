"""Measuring: what is asked and counted, and the floor under the retrieval of our own fixtures."""

import json
import math
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.errors import Missing
from memory_palace.embed import minilm, registry
from memory_palace.files.config import Config
from memory_palace.index.progress import Silent
from memory_palace.search import datasets, measure, recall
from memory_palace.search.measure import Asked
from memory_palace.search.recall import Ranks
from support.fake import FakeEmbedder, fake_choice
from support.palaces import NOW, REPOSITORY

FIXTURES = REPOSITORY / "tests" / "fixtures" / "retrieval"
FLOOR = FIXTURES / "floor.json"
SLACK = 3.0
"""Points of percent that a floor lies below what was measured when it was set."""

BEYOND = "cross-language"
"""The kind of question that only a multilingual embedder can answer: no part of the floor."""


def small(tmp_path: Path) -> datasets.Dataset:
    """Three notes, the third of which is one no question is about; two of three are found."""
    for name, text in (("a", "amber boats"), ("b", "# Crew\n\ncopper"), ("c", "dune")):
        place = tmp_path / "notes" / f"{name}.md"
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    questions = [
        {"q": "amber", "relevant": ["a.md"]},
        {"q": "copper", "relevant": ["b.md#Crew"]},
        {"q": "elsewhere", "relevant": ["c.md"]},
    ]
    path = tmp_path / "set.json"
    path.write_text(json.dumps({"notes": "notes", "questions": questions}))
    return datasets.load(path, tmp_path / "into")


def test_every_question_is_asked_in_every_way(tmp_path: Path) -> None:
    """In the order of the data set; lines only where they are known."""
    data = small(tmp_path)
    done = measure.measure(data, Config(), fake_choice(), ("keyword", "raw"), NOW)
    assert list(done.asked) == ["full", "keyword", "raw"]
    for asked in done.asked.values():
        assert [one.question for one in asked] == list(data.questions)
        assert [one.notes for one in asked] == [(1,), (1,), (None,)]
        assert [one.lines for one in asked] == [None, (1,), None]
    assert (done.notes, done.chunks) == (3, 3)


def test_a_question_is_embedded_once_a_palace_and_the_model_loaded_once(tmp_path: Path) -> None:
    """However many ways it is asked in; the model is the same for all palaces."""
    embedder = FakeEmbedder()
    questions: list[str] = []
    plain = embedder.embed_queries

    def noting(texts):  # type: ignore[no-untyped-def]
        questions.extend(texts)
        return plain(texts)

    embedder.embed_queries = noting  # type: ignore[method-assign]
    loads: list[int] = []
    choice = replace(fake_choice(), load=lambda: loads.append(1) or embedder)
    data = small(tmp_path)
    again = replace(data.groups[0], name="again")
    data = replace(data, groups=(*data.groups, again))
    measure.measure(data, Config(), choice, tuple(measure.ABLATIONS), NOW)
    assert sorted(questions) == sorted(2 * ["amber", "copper", "elsewhere"])
    assert len(loads) == 1


def test_what_needs_vectors_needs_an_embedder(tmp_path: Path) -> None:
    """Said before anything is indexed."""
    data = small(tmp_path)
    none = registry.choose(Config(embedder="none"))
    with pytest.raises(Missing, match="raw needs vectors, and no embedder is in use"):
        measure.measure(data, Config(), none, ("keyword", "raw"), NOW)
    assert not (data.groups[0].root / ".palace").exists()
    assert measure.measure(data, Config(), none, ("keyword",), NOW).chunks == 3


def test_problems_of_the_notes_are_told(tmp_path: Path) -> None:
    """A note that cannot be read is never found: one should know why."""
    data = small(tmp_path)
    (data.groups[0].root / "palace" / "c.md").write_bytes(b"\xff\xfe\xff")
    said: list[str] = []

    class Telling(Silent):
        def say(self, line: str) -> None:
            said.append(line)

    measure.measure(data, Config(), fake_choice(), (), NOW, Telling())
    assert len(said) == 1
    assert said[0].startswith("palace/c.md:1: error: ")


# -- the floor ----------------------------------------------------------------------------------


def levels(asked: list[Asked]) -> dict[str, list[tuple[Asked, Ranks]]]:
    """Each question with the ranks of its notes, and with those of its lines where known."""
    return {
        "notes": [(one, one.notes) for one in asked],
        "lines": [(one, one.lines) for one in asked if one.lines is not None],
    }


def figures_of(asked: list[Asked]) -> dict[str, dict[str, float]]:
    """The figures that have a floor, for notes and for lines; BEYOND is not counted."""
    found = {}
    for level, pairs in levels(asked).items():
        counted = [ranks for one, ranks in pairs if one.question.kind != BEYOND]
        figures = recall.figures(counted)
        at = {f"R@{depth}": value for depth, value in figures.recall.items()}
        found[level] = {"first": figures.first, **at}
    return found


def ranks_of(asked: list[Asked]) -> dict[str, dict[str, int | None]]:
    """The best rank of each question, None where it was not found."""
    return {
        level: {one.question.text: recall.best(ranks) for one, ranks in pairs}
        for level, pairs in levels(asked).items()
    }


def lower(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """One line for each question whose note or line stands lower than when the floor was set."""
    return [
        f"{level}: {before[level][text]} -> {rank or 'none'}: {text}"
        for level, ranks in now.items()
        for text, rank in ranks.items()
        if (before[level].get(text) or math.inf) < (rank or math.inf)
    ]


@pytest.mark.skipif(minilm.find(None) is None, reason="needs the MiniLM packages")
@pytest.mark.parametrize("name", ["palace", "languages", "context"])
def test_retrieval_stays_above_its_floor(name: str, tmp_path: Path) -> None:
    """Which notes and lines come first, never with which score."""
    data = datasets.load(FIXTURES / f"{name}.json", tmp_path)
    config = Config(embedder=minilm.NAME)
    asked = measure.measure(data, config, registry.choose(config), (), NOW).asked[measure.FULL]
    figures, ranks = figures_of(asked), ranks_of(asked)
    kept = json.loads(FLOOR.read_text("utf-8"))
    if os.environ.get("UPDATE_FLOOR"):
        before = kept.get(name, {}).get("floor", {})
        kept[name] = {"floor": raised(before, figures), "ranks": ranks}
        FLOOR.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n", "utf-8")
        pytest.skip("noted in floor.json")
    below = [
        f"{level} {figure}: {figures[level][figure]} is below {least}"
        for level, least_of in kept[name]["floor"].items()
        for figure, least in least_of.items()
        if figures[level][figure] < least
    ]
    assert not below, "\n".join(
        [f"{name}.json", *below, "questions that stand lower:", *lower(kept[name]["ranks"], ranks)]
    )


def raised(before: dict[str, Any], figures: dict[str, Any]) -> dict[str, dict[str, float]]:
    """The floor SLACK below the figures, and nowhere lower than before."""
    return {
        level: {
            figure: max(round(value - SLACK, 1), before.get(level, {}).get(figure, 0.0))
            for figure, value in values.items()
        }
        for level, values in figures.items()
    }


def test_a_floor_is_only_raised() -> None:
    """By figures that are better; worse ones leave it where it was."""
    figures = {"notes": {"first": 50.0, "R@5": 80.0}, "lines": {"first": 2.0}}
    floor = raised({"notes": {"first": 48.0, "R@5": 70.0}}, figures)
    assert floor == {"notes": {"first": 48.0, "R@5": 77.0}, "lines": {"first": 0.0}}


def test_what_stands_lower_is_listed() -> None:
    """What rose, stayed, was never found or is new is not."""
    before = {"notes": {"fell": 1, "gone": 2, "rose": 5, "same": None}, "lines": {"fell": 4}}
    now = {"notes": {"fell": 3, "gone": None, "rose": 1, "same": None, "new": 9}}
    now |= {"lines": {"fell": 4}}
    assert lower(before, now) == ["notes: 1 -> 3: fell", "notes: 2 -> none: gone"]
