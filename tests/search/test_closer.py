"""The closer look: which chunks get one, and what it sees."""

from pathlib import Path

import numpy as np
import pytest

from memory_palace.core.chunk import Unit
from memory_palace.index import catalog as catalogs
from memory_palace.index.catalog import Catalog
from memory_palace.search import closer
from support.fake import TokenFake, fake_choice
from support.palaces import Palace


def test_the_best_hits_are_looked_at() -> None:
    """So many, or four for each hit wanted; in the table's order, equal ones by place."""
    score = np.arange(600.0) % 300
    proven = score > 0
    best = closer.candidates(score, proven, np.zeros(600, int), 5)
    assert len(best) == closer.CANDIDATES
    assert best.tolist() == sorted(best.tolist())
    assert score[best].min() == 250
    assert len(closer.candidates(score, proven, np.zeros(600, int), 50)) == 200
    few = closer.candidates(score, score >= 299, np.zeros(600, int), 5)
    assert few.tolist() == [299, 599]
    equal = closer.candidates(np.zeros(300), np.ones(300, dtype=bool), np.zeros(300, int), 5)
    assert equal.tolist() == list(range(100))


@pytest.fixture
def fake() -> TokenFake:
    """Knows single words."""
    return TokenFake()


@pytest.fixture
def catalog(tmp_path: Path, fake: TokenFake) -> Catalog:
    """Three chunks in two notes."""
    palace = Palace(tmp_path / "root", fake_choice(fake))
    palace.notes(a="amber boats\n\n# One\n\ncopper dune", b="amber")
    palace.index()
    return catalogs.open_to_read(palace.root / ".palace/index" / catalogs.MAIN)


def look(catalog: Catalog, question: np.ndarray, vectors: list[int]) -> closer.Looked:
    """What is seen of three chunks, the first two of one note, with these vectors."""
    ids = np.array(vectors, dtype=np.int64)
    return closer.look(catalog, question, np.arange(3), ids, np.array([0, 0, 1]))


def chunk_vectors(catalog: Catalog) -> list[int]:
    """The vector ids of the chunks, in the order of the notes."""
    return [
        row[0]
        for row in catalog.db.execute(
            "SELECT v.id FROM chunks c JOIN vectors v ON v.key = c.key ORDER BY c.id"
        )
    ]


def test_a_note_is_looked_at_as_a_whole(catalog: Catalog, fake: TokenFake) -> None:
    """Each word of the question where the note answers it best, in whichever of its chunks."""
    question = np.stack([fake.word_vector("amber"), fake.word_vector("copper")])
    found = look(catalog, question, chunk_vectors(catalog))
    assert found.note_late[0] == found.note_late[1] == pytest.approx(1.0, abs=1e-5)
    assert found.note_late[2] == found.late[2]
    assert max(found.late) < 0.7


def test_a_chunk_without_a_vector_has_no_late_interaction(
    catalog: Catalog, fake: TokenFake
) -> None:
    """It is not there, which is not 0; its note's is that of the other chunks."""
    _, one, other = chunk_vectors(catalog)
    question = fake.word_vector("copper")[None]
    found = look(catalog, question, [-1, one, other])
    assert np.isnan(found.late).tolist() == [True, False, False]
    assert np.isnan(found.note_late).tolist() == [True, False, False]
    assert found.note_late[1] == found.late[1] == pytest.approx(1.0, abs=1e-5)
    none = look(catalog, question, [-1, -1, -1])
    assert np.isnan(none.late).all() and np.isnan(none.note_late).all()
    assert np.isnan(none.line(0, 0, 100))


def test_a_line_is_the_tokens_that_start_in_it(catalog: Catalog, fake: TokenFake) -> None:
    """From its first character up to the next line's."""
    found = look(catalog, fake.word_vector("boats")[None], chunk_vectors(catalog))
    embedded = catalog.db.execute("SELECT embedded FROM chunks ORDER BY id").fetchone()[0]
    at = embedded.index("boats")
    assert found.line(0, at, len(embedded)) == pytest.approx(1.0, abs=1e-5)
    assert found.line(0, 0, at) < 0.5
    assert np.isnan(found.line(0, at + 1, len(embedded)))


def test_units_and_their_spans() -> None:
    """A unit reaches up to the next, the last to the end."""
    units = closer.units_of("[[3, 4, 10], [6, 6, 25]]")
    assert units == (Unit(3, 4, 10), Unit(6, 6, 25))
    assert closer.spans(units, 40) == [(10, 25), (25, 40)]
    assert closer.units_of("[]") == ()


def test_a_huge_note_leaves_looks_for_the_best_of_the_others() -> None:
    """The best chunk of each of the best notes is looked at, four notes for each hit wanted."""
    file = np.array([0] * 150 + list(range(1, 31)))
    score = np.concatenate([np.full(150, 0.9), np.linspace(0.8, 0.5, 30)])
    best = closer.candidates(score, np.ones(180, dtype=bool), file, 5)
    assert best.tolist() == [*range(100), *range(150, 169)]
    best = closer.candidates(score[::-1], np.ones(180, dtype=bool), file[::-1], 5)
    assert best.tolist() == [*range(11, 130)]


def test_a_note_beside_one_of_many_sections_is_looked_at(tmp_path: Path) -> None:
    """However many chunks of the other one stand before it."""
    palace = Palace(tmp_path / "root", fake_choice(TokenFake()))
    sections = "".join(
        f"## H{n}\n\nboats jars dunes part{n} " + " ".join(f"f{n}x{m}" for m in range(60)) + "\n\n"
        for n in range(150)
    )
    palace.notes(
        big=f"---\npriority: high\ncreated: 2026-11-29\n---\n{sections}",
        small="---\npriority: low\ncreated: 2020-01-01\n---\nthe boats and violin " + "pad " * 50,
        **{f"other{n:02}": f"pad{n}" for n in range(50)},
    )
    palace.index()
    late = {hit.path: hit.parts.late for hit in palace.hits("boats jars dunes")}
    assert late["palace/big.md"] and late["palace/small.md"]


@pytest.mark.parametrize("superseded", [False, True])
def test_those_looked_at_stay_before_the_others(tmp_path: Path, superseded: bool) -> None:
    """However much newer a note is that was not among the best before the closer look, and though
    some other note is superseded."""
    palace = Palace(tmp_path / "root", fake_choice(TokenFake()))
    if superseded:
        palace.notes(zz1='---\nsuperseded_by: "[[zz2]]"\n---\nviolin', zz2="copper")
    old = "---\ncreated: 2020-01-01\npriority: high\n---\n"
    new = "---\ncreated: 2026-11-29\npriority: low\n---\n"
    for n in range(closer.CANDIDATES):  # found by other forms of their words: no word matches
        palace.notes(**{f"old{n:03}": f"{old}boats jars dunes number{n}"})
    for n in range(20):
        palace.notes(**{f"new{n:03}": f"{new}boats " + " ".join(f"w{n}x{m}" for m in range(30))})
    for n in range(500):
        palace.notes(**{f"other{n:03}": f"pad{n}"})
    palace.index()
    hits = palace.hits("boat jar dune", top_k=25, neighbors=0)
    assert all(hit.path.startswith("palace/old") for hit in hits)
    assert all(hit.parts.late for hit in hits)
