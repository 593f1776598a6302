"""What kind of work a prompt is about."""

import pytest

from memory_palace.core import queries
from memory_palace.core.queries import CLASSES, GENERAL, classified, query_class
from memory_palace.core.topics import CATEGORIES


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ("Review PR #123 please", "pr_review"),
        ("look at https://github.com/a/b/pull/7", "pr_review"),
        ("is this PR fine?", "pr_review"),
        ("code review of the parser", "pr_review"),
        ("cut a release", "git_release"),
        ("bump the version and write the changelog", "git_release"),
        ("git push to origin", "git_release"),
        ("commit this", "git_release"),
        ("rebase onto main", "git_release"),
        ("why does the build fail?", "debug"),
        ("TypeError: x is not a function", "debug"),
        ("the tests don't pass", "debug"),
        ("it isn't working", "debug"),
        ("Traceback (most recent call last)", "debug"),
        ("add a flag to the command", "general"),
        ("explain the compound score", "general"),
        ("", "general"),
        ("preview the page", "general"),
        ("the terror of debugging is over", "debug"),
        ("a mirror of the interior", "general"),
    ],
)
def test_the_class_of_a_prompt(prompt: str, name: str) -> None:
    """As people write them."""
    assert query_class(prompt).name == name


def test_the_first_class_wins() -> None:
    """A review of a release that fails is a review; a release that fails a release."""
    assert query_class("the release failed: review PR 7").name == "pr_review"
    assert query_class("an error in the release").name == "git_release"
    assert [kind.name for kind in CLASSES] == ["pr_review", "git_release", "debug", "general"]


def test_the_words_that_decided() -> None:
    """They are told, on one line; the general class has none."""
    assert classified("please merge\nthe branch")[1] == "merge the"
    assert classified("hello") == (GENERAL, "")


def test_the_table() -> None:
    """Every class orders every category; hits and boosts are those of the reference."""
    for kind in CLASSES:
        assert sorted(kind.order) == sorted(CATEGORIES)
    assert {kind.name: kind.vector_hits for kind in CLASSES} == {
        "pr_review": 7,
        "git_release": 6,
        "debug": 7,
        "general": 5,
    }
    assert {kind.name: kind.boosted for kind in CLASSES} == {
        "pr_review": ("lesson", "mistake", "pattern"),
        "git_release": ("decision",),
        "debug": ("lesson", "mistake"),
        "general": (),
    }


def test_only_the_start_is_looked_at() -> None:
    """A log far down in a prompt decides nothing, and a long one ends soon."""
    assert query_class("explain this " + "x" * queries.LOOKED_AT + " error").name == "general"
    assert query_class("why is " * 200_000).name == "general"
