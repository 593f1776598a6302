"""One line of a .gitignore."""

import pytest

from memory_palace.core import gitignore


@pytest.mark.parametrize(
    ("line", "yes", "no"),
    [
        ("a", ["a", "x/a"], ["a/x", "ab"]),
        ("/a", ["a"], ["x/a"]),
        ("a/b", ["a/b"], ["x/a/b", "a/b/c"]),
        ("*.py", ["a.py", "x/.py"], ["a.pyc"]),
        ("a/*", ["a/b"], ["a/b/c"]),
        ("a/**", ["a/b", "a/b/c"], ["a"]),
        ("**/a", ["a", "x/y/a"], ["ab"]),
        ("a/**/b", ["a/b", "a/x/y/b"], ["ab", "a/xb"]),
        ("[a-c]?", ["bx"], ["b", "dx", "b/"]),
        ("[!a]", ["b"], ["a", "/"]),
        ("[]x]", ["]", "x"], ["a"]),
        ("[a&&b]", ["&", "a"], ["c"]),
        (r"\#a", ["#a"], [r"\#a"]),
        (r"\!a", ["!a"], ["a"]),
        (r"a\*", ["a*"], ["ab"]),
        ("a  ", ["a"], ["a  "]),
        ("a\\ ", ["a "], ["a"]),
        ("**", ["a", "x/a"], []),
        ("[a", ["[a"], ["a"]),
    ],
)
def test_what_a_pattern_names(line: str, yes: list[str], no: list[str]) -> None:
    """The path itself, and nothing below it."""
    pattern = gitignore.pattern(line)
    assert pattern is not None
    assert [path for path in yes if not pattern.regex.fullmatch(path)] == []
    assert [path for path in no if pattern.regex.fullmatch(path)] == []


def test_negations_folders_and_comments() -> None:
    """They are told apart, and a comment is none."""
    assert gitignore.pattern("!a/")[1:] == (True, True)  # type: ignore[index]
    assert gitignore.pattern("a")[1:] == (False, False)  # type: ignore[index]
    assert [gitignore.pattern(line) for line in ("", "  ", "# a", "\r")] == [None] * 4


@pytest.mark.parametrize("line", ["!", "/", "**/a/**/b/**/c/**/d/**", "[[:alpha:]]", "[b-a]"])
def test_what_cannot_be_used(line: str) -> None:
    """It is refused, not guessed."""
    with pytest.raises(ValueError):
        gitignore.pattern(line)


def test_many_stars_take_no_time_without_end() -> None:
    """A name that fits in no way is told at once."""
    pattern = gitignore.pattern("*a" * 40 + "b")
    assert pattern is not None
    assert not pattern.regex.fullmatch("a" * 250)
    assert pattern.regex.fullmatch("a" * 250 + "b")
