"""What an agent records itself, on the branch that the session is on."""

from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.errors import BadInput
from memory_palace.core.ledger import record_id
from memory_palace.session import observing
from session.ledgered import Ledgered

KEY = record_id("The lamp is green")


@pytest.fixture
def talk(tmp_path: Path) -> Ledgered:
    """A session that went back to its first prompt."""
    return Ledgered(tmp_path / "root")


def test_what_was_dropped_on_another_branch_is_dropped_here(talk: Ledgered) -> None:
    """Once on each: a tombstone hides nothing on a branch that it does not stand on."""
    first = talk.say("Which lamp?")
    drop = {"drops": [KEY], "covers_up_to": "tip"}
    talk.say("The old one", parent=first)
    observing.record(talk.root, talk.path, drop, talk.at, "pi@here")
    talk.say("The new one", parent=first)
    done = observing.record(talk.root, talk.path, drop, talk.at, "pi@here")
    assert done.ids == (KEY,)
    again = observing.record(talk.root, talk.path, drop, talk.at, "pi@here")
    assert (again.ids, again.skipped) == ((), (KEY,))
    assert len(talk.ledger.drops) == 2


def test_a_conclusion_may_rest_on_what_is_recorded_with_it(talk: Ledgered) -> None:
    """By the id that its content makes; not on what nobody records."""
    first = talk.say("Which lamp?")
    one = {"content": "The lamp is green", "relevance": "low", "sources": [first]}
    data: dict[str, Any] = {
        "observations": [one],
        "reflections": [{"content": "Green is asked for", "supports": [KEY]}],
    }
    done = observing.record(talk.root, talk.path, data, talk.at, "pi@here")
    assert [what for what, _, _ in done.made] == ["observed", "reflected"]
    data["reflections"][0]["supports"] = [record_id("nobody said so")]
    with pytest.raises(BadInput, match="is no observation of this session"):
        observing.record(talk.root, talk.path, data, talk.at, "pi@here")


def test_without_coverage_nothing_pending_counts_as_read(talk: Ledgered) -> None:
    """What is recorded stands where the observer was; with an entry's id it reads on to that."""
    first, second = talk.say("Which lamp?"), talk.say("The new one")
    one = {"content": "A lamp was asked for", "relevance": "low", "sources": [second]}
    observing.record(talk.root, talk.path, {"observations": [one]}, talk.at, "pi@here")
    assert [entry.id for entry in talk.pending] == [first, second]
    two = one | {"content": "It is the new one"}
    data = {"observations": [two], "covers_up_to": first}
    observing.record(talk.root, talk.path, data, talk.at, "pi@here")
    assert [entry.id for entry in talk.pending] == [second]
    three = one | {"content": "It was bought"}
    observing.record(talk.root, talk.path, {"observations": [three]}, talk.at, "pi@here")
    covers = {made.content: made.covers_up_to for made in talk.ledger.observations}
    assert covers["It was bought"] == first
    assert [entry.id for entry in talk.pending] == [second]


def test_an_id_that_an_agent_writes_is_not_read(talk: Ledgered) -> None:
    """What it records has the id of what it says, as a ledger wants it."""
    source = talk.say("Which lamp?")
    one = {"content": "It is green", "relevance": "low", "sources": [source], "id": KEY}
    made = observing.record(talk.root, talk.path, {"observations": [one]}, talk.at, "pi@here")
    assert made.ids == (record_id("It is green"),)
    assert talk.ledger.refused == ()
