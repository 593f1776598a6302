"""What a short text claims, word by word."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import claimwords


def denied(text: str) -> list[str]:
    """The content words and values that the text denies, as written."""
    return [token.shown for token in claimwords.read(text).tokens if token.denied]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Never push to main", ["push", "main"]),
        ("Merge, never rebase", ["rebase"]),
        ("Tabs are not allowed here", ["tabs"]),
        ("Use tabs not spaces", ["spaces"]),
        ("Use no tabs", ["tabs"]),
        ("Use uv rather than pip", ["pip"]),
        ("Prefer tabs over spaces", ["spaces"]),
        ("Iterate over items", []),
        ("Not only tabs", []),
        ("Don't avoid tabs", []),
        ("Don't push but merge", ["push"]),
        ("It cannot list the folder", ["list", "folder"]),
        ("Notes say nothing of 3.11", ["3.11"]),
    ],
)
def test_what_a_text_denies(text: str, words: list[str]) -> None:
    """A denial reaches over its clause, or over what follows it there; two cancel out."""
    assert denied(text) == words


@pytest.mark.parametrize(
    ("forms", "root"),
    [
        ("use uses used using", "use"),
        ("note notes noted", "note"),
        ("run runs running", "run"),
        ("test tests tested testing", "test"),
        ("pass passes passed", "pass"),
        ("policy policies", "policy"),
        ("ms", "ms"),
        ("string", "string"),
        ("宮殿", "宮殿"),
    ],
)
def test_forms_of_a_word_have_one_root(forms: str, root: str) -> None:
    """Plurals and verb endings go; what would become a word of grammar stays whole."""
    assert {claimwords.root(form) for form in forms.split()} == {root}


def test_values_are_compared_by_what_they_mean() -> None:
    """Grouped digits, a `v`, a number in words, one in backticks: one value."""
    keys = [[t.key for t in claimwords.read(text).tokens] for text in ("2,048", "`2048`", "2_048")]
    assert keys == [["2048"]] * 3
    assert [t.key for t in claimwords.read("v1.2.3 three 2026-11-29 `A  b`").tokens] == [
        "1.2.3",
        "3",
        "2026-11-29",
        "a b",
    ]


def test_names_with_digits_are_words() -> None:
    """`BGE-M3` and `python3` are no numbers."""
    tokens = claimwords.read("BGE-M3 runs on python3").tokens
    assert [token.kind for token in tokens] == ["word"] * 3


def test_marks_and_links_of_an_entry_are_not_words() -> None:
    """A link counts as what it shows, the marks and the block id not at all."""
    plain = claimwords.read("See [[a/b|the card]] *(pinned)* ^3f9ac2d41b7e").plain
    assert plain == ("see", "the", "card")


@given(st.text(max_size=3000))
def test_any_text_can_be_read(text: str) -> None:
    """It never raises, and values are not among the words."""
    claim = claimwords.read(text)
    assert claim.frame == {token.key for token in claim.tokens if not token.is_value}
