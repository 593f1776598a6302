"""What was said, made shorter."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core.condense import SEPARATOR, Shortener, speaker, telegram, telling
from memory_palace.core.salience import Rarity

ANY = Rarity(())
SAID = "Ana: Hey! I moved to Lisbon in March. It was great. My sister Ines bakes bread there."


@pytest.mark.parametrize(
    ("text", "name", "said"),
    [
        ("Ana: hello", "Ana", "hello"),
        ("Dr Ana Lima: hello", "Dr Ana Lima", "hello"),
        ("the four of us: hello", "", "the four of us: hello"),
        ("http://a.b", "", "http://a.b"),
        ("12:30: late", "", "12:30: late"),
        ("", "", ""),
    ],
)
def test_who_speaks(text: str, name: str, said: str) -> None:
    """A name of three words at most and a colon."""
    assert speaker(text) == (name, said)


def test_sentences_that_tell_something() -> None:
    """The best in their order, only of some worth, and never more than there is room for."""
    said = speaker(SAID)[1]
    assert telling(said, ANY, 300, 2.0) == (
        "I moved to Lisbon in March. My sister Ines bakes bread there."
    )
    assert telling(said, ANY, 40, 2.0) == "My sister Ines bakes bread there."
    assert telling("Wow! That's awesome!", ANY, 300, 0.1) == ""
    assert telling(said, ANY, 300, 2.0, skip=lambda one: "Lisbon" in one).startswith("My sister")


def test_a_telegram() -> None:
    """Words that say nothing go; negations, numbers and what is in backticks stay."""
    assert telegram("I was not in the city of Malmö for 3 weeks.") == "not city Malmö 3 weeks."
    assert telegram("It is `a of the b` that fails.") == "`a of the b` fails."


def test_every_part_stays() -> None:
    """A shortened line says something of each of its turns, with who said it."""
    line = SEPARATOR.join((SAID, SAID.replace("Ana", "Bo")))
    short = Shortener(ANY).line(line, 30)
    assert [speaker(part)[0] for part in short.split(SEPARATOR)] == ["Ana", "Bo"]
    assert len(short) < len(line) / 2
    assert Shortener(ANY).line(line, 300) == line


def test_names_of_code_and_numbers_stay_longest() -> None:
    """Of a sentence that is too long, the exact words are left."""
    said = "User: designer Ilse repeats that grid lines on dark paper become #3d444d everywhere"
    assert "#3d444d" in Shortener(ANY).line(said, 30)


@given(st.text(max_size=300), st.integers(1, 200))
def test_shorter_is_never_much_longer(text: str, each: int) -> None:
    """No part is longer than it was, or than twice its room and its name."""
    parts = text.split(SEPARATOR)
    short = Shortener(ANY).line(text, each).split(SEPARATOR)
    assert len(short) >= len(parts)
    assert len(SEPARATOR.join(short)) <= len(text) + 2 * len(parts)
