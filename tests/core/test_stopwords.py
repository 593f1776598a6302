"""Words that say nothing."""

import pytest

from memory_palace.core.stopwords import foreign, is_stop


@pytest.mark.parametrize(
    ("word", "first", "so"),
    [
        ("the", False, True),
        ("The", True, True),
        ("server", False, False),
        ("D", False, False),
        ("A", False, True),
        ("I", False, True),
        ("May", False, False),
        ("May", True, True),
        ("may", False, True),
        ("什么", False, True),
        ("索引", False, False),
    ],
)
def test_is_stop(word: str, first: bool, so: bool) -> None:
    """A capital inside of a question is a name."""
    assert is_stop(word, first) == so


@pytest.mark.parametrize(
    ("question", "out"),
    [
        ("wie wird der server gestartet", {"wie", "wird", "der"}),
        ("où est la clé du serveur", {"où", "est", "la", "du"}),
        ("die in the war", set()),
        ("server restart", set()),
        ("la la land", set()),
    ],
)
def test_foreign(question: str, out: set[str]) -> None:
    """A language needs two of its words, and none that only English has."""
    assert foreign(question.split()) & set(question.split()) == out
