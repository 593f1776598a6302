"""Private spans that a person wrote by hand reach no context."""

import pytest

from memory_palace.core import proposals
from memory_palace.core.proposals import Evidence, Proposal
from memory_palace.session import consolidate, record, report, turn
from memory_palace.session.events import Reply
from memory_palace.session.recall import recall
from session.prompted import FILLER, KEY, Prompted
from support.palaces import NOW, Palace

IDENTITY = "The team of amber.\n<private>hushed</private>\n"
NOTE = """---
priority: high
---
# The zebra ledger <private>hushed</private>

Zebra and quagga are in the ledger. <private>hushed

## Hushed heading

zebra quagga ledger hushed okapi

hushed</private>
"""
SECRET_NOTE = (
    "# The <private>hushed</private>\n\n<private>\n# hushed okapi\n\nokapi wombat hushed\n"
)
PRIVATE_TITLE = "<private>\n# hushed\n</private>\n\nA gnu.\n"


@pytest.fixture
def filled(keyword_palace: Palace) -> Prompted:
    """A palace in which `hushed` stands in private spans only."""
    made = Prompted(keyword_palace)
    made.entry("zebra and quagga in ledger.py <private>hushed</private>", "aaaaaaaaaaaa")
    made.lines["lessons"].append("<private>")
    made.entry("okapi hushed wombat.py, <private>nested</private> as it is", "bbbbbbbbbbbb")
    made.lines["lessons"].append("</private>")
    made.entry("<private>hushed gnu.py</private>", "cccccccccccc")
    keyword_palace.notes(**FILLER)
    keyword_palace.write("palace/grand_hall/identity.md", IDENTITY)
    keyword_palace.write("palace/project_rooms/demo/zebra.md", NOTE)
    keyword_palace.write("palace/project_rooms/demo/okapi.md", SECRET_NOTE)
    keyword_palace.write("palace/project_rooms/demo/gnu.md", PRIVATE_TITLE)
    assert keyword_palace.command("index").code == 0
    return made


def start(made: Prompted, source: str, **fields: str) -> Reply:
    """A session starts."""
    return turn.handle(made.root, made.event("start", source=source, **fields), NOW)


@pytest.mark.parametrize("is_indexed", [True, False])
def test_the_start(filled: Prompted, is_indexed: bool) -> None:
    """Identity, story, report; whether the catalog has the titles or the files are read."""
    if not is_indexed:
        (filled.root / ".palace/index/catalog.sqlite").unlink()
    context = start(filled, "startup").context
    assert "hushed" not in context
    assert "The team of amber.\n[PRIVATE]" in context
    assert "The zebra ledger [PRIVATE]. Zebra and quagga are in the ledger. [PRIVATE]" in context
    assert "- gnu.md (2023-11-14): [PRIVATE] A gnu." in context
    assert "zebra and quagga in ledger.py [PRIVATE] ^aaaaaaaaaaaa" in context
    assert "bbbbbbbbbbbb" not in context and "cccccccccccc" not in context
    assert "hushed" not in start(filled, "resume").context


def test_after_a_compaction(filled: Prompted) -> None:
    """Titles and entries of what had been shown."""
    keys = ["palace/project_rooms/demo/okapi.md", "palace/topics/n.md", "bbbbbbbbbbbb"]
    filled.palace.write("palace/topics/n.md", NOTE)
    rows = [{"k": "shown", "key": key, "digest": ""} for key in keys]
    for number in range(20):  # no room is left for it in the story
        filled.palace.write(
            f"palace/project_rooms/demo/n{number}.md", "---\npriority: high\n---\nx"
        )
    record.append(filled.root, KEY, rows)
    context = start(filled, "compact").context
    assert "# Shown before the compaction" in context
    assert "- palace/topics/n.md: The zebra ledger [PRIVATE]" in context
    assert "- palace/project_rooms/demo/okapi.md: The [PRIVATE]" in context
    assert "hushed" not in context


def test_recall(filled: Prompted) -> None:
    """A wing, and a topic."""
    assert "hushed" not in recall(filled.root, NOW, "demo").text
    found = recall(filled.root, NOW, "topics/lessons")
    assert "zebra and quagga in ledger.py [PRIVATE]" in found.text
    assert "hushed" not in found.text
    assert [memory.id for memory in found.memories] == ["aaaaaaaaaaaa"]


def test_the_report(filled: Prompted) -> None:
    """Its sections, what is near, what may be merged, and proposals."""
    text = "Note the <private>hushed</private> zebra"
    identity = proposals.proposal_id("project_rule", "lesson", text)
    links = (Evidence("[[zebra]]"),)
    made = Proposal(identity, "project_rule", "lesson", text, text, "often", NOW, "# D\n", links)
    filled.palace.write(proposals.path_of("zebra", made.id), proposals.render(made))
    found = report.compose(filled.root, NOW, "hushed okapi wombat zebra quagga", ["wombat.py"])
    assert "Note the [PRIVATE] zebra" in found.text
    assert "ledger.py [PRIVATE]" in found.text
    assert "hushed" not in found.text
    assert "hushed" not in str(consolidate.consolidate(filled.root, NOW, always=True).advice)


def test_a_prompt(filled: Prompted) -> None:
    """Lines and headings; what is found by hidden words alone is not shown."""
    context = filled.say("where do zebra and quagga stand in the ledger?").context
    assert "zebra and quagga in ledger.py [PRIVATE] *" in context or "[PRIVATE] ^" in context
    assert '"The zebra ledger [PRIVATE]"' in context
    assert "Zebra and quagga are in the ledger. [PRIVATE]" in context
    assert "hushed" not in context.lower()
    assert filled.say("okapi wombat", session="s2") == Reply()
    assert (
        filled.say("hushed heading zebra quagga ledger okapi", session="s3").context.count(
            "zebra.md"
        )
        <= 1
    )


def test_an_edit(filled: Prompted) -> None:
    """Entries about the file."""
    assert "ledger.py [PRIVATE] ^aaaaaaaaaaaa" in filled.edit("ledger.py").context
    assert filled.edit("wombat.py", "gnu.py") == Reply()


def test_memories_without_any_are_left_as_they_are(keyword_palace: Palace) -> None:
    """Nothing is made anew."""
    from memory_palace.memory import state
    from memory_palace.session import withheld

    made = Prompted(keyword_palace)
    made.entry("zebra", "aaaaaaaaaaaa")
    found = state.load(made.root, NOW)
    assert withheld.without_private(found) is found
