"""Words of notes and of mined files in Milvus, each with numbers of their own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory_palace.index import milvus
from memory_palace.index import milvus_rows as rows
from memory_palace.index import milvus_texts as texts
from memory_palace.index import milvus_words as words
from memory_palace.index.milvus_client import Client
from support.milvus import Sent, mine, needs_milvus


@pytest.fixture
def sent(tmp_path: Path) -> Iterator[Sent]:
    """An empty palace for a Milvus of its own."""
    uri = str(tmp_path / "own.db")
    with Client(uri):
        yield Sent(tmp_path / "root", uri, "ada")


@needs_milvus
def test_mined_files_are_counted_on_pages_of_their_own(sent: Sent) -> None:
    """A word that both have, in its two rows and numbers; none of them changes the other's."""
    sent.notes(a="alpha beta")
    mine(sent, "demo", {"a.py": "alpha = 1\n", "b.md": "# alpha\nmore\n"})
    sent.push()
    with sent.client() as client:
        found = client.query(rows.WORDS, f'palace == "{sent.name}"', ["key", "record"])
    pages = {row["key"]: texts.unpacked(row["record"]) for row in found}
    assert (pages["al"], pages["/al"]) == ({"alpha": [1, 1]}, {"alpha": [2, 2]})
    stamp = sent.stamp()
    assert (stamp.notes, stamp.statistics.rows) == (3, (1, 1, 2, 2))
    assert milvus.described(sent.root, sent.config)[1].startswith(
        f"{sent.uri}, palace {sent.name}: notes 1, mined files 2, units 3, 20"
    )


@needs_milvus
def test_a_palace_of_an_earlier_format_is_brought_into_step(sent: Sent) -> None:
    """It had statistics of notes alone, and one number of pages."""
    sent.notes(a="alpha beta")
    sent.push()
    with sent.client() as client:
        (row,) = client.query(rows.WORDS, f'id == "{sent.name}"', ["*"])
        record = texts.unpacked(row["record"]) | {"format": "2", "state": "x", "averages": [2, 2]}
        record["statistics"] = {"rows": [1, 1], "lengths": [2, 2], "pages": 1}
        client.upsert(rows.WORDS, [dict(row) | {"record": texts.packed(record)}])
    assert sent.stamp().averages == (2, 2, 0, 0)
    mine(sent, "demo", {"a.py": "alpha = 1\n"})
    assert sent.push().written == 1
    assert sent.stamp().statistics.rows == (1, 1, 1, 1)


def test_a_word_of_both_stands_twice() -> None:
    """In sparse vectors and on pages: no question of the one meets the other."""
    assert words.dimension_of("alpha") != words.dimension_of("alpha", mined=True)
    assert words.page_of("alpha", {}) == ("al", 0)
    assert words.page_of("alpha", {"al": 8}, mined=True) == ("/al", 0)
    numbers = {words.page_of(f"al{n}", {"/al": 4}, mined=True)[1] for n in range(50)}
    assert numbers == {0, 1, 2, 3}
