"""Which room is meant."""

import pytest

from memory_palace.core.room_names import GENERAL, Place, named
from memory_palace.core.rooms_graph import Graph, Member, build
from memory_palace.core.rooms_near import SUGGESTED, find, largest, suggest


def _graph(*stands: tuple[str, str]) -> Graph:
    return build(
        Member(str(number), Place(wing, named(wing, room)))
        for number, (wing, room) in enumerate(stands)
    )


@pytest.fixture
def graph() -> Graph:
    """Two wings, one with names that are hard to type, and what belongs to none."""
    return _graph(
        ("demo", "api"),
        ("demo", "backend"),
        ("demo", "sessions"),
        ("garden", "garden"),
        ("garden", "Soil"),
        ("garden", " odd "),
        (GENERAL, "topics"),
        (GENERAL, "reflection_wing/rules"),
    )


@pytest.mark.parametrize(
    ("said", "room"),
    [
        ("api", "api"),
        ("API", "api"),
        ("soil", "Soil"),
        ("demo/api", "api"),
        ("Demo/Sessions", "demo/sessions"),
        ("palace/project_rooms/demo/api/", "api"),
        ("project_rooms\\demo\\api", "api"),
        (" odd ", " odd "),
        ("reflection_wing/rules", "reflection_wing/rules"),
        ("rules", None),
        ("sessions", None),
        ("garden/api", None),
        ("nowhere/api", None),
        ("project_rooms/garden/api", None),
        ("palace/api", None),
        ("palace/topics", "topics"),
        ("chambers/topics", None),
        ("palace/chambers/demo/soil", None),
        ("", None),
        ("/", None),
        ("..", None),
        ("nowhere", None),
    ],
)
def test_a_room_is_found_by_what_it_is_called(graph: Graph, said: str, room: str | None) -> None:
    """Case is overlooked; a part of a name is not enough."""
    assert find(graph, said) == room


def test_suggestions_are_what_may_be_meant(graph: Graph) -> None:
    """The rooms of a wing, names that hold the word, names that are spelled alike."""
    assert suggest(graph, "rules") == ("reflection_wing/rules",)
    assert suggest(graph, "project_rooms/demo/bakend")[0] == "backend"
    assert set(suggest(graph, "demo")) == {"api", "backend", "demo/sessions"}
    assert suggest(graph, "zzz") == ()


def test_suggestions_are_at_most_five() -> None:
    """Of ten thousand rooms too, and for a name that is as long as a book."""
    graph = _graph(*(("demo", f"room{n}") for n in range(10_000)))
    assert len(suggest(graph, "room")) == SUGGESTED
    assert len(suggest(graph, "rom12")) == SUGGESTED
    assert len(suggest(graph, "room" * 100_000)) <= SUGGESTED
    assert len(largest(graph)) == SUGGESTED
    other = _graph(*(("demo", f"r{n}") for n in range(6)), *(("a", f"demo{n}") for n in range(6)))
    assert suggest(other, "demo") == ("r0", "r1", "r2", "r3", "r4")


def test_the_largest_rooms_are_those_that_hold_most() -> None:
    """By what they hold, then by name."""
    graph = _graph(("a", "x"), ("a", "y"), ("a", "y"), ("b", "w"))
    assert largest(graph, 2) == ("y", "w")
