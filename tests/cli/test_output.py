"""A hit as text, JSON and a file reference."""

import json
from dataclasses import replace

import click
import pytest

from memory_palace.cli import output
from memory_palace.search.hits import Hit, Neighbor, Parts, Same
from support.palaces import NOW

PARTS = Parts(0.4, 0.9, 1.0, 0.31, 5.5, 2.5, 0.4, 0.5, terms=("amber", "in jars"))
TEXT = "# Store\n\nThe amber lies in jars.\nThe jars stand in the cellar.\n\n- Bo has the key"
HIT = Hit(
    *("palace/store.md", "0" * 12, "Store", ("Store",), 5, 10, NOW, "palace", "high", 0.6, PARTS),
    TEXT,
    neighbors=(Neighbor("palace/bo.md", "Bo"),),
)


def test_a_hit_as_text() -> None:
    """Place and facts, what it says, the parts on request, then copies and neighbours."""
    hit = replace(HIT, same=(Same("palace/copy.md", 2, 4),))
    shown = click.unstyle(output.as_text(3, hit, "amber", True, ["a table"]))
    assert shown.splitlines() == [
        "3. palace/store.md:5-10  Store  (palace, high, 2026-11-29)  0.600",
        "   The amber lies in jars. The jars stand in the cellar. - Bo has the key",
        "   relevance 0.400 (cosine 0.310, keyword 5.50, note's 2.50, late 0.400, note's 0.500, "
        "terms amber, in jars)  recency 0.900  importance 1.00",
        "   a table",
        "   = palace/copy.md:2-4",
        "   -> palace/bo.md  Bo",
    ]


def test_the_lines_that_answer_best_are_shown() -> None:
    """Of a chunk of several lines, where it is known which they are."""
    shown = output.as_text(1, replace(HIT, best=(10, 10)), "key", False)
    assert shown.splitlines()[1] == "   - Bo has the key"


def test_superseded_and_archived_are_facts_of_a_hit() -> None:
    """Both stand in the parentheses of the first line."""
    hit = replace(HIT, archived=True, parts=replace(PARTS, superseded=True))
    assert "(palace, high, 2026-11-29, archived, superseded)" in output.as_text(1, hit, "", False)


@pytest.mark.parametrize("note_keyword", [float("nan"), 2.5])
def test_json_has_no_value_that_is_no_json(note_keyword: float) -> None:
    """What was not measured is null, also where it is NaN inside."""
    parts = replace(PARTS, note_keyword=note_keyword, late=None)

    def refuse(name: str) -> float:
        raise AssertionError(name)

    read = json.loads(output.as_json(replace(HIT, parts=parts)), parse_constant=refuse)
    assert read["parts"]["late"] is None
    assert read["parts"]["note_keyword"] == (2.5 if note_keyword == 2.5 else None)
    assert "nan" not in output.as_text(1, replace(HIT, parts=parts), "", True)


def test_more_keys_come_last() -> None:
    """What `--explain` adds stands behind the keys that are promised."""
    keys = list(json.loads(output.as_json(HIT, {"explain": []})))
    assert keys == [*output.as_dict(HIT), "explain"]


def test_a_snippet_is_around_the_first_word_of_the_question() -> None:
    """Cut at words, on one line, marked where it is cut."""
    text = "far away " * 40 + "the amber lies here " + "and on it goes " * 40
    said = output.snippet(text, "where is the Amber?")
    assert "amber lies here" in said
    assert said.startswith("… ")
    assert said.endswith(" …")
    assert len(said) <= output.SNIPPET + 4
    assert output.snippet(text, "?!").startswith("far away")
