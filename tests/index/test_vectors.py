"""The file that index runs write: one generation after the other, ids that stay."""

from pathlib import Path

import numpy as np
import pytest

from memory_palace.embed.port import Vectors, unit
from memory_palace.index import vectors
from memory_palace.index.vectors import VectorFile

WIDTH = 16


def some(count: int, seed: int = 0) -> Vectors:
    """Vectors of length 1 in the same few clusters for every seed, shape (count, 16)."""
    centers = np.random.default_rng(99).standard_normal((8, WIDTH))
    dice = np.random.default_rng(seed)
    return unit(centers[np.arange(count) % 8] + 0.3 * dice.standard_normal((count, WIDTH)))


def stored(count: int) -> VectorFile:
    """A store of ``count`` vectors, ids from 1."""
    store = VectorFile.empty(WIDTH)
    store.add(range(1, count + 1), some(count))
    return store


def by_id(store: VectorFile) -> dict[int, list[float]]:
    """Every vector under its id."""
    return dict(zip(store.ids().tolist(), store.matrix().tolist(), strict=True))


@pytest.fixture
def low_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    """More than 100 vectors are many."""
    monkeypatch.setattr(vectors, "EXACT_MOST", 100)


def test_a_saved_file_is_what_was_saved(tmp_path: Path) -> None:
    """Ids and vectors, to the bit."""
    stored(20).save(tmp_path, 3)
    again = VectorFile.open(tmp_path, 3)
    assert by_id(again) == by_id(stored(20))
    assert (len(again), again.dimension, again.exact) == (20, WIDTH, True)


def test_an_empty_file_can_be_saved_and_added_to(tmp_path: Path) -> None:
    """An index of notes without text has no vectors yet."""
    VectorFile.empty(WIDTH).save(tmp_path, 1)
    again = VectorFile.open(tmp_path, 1)
    assert again.matrix().shape == (0, WIDTH)
    again.add([], np.zeros((0, WIDTH), dtype=np.float32))
    again.add([7], some(1))
    assert again.ids().tolist() == [7]


@pytest.mark.parametrize("count", [50, 150])
def test_what_is_taken_out_leaves_the_others_as_they_are(
    tmp_path: Path, low_bound: None, count: int
) -> None:
    """Exact or not, before and after a save."""
    stored(count).save(tmp_path, 1)
    store = VectorFile.open(tmp_path, 1)
    before = by_id(store)
    store.remove([2, 3, count])
    store.remove([])
    store.save(tmp_path, 2)
    assert by_id(VectorFile.open(tmp_path, 2)) == {
        one: vector for one, vector in before.items() if one not in (2, 3, count)
    }


def test_past_the_bound_vectors_are_kept_in_one_byte_a_dimension(
    tmp_path: Path, low_bound: None
) -> None:
    """The next save after the bound is passed; up to it, every vector is as it was made."""
    store = stored(100)
    store.save(tmp_path, 1)
    assert store.exact
    store.add([500], some(1, seed=5))
    store.save(tmp_path, 2)
    assert not store.exact
    again = VectorFile.open(tmp_path, 2)
    assert not again.exact
    assert sorted(again.ids().tolist()) == [*range(1, 101), 500]
    expected = by_id(stored(100)) | {500: some(1, seed=5)[0].tolist()}
    for one, vector in by_id(again).items():
        assert vector == pytest.approx(expected[one], abs=0.01)


def test_many_vectors_can_be_added_to_and_are_trained_anew_when_there_are_many_more(
    tmp_path: Path, low_bound: None
) -> None:
    """Lists that were right for the bound would be long for ten times as much."""
    store = stored(101)
    store.save(tmp_path, 1)
    lists = store._index.nlist
    store.add(range(102, 302), some(200, seed=1))
    store.save(tmp_path, 2)
    assert store._index.nlist == lists
    store.add(range(302, 1002), some(700, seed=2))
    store.save(tmp_path, 3)
    assert store._index.nlist > 2 * lists
    again = VectorFile.open(tmp_path, 3)
    assert sorted(again.ids().tolist()) == list(range(1, 1002))
    expected = np.concatenate([some(101), some(200, seed=1), some(700, seed=2)])
    found = by_id(again)
    np.testing.assert_allclose([found[n] for n in range(1, 1002)], expected, atol=0.02)


def test_the_same_vectors_make_the_same_file(tmp_path: Path, low_bound: None) -> None:
    """Nothing in the training is left to chance."""
    for generation in (1, 2):
        stored(300).save(tmp_path, generation)
    one, other = (tmp_path / vectors.file_name(n) for n in (1, 2))
    assert one.read_bytes() == other.read_bytes()


@pytest.mark.parametrize("count", [50, 150])
@pytest.mark.parametrize("damage", ["missing", "empty", "short", "shorter", "other"])
def test_a_damaged_file_is_an_os_error(
    tmp_path: Path, low_bound: None, count: int, damage: str
) -> None:
    """Which the callers turn into a line for people."""
    stored(count).save(tmp_path, 1)
    place = tmp_path / vectors.file_name(1)
    data = place.read_bytes()
    changed = {
        "empty": b"",
        "short": data[:-9],
        "shorter": data[:50],
        "other": b"something else altogether, long enough to have a header" * 9,
    }
    place.unlink() if damage == "missing" else place.write_bytes(changed[damage])
    with pytest.raises(OSError, match=r"cut short|not an index|No such file"):
        VectorFile.open(tmp_path, 1)


def test_an_index_of_another_kind_is_not_taken_for_ours(tmp_path: Path) -> None:
    """A FAISS file that somebody else wrote."""
    import faiss

    other = faiss.IndexFlatIP(WIDTH)
    (tmp_path / vectors.file_name(1)).write_bytes(faiss.serialize_index(other).tobytes())
    with pytest.raises(OSError, match="not an index of this toolkit"):
        VectorFile.open(tmp_path, 1)


def test_tidying_keeps_this_generation_and_the_one_before(tmp_path: Path) -> None:
    """And takes what killed saves left."""
    for generation in range(1, 5):
        stored(3).save(tmp_path, generation)
    (tmp_path / ".vectors-00000004.faiss.abc.tmp").touch()
    vectors.tidy(tmp_path, 4)
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        vectors.file_name(3),
        vectors.file_name(4),
    ]
    assert vectors.latest(tmp_path) == 4
    assert vectors.size(tmp_path, 4) > 3 * 4 * WIDTH
    assert vectors.size(tmp_path, 9) == 0
