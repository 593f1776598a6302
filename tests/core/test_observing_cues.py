"""What a sentence is about by its words."""

import pytest

from memory_palace.core import observing_cues as cues
from memory_palace.core.observing_cues import Cue


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("From now on, sign commits.", cues.PREFERENCE),
        ("I'd prefer tabs", cues.PREFERENCE),
        ("never commit to main", cues.PREFERENCE),
        ("I have never seen that", None),
        ("no, the other one", cues.CORRECTION),
        ("no use tabs", cues.CORRECTION),
        ("Actually it was 12", cues.CORRECTION),
        ("no problem, never mind", None),
        ("no, never mind", None),
        ("No idea why it fails", None),
        ("That's not right", cues.CORRECTION),
        ("Let's go with rstar", cues.DECISION),
        ("kiddo is out", cues.DECISION),
        ("don't touch the base image", cues.DECISION),
        ("We're blocked by ops", cues.BLOCKED),
        ("The harbour is grey", None),
    ],
)
def test_what_people_say(text: str, found: Cue | None) -> None:
    """Wishes before corrections, decisions and blockers."""
    assert cues.of_person(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Done: all is green", cues.DONE),
        ("All 12 tests pass", cues.DONE),
        ("The cause is a race", cues.CAUSE),
        ("Deployment is blocked", cues.BLOCKED),
        ("The review is still missing, all tests pass", cues.BLOCKED),
        ("The harbour is grey", None),
    ],
)
def test_what_agents_say(text: str, found: Cue | None) -> None:
    """Blockers before what is done and causes."""
    assert cues.of_agent(text) == found


def test_plans_and_consent() -> None:
    """What an agent does next is a plan; a yes or no is short, and follows a proposal."""
    assert cues.is_plan("Ok, let me look") and cues.is_plan("I'll check the log")
    assert not cues.is_plan("The log says so")
    assert cues.answers("yes, do it") and cues.answers("はい") and cues.answers("no")
    assert not cues.answers("yesterday") and not cues.answers("yes " + "x" * 90)
    assert cues.proposes("It is slow. Shall I switch?") and cues.proposes("I would take amber.")
    assert not cues.proposes("It is slow.")


@pytest.mark.parametrize(
    ("said", "refuses", "bare"),
    [
        ("No.", True, True),
        ("not now, thanks", True, True),
        ("No, use cents instead.", True, False),
        ("Not Redis, keep the table.", True, False),
        ("Not bad, go on.", False, False),
        ("Not only the table, the index too.", False, False),
        ("No problem, go on.", False, False),
        ("Notice, the table is full.", False, False),
        ("Yes.", False, False),
    ],
)
def test_what_says_no(said: str, refuses: bool, bare: bool) -> None:
    """To what was done or proposed, with or without something in its place."""
    assert (cues.refuses(said), cues.is_no(said)) == (refuses, bare)
