"""One event of a session, handled."""

import json
import subprocess
import sys

import pytest

from memory_palace.session import guard, record, starting, turn
from memory_palace.session.events import NAMES, Event, Reply
from session.prompted import KEY, Prompted
from support.palaces import NOW, SCRIPTS, Palace


@pytest.fixture
def filled(keyword_palace: Palace) -> Prompted:
    """A palace with one entry."""
    made = Prompted(keyword_palace)
    made.entry("core/ledger.py is written by one process", "aaaaaaaaaaaa")
    return made


@pytest.mark.parametrize("name", [*NAMES, "something-new", ""])
def test_every_event_is_handled(filled: Prompted, name: str) -> None:
    """An unknown one with nothing."""
    reply = turn.handle(filled.root, filled.event(name), NOW)
    assert isinstance(reply, Reply)
    assert not reply.deny


def test_each_part_gets_its_events(filled: Prompted, monkeypatch: pytest.MonkeyPatch) -> None:
    """The start, the rules before and at the end."""

    def told(name: str) -> object:
        return lambda root, event, *now: Reply(context=f"{name} {event.name}")

    monkeypatch.setattr(starting, "reply", told("starting"))
    monkeypatch.setattr(guard, "before", told("before"))
    monkeypatch.setattr(guard, "at_stop", told("at_stop"))
    wanted = {
        "start": "starting start",
        "before_tool": "before before_tool",
        "stop": "at_stop stop",
        "subagent_stop": "at_stop subagent_stop",
        "end": "",
    }
    for name, context in wanted.items():
        assert turn.handle(filled.root, filled.event(name), NOW).context == context


def test_rules_and_reminders_are_told_together(
    filled: Prompted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each in its own fence, the faults of both."""
    ruled = Reply(context="ruled", faults=("a rule is broken",))
    monkeypatch.setattr(guard, "after", lambda root, event: ruled)
    event = filled.event("after_tool", tool="Edit", files=("core/ledger.py",))
    reply = turn.handle(filled.root, event, NOW)
    assert reply.context.startswith("ruled\n\n<palace-memory")
    assert reply.faults == ("a rule is broken",)


def test_a_tool_that_failed_brings_no_reminder(filled: Prompted) -> None:
    """The file was not changed."""
    event = filled.event("tool_failed", tool="Edit", files=("core/ledger.py",))
    assert not turn.handle(filled.root, event, NOW).context
    assert not filled.rows("reminded")


def test_a_compaction_is_recorded(filled: Prompted) -> None:
    """What was shown before it counts as not shown."""
    assert filled.say("who writes the ledger, one process or two?").context
    turn.handle(filled.root, filled.event("compact", source="auto"), NOW)
    assert record.shown(record.read(filled.root, KEY)) == {}
    assert filled.say("who writes the ledger, one process or two?").context


def test_what_a_server_does_runs_no_rules(
    filled: Prompted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be done again where its answer comes too late."""

    def never(*_: object) -> Reply:
        raise AssertionError

    for name in ("before", "after", "at_stop"):
        monkeypatch.setattr(guard, name, never)
    for name in NAMES:
        turn.served(filled.root, Event("c", name, "s", files=("core/ledger.py",)), NOW)


def test_importing_it_costs_next_to_nothing() -> None:
    """Before a tool runs there are milliseconds."""
    code = (
        "import sys; import datetime, pathlib, typing; before = set(sys.modules)\n"
        "import memory_palace.session.turn\n"
        "print(sorted(m for m in set(sys.modules) - before if not m.startswith('_')))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SCRIPTS)},
        check=True,
    )
    assert json.loads(done.stdout.replace("'", '"')) == [
        "memory_palace",
        "memory_palace.session",
        "memory_palace.session.events",
        "memory_palace.session.turn",
    ]
