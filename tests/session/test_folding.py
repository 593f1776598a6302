"""Compaction: a checkpoint before it, and what the session gets back after it."""

import contextlib
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core import fence
from memory_palace.core.errors import Missing
from memory_palace.core.ledger import Entry, Folded, Observation
from memory_palace.files import ledgers
from memory_palace.session import capture, drain, folding, observing, record, starting, turn
from memory_palace.session.events import Event, Reply
from session.ledgered import CLIENT, Killed, Ledgered, Told, killed_at, of
from support.palaces import NOW, Palace

SAID = "Decided: we use FAISS and not a server, because it needs no process"


class Compacted:
    """A session whose turns are captured by hooks, and that is compacted."""

    def __init__(self, root: Path, client: str = CLIENT) -> None:
        self.palace = Palace(root)
        self.root = root
        self.client = client
        self.now = NOW
        self.path = ledgers.path_of(root, client, "s1")

    def event(self, name: str, **fields: Any) -> Event:
        return Event(self.client, name, "s1", str(self.root), **fields)

    def prompt(self, text: str, turn: str = "") -> None:
        self.now += timedelta(seconds=30)
        event = self.event("prompt", prompt=text, turn=turn or f"t{self.now:%H%M%S}")
        assert capture.enqueue(self.root, event, self.now) == ()

    def compact(self) -> Reply:
        return turn.handle(self.root, self.event("compact", source="auto"), self.now)

    def start(self, source: str = "compact") -> Reply:
        return starting.reply(self.root, self.event("start", source=source), self.now)

    @property
    def folds(self) -> tuple[Folded, ...]:
        return ledgers.load(self.root, self.path).ledger.folds


@pytest.fixture
def session(tmp_path: Path) -> Compacted:
    """A palace, and a session in which a decision was made."""
    made = Compacted(tmp_path / "root")
    made.prompt(f"{SAID}.")
    return made


def test_a_checkpoint(session: Compacted) -> None:
    """What waits in the queue is put away and observed, and the fold is noted, once."""
    assert session.compact() == Reply()
    ledger = ledgers.load(session.root, session.path).ledger
    assert [one.text for one in ledger.entries.values()] == [f"{SAID}."]
    assert any("FAISS" in one.content for one in ledger.observations)
    (fold,) = session.folds
    assert fold.covers_up_to in ledger.entries and fold.first_kept == "" and not fold.full
    assert record.read(session.root, record.key(CLIENT, "s1")) == [{"k": "compacted"}]
    session.compact()
    assert len(session.folds) == 1
    session.prompt("Next, mend the tests of the ledger.")
    session.compact()
    assert len(session.folds) == 2


@pytest.mark.parametrize("client", ["claude-code", "codex", "pi", "opencode"])
def test_the_fold_comes_back(tmp_path: Path, client: str) -> None:
    """At the start after a compaction, in the one fence, with what leads back to its sources."""
    session = Compacted(tmp_path / "root", client)
    session.prompt(f"{SAID}.")
    session.compact()
    context = session.start().context
    assert context.count("<palace-memory") == 1 and fence.stripped(context) == ""
    assert folding.TITLE in context and "## Observations" in context and "FAISS" in context
    assert "`palace recall ID`" in context and "in no line yet" not in context
    for line in context.splitlines():
        if "FAISS" in line:
            found = session.palace.command("recall", line[1:13])
            assert found.code == 0 and SAID in found.out


@pytest.mark.parametrize("source", ["startup", "resume", "clear", "fork", ""])
def test_at_no_other_start(session: Compacted, source: str) -> None:
    """The context has it, or is not meant to."""
    session.compact()
    assert folding.TITLE not in session.start(source).context


def test_a_client_that_tells_only_afterwards(session: Compacted) -> None:
    """What no hook did before is done then, and noted."""
    reply = session.start()
    assert "FAISS" in reply.context and reply.faults == () and len(session.folds) == 1
    assert session.start().context == reply.context and len(session.folds) == 1


def test_nothing_to_give_back(tmp_path: Path) -> None:
    """A session of which nothing is known gets no section, and no ledger."""
    empty = Compacted(tmp_path / "root")
    assert empty.compact() == Reply()
    assert empty.start() == Reply()
    assert not (empty.root / empty.path).exists()


@pytest.mark.parametrize("off", ["variable", "palace.yaml"])
def test_capture_is_off(session: Compacted, monkeypatch: pytest.MonkeyPatch, off: str) -> None:
    """Then nothing is put away, nor given back of before."""
    session.compact()
    before = (session.root / session.path).read_bytes()
    session.prompt("Always use tabs")
    if off == "variable":
        monkeypatch.setenv("PALACE_CAPTURE", "off")
    else:
        session.palace.write("palace.yaml", "capture: off\n")
    assert session.compact() == Reply() and session.start().context == ""
    assert (session.root / session.path).read_bytes() == before


def test_what_memory_gave_is_not_in_the_fold(session: Compacted) -> None:
    """What was injected earlier in the session, a fold among it, never comes back through it."""
    given = fence.fenced("- Zebras are striped\n- We decided to paint zebras", "prompt")
    session.prompt(f"Decided: the port is 8443.\n\n{given}")
    session.compact()
    first = session.start().context
    assert "8443" in first and "ebra" not in first
    session.prompt(f"{first}\n\nDecided: the port is 9443.")
    session.now += timedelta(seconds=1)
    stop = session.event("stop", message=f"{first} Fixed the crash in ledger.py.", turn="t9")
    capture.enqueue(session.root, stop, session.now)
    session.compact()
    second = session.start().context
    assert second.count(folding.TITLE) == 1 and second.count("8443") == 1 and "9443" in second
    assert "ebra" not in (session.root / session.path).read_text()


def test_each_part_may_fail(session: Compacted, monkeypatch: pytest.MonkeyPatch) -> None:
    """The rest is done all the same, and each fault is told."""

    def broken(*_: object, **__: object) -> None:
        raise Missing("the disk is gone: mend it")

    with monkeypatch.context() as patched:
        patched.setattr(observing, "run", broken)
        assert session.compact().faults == ("compaction: the disk is gone: mend it",)
    assert len(session.folds) == 1, "what was put away is folded, raw"
    session.prompt("Decided: the port is 8443.")
    with monkeypatch.context() as patched:
        patched.setattr(drain, "drain", lambda *_: 1 / 0)
        (fault,) = session.compact().faults
        assert fault == "compaction: ZeroDivisionError: division by zero: run `palace doctor`"
        rows = record.read(session.root, record.key(CLIENT, "s1"))
        assert rows == [{"k": "compacted"}] * 2
    with monkeypatch.context() as patched:
        patched.setattr(ledgers, "append", broken)
        reply = session.start()
        assert reply.faults and "FAISS" in reply.context, "what was folded before"
        assert "8443" not in reply.context
    with monkeypatch.context() as patched:
        patched.setattr(folding, "_note_fold", broken)
        reply = session.start()
        assert "8443" in reply.context, "what could not be noted is folded anew"
        assert reply.faults == ("compaction: the disk is gone: mend it",)


def test_too_much_to_observe_in_time(session: Compacted, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is left is named in the fold, and said as a fault."""
    with monkeypatch.context() as patched:
        patched.setattr(folding, "SECONDS", -1.0)
        (fault,) = session.compact().faults
        assert "no time to observe all of a session" in fault
    assert len(session.folds) == 1
    assert folding.shown(folding.newest(session.root, session.event("start"), NOW), 9_000) == ""
    session.prompt("Decided: the port is 8443.")
    session.compact()
    assert "8443" in folding.shown(folding.newest(session.root, session.event("start"), NOW), 9_000)


def each(part: Sequence[Entry]) -> list[Observation]:
    """An observation of every entry, as it was said."""
    return [of(one.text, one) for one in part]


def test_it_is_cut_to_its_room(tmp_path: Path) -> None:
    """Best lines first, and what is left out is counted; characters count as clients count them."""
    talk = Ledgered(tmp_path / "root")
    for number in range(60):
        talk.say(f"Decided {number}: 😀 the port of service {number} is {8000 + number}. 😀" * 3)
    talk.run(
        worker=Told(lambda part: [of(one.text, one) for one in part]),
        flush=True,
        until=float("inf"),
    )
    talk.say("and so on")
    event = Event(CLIENT, "start", "s1", source="compact")
    for room in (0, 100, 500, 1_000, 2_000, 5_000, 100_000):
        text = folding.shown(folding.newest(talk.root, event, talk.at), room)
        assert fence.size(text) <= room
        assert text == "" if room <= 100 else text.startswith(folding.TITLE)
        if text:
            assert "1 entry is in no line yet: `palace observe --pending` shows that." in text
            assert ("more" in text.removeprefix(folding.TITLE)) == (room < 100_000)


def test_wake_up_and_report_make_room(tmp_path: Path) -> None:
    """The fold has its part of what a client shows, and the whole stays within it."""
    talk = Ledgered(tmp_path / "root")
    talk.palace.write("palace/grand_hall/identity.md", "The team of demo. " * 10)
    for number in range(15):
        text = f"---\npriority: high\n---\n# Note {number}\n\n{'About amber. ' * 40}\n"
        talk.palace.write(f"palace/project_rooms/demo/n{number}.md", text)
    for number in range(200):
        talk.say(f"Decided: the port of service {number} is {8000 + number}, for reasons.")
    talk.run(
        worker=Told(lambda part: [of(one.text, one) for one in part]),
        flush=True,
        until=float("inf"),
    )
    event = Event(CLIENT, "start", "s1", str(talk.root), source="compact")
    context = starting.reply(talk.root, event, talk.at).context
    assert fence.size(context) <= fence.MOST_CHARACTERS
    assert context.index("The team of demo.") < context.index("# Essential story")
    assert context.index("# Essential story") < context.index(folding.TITLE)
    section = context[context.index(folding.TITLE) :]
    assert section.count("the port of service") > 30 and "cut here" not in context


@pytest.mark.parametrize("step", range(8))
def test_a_kill_at_any_step(session: Compacted, step: int) -> None:
    """The start after it does the rest: everything is observed and folded once."""
    with contextlib.suppress(Killed), killed_at(step):
        session.compact()
    assert "FAISS" in session.start().context
    ledger = ledgers.load(session.root, session.path).ledger
    assert len(ledger.entries) == len(ledger.observations) == len(ledger.folds) == 1
    assert ledger.observed_again == () and ledger.refused == ()


def test_a_clock_that_was_set_back(session: Compacted) -> None:
    """The fold that reaches furthest counts, not the newest by the clock."""
    session.compact()
    session.now -= timedelta(days=30)
    session.prompt("Decided: the port is 8443.")
    session.compact()
    assert len(session.folds) == 2
    assert "8443" in session.start().context


def test_a_subagent_has_a_ledger_of_its_own(session: Compacted) -> None:
    """Its compaction folds that one."""
    event = session.event("prompt", prompt="Decided: the port is 8443.", agent="a1")
    capture.enqueue(session.root, event, session.now)
    turn.handle(session.root, session.event("compact", agent="a1"), session.now)
    assert session.folds == ()
    event = session.event("start", source="compact", agent="a1")
    context = starting.reply(session.root, event, session.now).context
    assert "8443" in context and "FAISS" not in context
