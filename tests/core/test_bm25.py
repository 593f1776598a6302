"""BM25 from counts is FTS5's."""

import random
import sqlite3

import numpy as np
import pytest

from memory_palace.core import bm25

WORDS = ["alpha", "beta", "gamma", "delta", "the"]
WEIGHTS = (4.0, 2.0, 2.5, 1.0)


def table(seed: int, rows: int) -> list[tuple[str, ...]]:
    """Rows of four columns: `the` is everywhere, some columns and rows are empty."""
    drawn = random.Random(seed)
    made = [
        tuple(" ".join(drawn.choices(WORDS[:4], k=drawn.randrange(6))) for _ in range(3))
        for _ in range(rows)
    ]
    return [(*row, "the " * drawn.randrange(1, 9) + drawn.choice(WORDS)) for row in made] + [
        ("", "", "", "")
    ]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weights", [(1.0, 1.0, 1.0, 1.0), WEIGHTS])
def test_it_is_what_fts5_computes(seed: int, weights: tuple[float, ...]) -> None:
    """Column weights, empty rows and words in most rows included, to one in a million."""
    rows = table(seed, 40)
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE words USING fts5 (title, heading, tags, body)")
    db.executemany("INSERT INTO words VALUES (?,?,?,?)", rows)
    length = np.array([sum(len(column.split()) for column in row) for row in rows])
    for word in WORDS:
        counts = [[column.split().count(word) for column in row] for row in rows]
        frequency = np.array(counts) @ np.array(weights)
        weight = bm25.idf(len(rows), int((frequency > 0).sum()))
        ours = bm25.contributions(frequency, length, float(length.mean()), weight)
        found = db.execute(
            "SELECT rowid, -bm25(words, ?, ?, ?, ?) FROM words WHERE words MATCH ?",
            (*weights, word),
        ).fetchall()
        assert {rowid - 1 for rowid, _ in found} == set(np.flatnonzero(ours).tolist())
        for rowid, score in found:
            assert ours[rowid - 1] == pytest.approx(score, rel=1e-6)


def test_a_word_of_every_row_counts_next_to_nothing() -> None:
    """But more than nothing: its rows are found."""
    assert bm25.idf(10, 10) == bm25.idf(10, 5) == bm25.LEAST_IDF
    assert bm25.idf(10, 4) > 0.1
    assert bm25.contributions(np.array([1.0]), np.array([5]), 5.0, bm25.LEAST_IDF)[0] > 0.0


def test_nothing_at_all_scores_nothing() -> None:
    """Rows without words have no length to compare with."""
    none = bm25.contributions(np.zeros(2), np.zeros(2, dtype=np.int64), 0.0, 1.0)
    assert none.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("weight", [bm25.LEAST_IDF, 0.3, 9.0])
def test_a_part_of_the_rows_gives_the_scores_of_all(weight: float) -> None:
    """Occurrences come back from a score, column weights and all, to one in a million."""
    occurred = np.array([0.0, 1.0, 2.5, 40.0, 3.0])
    length = np.array([7, 1, 90, 2000, 3])
    score = bm25.contributions(occurred, length, 33.0, weight)
    assert bm25.frequency(score, length, 33.0, weight) == pytest.approx(occurred, rel=1e-6)


def test_a_word_of_half_of_the_rows_still_weighs() -> None:
    """Unlike in FTS5: two notes, and the question's word in one of them."""
    assert bm25.rarity(2, 1) > 0.5
    assert bm25.rarity(10, 10) > 0.0
    assert bm25.rarity(1000, 3) == pytest.approx(bm25.idf(1000, 3), rel=0.01)
