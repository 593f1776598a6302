"""The fixed words of a note's metadata."""

from memory_palace.core import kinds, scoring


def test_every_priority_has_an_importance() -> None:
    """The words that a note may use are those that scoring knows, the most important first."""
    assert tuple(scoring.IMPORTANCE) == kinds.PRIORITIES
    weights = [scoring.importance(priority) for priority in kinds.PRIORITIES]
    assert weights == sorted(weights, reverse=True)


def test_the_halls_are_those_of_the_format() -> None:
    """Seven, each with the prefix that marks a hall."""
    assert len(set(kinds.HALLS)) == 7
    assert all(hall.startswith("hall_") for hall in kinds.HALLS)


def test_a_note_is_of_the_palace_unless_it_says_otherwise() -> None:
    """The type that counts where none is written."""
    assert kinds.DEFAULT_TYPE == "palace"
