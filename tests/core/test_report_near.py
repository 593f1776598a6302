"""Which entries are near by their words."""

from core.test_report import memory
from memory_palace.core import report_near
from memory_palace.core.report_near import to_files, to_prompt


def test_near_to_a_prompt() -> None:
    """Most of the words of the shorter text, and two at least."""
    migrations = memory("a", text="Run the migrations before the tests")
    colours = memory("b", text="No colours off a terminal")
    found = to_prompt("how do I run the migration?", [migrations, colours])
    assert [one.memory.id for one in found] == ["a"] and found[0].similarity == 1.0
    assert to_prompt("migrations", [migrations]) == []
    assert to_prompt("why does a terminal need an account for billing?", [colours]) == []


def test_scripts_without_spaces() -> None:
    """By pairs of neighbours."""
    assert to_prompt("記憶宮殿の検索", [memory("a", text="記憶宮殿の検索は速い")])


def test_near_to_files() -> None:
    """An entry that names the file is nearest; a longer name is another file."""
    named = memory("a", text="After an edit of catalog.py raise FORMAT")
    other = memory("b", text="my-catalog.py is generated")
    worded = memory("c", text="The palace index")
    found = to_files(["scripts/palace/index/catalog.py"], [named, other, worded])
    assert {one.memory.id: one.similarity for one in found} == {"a": 1.0, "c": 1.0}
    assert to_files([], [named]) == []
    late = [f"x{n}.py" for n in range(report_near.MOST_FILES)] + ["catalog.py"]
    assert to_files(late, [named]) == []
