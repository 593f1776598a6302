"""What follows once a session was observed: wishes as proposals, and a summary at its end."""

from pathlib import Path

import pytest

from memory_palace.core.errors import Busy
from memory_palace.memory import proposals, wishes
from memory_palace.session import afterwards, marks, summary
from session.ledgered import Ledgered, Told, of

WISH = "Always run the migrations before the tests."


@pytest.fixture
def talk(tmp_path: Path) -> Ledgered:
    """A session in which a person wished something."""
    made = Ledgered(tmp_path / "root")
    made.say(WISH)
    made.say("From now on I run them first.", "assistant")
    return made


def wished(talk: Ledgered) -> list[str]:
    """What waits to be decided."""
    return [one.text for one in proposals.load(talk.root).open]


def observe(talk: Ledgered, **options: object) -> tuple[str, ...]:
    """A run in which every part gives a line; its faults."""
    return talk.run(worker=Told(lambda part: [of(part[0].text, part[0])]), **options).faults


def test_wishes_of_what_was_observed(talk: Ledgered) -> None:
    """Those of the person only, once, and not before they were read."""
    assert observe(talk) == () and wished(talk) == []
    assert observe(talk, flush=True) == ()
    assert wished(talk) == [WISH.rstrip(".")] or wished(talk) == [WISH]
    assert talk.backoff == {"wishes": talk.entries[-1].id}
    before = [(p, p.read_bytes()) for p in sorted((talk.root / "palace").rglob("*.md"))]
    marks.change(talk.root, marks.BACKOFF, talk.path, {"wishes": ""})
    assert observe(talk, flush=True) == ()
    assert before == [(p, p.read_bytes()) for p in sorted((talk.root / "palace").rglob("*.md"))]


def test_a_hook_leaves_them_for_later(talk: Ledgered) -> None:
    """What it has observed is looked at by the next run that has time."""
    observe(talk, flush=True, until=float("inf"))
    assert wished(talk) == [] and talk.ledger.summaries == ()
    assert observe(talk) == () and len(wished(talk)) == 1


def test_a_summary_at_the_end(talk: Ledgered) -> None:
    """Of what was flushed; once."""
    observe(talk)
    assert talk.ledger.summaries == ()
    observe(talk, flush=True)
    (made,) = talk.ledger.summaries
    assert "migrations" in made.parts["request"]
    observe(talk, flush=True)
    assert len(talk.ledger.summaries) == 1


def test_each_may_fail(talk: Ledgered, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, the other is done, and the next run does the rest."""

    def busy(*_: object) -> None:
        raise Busy("somebody is at it: run this again")

    with monkeypatch.context() as patched:
        patched.setattr(wishes, "propose", busy)
        assert observe(talk, flush=True) == (f"{talk.path}: somebody is at it: run this again",)
    assert len(talk.ledger.summaries) == 1 and "wishes" not in talk.backoff
    with monkeypatch.context() as patched:
        patched.setattr(summary, "by_rules", busy)
        talk.say("One more thing: the seed data too.")
        assert len(afterwards.run(talk.root, talk.path, talk.at, talk.ledger, True)) == 1
    assert len(wished(talk)) == 1
