"""Facts by way of the warm server: the same as from the files."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from memory_palace.core.fact import PATH
from memory_palace.search.query import Query
from memory_palace.serve import client, codec
from memory_palace.serve.warm import Warm
from serve.running import serving
from support.palaces import NOW, Palace

LINE = (
    '{{"at": "2026-11-0{0}T00:00:00Z", "by": "pi@laptop", "event": "added", "uid": "{0:016}", '
    '"id": "{0:012}", "subject": "gateway", "predicate": "uses", "object": "box {0}"}}\n'
)
ASKED = Query(text="what is the gateway?", facts=True)


@pytest.fixture
def palace(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Palace]:
    """A note and a fact, keywords only."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    keyword_palace.notes(a="The gateway.")
    keyword_palace.write(PATH, LINE.format(1))
    keyword_palace.index()
    yield keyword_palace


def test_the_server_sends_facts(palace: Palace) -> None:
    """Over the socket they are what the searcher gives, as of any day."""
    early = Query(text="gateway", facts=True, as_of=datetime(2026, 10, 1, tzinfo=UTC))
    with serving(palace.root, PALACE_EMBEDDER="none"):
        found = client.ask(palace.root, ASKED, NOW)
        none = client.ask(palace.root, early, NOW)
    assert found is not None and none is not None
    assert found.facts == palace.ask(ASKED.text, facts=True).facts
    assert [fact.sentence for fact in found.facts] == ["gateway uses box 1"]
    assert none.facts == []


def test_a_new_fact_is_there_at_once(palace: Palace) -> None:
    """Without a look at the index, which did not change."""
    warm = Warm(palace.root)
    try:
        assert len(warm.ask(ASKED, NOW, ()).facts) == 1
        searcher = warm._searcher
        with (palace.root / PATH).open("a") as file:
            file.write(LINE.format(2))
        assert len(warm.ask(ASKED, NOW, ()).facts) == 2
        assert warm._searcher is searcher
    finally:
        warm.close()


def test_a_fact_of_another_shape_is_no_answer(palace: Palace) -> None:
    """What another toolkit sends is refused by name."""
    (fact,) = palace.ask(ASKED.text, facts=True).facts
    sent = codec.encode(fact)
    assert codec.decode(type(fact), sent) == fact
    with pytest.raises(codec.Unfit, match="Fact has 14 values, not 15"):
        codec.decode(type(fact), sent[:-1])
