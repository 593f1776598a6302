"""How much a sentence says."""

import pytest

from memory_palace.core.salience import Rarity, bounded, sentences, stem, terms, worth

ANY = Rarity(())


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("It takes 3.5 s in a.py now. Good", ["It takes 3.5 s in a.py now.", "Good"]),
        ("See src/a.py/b. Then\nmore", ["See src/a.py/b.", "Then", "more"]),
        ("一。二！", ["一。", "二！"]),
        ("... !", []),
        ("Run `a?` and [b.] now. Then go", ["Run `a?` and [b.] now.", "Then go"]),
        ("(He said so.) Then they left.", ["(He said so.)", "Then they left."]),
        ("See `a.py`. (It ends.)", ["See `a.py`.", "(It ends.)"]),
        ("", []),
    ],
)
def test_sentences(text: str, found: list[str]) -> None:
    """They end at their signs and at line ends, not inside of words."""
    assert sentences(text) == found


@pytest.mark.parametrize(
    ("word", "found"),
    [
        *(("painted", "paint"), ("paints", "paint"), ("painting", "paint"), ("stopped", "stop")),
        *(("parties", "party"), ("glass", "glass"), ("status", "status"), ("été", "été")),
        *(("x86s", "x86s"), ("ring", "ring")),
    ],
)
def test_stems(word: str, found: str) -> None:
    """Endings that English adds go."""
    assert stem(word) == found


def test_terms() -> None:
    """No stop words, no fillers; scripts without spaces by pairs."""
    assert terms("Wow, that is the painted boat of Ana's!") == ["paint", "boat", "ana"]
    assert terms("請求書") == ["請求", "求書"]
    assert terms("Das ist ein Boot und der Hafen") == ["boot", "hafen"]


def test_what_a_sentence_is_worth() -> None:
    """Kind words are worth nothing; facts of oneself more than of others, questions least."""
    fact, other, question = "I painted boats", "You painted boats", "You painted boats?"
    assert worth("Wow, that's so great!", ANY) == 0
    assert worth(fact, ANY) > worth("Boats painted", ANY) > worth(other, ANY) > worth(question, ANY)
    assert worth("I painted boats yesterday", ANY) > worth("I painted boats slowly", ANY)
    assert worth("I painted 3 boats", ANY) > worth(fact, ANY)
    assert worth("[image: painted boats]", ANY) < worth("Boats painted", ANY)


def test_rarity() -> None:
    """A term of one text counts 1, one of all little, an unknown one as much as the rarest."""
    rare = Rarity(["boat", "boat harbour", "boat crane"])
    assert rare("crane") == rare("zebra") == 1.0
    assert 0 < rare("boat") < 0.2


def test_long_texts_are_cut_in_the_middle() -> None:
    """Beginning and end of a long text are looked at."""
    text = bounded("start " + "x" * 100_000 + " end")
    assert len(text) < 17_000 and text.startswith("start") and text.endswith("end")
