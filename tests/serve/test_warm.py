"""An index and a model in memory, in step with the files, without a process around them."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from memory_palace.embed import registry
from memory_palace.embed.port import Embedder
from memory_palace.embed.registry import Choice
from memory_palace.files import locks, roots
from memory_palace.index import catalog as catalogs
from memory_palace.search.query import Query
from memory_palace.serve import stamps
from memory_palace.serve.warm import NotReady, Warm
from serve.running import until
from support.fake import FakeEmbedder, fake_choice
from support.palaces import NOW, Palace


class Models:
    """What the settings choose; loading waits for ``gate`` and is counted."""

    def __init__(self, choice: Choice) -> None:
        self.choice = choice
        self.gate = threading.Event()
        self.gate.set()
        self.loads = 0
        self.fault: Exception | None = None

    def chosen(self, _: object) -> Choice:
        load = self.choice.load
        assert load

        def counted() -> Embedder:
            self.gate.wait(30)
            self.loads += 1
            if self.fault:
                raise self.fault
            return load()

        return replace(self.choice, load=counted)


@pytest.fixture
def models(embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch) -> Models:
    """The fake embedder, as the settings' choice."""
    made = Models(fake_choice(embedder))
    monkeypatch.setattr(registry, "choose", made.chosen)
    monkeypatch.setattr(registry, "named", lambda config, fingerprint: None)
    return made


@pytest.fixture
def warm(palace: Palace, models: Models) -> Iterator[Warm]:
    """A warm palace of one note."""
    palace.notes(topics__amber="The amber ledge.")
    palace.index()
    made = Warm(palace.root)
    yield made
    models.gate.set()
    made.close()


def found(warm: Warm, text: str = "amber") -> list[str]:
    """The notes that it finds."""
    hits = warm.ask(Query(text=text), NOW, ()).hits
    return [hit.path.removeprefix("palace/topics/").removesuffix(".md") for hit in hits]


def ready(warm: Warm) -> None:
    """Wait for its model."""
    warm.refresh()
    until(lambda: warm.state == "ready", "a model")


def test_nobody_waits_for_a_model(warm: Warm, models: Models) -> None:
    """While it loads there is no answer; from then on it is loaded no more, whatever is built."""
    models.gate.clear()
    for _ in range(3):
        with pytest.raises(NotReady, match="loading"):
            found(warm)
    models.gate.set()
    ready(warm)
    assert found(warm) == ["amber"]
    palace = Palace(warm.root, models.choice)
    palace.notes(topics__birch="The birch and amber.")
    palace.index()
    assert sorted(found(warm)) == ["amber", "birch"]
    assert models.loads == 1


def test_a_model_that_does_not_load_is_not_tried_again(warm: Warm, models: Models) -> None:
    """Its fault is the state, until the settings change."""
    models.fault = OSError("no such weights")
    warm.refresh()
    until(lambda: warm.state == "no such weights")
    for _ in range(3):
        with pytest.raises(NotReady, match="no such weights"):
            found(warm)
    assert models.loads == 1
    models.fault = None
    Palace(warm.root).write("palace.yaml", "search: {top_k: 3}\n", old=False)
    ready(warm)
    assert found(warm) == ["amber"]


def test_another_embedder_takes_the_place_of_the_first(warm: Warm, models: Models) -> None:
    """When the settings choose another one, the index's own is what counts."""
    ready(warm)
    other = fake_choice(FakeEmbedder(salt="other"))
    models.choice = other
    Palace(warm.root).write("palace.yaml", "search: {top_k: 3}\n", old=False)
    Palace(warm.root, other).index()
    with pytest.raises(NotReady, match="loading"):
        found(warm)
    ready(warm)
    assert found(warm) == ["amber"]
    assert models.loads == 2


def test_every_commit_is_seen(warm: Warm, palace: Palace) -> None:
    """Even one that leaves every file's size and time as they were."""
    ready(warm)
    path = roots.index_folder(palace.root) / catalogs.MAIN
    with catalogs.open_to_write(path) as catalog:  # keeps the log open: the file is untouched
        for number in range(3):
            before = stamps.of(path)
            with catalog.transaction():
                catalog.db.execute("UPDATE files SET type = ?", (f"type{number}",))
            assert stamps.of(path) == before
            answer = warm.ask(Query(text="amber", types=(f"type{number}",)), NOW, ())
            assert [hit.type for hit in answer.hits] == [f"type{number}"]


def test_nothing_old_is_held_while_a_build_is_at_it(warm: Warm, palace: Palace) -> None:
    """A commit under the writer's lock: the old state is let go of, and a question opens anew."""
    ready(warm)
    folder = roots.index_folder(palace.root)
    with locks.writer(folder, "a test"), catalogs.open_to_write(folder / catalogs.MAIN) as catalog:
        with catalog.transaction():
            catalog.db.execute("UPDATE files SET type = 'rule'")
        warm.refresh()
        assert warm.described() == ("", "")
        busy, log, done = catalog.db.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert (busy, log, done) == (0, 0, 0)  # nobody was in the way
        assert warm.ask(Query(text="amber", types=("rule",)), NOW, ()).hits
    warm.refresh()
    assert warm.described()[0] == "embedder: fake"


def test_a_lost_vector_file_is_seen(warm: Warm, palace: Palace) -> None:
    """As a command without the server sees it."""
    ready(warm)
    (vectors,) = roots.index_folder(palace.root).glob("vectors-*")
    vectors.unlink()
    assert "vectors cannot be read" in warm.about().notes[0]
    assert found(warm) == ["amber"]


def test_settings_decide_what_the_question_leaves_to_them(warm: Warm, palace: Palace) -> None:
    """`configured` fields come from palace.yaml as it is now; the others stay."""
    palace.notes(topics__birch="The amber birch.", topics__cedar="The amber cedar.")
    palace.index()
    ready(warm)
    query = Query(text="amber", top_k=1)
    assert len(warm.ask(query, NOW, ()).hits) == 1
    assert len(warm.ask(query, NOW, ("top_k",)).hits) == 3
    palace.write("palace.yaml", "search: {top_k: 2}\n", old=False)
    assert len(warm.ask(query, NOW, ("top_k", "neighbors")).hits) == 2


def test_a_fault_in_an_answer_does_not_stay(warm: Warm, monkeypatch: pytest.MonkeyPatch) -> None:
    """The next question starts from the files."""
    ready(warm)
    with monkeypatch.context() as patch:
        patch.setattr("memory_palace.search.rank.rank", lambda *_: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            found(warm)
    assert found(warm) == ["amber"]
