"""What a regular expression needs and costs, read off its characters."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.generated import MODEST
from memory_palace.core.rules_regex import UNBOUNDED, literal, steps


@pytest.mark.parametrize(
    ("pattern", "needed"),
    [
        ("git push", "git push"),
        (r"git\s+push.*--force\b", "--force"),
        (r"rm\s+-rf?", "rm"),
        ("colou?r", "colo"),
        ("ab+c", "ab"),
        ("x{2}yz", "yz"),
        (r"\.env\b", ".env"),
        ("a|b", ""),
        ("(push|pull) --force", " --force"),
        ("(?i)push", ""),
        ("(?:push)+x", "x"),
        (r"\d+", ""),
        ("[abc]de", "de"),
        ("[]x]de", "de"),
        (r"\x41bc", "bc"),
        (r"\012ab", "ab"),
        (r"(a)\1bc", ""),
        ("", ""),
    ],
)
def test_what_must_stand_in_a_match(pattern: str, needed: str) -> None:
    """The longest run of plain characters outside groups, choices and options."""
    assert literal(pattern) == needed


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+$",
        "(a|a)*b",
        "(a?){20}b",
        "([a-z]+)*x",
        "(?:a*b?)+",
        r"(a)\1",
        "(?P<n>a)(?P=n)",
        "(?x) a # (",
        "(a)(?(1)b|c)",
        "((a|b)c)*",
    ],
)
def test_what_may_never_end_has_no_bound(pattern: str) -> None:
    """What repeats can be read in several ways, or is not understood here."""
    assert steps(pattern, 100) == UNBOUNDED


def test_each_repetition_multiplies() -> None:
    """A plain text costs its length, each repetition as much again."""
    assert steps("git push", 99) == 100
    assert steps("git.*push", 99) == 100**2
    assert steps("a.*b.*c", 99) == 100**3
    assert steps("(?:ab)*", 99) == 100**2
    assert steps("colou?r", 99) == 200
    assert steps("a{2,4}", 99) == 300
    assert steps("a{5}", 99) == 100
    assert steps("a{,500}", 99) == 100**2
    assert steps("a|b", 99) == 200
    assert steps("(a|b)?c", 99) == 400


ATOM = st.sampled_from(
    ["a", "b", r"\.", r"\d", ".", "[ab]", "(a|b)", "(?:ab)", r"\n", r"\x61", "^"]
)
PIECE = st.tuples(ATOM, st.sampled_from(["", "", "?", "*", "+", "{2}", "{1,2}"]))
PATTERN = st.lists(PIECE, max_size=5).map(
    lambda pieces: "".join(a + ("" if a == "^" else q) for a, q in pieces)
)


@given(st.data(), PATTERN)
@MODEST
def test_what_matches_has_what_is_needed(data: st.DataObject, pattern: str) -> None:
    """Of any pattern, in any text that it matches."""
    text = data.draw(st.one_of(st.from_regex(pattern), st.text(alphabet="ab.\n1")))
    found = re.search(pattern, text)
    assert not found or literal(pattern) in found.group()


@given(st.text(alphabet="ab()[]{}*+?|\\.^$,1:=P<>", max_size=20))
@MODEST
def test_any_text_can_be_looked_at(pattern: str) -> None:
    """Also one that is no pattern."""
    assert steps(pattern, 10) >= 11
    assert isinstance(literal(pattern), str)
