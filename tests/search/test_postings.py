"""Postings are FTS5's: the same rows, the same BM25."""

import re
import sqlite3

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_palace.core import bm25
from memory_palace.search import postings
from memory_palace.search.postings import Postings

TOKENIZE = "porter unicode61 remove_diacritics 2"
WEIGHTS = {"title": 4.0, "heading": 2.0, "tags": 2.5, "body": 1.0}
WORDS = ["memory", "memories", "Café", "index", "v1.2.3", "中文", "the", "x"]

row = st.tuples(*[st.lists(st.sampled_from(WORDS), max_size=5).map(" ".join)] * 4)


def catalog(rows: list[tuple[str, ...]], first: int = 1) -> sqlite3.Connection:
    """The two tables, with rows numbered from ``first`` in steps of three."""
    db = sqlite3.connect(":memory:")
    db.execute(f'CREATE VIRTUAL TABLE words USING fts5({",".join(WEIGHTS)}, tokenize="{TOKENIZE}")')
    db.execute("CREATE VIRTUAL TABLE words_places USING fts5vocab(words, instance)")
    numbered = [(first + 3 * n, *one) for n, one in enumerate(rows)]
    db.executemany(
        "INSERT INTO words (rowid, title, heading, tags, body) VALUES (?,?,?,?,?)", numbered
    )
    return db


def fts5(db: sqlite3.Connection, expression: str) -> dict[int, float]:
    """What FTS5 itself says, but for the rarity of each phrase: BM25 by row id."""
    (rows,) = db.execute("SELECT count(*) FROM words").fetchone()
    total: dict[int, float] = {}
    for phrase in re.findall(r'"(?:[^"]|"")*"\*?', expression):
        found = db.execute(
            "SELECT rowid, -bm25(words, ?, ?, ?, ?) FROM words WHERE words MATCH ?",
            (*WEIGHTS.values(), phrase),
        ).fetchall()
        ratio = bm25.rarity(rows, len(found)) / bm25.idf(rows, len(found))
        for row, score in found:
            total[row] = total.get(row, 0.0) + score * ratio
    return total


def ours(found: Postings, expression: str) -> dict[int, float]:
    """The same from the postings."""
    posting = found.of(expression)
    return dict(zip(found.rows[posting.places].tolist(), posting.scores.tolist(), strict=True))


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(row, max_size=30),
    first=st.integers(1, 10**6),
    text=st.sampled_from(
        [f'"{word}"' for word in [*WORDS, "cafe", "nothing", "", "-", 'a""b']]
        + [
            '"mem"*',
            '"v1.2"*',
            '("memory" OR "caf"* OR "x")',
            '("index" OR "index")',
            '("-" OR "x")',
        ]
    ),
)
def test_a_word_is_where_fts5_says_with_its_score(
    rows: list[tuple[str, ...]], first: int, text: str
) -> None:
    """Stems, accents, prefixes, words that are not there; rows of no words too."""
    db = catalog(rows, first)
    assert ours(Postings(db, "words", WEIGHTS), text) == pytest.approx(fts5(db, text), rel=1e-5)


def test_a_phrase_that_many_rows_have_counts_once_in_each_column(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Side by side in that order; the weights of its columns add up."""
    rows = [("", "", "", "red fox red fox"), ("", "", "", "a fox red fox"), ("", "", "", "fox red")]
    db = catalog([*rows, ("red fox", "", "", "")] + [("", "", "", "x")] * 9)
    assert ours(Postings(db, "words", WEIGHTS), '"red fox"') == pytest.approx(
        fts5(db, '"red fox"'), rel=1e-5
    )
    monkeypatch.setattr(postings, "PHRASES_MOST", 2)
    scores = ours(Postings(db, "words", WEIGHTS), '"red fox"')
    assert scores.keys() == fts5(db, '"red fox"').keys()
    assert scores[1] == scores[4] < scores[10]


def test_a_very_common_word_counts_once_in_each_column(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are all there; how often it stands in a row does not matter any more."""
    monkeypatch.setattr(postings, "COUNTED_MOST", 2)
    rows = [("", "", "", "index index"), ("index", "", "", "index"), ("", "", "", "one index")]
    db = catalog(rows + [("", "", "", "other things")] * 9)
    found = Postings(db, "words", WEIGHTS)
    assert not found.of('"index"').counted
    assert found.of('"one"').counted
    assert ours(found, '"index"').keys() == fts5(db, '"index"').keys()
    scores = ours(found, '"index"')
    assert scores[1] == scores[7] < scores[4] == pytest.approx(fts5(db, '"index"')[4], rel=1e-5)


def test_long_rows_have_the_length_that_fts5_counts() -> None:
    """Lengths past one and two bytes of seven bits."""
    lengths = [0, 1, 127, 128, 129, 16_383, 16_384, 20_000]
    db = catalog([("", "two words", "", "w " * count) for count in lengths])
    found = Postings(db, "words", WEIGHTS)
    assert found.lengths.tolist() == [count + 2 for count in lengths]
    assert ours(found, '"w"') == pytest.approx(fts5(db, '"w"'), rel=1e-5)


def test_tables_that_are_apart_each_count_their_own() -> None:
    """Rows of both in one order, each with the score that it has without the other table."""
    db = catalog([("", "", "", f"index {'memory' if n % 3 else 'x'}") for n in range(9)])
    other = catalog([("", "", "", "index index red fox"), ("", "", "", "red fox")] * 9, first=2)
    parts = [Postings(db, "words", WEIGHTS), Postings(other, "words", WEIGHTS)]
    both = postings.Apart(parts)
    assert both.rows.tolist() == sorted([*parts[0].rows, *parts[1].rows])
    for expression in ('"index"', '"red fox"', '("memory" OR "red")', '"nothing"'):
        found = both.of(expression)
        assert found.places.tolist() == sorted(found.places)
        scores = dict(zip(both.rows[found.places].tolist(), found.scores.tolist(), strict=True))
        assert scores == ours(parts[0], expression) | ours(parts[1], expression)


def test_what_was_asked_before_is_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """The word that was asked for longest ago goes first."""
    db = catalog([("", "", "", f"all {'even' if n % 2 else 'odd'}") for n in range(100)])
    found = Postings(db, "words", WEIGHTS)
    monkeypatch.setattr(postings, "KEPT_BYTES", 100 * 12 + 50 * 12)
    first = found.of('"all"')
    assert found.of('"all"') is first
    even = found.of('"even"')
    assert found.of('"all"') is first
    assert found.of('"odd"') is found.of('"odd"')
    assert found.of('"all"') is first
    assert found.of('"even"') is not even
    np.testing.assert_array_equal(found.of('"even"').places, even.places)
