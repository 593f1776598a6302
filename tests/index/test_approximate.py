"""The inverted file: its codes are near to the vectors, also of what comes after the training."""

from pathlib import Path

import numpy as np
import pytest

from index.test_vectors import some
from memory_palace.embed.port import unit
from memory_palace.index import approximate, vectors
from memory_palace.index import catalog as catalogs
from support.fake import fake_choice
from support.palaces import Palace


def test_ids_and_vectors_stay_together() -> None:
    """The lists put them into another order, both in the same."""
    made = some(500)
    index = approximate.build(np.arange(500) * 3 + 1, made)
    ids = approximate.ids_of(index)
    assert sorted(ids.tolist()) == list(range(1, 1501, 3))
    np.testing.assert_allclose(approximate.matrix_of(index), made[(ids - 1) // 3], atol=0.01)


def test_vectors_of_another_kind_are_kept_nearly_as_well() -> None:
    """A palace whose notes were English, and then come Chinese ones: values lean another way."""
    first = unit(np.abs(some(400)))
    index = approximate.build(np.arange(400), first)
    other = -unit(np.abs(some(50, seed=3)))
    index.add_with_ids(other, np.arange(1_000, 1_050))
    found = dict(zip(approximate.ids_of(index).tolist(), approximate.matrix_of(index), strict=True))
    cosines = [found[1_000 + n] @ other[n] for n in range(50)]
    assert min(cosines) > 0.98


def test_it_is_outgrown_at_some_times_the_vectors_of_its_training() -> None:
    """Not by one note more."""
    index = approximate.build(np.arange(400), some(400))
    assert not approximate.outgrown(index)
    index.add_with_ids(some(1_100), np.arange(1_000, 2_100))
    assert not approximate.outgrown(index)
    index.add_with_ids(some(200), np.arange(3_000, 3_200))
    assert approximate.outgrown(index)


WORDS = "faiss server index memory palace git vector note room hall".split()


def test_index_runs_add_to_it_take_out_of_it_and_answer_as_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Past the bound, after edits and removals, the hits are those of exact vectors."""
    exact, many = (Palace(tmp_path / name, fake_choice()) for name in ("exact", "many"))

    def run() -> None:
        exact.index()
        with monkeypatch.context() as patch:
            patch.setattr(vectors, "EXACT_MOST", 10)
            many.index()

    def write(number: int, *words: str) -> None:
        for palace in (exact, many):
            palace.write(f"palace/topics/n{number:02}.md", " ".join([*words, f"only{number}"]))

    def check(kind: bytes) -> None:
        for words in ("faiss index", "memory note only3", "hall room git", "only12 vector"):
            hits, others = many.hits(words, top_k=20), exact.hits(words, top_k=20)
            scores = {hit.path: hit.score for hit in hits}
            assert scores == pytest.approx({hit.path: hit.score for hit in others}, abs=0.02)
            assert scores
        folder = many.root / ".palace/index"
        (place,) = folder.glob(vectors.file_name(vectors.latest(folder)))
        assert place.read_bytes()[:4] == kind

    for number in range(10):
        write(number, *WORDS[number : number + 3])
    run()
    check(b"IxMp")
    write(10, "faiss", "git")
    write(12, "memory", "server")
    run()
    (many.root / "palace/topics/n03.md").unlink()
    (exact.root / "palace/topics/n03.md").unlink()
    write(5, "index", "hall")
    run()
    check(b"IwSq")
    with catalogs.open_to_read(many.root / ".palace/index" / catalogs.MAIN) as catalog:
        assert catalog.count("vectors") == 11
