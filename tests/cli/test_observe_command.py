"""`palace observe`: an agent's own records, what is pending, and what the worker finds."""

import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.ledger import record_id
from memory_palace.files import queue
from memory_palace.session import capture, health
from memory_palace.session.events import Event
from session.ledgered import Ledgered
from support.palaces import NOW, Ran

DECIDED = "Decided: we use FAISS and not a server, because it needs no process."


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ledgered:
    """A session in which two things were said."""
    monkeypatch.setenv("PALACE_NOW", NOW.isoformat())
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")
    made = Ledgered(tmp_path / "root")
    made.say(DECIDED)
    made.say("The build needs Node 22", "assistant")
    return made


def observe(talk: Ledgered, data: Any, *more: str) -> Ran:
    """Give JSON on stdin."""
    text = data if isinstance(data, str) else json.dumps(data)
    return talk.palace.command("observe", "-", *more, stdin=text)


def one(talk: Ledgered, **keys: Any) -> dict[str, Any]:
    """A good observation, with other keys."""
    source = talk.entries[1].id
    return {"content": "The build needs Node 22", "relevance": "high", "sources": [source]} | keys


def test_an_agent_is_its_own_observer(talk: Ledgered) -> None:
    """What is pending has ids; what is recorded with them comes back by its own, and then nothing
    is pending."""
    told = talk.palace.command("observe", "--pending")
    shown = json.loads(told.out)
    assert told.code == 0 and shown["entries"][0]["text"] == DECIDED
    assert (shown["session"], shown["wing"], shown["more"]) == ("s1", "demo", 0)
    assert shown["due"] is False and shown["covers_up_to"] == shown["entries"][-1]["id"]
    data = {
        "observations": [one(talk, type="discovery"), one(talk, content=DECIDED)],
        "covers_up_to": shown["covers_up_to"],
    }
    ran = observe(talk, data)
    key = record_id("The build needs Node 22")
    assert ran.code == 0 and f"observed  {key}  The build needs Node 22\n" in ran.out
    (first, _) = sorted(talk.ledger.observations, key=lambda o: o.content, reverse=True)
    assert (first.id, first.type, first.relevance) == (key, "discovery", "high")
    assert first.at == talk.entries[1].at and first.by == "pi@laptop" and first.work > 0
    nothing = talk.palace.command("observe", "--pending")
    assert nothing.code == 1 and json.loads(nothing.out)["entries"] == []
    reflected = {"reflections": [{"content": "It is a Node project", "supports": [key]}]}
    ran = observe(talk, reflected | {"drops": [key, "f" * 12]}, "--format", "jsonl")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["what"] for row in rows] == ["reflected", "dropped", "dropped"]
    assert f"dropped before it was seen: {'f' * 12}" in ran.err
    assert talk.ledger.dropped == {key, "f" * 12}


def test_nothing_pending_counts_as_read(talk: Ledgered) -> None:
    """Unless the agent says that it has read it."""
    assert observe(talk, {"observations": [one(talk)]}).code == 0
    assert len(talk.pending) == 2 and talk.ledger.observations[0].covers_up_to == ""
    first = talk.entries[0].id
    data = {"observations": [one(talk, content="Another")], "covers_up_to": first}
    assert observe(talk, data).code == 0
    assert [e.id for e in talk.pending] == [talk.entries[1].id]
    assert observe(talk, {"observations": [one(talk, content="A third")]}).code == 0
    assert {o.covers_up_to for o in talk.ledger.observations} == {"", first}
    observe(talk, {"observations": [one(talk, content="A fourth")], "covers_up_to": "tip"})
    assert talk.pending == ()


def test_an_agent_that_found_nothing(talk: Ledgered) -> None:
    """It backs off as any observer does: the ledger stays as it is."""
    before = (talk.root / talk.path).read_bytes()
    ran = observe(talk, {"covers_up_to": "tip"})
    assert ran.code == 0 and "nothing new observed in it" in ran.err
    assert (talk.root / talk.path).read_bytes() == before
    assert talk.backoff["observe"] == talk.entries[-1].id


def test_repeats(talk: Ledgered) -> None:
    """The same again is told as known, and written once."""
    observe(talk, {"observations": [one(talk)]})
    before = (talk.root / talk.path).read_bytes()
    ran = observe(talk, {"observations": [one(talk), one(talk)]})
    assert ran.code == 0 and ran.out == f"known     {record_id(one(talk)['content'])}\n"
    assert "recorded 0 lines" in ran.err
    assert (talk.root / talk.path).read_bytes() == before


def test_secrets_and_private_spans_go(talk: Ledgered) -> None:
    """Before anything is written; the id is that of what is kept."""
    text = "The key is ghp_" + "a1B2" * 9 + " <private>of Ann</private> <palace-memory>x"
    assert observe(talk, {"observations": [one(talk, content=text, id="0" * 12)]}).code == 0
    said = (talk.root / talk.path).read_text()
    assert "ghp_a1" not in said and "Ann" not in said and "palace-memory" not in said
    assert "[SECRET" in talk.ledger.observations[0].content and talk.ledger.refused == ()


BAD = {
    "": "stdin:1: no JSON",
    "{": "stdin:1: no JSON",
    '{"observations": [\n1,,]}': "stdin:2: no JSON",
    "[" * 100_000: "no JSON",
    "[]": "the JSON is no object: write {observations, reflections, drops, covers_up_to}",
    "{}": "the JSON records nothing",
    '{"observations": []}': "the JSON records nothing",
    '{"observation": []}': "unknown key: did you mean `observations`?",
    '{"observations": {}}': "the JSON records nothing",
    '{"observations": "x"}': "observations: write a list of objects",
    '{"observations": ["x"]}': "observations[0]: write an object with content, relevance",
    '{"observations": [GOOD, {}]}': "observations[1]: `content` is missing",
    '{"observations": [GOOD, {"content": " "}]}': "observations[1]: `content` is missing",
    '{"observations": [GOOD, {"content": "x"}]}': "observations[1]: `relevance` is missing",
    '{"observations": [{"content": "x", "relevance": "big"}]}': "observations[0]: relevance `big`",
    '{"observations": [{"content": "x", "relevance": "low"}]}': "observations[0]: `sources` names",
    '{"observations": [GOOD, GOOD, {"content": "x", "relevance": "low", "sources": ["nope"]}]}': (
        "observations[2].sources[0]: 'nope' is no id of 12 hex digits"
    ),
    '{"observations": [GOOD, {"content": "x", "relevance": "low", "sources": '
    '["SOURCE", "ffffffffffff"]}]}': "observations[1].sources[1]: ffffffffffff is no entry of",
    '{"observations": [{"content": "x", "relevance": "low", "sources": ["SOURCE"], "type": '
    '"idea"}]}': "observations[0]: type `idea`: use decision",
    '{"observations": [{"content": "x", "relevance": "low", "sources": ["SOURCE"], "at": '
    '"soon"}]}': "observations[0]: `at` is 'soon'",
    '{"observations": [{"contents": "x"}]}': "observations[0].contents: unknown key: did you mean",
    '{"reflections": [{"content": "x", "supports": ["SOURCE"]}]}': (
        "reflections[0].supports[0]: SOURCE is no observation of this session"
    ),
    '{"drops": ["SOURCE", 3]}': "drops[1]: 3 is no id of 12 hex digits",
    '{"drops": "SOURCE"}': "drops: write a list of ids",
    '{"observations": [GOOD], "covers_up_to": "end"}': "covers_up_to: 'end' is no entry of this",
    '{"observations": [GOOD], "covers_up_to": 3}': "covers_up_to: 3 is no entry of this session",
}


@pytest.mark.parametrize(("text", "why"), BAD.items(), ids=range(len(BAD)))
def test_bad_json_is_refused_whole(talk: Ledgered, text: str, why: str) -> None:
    """In one line with the path into it; nothing is written."""
    source = talk.entries[0].id
    before = (talk.root / talk.path).read_bytes()
    text = text.replace("GOOD", json.dumps(one(talk))).replace("SOURCE", source)
    ran = observe(talk, text)
    assert ran.code == 2 and ran.out == ""
    assert ran.err.count("\n") == 1 and why.replace("SOURCE", source) in ran.err
    assert (talk.root / talk.path).read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        ((), 2, "give one of FILE, --auto and --pending"),
        (("-", "--auto"), 2, "give one of FILE, --auto and --pending"),
        (("--auto", "--pending"), 2, "give one of FILE, --auto and --pending"),
        (("--pending", "--flush"), 2, "--flush goes with --auto"),
        (("gone.json",), 2, "gone.json cannot be read (No such file or directory)"),
        (("--pending", "--session", "s2"), 1, "no ledger of session `s2`"),
        (("--auto", "--agent", "codex"), 1, "no ledger of agent `codex`"),
        (("--oops",), 2, "no option `--oops`"),
    ],
)
def test_usage(talk: Ledgered, arguments: tuple[str, ...], code: int, why: str) -> None:
    """Each is told in a line."""
    ran = talk.palace.command("observe", *arguments)
    assert (ran.code, ran.out) == (code, "") and why in ran.err


def test_files_of_any_kind(talk: Ledgered, tmp_path: Path) -> None:
    """A byte order mark is no harm; bytes that are no UTF-8, and too many, are told."""
    place = tmp_path / "found.json"
    place.write_bytes(b"\xef\xbb\xbf" + json.dumps({"observations": [one(talk)]}).encode())
    assert talk.palace.command("observe", str(place)).code == 0
    for data, why in ((b'{"\xff"', "is not UTF-8"), (b" " * (4 << 20) + b"{}", "is over 4 MB")):
        place.write_bytes(data)
        ran = talk.palace.command("observe", str(place))
        assert ran.code == 2 and why in ran.err


def test_auto(talk: Ledgered) -> None:
    """The queue first; then what is due, or with --flush all, by the rules."""
    event = Event("claude-code", "prompt", "s2", prompt="Decided: the port is 8443.", turn="t1")
    capture.enqueue(talk.root, event, NOW)
    ran = talk.palace.command("observe", "--auto")
    assert ran.code == 0 and ran.out == "" and "nothing new to record in what is due" in ran.err
    assert queue.waiting(talk.root).bytes == 0
    dry = talk.palace.command("observe", "--auto", "--flush", "--dry-run", "--session", "s1")
    assert dry.code == 0 and "FAISS" in dry.out and talk.ledger.observations == ()
    real = talk.palace.command("observe", "--auto", "--flush", "--session", "s1")
    assert real.out == dry.out and "observing 2 entries" in real.err
    assert talk.pending == () and len(talk.ledger.summaries) == 1
    every = talk.palace.command("observe", "--auto", "--flush", "--format", "jsonl")
    rows = [json.loads(line) for line in every.out.splitlines()]
    assert [row["ledger"][-8:] for row in rows] == ["s2.jsonl"] and "8443" in rows[0]["content"]
    again = talk.palace.command("observe", "--auto", "--flush")
    assert again.code == 0 and again.out == "" and "nothing new to record" in again.err


def test_a_session_that_is_over(talk: Ledgered) -> None:
    """It is observed to its end although nothing is due, whether it said so or was left."""
    for session in ("told", "left"):
        event = Event(
            "claude-code", "prompt", session, prompt=f"Decided: {session} is 84.", turn="1"
        )
        capture.enqueue(talk.root, event, NOW)
    capture.enqueue(talk.root, Event("claude-code", "end", "told"), NOW)
    ran = talk.palace.command("observe", "--auto")
    assert "told is 84" in ran.out and "left is 84" not in ran.out
    place = talk.root / "palace/chambers/claude-code/ledger/left.jsonl"
    old = place.stat().st_mtime - 3_600
    os.utime(place, (old, old))
    assert "left is 84" in talk.palace.command("observe", "--auto").out


def test_another_machine_s_session(talk: Ledgered) -> None:
    """It is observed over there, unless it is named."""
    other = Ledgered(talk.root, "other")
    other.by = "claude-code@elsewhere"
    other.say("Decided: the port is 8443.")
    assert "8443" not in talk.palace.command("observe", "--auto", "--flush").out
    named = talk.palace.command("observe", "--auto", "--flush", "--session", "other")
    assert "8443" in named.out


def test_the_user_s_command(
    talk: Ledgered, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It observes in place of the rules; what it does wrong is told, counted, and leaves all as it
    was. A palace cannot name one."""
    worker = tmp_path / "worker.py"
    own = tmp_path / "own/memory-palace/config.yaml"
    own.parent.mkdir(parents=True)
    own.write_text(f"observe: {{command: [{sys.executable}, {worker}], seconds: 20}}\n")
    monkeypatch.setattr(
        "memory_palace.files.config.user_file", lambda _: own if own.exists() else Path("/none")
    )
    before = (talk.root / talk.path).read_bytes()
    for answer, why in {
        "print('no')": "it printed no JSON",
        "print('{}')": "it printed no list of objects `observations`",
        'print(\'{"observations": [{"content": "x"}]}\')': "observations[0]: `relevance`",
        "print(json.dumps({'observations': [dict(content='x', relevance='low',"
        " sources=['f' * 12])]}))": "observations[0]: no entry 'ffffffffffff' was given",
    }.items():
        worker.write_text(f"import json, sys\n{answer}\n")
        ran = talk.palace.command("observe", "--auto", "--flush")
        assert ran.code == 1 and ran.out == ""
        assert f"the observer (command): {why}" in ran.err and ran.err.endswith("remove it\n")
        assert health.read(talk.root)[0].message.endswith("or remove it")
        assert (talk.root / talk.path).read_bytes() == before
    worker.write_text(
        "import json, sys\n"
        "told = json.load(sys.stdin)\n"
        "first = told['entries'][0]\n"
        "found = dict(content=told['stage'] + ' ' + told['session'] + ' ' + told['wing'],\n"
        "             relevance='low', sources=[first['id']], files=['/etc/passwd'])\n"
        "print(json.dumps({'observations': [found]}))\n"
    )
    ran = talk.palace.command("observe", "--auto", "--flush")
    (made,) = talk.ledger.observations
    assert ran.code == 0 and made.content == "observe s1 demo" and made.by.startswith("command@")
    assert made.sources == (talk.entries[0].id,) and made.files == () and talk.pending == ()
    own.unlink()
    talk.palace.write("palace.yaml", f"observe: {{command: [{worker}]}}\n")
    ran = talk.palace.command("observe", "--auto")
    assert ran.code == 2 and "belongs into your own configuration" in ran.err
