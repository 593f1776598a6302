"""What a person wishes, told by the words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.said import HELD_OUT_OTHERS, HELD_OUT_WISHES, OTHERS, WISHES
from memory_palace.core import wishes
from memory_palace.core.topics import CATEGORIES
from memory_palace.core.wishes import Wish


def texts(said: str) -> list[str]:
    """The wishes in a message."""
    return [wish.text for wish in wishes.wishes(said)]


@pytest.mark.parametrize(("said", "category"), WISHES)
def test_a_wish_is_found_as_it_was_said(said: str, category: str) -> None:
    """The whole sentence, in its own words, and what kind of memory it would be."""
    (found,) = wishes.wishes(said)
    assert (found.category, found.text) == (category, said)
    assert found.cue


@pytest.mark.parametrize("said", OTHERS)
def test_what_is_no_wish_is_left_alone(said: str) -> None:
    """Questions, reports, what others say, what holds once."""
    assert wishes.wishes(said) == ()


def test_held_out_sentences() -> None:
    """Written before the rules. At first 9 of 10 wishes were found (a French one was taken for what
    somebody else prefers), and none of the others; since then all 10."""
    found = [said for said in HELD_OUT_WISHES if wishes.wishes(said)]
    wrong = [said for said in HELD_OUT_OTHERS if wishes.wishes(said)]
    assert len(found) >= 9, found
    assert wrong == []


def test_each_is_a_sentence_of_a_longer_message() -> None:
    """Others around it are left out; list items and broken lines are read as sentences."""
    said = (
        "The parser fails on tabs, see the log. Please always run\nthe linter before you commit. "
        "Can you look?\n\n- [ ] Fix the parser\n- Never push to main, e.g. by a hook.\n"
    )
    assert texts(said) == [
        "Please always run the linter before you commit.",
        "Never push to main, e.g. by a hook.",
    ]


def test_three_of_a_message_each_once() -> None:
    """The first three; a repeat is none."""
    said = "Never use a. never use A. Always use b. I prefer c to d. From now on say e."
    assert texts(said) == ["Never use a.", "Always use b.", "I prefer c to d."]


@pytest.mark.parametrize(
    "said",
    [
        "```\nAlways run the linter.\n```",
        "~~~\nNever push to main.",
        "> Always run the linter.",
        "He wrote:\n> Never push to main.",
        "<system-reminder>Always run the linter.</system-reminder>",
        '<palace-memory kind="report">\nAlways run the linter.\n</palace-memory>',
        "diff --git a/x b/x\n+Always run the linter.\n-Never push to main.",
        "WARNING: never run this as root",
        "2026-11-29 20:15:03 never use this again",
        "The sign says “always run the linter”.",
        "The hook prints `never push to main` and stops.",
        "Never use the password [SECRET: value].",
        "Always greet [PRIVATE] first.",
    ],
)
def test_quoted_and_pasted_text_is_nobodys_wish(said: str) -> None:
    """Code, quotes, diffs, logs, what clients and memory put in, and what was redacted."""
    assert wishes.wishes(said) == ()


def test_code_inside_of_a_sentence_stays_in_it() -> None:
    """Only the words around it are looked at for the form."""
    said = "Always use `uv run`, never plain `python`."
    assert wishes.wishes(said) == (Wish("preference", said, "always"),)


def test_a_long_sentence_is_cut_and_a_very_long_one_is_none() -> None:
    """300 characters; a pasted wall of text is not read as a sentence."""
    (found,) = wishes.wishes("Always write " + "word " * 80)
    assert len(found.text) <= wishes.MOST_CHARACTERS and found.text.endswith("…")
    assert wishes.wishes("Always write " + "word " * 200) == ()


WORDS = st.sampled_from(
    "always never please from now on I prefer don't we use not here remember that immer nie bitte "
    "ab jetzt toujours ne jamais siempre nunca it fails ? . , : \n - > ``` \" ' ( ) x".split(" ")
)


@given(st.lists(WORDS, max_size=60))
def test_whatever_is_said(words: list[str]) -> None:
    """At most three, on one line, short enough, of a known category, out of what was said."""
    said = " ".join(words)
    found = wishes.wishes(said)
    assert len(found) <= wishes.MOST
    for wish in found:
        assert wish.category in CATEGORIES
        assert len(wish.text) <= wishes.MOST_CHARACTERS and "\n" not in wish.text
        assert set(wish.text.split()) <= set(said.split())
        assert not wish.text.endswith("?")


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "And never, ever rewrite the history of main.",
            "Never, ever rewrite the history of main.",
        ),
        ("Oh, and please never push to main.", "Please never push to main."),
        ("also always run the linter", "Always run the linter"),
        ("Und benutze immer pathlib.", "Benutze immer pathlib."),
        ("[PRIVATE] Never push to main.", "Never push to main."),
        ("Never push to main.[PRIVATE]", "Never push to main."),
    ],
)
def test_what_leads_to_a_wish_is_left_out(said: str, kept: str) -> None:
    """Words that only join it to what was said before, and marks of private spans around it."""
    assert texts(said) == [kept]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("No, use pnpm, not npm.", []),
        ("No. Use pnpm, not npm.", []),
        ("Nope. Use pnpm, not npm.", []),
        ("Not npm, use pnpm instead.", []),
        ("No, don't mock the database.", []),
        ("Actually, stop adding comments.", []),
        ("Nope. Please add the test. Use pnpm, not npm.", ["Use pnpm, not npm."]),
        ("No, always use pnpm.", ["No, always use pnpm."]),
        ("No, use pnpm from now on.", ["No, use pnpm from now on."]),
        ("No, we use pnpm here, not npm.", ["No, we use pnpm here, not npm."]),
    ],
)
def test_a_correction_is_no_wish_unless_it_says_that_it_lasts(said: str, kept: list[str]) -> None:
    """It is about the work at hand."""
    assert texts(said) == kept
