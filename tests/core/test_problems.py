"""Problems are values that print on one line and come in a fixed order."""

import pytest

from memory_palace.core.problems import Problem, in_order, printable


def test_a_problem_prints_as_one_line() -> None:
    """Path, line, grade and message, in the form that editors understand."""
    assert str(Problem("a.md", 3, "odd: mend it")) == "a.md:3: error: odd: mend it"
    assert str(Problem("a.md", 3, "odd", "warning")) == "a.md:3: warning: odd"


def test_a_problem_of_a_whole_file_has_no_line() -> None:
    """Without a line only the path is named."""
    assert str(Problem("a.md", None, "odd")) == "a.md: error: odd"


def test_a_problem_never_prints_control_characters() -> None:
    """A hostile file name or message can neither break the line nor drive the terminal."""
    shown = str(Problem("a\n\x1b[2J.md", 1, "b\r\x07c\ud800"))
    assert shown == "a\\n\\x1b[2J.md:1: error: b\\r\\x07c\\ud800"


@pytest.mark.parametrize("text", ["", "plain", "é 漢字 😀", "a\\nb"])
def test_printable_text_stays_as_it_is(text: str) -> None:
    """What can be shown is shown unchanged."""
    assert printable(text) == text


def test_problems_come_by_path_and_line_each_once() -> None:
    """The order does not depend on how they were found; the whole file comes first."""
    whole, first, second = Problem("a", None, "z"), Problem("a", 2, "y"), Problem("a", 10, "x")
    other = Problem("b", 1, "w")
    assert in_order([other, second, first, whole, second]) == [whole, first, second, other]
