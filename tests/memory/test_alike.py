"""Vectors of memories of one line: kept, made anew where they are not, and the nearest of them."""

import sqlite3
from pathlib import Path

import numpy as np
import pytest

from memory_palace.core.errors import BadInput, Missing
from memory_palace.embed import registry
from memory_palace.files import config as configs
from memory_palace.files import roots
from memory_palace.index.progress import Progress
from memory_palace.memory import alike
from memory_palace.memory.alike import Entries
from support.fake import FakeEmbedder, fake_choice
from support.palaces import Palace

TEXTS = ["amber ledge", "birch fjord", "cedar knoll"]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty palace."""
    return Palace(tmp_path / "root").root


class Told(Progress):
    """A progress that remembers what was said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)

    def start(self, label: str, total: int) -> None: ...

    def advance(self, steps: int) -> None: ...

    def stop(self) -> None: ...


def test_vectors_are_kept(root: Path) -> None:
    """Each text is embedded once, and again by another embedder."""
    one = FakeEmbedder()
    first = Entries(root, fake_choice(one)).of(TEXTS)
    assert first.shape == (3, 256) and first.dtype == np.float32
    assert one.embedded == TEXTS
    again = Entries(root, fake_choice(one)).of([TEXTS[2], "new", TEXTS[2]])
    assert one.embedded == [*TEXTS, "new"]
    assert np.array_equal(again[[0, 2]], first[[2, 2]])
    other = FakeEmbedder(salt="2")
    assert not np.array_equal(Entries(root, fake_choice(other)).of(TEXTS), first)
    assert other.embedded == TEXTS


def test_what_has_no_vector_yet_is_named(root: Path) -> None:
    """Each text once; by another embedder all of them lack one."""
    vectors = Entries(root, fake_choice())
    vectors.of(TEXTS[:1])
    assert vectors.missing([*TEXTS, *TEXTS]) == list(TEXTS[1:])
    assert Entries(root, fake_choice(FakeEmbedder(salt="2"))).missing(TEXTS[:1]) == list(TEXTS[:1])


def test_more_than_a_batch(root: Path) -> None:
    """In order, and each its own."""
    texts = [f"word{n}" for n in range(150)]
    model = FakeEmbedder()
    made = Entries(root, fake_choice(model)).of(texts)
    assert np.array_equal(made, model.embed_passages(texts))
    assert Entries(root, fake_choice(model)).of([]).shape[0] == 0


def test_the_nearest(root: Path) -> None:
    """Places and cosines, nearest first, of equals the first; none of none."""
    vectors = Entries(root, fake_choice())
    found = vectors.nearest("birch fjord", [*TEXTS, "birch fjord"])
    assert [place for place, _ in found][:2] == [1, 3]
    assert found[0][1] == pytest.approx(1, abs=1e-6)
    assert [cosine for _, cosine in found] == sorted((c for _, c in found), reverse=True)
    assert vectors.nearest("x", []) == []


def test_without_an_embedder_nothing_is_near(root: Path) -> None:
    """And nothing is written."""
    vectors = Entries(root, registry.Choice("none", "none", ""))
    assert not vectors.usable
    assert vectors.nearest("x", TEXTS) == []
    assert not (root / ".palace").exists()


def test_an_embedder_that_cannot_be_loaded_is_said(root: Path) -> None:
    """A memory is written all the same."""

    def load() -> FakeEmbedder:
        raise Missing("no model: install it")

    told = Told()
    choice = fake_choice()
    broken = registry.Choice("fake", "fake", "", choice.fingerprint, 0.2, load)
    assert Entries(root, broken, told).nearest("x", TEXTS) == []
    assert told.lines == ["only equal texts are found: no model: install it"]


@pytest.mark.parametrize("damage", ["garbage", "folder", "truncated", "short rows", "other table"])
def test_a_damaged_store_only_costs_time(root: Path, damage: str) -> None:
    """The same vectors, and none from the damaged store."""
    model = FakeEmbedder()
    first = Entries(root, fake_choice(model)).of(TEXTS)
    place = root / roots.MEMORY / "vectors.sqlite"
    data = place.read_bytes()
    if damage == "garbage":
        place.write_bytes(b"garbage" * 1000)
    elif damage == "folder":
        place.unlink()
        place.mkdir()
    elif damage == "truncated":
        place.write_bytes(data[: len(data) // 2])
    else:
        with sqlite3.connect(place) as store:
            if damage == "short rows":
                store.execute("UPDATE vectors SET row = x'00'")
            else:
                store.execute("DROP TABLE vectors")
                store.execute("CREATE TABLE vectors (a)")
        store.close()
    for _ in range(2):
        assert np.array_equal(Entries(root, fake_choice(model)).of(TEXTS), first)


def test_a_store_that_leads_elsewhere_is_not_used(root: Path, tmp_path: Path) -> None:
    """No link is followed."""
    (root / ".palace").symlink_to(tmp_path)
    with pytest.raises(BadInput, match="symbolic link"):
        Entries(root, fake_choice()).of(TEXTS)
    assert not (tmp_path / "memory").exists()


def test_a_store_does_not_grow_for_ever(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond its limit it begins anew."""
    monkeypatch.setattr(alike, "_MOST", 2)
    Entries(root, fake_choice()).of(TEXTS)
    Entries(root, fake_choice()).of(["new"])
    with sqlite3.connect(root / roots.MEMORY / "vectors.sqlite") as store:
        assert store.execute("SELECT count(*) FROM vectors").fetchone() == (1,)
    store.close()


def test_the_real_model_knows_what_says_the_same(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another wording is near, another matter is not."""
    monkeypatch.setenv("PALACE_EMBEDDER", "minilm")
    vectors = Entries(root, registry.choose(configs.load(root)))
    said = [
        "Always run the database migrations before the tests",
        "The user prefers tabs over spaces",
    ]
    same = vectors.nearest("Always run database migrations before tests", said)
    assert same[0][0] == 0 and same[0][1] >= 0.90
    other = vectors.nearest("Release notes are written in German", said)
    assert other[0][1] < 0.60
