"""Keywords in texts that are not in the index."""

import sqlite3

import numpy as np
import pytest

from memory_palace.core import keywords
from memory_palace.index import catalog as catalogs
from memory_palace.index import scratch
from support.palaces import Palace

TEXTS = ["The cats sat.", "a dog, Café", "向量索引", "snakeCase and C++", ""]
INDEXABLE = [keywords.indexable(text) for text in TEXTS]


def matching(question: str) -> list[list[int]]:
    """For each term of a question the texts that have it."""
    expressions = [term.expression for term in keywords.parse(question).terms]
    return [np.flatnonzero(row).tolist() for row in scratch.matching(INDEXABLE, expressions)]


def test_each_expression_has_a_row_and_each_text_a_column() -> None:
    """Also where there is none of the one or the other."""
    assert scratch.matching(TEXTS, ['"cat"', '"x"']).shape == (2, 5)
    assert scratch.matching([], ['"cat"']).shape == (1, 0)
    assert scratch.matching(TEXTS, []).shape == (0, 5)
    assert scratch.matching(["x"], ['"x"']).dtype == np.bool_


@pytest.mark.parametrize(
    ("question", "found"),
    [
        ("cat", [[0]]),
        ("cat dog", [[0], [1]]),
        ("cafe", [[1]]),
        ("索引", [[2]]),
        ("snake C++", [[3], [3]]),
        ('"cats sat"', [[0]]),
        ('"sat cats"', [[]]),
        ("sna*", [[3]]),
        ("zebra", [[]]),
    ],
)
def test_words_match_as_in_the_index(question: str, found: list[list[int]]) -> None:
    """Word forms, accents, scripts without spaces, names, phrases and prefixes."""
    assert matching(question) == found


def test_the_index_agrees(keyword_palace: Palace) -> None:
    """The same texts in a real index have the same words."""
    keyword_palace.notes(**{f"n{n}": text for n, text in enumerate(TEXTS)})
    keyword_palace.index()
    with sqlite3.connect(keyword_palace.root / ".palace/index" / catalogs.MAIN) as db:
        for question in ("cat", "café", "向量", "snakeCase", "C++", "sat*", '"a dog"'):
            (expression,) = [term.expression for term in keywords.parse(question).terms]
            rows = db.execute(
                "SELECT f.path FROM words w JOIN chunks c ON c.id = w.rowid "
                "JOIN files f ON f.id = c.file_id WHERE words MATCH ? ORDER BY f.path",
                (f"body : ({expression})",),
            )
            found = scratch.matching(INDEXABLE, [expression])[0]
            assert [r[0] for r in rows] == [f"palace/n{n}.md" for n in np.flatnonzero(found)]


def test_texts_may_be_asked_again_and_again() -> None:
    """Each time for other words; places come in order."""
    texts = scratch.Texts(["the amber ledger", "a birch", "amber"])
    assert texts.places(['"amber"', '"birch"', '"cedar"']) == [[0, 2], [1], []]
    assert texts.places(['"ledgers"']) == [[0]]
    texts.close()


def test_without_texts_or_words_there_are_no_places() -> None:
    """One list a word all the same."""
    assert scratch.places([], ['"amber"']) == [[]]
    assert scratch.places(["amber"], []) == []
