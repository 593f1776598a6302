"""Facts beside hits, and what counts as of a day."""

import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from memory_palace.core.fact import PATH
from memory_palace.index import facts
from memory_palace.memory import facts as memory
from memory_palace.memory import pen
from memory_palace.search import known
from support.palaces import NOW, Palace

DAY = datetime(2026, 11, 10, 23, 59, tzinfo=UTC)


def add(root: Path, *names: str, start: str = "2026-11-01", ended: str = "") -> None:
    """A fact, from and until a day."""
    with pen.begin(root, NOW, "palace kg add", "", lambda _: None) as held:
        memory.add(held, *names, start=datetime.fromisoformat(f"{start}T00:00:00+00:00"))
        if ended:
            end = datetime.fromisoformat(f"{ended}T00:00:00+00:00")
            memory.invalidate(held, *names, ended=end)


@pytest.fixture
def palace(keyword_palace: Palace) -> Palace:
    """A note, and facts in time."""
    keyword_palace.notes(a="---\ncreated: 2026-11-05\n---\nThe gateway is a box.")
    root = keyword_palace.root
    add(root, "gateway", "uses", "Nginx", start="2026-10-01", ended="2026-11-15")
    add(root, "gateway", "uses", "Envoy", start="2026-11-15")
    add(root, "Ada", "owns", "gateway", start="2026-11-20")
    keyword_palace.index()
    return keyword_palace


def sentences(palace: Palace, question: str, as_of: datetime | None = None) -> list[str]:
    """What is known."""
    return [fact.sentence for fact in known.known(palace.root, question, NOW, as_of)]


def test_a_named_entity_brings_what_holds(palace: Palace) -> None:
    """As subject and object; not what ended. Nothing for a question that names none."""
    assert sentences(palace, "what does the GATEWAY use?") == [
        "gateway uses Envoy",
        "Ada owns gateway",
    ]
    assert sentences(palace, "nginx?") == []
    assert sentences(palace, "gateways") == [] == sentences(palace, " ")


def test_as_of_a_day_brings_what_held_then(palace: Palace) -> None:
    """The end is exclusive, what began later is not there."""
    assert sentences(palace, "gateway", DAY) == ["gateway uses Nginx"]
    end = datetime(2026, 11, 15, tzinfo=UTC)
    assert sentences(palace, "gateway", end) == ["gateway uses Envoy"]
    assert sentences(palace, "gateway", datetime(2026, 1, 1, tzinfo=UTC)) == []


def test_few_facts(palace: Palace) -> None:
    """At most five, however many there are."""
    for number in range(12):
        add(palace.root, "gateway", "port", f"80{number}")
    assert len(sentences(palace, "gateway")) == known.MOST


def test_no_log_costs_one_look(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of it is opened, and nothing is made."""
    (palace.root / PATH).unlink()
    monkeypatch.setattr(facts, "opened", lambda root, in_haste: pytest.fail("opened"))
    assert sentences(palace, "gateway") == []


def test_a_log_that_cannot_be_read_leaves_the_hits(palace: Palace) -> None:
    """A line that is none is passed over; a folder in the log's place brings nothing."""
    with (palace.root / PATH).open("ab") as file:
        file.write(b"\xff no line\n{}\n[1]\n")
    assert len(sentences(palace, "gateway")) == 2
    os.rename(palace.root / PATH, palace.root / "elsewhere")
    (palace.root / PATH).mkdir()
    answer = palace.ask("gateway", facts=True)
    assert len(answer.hits) == 1 and answer.facts == []


def test_an_answer_has_facts_where_they_are_asked_for(palace: Palace) -> None:
    """By what is asked in any form; the remark says that it is notes that are missing."""
    assert palace.ask("gateway").facts == []
    assert len(palace.ask("gateway", facts=True).facts) == 2
    assert len(palace.ask(lex="gateway", facts=True).facts) == 2
    answer = palace.ask("envoy", facts=True)
    assert answer.hits == [] and len(answer.facts) == 1
    assert answer.notes == ["no note matched: try other words, fewer filters or --archived"]
    assert palace.ask("zzz", facts=True).notes[0].startswith("nothing matched")


def test_as_of_limits_notes(palace: Palace) -> None:
    """A note's time is not after it; ages count from it; with --until the earlier one counts."""
    assert palace.paths("gateway", as_of=DAY) == ["a"]
    assert palace.paths("gateway", as_of=datetime(2026, 11, 4, tzinfo=UTC)) == []
    assert palace.paths(as_of=DAY) == ["a"]
    early, late = datetime(2026, 11, 4, tzinfo=UTC), NOW
    assert palace.paths("gateway", as_of=late, until=early) == []
    assert palace.paths("gateway", as_of=early, until=late) == []
    (then,), (now,) = (palace.hits("gateway", as_of=at) for at in (DAY, None))
    assert then.parts.recency > now.parts.recency


def test_a_changed_note_is_held_to_the_day_too(palace: Palace) -> None:
    """Read from its file, before the index knows of it."""
    palace.write("palace/a.md", "---\ncreated: 2026-11-12\n---\nThe gateway is a box.", old=False)
    assert palace.paths("gateway", as_of=DAY) == []
    assert palace.paths("gateway") == ["a"]


def test_what_was_superseded_later_was_not_then(palace: Palace) -> None:
    """No mark and no place behind a successor that was not there yet."""
    palace.notes(b='---\ncreated: 2026-11-20\nsupersedes: "[[a]]"\n---\nThe gateway is a cloud.')
    palace.index()
    marks = [hit.parts.superseded for hit in palace.hits("gateway", as_of=DAY)]
    assert marks == [False]
    assert [hit.parts.superseded for hit in palace.hits("gateway")] == [False, True]
