"""A hook keeps its event once its answer is known, whatever comes of either."""

import json
import time
from pathlib import Path
from typing import Any

import pytest

from agents.hooks import captured, event_of, hook, replying, sent
from memory_palace.agents import hook as hooks
from memory_palace.agents import hook_capture
from memory_palace.agents.waiting import Received
from memory_palace.files import ledgers, queue, roots
from memory_palace.serve import draining as servers
from memory_palace.session import capture, draining, health
from memory_palace.session.events import Reply
from support.palaces import Palace

ALL = list(captured())


@pytest.fixture
def here(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """An empty palace that is the current directory, and nothing that drains its queue."""
    monkeypatch.chdir(keyword_palace.root)
    monkeypatch.setattr(draining, "start", lambda root: None)
    return keyword_palace


def kept(palace: Palace) -> list[dict[str, Any]]:
    """The items in the queue."""
    found = []
    for path in sorted((palace.root / queue.FOLDER).glob("*.jsonl")):
        found += [json.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return found


def answer(data: bytes, *words: str, **more: Any) -> bytes:
    """What stdout would have, from this process."""
    return hooks.answer(hooks.parsed(words), Received(data), **more)


@pytest.mark.parametrize(("client", "host", "path"), ALL, ids=lambda v: getattr(v, "stem", v))
def test_a_captured_event_leaves_what_it_tells(
    here: Palace, monkeypatch: pytest.MonkeyPatch, client: str, host: str, path: Path
) -> None:
    """Of each event of each client, whatever it is answered."""
    replying(monkeypatch, Reply())
    data = event_of(path, here.root)
    answer(json.dumps(data).encode())
    found = [(item["kind"], item.get("role", "")) for item in kept(here)]
    expected: dict[str, list[tuple[str, str]]] = {
        "UserPromptSubmit": [("entry", "user")],
        "PostToolUse": [("entry", "tool")],
        "PostToolUseFailure": [("entry", "tool")],
        "Stop": [("entry", "assistant")],
        "SubagentStop": [("entry", "assistant"), ("end", "")],
        "SessionEnd": [("end", "")],
    }
    if path.stem == "UserPromptSubmit-task-notification":  # no person wrote it
        expected = {}
    if path.stem == "SubagentStop-of-compaction":  # the session once more, as a summary
        expected = {host: [("end", "")]}
    assert found == expected.get(host, [])
    assert health.read(here.root) == ()


def test_the_answer_is_known_before_anything_is_kept(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever capture does, the client is told the same."""
    replying(monkeypatch, Reply(context="fact"))
    seen: list[bytes] = []

    def said(answer: bytes) -> None:
        assert kept(here) == []
        seen.append(answer)

    data = sent("claude-code", "UserPromptSubmit", here.root)
    assert answer(data, said=said) == seen[0]
    assert b"fact" in seen[0]
    assert len(kept(here)) == 1


@pytest.mark.parametrize("error", [OSError("no"), ValueError("odd"), MemoryError()])
def test_a_fault_of_capture_is_a_line_and_changes_no_answer(
    here: Palace, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    """Of whatever kind."""
    replying(monkeypatch, Reply(context="fact"))
    data = sent("claude-code", "UserPromptSubmit", here.root)
    before = answer(data)

    def fail(*_: Any) -> None:
        raise error

    monkeypatch.setattr(capture, "items", fail)
    assert answer(data) == before
    (fault,) = health.read(here.root)
    assert "capture" in fault.message


def test_an_event_whose_reply_failed_is_kept(here: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """The turn happened all the same."""
    replying(monkeypatch, ValueError("odd"))
    assert answer(sent("claude-code", "UserPromptSubmit", here.root)) == b""
    assert [item["role"] for item in kept(here)] == ["user"]


def test_a_capture_that_hangs_leaves_the_answer(
    here: Palace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The client gets it in time, and the next start says what hung."""
    replying(monkeypatch, Reply(deny="no"))
    monkeypatch.setitem(hooks.SECONDS, "PostToolUse", 1.0)
    replying(monkeypatch, Reply(context="fact"))
    monkeypatch.setattr(hook_capture, "capture", lambda *_, **__: time.sleep(60))
    given, taken = tmp_path / "in", tmp_path / "out"
    given.write_bytes(sent("claude-code", "PostToolUse-Bash", here.root))
    with given.open("rb") as stdin, taken.open("wb") as stdout:
        assert hooks.main(["PostToolUse"], stdin.fileno(), stdout.fileno(), {}) == 0
    assert json.loads(taken.read_bytes())["hookSpecificOutput"]["additionalContext"] == "fact"
    (fault,) = health.read(here.root)
    assert fault.message.startswith("hook PostToolUse: capture: no answer within")


def test_two_installations_keep_a_turn_once(here: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both hooks fire; the ledger has one entry of each moment."""
    replying(monkeypatch, Reply())
    for name in ("UserPromptSubmit", "PostToolUse-Bash", "Stop"):
        for _ in range(2):
            answer(sent("claude-code", name, here.root, session_id="one", prompt_id="p1"))
    draining.work(here.root)
    (path,) = ledgers.every(here.root)
    roles = [one.role for one in ledgers.load(here.root, path).ledger.entries.values()]
    assert sorted(roles) == ["assistant", "tool", "user"]


@pytest.mark.parametrize(
    ("name", "served", "started"),
    [
        ("Stop", True, False),
        ("Stop", False, True),
        ("SessionEnd", True, True),  # all hooks share little time: nobody is asked
        ("SessionStart-startup", False, True),
        ("PostToolUse-Bash", False, False),
    ],
)
def test_the_queue_is_drained_by_the_server_or_a_process(
    here: Palace, monkeypatch: pytest.MonkeyPatch, name: str, served: bool, started: bool
) -> None:
    """Where something waits, at the end of turns and sessions and at a start."""
    replying(monkeypatch, Reply())
    done: list[str] = []

    def ask(root: Path) -> bool:
        done.append("asked")
        return served

    monkeypatch.setattr(servers, "ask", ask)
    monkeypatch.setattr(draining, "start", lambda root: done.append("started"))
    (here.root / ".palace/serve").mkdir(parents=True)
    answer(sent("claude-code", "UserPromptSubmit", here.root))
    answer(sent("claude-code", name, here.root))
    asked = name in ("Stop", "SessionStart-startup")
    assert done == ["asked"] * asked + ["started"] * started


def test_from_a_hooks_process_into_the_ledger(keyword_palace: Palace) -> None:
    """The whole way, with real processes: nothing of it is on stdout or stderr."""
    root = keyword_palace.root
    keyword_palace.command("index")
    for name in ("UserPromptSubmit", "PostToolUse-Bash", "Stop", "SessionEnd"):
        data = sent("claude-code", name, root, session_id="one")
        done = hook(name.partition("-")[0], "--client", "claude-code", stdin=data, cwd=root)
        assert (done.returncode, done.stderr) == (0, b"")
    path = ledgers.path_of(root, "claude-code", "one")
    end = time.monotonic() + 60
    while len(ledgers.load(root, path).ledger.entries) < 3 or draining.is_working(root):
        assert time.monotonic() < end, health.read(root)
        time.sleep(0.05)
    assert health.read(root) == ()


def test_switched_off_no_hook_keeps_anything(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a process of its own, by the variable."""
    root = keyword_palace.root
    data = sent("claude-code", "Stop", root)
    hook("Stop", stdin=data, cwd=root, PALACE_CAPTURE="off")
    assert not (root / queue.FOLDER).exists()


@pytest.mark.parametrize("named", ["", "--root", "variable"])
def test_nothing_is_kept_in_a_copy_of_the_toolkit_of_a_session_elsewhere(
    keyword_palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: str
) -> None:
    """An update would take it away, unless somebody named that palace."""
    root = keyword_palace.root
    monkeypatch.setattr(roots, "toolkit", lambda: root)
    monkeypatch.setattr(draining, "start", lambda root: None)
    monkeypatch.delenv("PALACE_ROOT", raising=False)
    if named == "variable":
        monkeypatch.setenv("PALACE_ROOT", str(root))
    words = ("--root", str(root)) if named == "--root" else ()
    answer(sent("claude-code", "UserPromptSubmit", tmp_path, prompt="Which port?"), *words)
    assert bool(kept(keyword_palace)) is bool(named)
    answer(sent("claude-code", "UserPromptSubmit", root / "palace", prompt="Which host?"))
    assert "Which host?" in str(kept(keyword_palace))
