"""What sessions observed is not put beside prompts, and takes no note's place."""

from session.prompted import FILLER, Prompted
from session.sessions import Session, one_of
from support.palaces import Palace

QUESTION = "why does the harvester skip the orchard?"
NOTE = "# Harvester\n\nThe harvester skips the orchard, as its gate is locked at night.\n"


def test_observations_do_not_crowd_out_notes(keyword_palace: Palace) -> None:
    """Hundreds that say more of the question's words than the one note."""
    prompted = Prompted(keyword_palace)
    keyword_palace.notes(**FILLER, harvester=NOTE)
    for n in range(3):
        session = Session(prompted.root, f"old{n}")
        session.said("go")
        session.observed_all(
            [one_of(f"the harvester skips the orchard {n}-{m}", "decision") for m in range(100)]
        )
        # The words stay rare: most observations are of something else.
        session.observed_all([one_of(f"step {n} {m} of another work") for m in range(1_500)])
    keyword_palace.index()
    context = prompted.say(QUESTION).context
    assert "palace/harvester.md" in context and "locked at night" in context
    assert "/ledger/" not in context


def test_notes_alone_can_be_asked_for(palace: Palace) -> None:
    """As the warm server does for a prompt."""
    Session(palace.root).observed("the harvester skips the orchard")
    palace.notes(harvester=NOTE)
    palace.index()
    assert len(palace.paths("harvester orchard")) == 2
    assert palace.paths("harvester orchard", notes_only=True) == ["harvester"]
