"""Where an MCP server's answers come from: a shared server, its own index, keywords alone."""

import threading
from collections.abc import Iterator
from dataclasses import replace

import pytest

from memory_palace.core.errors import Missing, Refused
from memory_palace.embed import registry
from memory_palace.embed.port import Embedder
from memory_palace.embed.registry import Choice
from memory_palace.files import locks, roots
from memory_palace.index import run
from memory_palace.search.hits import Answer
from memory_palace.search.query import Query
from memory_palace.serve import process, start
from memory_palace.serve.source import Source
from serve.running import questions, serving, until
from support.fake import FakeEmbedder, fake_choice
from support.palaces import NOW, Palace


class Loads:
    """A model whose loading is counted, and may take a while or fail."""

    def __init__(self, choice: Choice) -> None:
        self.count = 0
        self.fault: Exception | None = None
        self.ready = threading.Event()
        self.ready.set()
        self._load = choice.load
        self.choice = replace(choice, load=self)

    def __call__(self) -> Embedder:
        self.count += 1
        assert self.ready.wait(30)
        if self.fault:
            raise self.fault
        assert self._load
        return self._load()


@pytest.fixture
def loads(embedder: FakeEmbedder, monkeypatch: pytest.MonkeyPatch) -> Loads:
    """The embedder that is chosen, everywhere."""
    made = Loads(fake_choice(embedder))
    monkeypatch.setattr(registry, "choose", lambda _: made.choice)
    return made


@pytest.fixture
def filled(palace: Palace) -> Palace:
    """Two notes, indexed with vectors."""
    palace.notes(topics__amber="The amber ledge.", topics__birch="A birch at the fjord.")
    palace.index()
    return palace


@pytest.fixture
def source(filled: Palace) -> Iterator[Source]:
    """The answers about it."""
    made = Source(filled.root)
    yield made
    made.close()


def ask(source: Source, text: str = "amber") -> Answer:
    """The answer, as a tool asks for it."""
    return source.ask(Query(text=text), ("top_k", "neighbors"), NOW)


def test_the_model_is_loaded_once(source: Source, loads: Loads) -> None:
    """Before the first question where it is prepared; the settings decide how many hits."""
    source.prepare()
    until(lambda: loads.count == 1)
    for _ in range(3):
        answer = ask(source)
        assert answer.hits[0].path == "palace/topics/amber.md"
        assert answer.hits[0].parts.cosine is not None
        assert answer.notes == []
    assert loads.count == 1
    assert source.choice().load is not loads


def test_keywords_have_to_do_until_the_model_is_there(
    source: Source, loads: Loads, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A question waits so long and no longer, and says so; the next one has the model."""
    monkeypatch.setattr("memory_palace.serve.source.LOADING_SECONDS", 0.05)
    loads.ready.clear()
    answer = ask(source)
    assert [hit.path for hit in answer.hits] == ["palace/topics/amber.md"]
    assert answer.hits[0].parts.cosine is None
    assert answer.notes == [
        "found by keywords alone, without the model: it is still loading",
    ]
    loads.ready.set()
    until(lambda: ask(source).hits[0].parts.cosine is not None)


def test_a_model_that_cannot_be_loaded_is_told(source: Source, loads: Loads) -> None:
    """What stands in its way is a note of the answer; it is not tried at each question."""
    loads.fault = Missing("its file is gone: run `make setup`")
    for _ in range(2):
        answer = ask(source)
        assert answer.hits
        assert answer.notes == [
            "found by keywords alone, without the model: its file is gone: run `make setup`"
        ]
    assert loads.count == 1


def test_what_changed_is_indexed_with_the_model_in_memory(
    filled: Palace, source: Source, loads: Loads, embedder: FakeEmbedder
) -> None:
    """A new note is found by meaning at the next question; nothing is loaded again."""
    ask(source)
    filled.notes(topics__new="A quokka.")
    source.wrote()
    (hit,) = ask(source, "quokka").hits
    assert hit.parts.cosine is not None
    assert any("quokka" in text for text in embedder.embedded)
    assert loads.count == 1


def test_without_an_index_one_is_made(palace: Palace, loads: Loads) -> None:
    """The first question indexes."""
    palace.notes(topics__amber="The amber ledge.")
    source = Source(palace.root)
    assert ask(source).hits
    source.close()


def test_files_are_looked_at_once_in_a_while(
    source: Source, loads: Loads, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not at each question; and a file that stays unknown is not indexed again and again."""
    runs: list[int] = []
    real = run.index
    monkeypatch.setattr(run, "index", lambda *a: runs.append(1) or real(*a))
    ask(source)
    assert runs == []
    (source.root / "palace/topics/bad.md").write_bytes(b"\xff\xfe")
    ask(source)
    assert runs == []
    source.wrote()
    ask(source)
    assert runs == [1]
    monkeypatch.setattr(source, "_changed", lambda _: 1)
    source.wrote()
    ask(source)
    source.wrote()
    ask(source)
    assert runs == [1, 1]


def test_an_index_that_cannot_be_updated_still_answers(
    filled: Palace, source: Source, loads: Loads
) -> None:
    """While another one writes, and after most notes went away: a note says why."""
    filled.notes(topics__new="A quokka.")
    with locks.writer(roots.index_folder(filled.root), "a test", 5.0, lambda _: None):
        answer = ask(source)
        again = ask(source, "quokka")  # too soon to try again, and still true
    assert answer.hits
    (note,) = answer.notes
    assert note.startswith("the index could not be brought up to date: ")
    assert "a test" in note
    assert note in again.notes


def test_notes_that_are_away_are_no_empty_answer(
    filled: Palace, source: Source, loads: Loads
) -> None:
    """An unmounted tree is told, and the index keeps what it knows."""
    (filled.root / "palace").rename(filled.root / "elsewhere")
    with pytest.raises(Missing, match="mount or restore it"):
        ask(source)
    (filled.root / "elsewhere").rename(filled.root / "palace")
    assert ask(source).hits


def test_nothing_to_answer_from_is_an_error(
    palace: Palace, source: Source, loads: Loads, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No index and none to be made: the reason is the answer."""

    def full(*_: object) -> None:
        raise Missing("the index could not be written (disk full): free disk space")

    monkeypatch.setattr(run, "index", full)
    monkeypatch.setattr(source, "_changed", lambda _: None)
    with pytest.raises(Missing, match="disk full"):
        ask(source)


def test_a_slow_model_is_not_loaded_to_embed_a_few_texts(
    filled: Palace, source: Source, loads: Loads
) -> None:
    """Where it is not in memory, what is new is found by keywords until the next index run."""
    loads.choice = replace(loads.choice, name="bge-m3")
    filled.notes(topics__new="A quokka.")
    assert source.bring_up_to_date() == []
    assert loads.count == 0
    (hit,) = ask(source, "quokka").hits
    assert hit.path == "palace/topics/new.md"


def test_from_many_threads(source: Source, loads: Loads) -> None:
    """Questions at once are answered one after the other, each right."""
    found: list[str] = []

    def one(text: str) -> None:
        found.append(ask(source, text).hits[0].path)

    threads = [threading.Thread(target=one, args=(t,)) for t in ("amber", "birch") * 5]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(found) == ["palace/topics/amber.md"] * 5 + ["palace/topics/birch.md"] * 5
    assert loads.count == 1


def test_one_that_is_closed_answers_nothing(source: Source, loads: Loads) -> None:
    """It opens no index again."""
    ask(source)
    source.close()
    with pytest.raises(Refused, match="the server is ending"):
        ask(source)


@pytest.fixture
def keywords(filled: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """The same palace in an environment without a model, as its servers see it."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    return filled


def test_a_warm_server_is_asked_where_one_runs(keywords: Palace, source: Source) -> None:
    """And the own index after it has gone."""
    with serving(keywords.root):
        source.prepare()
        assert ask(source).hits
        assert questions(keywords.root) == 1
        assert source._own is None
    assert ask(source).hits
    assert source._own is not None


def test_a_server_is_started_where_one_is_wanted(
    keywords: Palace, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With `PALACE_SERVE=on` it is started behind the handshake, and the first question waits."""
    monkeypatch.setenv("PALACE_SERVE", "on")
    try:
        source.prepare()
        assert ask(source).hits
        assert questions(keywords.root) == 1
        assert source._own is None
    finally:
        process.stop(keywords.root)


def test_any_model_is_worth_sharing(
    filled: Palace, loads: Loads, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By default a server is wanted for every model, for keywords alone none; never in a CI."""
    begun: list[str] = []
    monkeypatch.setattr(start, "afterwards", lambda _, name: bool(begun.append(name)) or True)
    for chosen, ci, wanted in (
        (loads.choice, "", True),
        (replace(loads.choice, load=None), "", False),
        (loads.choice, "true", False),
    ):
        loads.choice = chosen
        monkeypatch.setenv("CI", ci)
        begun.clear()
        source = Source(filled.root)
        source.prepare()
        assert bool(begun) is wanted
        assert (source._own is None) is wanted
        source.close()


def test_none_is_asked_or_started_where_it_is_off(
    keywords: Palace, source: Source, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`PALACE_SERVE=off` keeps to the own index, also beside a server."""
    with serving(keywords.root):
        monkeypatch.setenv("PALACE_SERVE", "off")
        assert ask(source).hits
        monkeypatch.delenv("PALACE_SERVE")
        assert questions(keywords.root) == 0


def test_what_stands_in_the_way_of_a_model_is_said(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Preparing never raises."""
    monkeypatch.setenv("PALACE_EMBEDDER", "nonsense")
    said: list[str] = []
    source = Source(filled.root, said.append)
    source.prepare()
    source.close()
    assert len(said) == 1
    assert "nonsense" in said[0]
