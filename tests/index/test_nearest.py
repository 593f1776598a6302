"""Readers get the same answers from both kinds of files."""

import os
from pathlib import Path

import numpy as np
import pytest

from index.test_vectors import WIDTH, some, stored
from memory_palace.index import lists, nearest, vectors
from memory_palace.index.nearest import Nearest
from memory_palace.index.vectors import VectorFile


@pytest.fixture(params=["exact", "approximate", "approximate, through the lists"])
def reader(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Nearest:
    """600 vectors with ids 1 to 601, without 10, from a file."""
    if request.param != "exact":
        monkeypatch.setattr(vectors, "EXACT_MOST", 100)
    if "lists" in request.param:
        monkeypatch.setattr(lists, "GATHERED_MOST", 0)
        monkeypatch.setattr(lists, "PROBED", 1.0)
    store = stored(600)
    store.save(tmp_path, 1)
    store.remove([10])
    store.add([601], some(1, seed=4))
    store.save(tmp_path, 2)
    return nearest.open_to_read(tmp_path, 2)


def truth(reader: Nearest, question: np.ndarray) -> np.ndarray:
    """The cosine of each row with the question, from the vectors as they were made."""
    made = np.concatenate([some(600), some(1, seed=4)])
    return made[reader.ids() - 1] @ question


QUESTION = some(1, seed=8)[0]


def test_every_row_has_the_id_and_the_cosine_of_its_vector(reader: Nearest) -> None:
    """What was taken out is not there, what was added is."""
    assert (len(reader), reader.dimension) == (600, WIDTH)
    assert sorted(reader.ids().tolist()) == [n for n in range(1, 602) if n != 10]
    np.testing.assert_allclose(reader.cosines(QUESTION), truth(reader, QUESTION), atol=0.01)


def test_some_rows_are_asked_for_in_any_order(reader: Nearest) -> None:
    """None, one, and one twice."""
    expected = truth(reader, QUESTION)
    for rows in ([], [599], [5, 3, 3, 599, 0]):
        asked = np.array(rows, dtype=np.int64)
        np.testing.assert_allclose(reader.cosines_of(QUESTION, asked), expected[asked], atol=0.01)
        np.testing.assert_allclose(
            reader.vectors_of(asked) @ QUESTION, reader.cosines_of(QUESTION, asked), atol=1e-5
        )


@pytest.mark.parametrize("count", [1, 10, 10_000])
@pytest.mark.parametrize("every", [None, 3, 599])
def test_the_nearest_are_those_of_the_highest_cosine(
    reader: Nearest, count: int, every: int | None
) -> None:
    """Best first, among all or among some."""
    among = None if every is None else np.arange(0, 600, every)
    rows, cosines = reader.nearest(QUESTION, count, among)
    allowed = np.arange(600) if among is None else among
    assert len(rows) == len(set(rows.tolist())) == min(count, len(allowed))
    assert set(rows.tolist()) <= set(allowed.tolist())
    assert np.all(np.diff(cosines) <= 0)
    np.testing.assert_allclose(cosines, reader.cosines_of(QUESTION, rows), atol=1e-5)
    best = np.sort(truth(reader, QUESTION)[allowed])[::-1][: len(rows)]
    np.testing.assert_allclose(cosines, best, atol=0.01)


def test_nothing_is_near_among_nothing(reader: Nearest) -> None:
    """A filter that lets nothing through."""
    rows, cosines = reader.nearest(QUESTION, 5, np.zeros(0, dtype=np.int64))
    assert len(rows) == len(cosines) == 0


@pytest.mark.parametrize("bound", [100, 1_000])
@pytest.mark.parametrize("damage", ["missing", "empty", "short", "shorter", "other", "headless"])
def test_a_damaged_file_is_an_os_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: int, damage: str
) -> None:
    """Which the callers turn into a line for people."""
    monkeypatch.setattr(vectors, "EXACT_MOST", bound)
    stored(150).save(tmp_path, 1)
    place = tmp_path / vectors.file_name(1)
    data = place.read_bytes()
    changed = {
        "empty": b"",
        "short": data[:-9],
        "shorter": data[:50],
        "other": b"something else altogether, long enough to have a header" * 9,
        "headless": data[:4],
    }
    place.unlink() if damage == "missing" else place.write_bytes(changed[damage])
    with pytest.raises(OSError, match=r"cut short|not an index|No such file"):
        nearest.open_to_read(tmp_path, 1)


@pytest.mark.skipif(os.name != "posix", reason="names are text elsewhere")
@pytest.mark.parametrize("bound", [10, 1_000])
def test_a_folder_may_have_a_name_that_is_no_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: int
) -> None:
    """Bytes that are not UTF-8, which FAISS's own file functions do not take."""
    folder = tmp_path / os.fsdecode(b"caf\xe9")
    try:
        folder.mkdir()
    except OSError:
        pytest.skip("this file system takes UTF-8 only")
    monkeypatch.setattr(vectors, "EXACT_MOST", bound)
    stored(50).save(folder, 1)
    assert len(nearest.open_to_read(folder, 1)) == len(VectorFile.open(folder, 1)) == 50


def test_a_reader_keeps_its_vectors_when_the_file_is_gone(reader: Nearest, tmp_path: Path) -> None:
    """A build that goes on meanwhile tidies old generations away."""
    expected = truth(reader, QUESTION)
    for place in tmp_path.glob("vectors-*"):
        place.unlink()
    np.testing.assert_allclose(reader.cosines(QUESTION), expected, atol=0.01)


def test_an_empty_file_has_no_rows(tmp_path: Path) -> None:
    """As the first save of notes without text leaves it."""
    VectorFile.empty(WIDTH).save(tmp_path, 1)
    empty = nearest.open_to_read(tmp_path, 1)
    assert len(empty) == len(empty.cosines(QUESTION)) == len(empty.nearest(QUESTION, 5)[0]) == 0
