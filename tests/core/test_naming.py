"""Does a question name a definition?"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import keywords, naming


def likeness(question: str, symbol: str, path: str = "src/x.py") -> float:
    """Of a symbol written with dots."""
    asked = naming.asked_for(keywords.parse(question).terms)
    return naming.likeness(asked, symbol.split("."), path)


@pytest.mark.parametrize(
    ("question", "symbol", "expected"),
    [
        ("open_ledger", "open_ledger", 1.0),
        ("openLedger", "open_ledger", 1.0),
        ("open ledger", "OpenLedger", 1.0),
        ("opens the ledgers", "open_ledger", 1.0),
        ("where is open_ledger defined?", "open_ledger", 2 / 3),
        ("open ledger", "open_ledger_file", 2 / 3),
        ("the ledger", "open_ledger", 1 / 2),
        ("Store.open_ledger", "Store.open_ledger", 1.0),
        ("open_ledger", "Store.open_ledger", 1.0),
        ("store", "Store.open_ledger", 0.0),
        ("HTTPServer", "http_server", 1.0),
        ("is it", "is_it", 0.0),
        ("", "open_ledger", 0.0),
    ],
)
def test_a_name_is_asked_for_by_its_words(question: str, symbol: str, expected: float) -> None:
    """In any spelling; what more is asked for, and what more the name says, counts against it."""
    assert likeness(question, symbol) == pytest.approx(expected)


def test_surroundings_speak_for_a_name_of_several_words_only() -> None:
    """`run` in a folder of tests is not what is asked for."""
    assert likeness("open_ledger of the csv store", "open_ledger", "store/csv.py") == 1.0
    assert likeness("open_ledger of the csv store", "open_ledger") == 1 / 2
    assert likeness("run the tests", "run", "tests/main.py") == 1 / 2


@given(st.text(max_size=40), st.lists(st.text(max_size=20), max_size=3), st.text(max_size=20))
def test_it_is_a_share(question: str, symbol: list[str], path: str) -> None:
    """Whatever is asked, and whatever things are called."""
    asked = naming.asked_for(keywords.parse(question).terms)
    assert 0.0 <= naming.likeness(asked, symbol, path) <= 1.0
