"""A session's events, asked of the warm server."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from memory_palace.memory import glance
from memory_palace.memory import state as states
from memory_palace.search.searcher import Searcher
from memory_palace.serve import client, hooking, place, wire
from memory_palace.serve import finder as finders
from memory_palace.serve.finder import Finder, Known, Late
from memory_palace.serve.server import Server
from memory_palace.session import guard, record
from memory_palace.session.events import Event, Reply
from serve.running import end, questions, serving
from serve.test_client import WAIT, Bad, Behaviour, says, silent
from session.prompted import FILLER, KEY, Prompted
from support.palaces import NOW, SCRIPTS, Palace

LEDGER = "The ledger is locked by its writer; readers of the ledger never wait."
QUESTION = "who waits for the ledger's lock, its reader or its writer?"
GOOD = Reply(context="amber", faults=("one",))
PATIENT = 30.0
"""Seconds: a busy machine is no silent server."""


@pytest.fixture
def told(keyword_palace: Palace) -> Prompted:
    """A palace with an entry and a note about the ledger."""
    made = Prompted(keyword_palace)
    made.entry("Never lock the ledger for its readers, see core/ledger.py", "aaaaaaaaaaaa")
    keyword_palace.notes(**FILLER, ledger=f"# The ledger\n\n{LEDGER}")
    assert keyword_palace.command("index").code == 0
    return made


@pytest.fixture
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server may take its time on a busy machine."""
    monkeypatch.setattr(hooking, "FIRST_SECONDS", PATIENT)


@pytest.fixture
def bad(told: Prompted) -> Iterator[Bad]:
    """A server of the palace that does as it is told."""
    made = Bad(told.root)
    yield made
    made.listener.close()
    made.lock.release()


def ask(made: Prompted, event: Event, seconds: float = PATIENT) -> Reply | None:
    """The server's reply."""
    return hooking.ask(made.root, event, NOW, seconds)


@pytest.mark.usefixtures("patient")
def test_a_server_tells_what_the_hook_itself_would(told: Prompted) -> None:
    """The same text; another session's record is another one."""
    with serving(told.root):
        prompt = told.event("prompt", prompt=QUESTION)
        served = ask(told, prompt)
        assert served is not None
        assert "^aaaaaaaaaaaa" in served.context
        assert LEDGER in served.context
        assert served == told.say(QUESTION, session="s2")
        assert len(told.rows("turn")) == 1
        again = ask(told, prompt)
        assert again == Reply()
        assert questions(told.root) == 2


@pytest.mark.usefixtures("patient")
def test_a_server_reminds_and_the_rules_are_asked_here(
    told: Prompted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It runs no commands: what the rules say is added."""
    monkeypatch.setattr(guard, "after", lambda root, event: Reply("ruled", faults=("two",)))
    event = told.event("after_tool", tool="Edit", files=("core/ledger.py",))
    with serving(told.root):
        reply = ask(told, event)
        assert reply
        assert reply.context.startswith("ruled\n\n<palace-memory")
        assert "^aaaaaaaaaaaa" in reply.context
        assert reply.faults == ("two",)
        assert [row["path"] for row in told.rows("reminded")] == ["core/ledger.py"]


@pytest.mark.usefixtures("patient")
def test_rules_that_fail_are_not_asked_twice(
    told: Prompted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command of the user's may have run: the fault is told."""

    def fails(*_: object) -> Reply:
        raise ValueError("broken")

    monkeypatch.setattr(guard, "after", fails)
    event = told.event("after_tool", tool="Edit", files=("core/ledger.py",))
    with serving(told.root):
        reply = ask(told, event)
        assert reply
        assert "broken" in reply.faults[0]
        assert "palace doctor" in reply.faults[0]


@pytest.mark.usefixtures("patient")
def test_a_server_follows_the_files(told: Prompted) -> None:
    """An entry that was just written, one that was let go."""
    with serving(told.root):
        assert ask(told, told.event("prompt", prompt=QUESTION))
        told.entry("Feed the quagga at noon", "bbbbbbbbbbbb")
        fed = told.event("prompt", prompt="when do I feed the quagga?")
        found = ask(told, fed)
        assert found
        assert "^bbbbbbbbbbbb" in found.context
        told.log("forgotten", "bbbbbbbbbbbb")
        assert ask(told, fed._replace(session="s2")) == Reply()


@pytest.mark.usefixtures("patient")
@pytest.mark.parametrize("noise", ["é" * 1_000_000, "\ud800\0" * 500_000, "x" * 5_000_000])
def test_hostile_prompts_are_answered(told: Prompted, noise: str) -> None:
    """What is sent is bounded."""
    event = told.event("prompt", prompt=f"{QUESTION}\n{noise}\n{QUESTION}", input={"x": noise})
    with serving(told.root):
        found = ask(told, event)
        assert found
        assert LEDGER in found.context


def test_without_a_server_there_is_no_reply_and_none_is_started(
    told: Prompted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook does it by itself."""
    monkeypatch.setenv("PALACE_SERVE", "on")
    assert ask(told, told.event("prompt", prompt=QUESTION)) is None
    assert not place.folder(told.root).exists()
    assert not told.rows("turn")


def test_a_dead_servers_socket_is_no_server(told: Prompted) -> None:
    """It was killed."""
    with serving(told.root) as process:
        process.kill()
        end(process)
        assert ask(told, told.event("prompt", prompt=QUESTION)) is None


@pytest.mark.usefixtures("patient")
def test_a_server_is_not_asked_if_that_is_not_wanted(
    told: Prompted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`off`, and a word that means nothing."""
    event = told.event("prompt", prompt=QUESTION)
    with serving(told.root):
        for policy in ("off", "perhaps"):
            monkeypatch.setenv("PALACE_SERVE", policy)
            assert ask(told, event) is None
        monkeypatch.setenv("PALACE_SERVE", "on")
        assert ask(told, event)


@pytest.mark.parametrize("name", ["start", "before_tool", "tool_failed", "stop", "compact", "x"])
def test_only_what_needs_memory_is_asked(told: Prompted, bad: Bad, name: str) -> None:
    """Not even a connection is made for the rest."""
    assert ask(told, told.event(name, prompt=QUESTION, files=("a.py",))) is None
    assert ask(told, told.event("after_tool")) is None
    assert not bad.seen


@pytest.mark.usefixtures("patient")
def test_a_server_like_another_process_is_not_believed(
    told: Prompted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another version: it declines, and nothing is recorded."""
    with serving(told.root):
        monkeypatch.setattr(wire, "__version__", "9.9")
        assert ask(told, told.event("prompt", prompt=QUESTION)) is None
        assert not told.rows("turn")


@pytest.mark.usefixtures("patient")
def test_what_a_hook_marks_itself_with_makes_no_difference(
    told: Prompted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`$PALACE_HOOK` guards against hooks in hooks; `$PALACE_NOW` is sent along."""
    with serving(told.root):
        monkeypatch.setenv("PALACE_HOOK", "1")
        monkeypatch.setenv("PALACE_NOW", "2026-11-29T12:00:00Z")
        assert ask(told, told.event("prompt", prompt=QUESTION))


@pytest.mark.parametrize(
    "behaviour",
    [
        says(),
        says(b"amber\n"),
        says(b"[]\n"),
        says(WAIT),
        says(wire.line_of({"declined": "no"})),
        says(wire.line_of({"error": {"kind": "BadInput", "message": "no"}})),
        says(wire.line_of({"ok": "amber"})),
        says(wire.line_of({"ok": {"context": 3, "faults": []}})),
        says(wire.line_of({"ok": {"context": "x", "faults": "y"}})),
        says(wire.line_of({"ok": GOOD._asdict()})[:-9]),
    ],
)
def test_a_server_that_is_no_good_gives_no_reply(
    told: Prompted, bad: Bad, behaviour: Behaviour
) -> None:
    """Whatever it says."""
    bad.does = behaviour
    assert ask(told, told.event("prompt", prompt=QUESTION)) is None


def test_a_reply_comes_after_signs_of_life(told: Prompted, bad: Bad) -> None:
    """With its token, and the event as far as the server needs it."""
    bad.does = says(WAIT, WAIT, wire.line_of({"ok": GOOD._asdict() | {"new": 1}}))
    event = told.event("prompt", prompt=QUESTION, output="much", transcript="/x")
    assert ask(told, event) == GOOD
    (request,) = bad.seen
    assert request["op"] == "hook"
    assert request["token"] == "t"
    assert set(request["event"]) == {  # type: ignore[call-overload]
        *("client", "name", "session", "cwd", "source", "prompt", "files", "agent")
    }
    assert hooking.decoded(request)[0] == event._replace(output="", transcript="")


@pytest.mark.parametrize("lines", [(), (WAIT,), (WAIT, WAIT[:5])])
def test_a_silent_server_is_waited_for_no_longer_than_said(
    told: Prompted, bad: Bad, lines: tuple[bytes, ...]
) -> None:
    """The hook has a deadline of its own."""
    bad.does = silent(*lines)
    assert ask(told, told.event("prompt", prompt=QUESTION), 0.2) is None


@pytest.mark.usefixtures("patient")
def test_a_stopped_server_records_nothing_that_nobody_was_told(told: Prompted) -> None:
    """Its answer would come too late: the hook has told it meanwhile."""
    event = told.event("prompt", prompt=QUESTION)
    with serving(told.root) as process:
        assert ask(told, event._replace(session="s2"))
        os.kill(process.pid, signal.SIGSTOP)
        assert ask(told, event, 0.3) is None
        time.sleep(0.1)
        os.kill(process.pid, signal.SIGCONT)
        assert ask(told, event._replace(session="s3"))  # what was asked before is through
        assert record.shown(record.read(told.root, KEY)) == {}
        assert told.say(QUESTION).context


@pytest.mark.parametrize(
    "request_",
    [
        {},
        {"event": []},
        {"event": {"name": "stop"}},
        {"event": {"name": "prompt", "prompt": 3}},
        {"event": {"name": "prompt", "files": "a"}},
        {"event": {"name": "prompt"}, "until": 1, "now": "noon"},
        {"event": {"name": "prompt"}, "now": "2026-11-29"},
        {"event": {"name": "prompt"}, "now": "2026-11-29", "until": float("nan")},
        {"event": {"name": "prompt"}, "now": "2026-11-29", "until": 9e99},
        {"event": {"name": "prompt"}, "now": "2026-11-29", "until": "1"},
    ],
)
def test_a_request_that_is_none_is_named(request_: dict[str, object]) -> None:
    """By its field."""
    with pytest.raises(hooking.Unfit, match=r"event|now|until"):
        hooking.decoded(request_)


def test_unknown_fields_are_passed_over() -> None:
    """An asker may have more of them."""
    given = {"name": "prompt", "prompt": "x", "new": 1}
    data = {"event": given, "now": "2026-11-29", "until": 5, "more": 2}
    event, moment, until = hooking.decoded(json.loads(json.dumps(data)))
    assert event == Event("", "prompt", prompt="x")
    assert moment.tzinfo
    assert until == 5.0


@pytest.mark.usefixtures("patient")
def test_a_server_declines_what_is_no_event(told: Prompted) -> None:
    """The asker of another kind goes on by itself."""
    with serving(told.root):
        where = place.address(told.root)
        assert where
        with client.Client(told.root, where) as connection, pytest.raises(client.Gone) as gone:
            connection._call("hook", event={"name": "stop"})
        assert "event.name" in gone.value.why


@pytest.fixture
def zebras(palace: Palace) -> Iterator[tuple[Prompted, Finder]]:
    """A finder with vectors, in a palace where every note has the words of the entries."""
    made = Prompted(palace)
    made.entry("zebra", "aaaaaaaaaaaa")
    made.entry("quagga", "bbbbbbbbbbbb")
    palace.notes(**{name: f"{text} Zebra, quagga." for name, text in FILLER.items()})
    palace.index()
    with Searcher(palace.root, palace.config, palace.choice) as searcher:
        until = time.time() + 2 * PATIENT
        yield made, Finder(palace.root, searcher, Known(palace.root), NOW, until)


def test_vectors_find_what_keywords_cannot_tell(zebras: tuple[Prompted, Finder]) -> None:
    """An entry near to the prompt, and one near to a file's path."""
    _, finder = zebras
    assert [piece.key for piece in finder.entries("zebra", 5)] == ["aaaaaaaaaaaa"]
    assert list(finder.entries("nothing like it at all", 5)) == []
    about = finder.about(["quagga", "x/y.py"], 3)
    assert [(one.file, one.piece.key) for one in about] == [("quagga", "bbbbbbbbbbbb")]


def test_a_note_fits_by_its_relevance_and_not_far_behind_the_best(
    zebras: tuple[Prompted, Finder], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word in common is not enough, and the second best only if there is little between."""
    made, _ = zebras
    two = "# Two\n\nAn amber okapi again, among much else that stands there."
    made.palace.notes(four="# Four\n\nAn amber okapi, a gnu, a lama.", two=two)
    made.palace.index()
    with Searcher(made.root, made.palace.config, made.palace.choice) as searcher:
        finder = Finder(made.root, searcher, Known(made.root), NOW, time.time() + PATIENT)
        question = "amber okapi, gnu, lama"
        assert [piece.path for piece in finder.notes(question, 3)] == ["palace/four.md"]
        monkeypatch.setattr(finders, "NEARLY_BEST", 1.0)
        assert len(list(finder.notes(question, 3))) == 2
        many = "lama of Peru: which hats, shoes, coats, gloves and scarves are sold there?"
        assert list(finder.notes(many, 3)) == []


def test_many_entries_are_embedded_behind_the_events(zebras: tuple[Prompted, Finder]) -> None:
    """Until they are, keywords find them."""
    made, finder = zebras
    for number in range(2 * finders.AT_ONCE):
        made.entry(f"okapi {number}", f"{number:012x}")
    known = finder._known
    choice = made.palace.choice
    assert list(finder.entries("zebra", 5)) == []
    for _ in range(3):
        known.embed_some(choice)
    assert [piece.key for piece in finder.entries("zebra", 5)] == ["aaaaaaaaaaaa"]


def test_a_finder_whose_asker_has_left_finds_nothing(zebras: tuple[Prompted, Finder]) -> None:
    """Before anything is recorded as shown."""
    made, finder = zebras
    finder._until = time.time() - 1
    with pytest.raises(Late):
        made.say("zebra", finder)
    assert not made.rows("shown")


def test_a_slow_git_does_not_hold_a_server(told: Prompted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever else asks it would wait as long."""
    given: list[float] = []
    load = states.load

    def noted(*arguments: Any, **named: Any) -> states.State:
        given.append(named["git_seconds"])
        return load(*arguments, **named)

    monkeypatch.setattr(states, "load", noted)
    assert Known(told.root).lines(NOW).pairs
    assert given == [glance.BLAME_SECONDS]


def test_private_spans_are_not_found(zebras: tuple[Prompted, Finder]) -> None:
    """Neither by their meaning nor beside what is."""
    made, finder = zebras
    made.entry("okapi <private>hushed</private>", "cccccccccccc")
    made.entry("<private>wombat hushed</private>", "dddddddddddd")
    texts = "Okapi ledger. <private>Okapi ledger hushed.", "okapi ledger hushed</private> gnu"
    made.palace.notes(
        okapi=f"# Okapi <private>hushed</private>\n\n{texts[0]}\n\n## Hush\n\n{texts[1]}"
    )
    made.palace.index()
    with Searcher(made.root, made.palace.config, made.palace.choice) as searcher:
        finder = Finder(made.root, searcher, Known(made.root), NOW, time.time() + PATIENT)
        assert [piece.text for piece in finder.entries("okapi", 5)] == ["okapi [PRIVATE]"]
        assert list(finder.entries("wombat hushed", 5)) == []
        context = made.say("where is the okapi ledger?", finder).context
    assert "Okapi ledger. [PRIVATE]" in context
    assert '"Okapi [PRIVATE]"' in context
    assert "hush" not in context.lower()


def test_the_server_gives_up_before_its_asker(told: Prompted, bad: Bad) -> None:
    """What it records as shown has to reach somebody."""
    bad.does = says(wire.line_of({"ok": GOOD._asdict()}))
    before = time.time()
    assert ask(told, told.event("prompt", prompt=QUESTION), PATIENT) == GOOD
    (request,) = bad.seen
    given = float(str(request["until"])) - before
    assert given <= PATIENT - hooking.SPARE_SECONDS + (time.time() - before)
    assert given > PATIENT / 2


def test_nothing_is_done_for_an_asker_who_has_left(
    told: Prompted, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It does the work by itself meanwhile, and so nothing is recorded as shown."""
    made = Server(told.root, 60.0, print)
    done: list[object] = []
    monkeypatch.setattr(made, "_work", lambda *given: done.append(given))
    here, there = socket.socketpair()
    with made._wake, made._waker, here:
        there.close()
        with pytest.raises(BrokenPipeError):
            made._answer(wire.Lines(here, wire.MOST_REQUEST), {"op": "status"})
    assert not done and not made._working


def test_the_way_to_the_server_is_short() -> None:
    """What it imports: no arrays, no index, no dataclasses."""
    code = (
        "import sys\nimport memory_palace.serve.hooking\n"
        "ours = [m for m in sys.modules if m.startswith('memory_palace.')]\n"
        "heavy = {'inspect', 'dataclasses', 'sqlite3', 'numpy', 'yaml', 'click', 'filelock',"
        " 'subprocess', 'difflib', 'tempfile'}\n"
        "print(sorted(ours), sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(SCRIPTS)},
        check=True,
    )
    ours = [
        *("core", "core.errors", "core.fence", "core.prompt_ends", "core.text"),
        *("files", "files.git", "files.roots"),
        *("serve", "serve.hooking", "serve.place", "serve.wire"),
        *("session", "session.events", "session.turn"),
    ]
    assert done.stdout == f"{[f'memory_palace.{name}' for name in ours]} []\n"


@pytest.mark.usefixtures("patient")
def test_a_superseded_note_names_its_successor(told: Prompted) -> None:
    """As the hook by itself does."""
    told.palace.write(
        "palace/ledger.md", f"---\nsuperseded_by: '[[heir]]'\n---\n# The ledger\n\n{LEDGER}\n"
    )
    told.palace.write("palace/heir.md", "# Heir\n\nSomething else altogether.\n")
    assert told.palace.command("index").code == 0
    with serving(told.root):
        served = ask(told, told.event("prompt", prompt=QUESTION))
        assert served is not None
        assert "(superseded by palace/heir.md)" in served.context
        assert "(superseded by palace/heir.md)" in told.say(QUESTION, session="s2").context
