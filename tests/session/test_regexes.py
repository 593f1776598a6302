"""Regular expressions in bounded time."""

import sys

import pytest

from memory_palace.session import regexes
from memory_palace.session.regexes import search

LATE = "(a|a)*b"
"""Takes longer than anyone waits on a row of `a`."""
TEXT = "git push " + "a" * 60


def test_plain_patterns_are_searched_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """No process is started for them; a pattern that cannot be read finds nothing."""
    monkeypatch.setattr(regexes, "_child", None)
    assert search(["git.*push", "pull", "git.*push"], TEXT) == {"git.*push": True, "pull": False}
    assert search(["(", "[[a]"], "x") == {"(": None, "[[a]": False}
    assert search([], TEXT) == {}


def test_a_late_pattern_is_given_up_and_the_others_are_not() -> None:
    """Also those after it, risky or not."""
    found = search([LATE, "(p|u)+sh", "git", "(x|y)+z"], TEXT)
    assert found == {LATE: None, "(p|u)+sh": True, "git": True, "(x|y)+z": False}


def test_after_some_late_ones_the_rest_is_given_up() -> None:
    """So that a call waits only so long."""
    late = [f"(a|a)*{letter}" for letter in "bcdefg"]
    assert search([*late, "(p|u)+sh"], TEXT) == dict.fromkeys([*late, "(p|u)+sh"])


def test_all_risky_patterns_together_have_so_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """Many that are each in time are too late together."""
    monkeypatch.setattr(regexes, "ALL_SECONDS", 0.0)
    assert search(["(p|u)+sh", "push"], TEXT) == {"(p|u)+sh": None, "push": True}


def test_without_a_process_risky_patterns_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """And the others are searched."""
    monkeypatch.setattr(sys, "executable", "")
    assert search(["(p|u)+sh", "push"], TEXT) == {"(p|u)+sh": None, "push": True}


def test_what_may_be_searched_here_is_bounded_together() -> None:
    """Many patterns on a long text go to the other process, and are found there."""
    patterns = [f"a.*b{n}" for n in range(12)]
    text = "x" * 2000 + "a b3"
    assert search(patterns, text) == {p: p == "a.*b3" for p in patterns}
