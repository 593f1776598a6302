"""The arrays of an index are what its catalog says, whole or in part."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from memory_palace.core import bm25, keywords
from memory_palace.index import catalog as catalogs
from memory_palace.index import nearest
from memory_palace.index.catalog import Catalog
from memory_palace.search import table
from memory_palace.search.query import Query
from memory_palace.search.question import Question
from memory_palace.search.table import Table
from support.fake import FakeEmbedder, fake_choice
from support.palaces import Palace

ASKED = Question(keywords.parse("memory palace -git"), FakeEmbedder().embed_queries(["memory"])[0])


@dataclass(frozen=True, slots=True)
class Opened:
    """A catalog and its arrays."""

    catalog: Catalog
    table: Table


@pytest.fixture
def opened(palace: Palace) -> Iterator[Opened]:
    """Four notes: two of the same text, one without a vector yet."""
    palace.choice = fake_choice()
    palace.notes(
        b__two="# Memory\n\n## One\n\nmemory palace\n\n## Two\n\ngit server",
        a__x="---\ncreated: 2026-01-02\npriority: high\ntags: [t]\n---\nthe same memory",
        c__x="---\ncreated: 2026-01-02\n---\nthe same memory",
    )
    palace.index()
    choice, palace.choice = palace.choice, Palace(palace.root).choice
    palace.notes(a__late="palace palace git")
    palace.index()
    palace.choice = choice
    folder = palace.root / ".palace/index"
    with catalogs.open_to_read(folder / catalogs.MAIN) as catalog:
        found = nearest.open_to_read(folder, int(catalog.meta("generation")))
        yield Opened(catalog, table.read(catalog, found))


def test_chunks_stand_in_the_order_of_paths_and_lines(opened: Opened) -> None:
    """Each with its file, and its vector if it has one."""
    one = opened.table
    rows = [
        opened.catalog.db.execute(
            "SELECT f.path, c.file_id, v.id FROM chunks c JOIN files f ON f.id = c.file_id "
            "LEFT JOIN vectors v ON v.key = c.key WHERE c.id = ?",
            (int(chunk),),
        ).fetchone()
        for chunk in one.chunk
    ]
    assert [row[0] for row in rows] == sorted(row[0] for row in rows)
    assert [row[1] for row in rows] == one.file_id[one.file].tolist()
    assert [row[2] or -1 for row in rows] == one.vector.tolist()
    assert one.vectors is not None
    there = one.row >= 0
    assert one.vectors.ids()[one.row[there]].tolist() == one.vector[there].tolist()
    assert (~there).sum() == 1
    assert one.importance.tolist() == [0.5, 1.0, 0.5, 0.5]


def weighed(found: list[tuple[int, float]], rows: int) -> dict[int, float]:
    """FTS5's scores with our weight of a term."""
    ratio = bm25.rarity(rows, len(found)) / bm25.idf(rows, len(found))
    return {row: score * ratio for row, score in found}


def test_words_are_found_where_fts5_finds_them(opened: Opened) -> None:
    """Summed over the terms of the question, for chunks and for notes."""
    one, catalog = opened.table, opened.catalog
    total, matched = table.keywords(one, ASKED)
    whole = table.note_keywords(one, ASKED)
    expected, expected_whole = np.zeros(len(one.chunk)), np.zeros(len(one.file_id))
    for number, term in enumerate(ASKED.asked.terms):
        found = weighed(catalog.keyword(term.expression), len(one.chunk))
        expected += [found.get(int(chunk), 0.0) for chunk in one.chunk]
        assert matched[number].tolist() == [int(chunk) in found for chunk in one.chunk]
        found = weighed(catalog.note_keyword(term.expression), len(one.file_id))
        expected_whole += [found.get(int(file), 0.0) for file in one.file_id]
    np.testing.assert_allclose(total, expected, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(whole, expected_whole, rtol=1e-5, atol=1e-8)
    git = dict(catalog.keyword('"git"'))
    assert table.excluded(one, ASKED).tolist() == [int(chunk) in git for chunk in one.chunk]


def test_a_part_of_a_table_finds_the_same_in_its_chunks(opened: Opened) -> None:
    """Words, cosines, filters."""
    one = opened.table
    chosen = np.array([0, 2])
    some = one.only(chosen)
    assert some.chunk.tolist() == one.chunk[chosen].tolist()
    np.testing.assert_array_equal(
        table.keywords(some, ASKED)[0], table.keywords(one, ASKED)[0][chosen]
    )
    np.testing.assert_array_equal(
        table.keywords(some, ASKED)[1], table.keywords(one, ASKED)[1][:, chosen]
    )
    np.testing.assert_array_equal(table.excluded(some, ASKED), table.excluded(one, ASKED)[chosen])
    cosines = table.cosines(one, ASKED)
    assert np.isnan(cosines).sum() == 1
    np.testing.assert_allclose(table.cosines(some, ASKED), cosines[chosen], rtol=1e-6)
    np.testing.assert_allclose(table.cosines(one, ASKED, chosen), cosines[chosen], rtol=1e-6)
    np.testing.assert_allclose(table.cosines(one, ASKED, chosen[:1]), cosines[:1], rtol=1e-6)
    query = Query(rooms=("a",))
    let = table.passing(one, opened.catalog, query)
    assert let.sum() == 2
    np.testing.assert_array_equal(table.passing(some, opened.catalog, query), let[chosen])
    assert some.only(np.array([1])).chunk.tolist() == one.chunk[[2]].tolist()


def test_without_vectors_there_are_no_cosines(opened: Opened) -> None:
    """An index of keywords only, and a question that was not embedded."""
    keywords_only = table.read(opened.catalog, None)
    assert np.isnan(table.cosines(keywords_only, ASKED)).all()
    assert np.isnan(table.cosines(opened.table, Question(ASKED.asked))).all()
