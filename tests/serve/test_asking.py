"""Answers from the server while it gives them, from the index otherwise."""

from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput
from memory_palace.embed.registry import Choice
from memory_palace.files.config import Config
from memory_palace.search.query import Query
from memory_palace.search.searcher import Searcher
from memory_palace.serve.asking import Asker
from serve.running import serving
from support.palaces import NOW, Palace


class Opened:
    """Opens searchers, and counts them."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, root: Path, config: Config, choice: Choice) -> Searcher:
        self.count += 1
        return Searcher(root, config, choice)


@pytest.fixture
def opened() -> Opened:
    """A count of none."""
    return Opened()


def test_without_a_server_the_index_is_opened_once(filled: Palace, opened: Opened) -> None:
    """All that a searcher tells, and the fields that the settings decide."""
    filled.write("palace.yaml", "search: {top_k: 1, neighbors: 0}\n")
    filled.notes(topics__new="Not indexed.")
    with Asker(filled.root, ("top_k", "neighbors"), True, opened) as asker:
        assert (asker.served, asker.name, asker.changed, asker.notes) == (False, "none", 1, [])
        assert asker.embedder == "embedder: none (keywords only); as configured"
        for _ in range(2):
            (hit,) = asker.ask(Query(text="amber", top_k=9, neighbors=9), NOW).hits
            assert hit.neighbors == ()
        with pytest.raises(BadInput, match="nothing is asked"):
            asker.ask(Query(), NOW)
    assert opened.count == 1


def test_with_a_server_it_is_not_opened_at_all(filled: Palace, opened: Opened) -> None:
    """Until the server is gone: from then on the index answers, and the same."""
    query = Query(text="amber", top_k=9)
    with serving(filled.root) as server, Asker(filled.root, (), True, opened) as asker:
        assert (asker.served, asker.name, asker.changed, asker.notes) == (True, "none", 0, [])
        first = asker.ask(query, NOW)
        assert opened.count == 0
        with pytest.raises(BadInput, match="nothing is asked"):
            asker.ask(Query(), NOW)
        assert asker.served
        server.kill()
        server.wait()
        assert asker.ask(query, NOW) == first
        assert (asker.served, opened.count, asker.notes) == (False, 1, [])


def test_a_note_of_a_server_that_gave_up_is_kept(filled: Palace, opened: Opened) -> None:
    """Beside the notes of the index."""
    with (
        serving(filled.root, PALACE_DEVICE="cpu"),
        Asker(filled.root, (), False, opened) as asker,
    ):
        assert not asker.served
        (note,) = asker.notes
        assert note.startswith("the server has another PALACE_DEVICE")
