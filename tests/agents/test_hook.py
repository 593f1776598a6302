"""What a hook does with whatever comes: it answers, or says nothing and leaves a line."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.hooks import CAPTURED, event_of, hook, replying, sent
from files.repository import Repository
from memory_palace.agents import hook as hooks
from memory_palace.agents import waiting
from memory_palace.agents.waiting import Received, in_child, received
from memory_palace.session import health
from memory_palace.session.events import Reply
from support.palaces import Palace

FACT = Reply(context="fact")


def answer(palace: Palace, data: bytes, *words: str, fault: str = "") -> str:
    """What stdout would have, from this process, in the palace's folder."""
    return hooks.answer(hooks.parsed(words), Received(data, fault)).decode()


def faults(palace: Palace) -> list[str]:
    """What the health file says, newest first."""
    return [fault.message for fault in health.read(palace.root)]


def ignored(palace: Palace) -> list[tuple[str, int]]:
    """What was ignored, and how often."""
    return [(thing.message, thing.times) for thing in health.ignored(palace.root)]


@pytest.fixture
def here(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """An empty palace that is the current directory."""
    monkeypatch.chdir(keyword_palace.root)
    return keyword_palace


def test_the_event_is_named_by_the_argument(here: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is on the command line goes before what the client sends."""
    told = replying(monkeypatch, FACT)
    data = sent("claude-code", "PostToolUse-Bash", here.root)
    said = json.loads(answer(here, data, "SessionStart"))
    assert said["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert [event.name for event in told] == ["start"]


def test_the_event_is_named_by_the_client(here: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an argument `hook_event_name` says which it is."""
    replying(monkeypatch, FACT)
    said = json.loads(answer(here, sent("codex", "SessionStart-startup", here.root)))
    inner = {"hookEventName": "SessionStart", "additionalContext": "fact"}
    assert said == {"hookSpecificOutput": inner}
    assert faults(here) == []


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "nothing came on stdin"),
        (b"no json", "is no JSON"),
        (b'{"cwd": ', "is no JSON"),
        (b"[1]", "is no JSON object"),
        (b"null", "is no JSON object"),
        (b"\xff\xfe\x00", "is no JSON"),
        (b"[" * 100_000, "is no JSON"),
        (b'{"a":' * 100_000, "is no JSON"),
        (b'{"a": ' + b"9" * 10_000 + b"}", "is no JSON"),
    ],
    ids=range(9),
)
def test_what_is_no_event_is_a_line_of_health(here: Palace, data: bytes, said: str) -> None:
    """Nothing is said; the palace of the current directory is told what to run."""
    assert answer(here, data, "Stop") == ""
    assert len(faults(here)) == 1
    assert said in faults(here)[0]
    assert faults(here)[0].endswith("run `palace doctor`")


def test_an_event_that_did_not_end_is_a_fault(here: Palace) -> None:
    """Both one that is too long and one that stopped in the middle."""
    answer(here, b"", "Stop", fault="the event is too long")
    answer(here, b'{"a": 1, "b', "Stop", fault="the event did not end")
    assert "did not end" in faults(here)[0]
    assert "too long" in faults(here)[1]


def test_a_mark_before_the_json_and_broken_text_are_no_fault(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A byte order mark is skipped; bytes that are no UTF-8 are replaced."""
    told = replying(monkeypatch, FACT)
    data = b'\xef\xbb\xbf{"prompt": "a\xff\\u0000b \\ud800", "session_id": "s"}'
    assert answer(here, data, "UserPromptSubmit")
    assert told[0].prompt == "a\ufffdb \ufffd"
    assert faults(here) == []


def test_any_exception_is_a_line_and_no_output(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its type and its message, and what to run."""
    replying(monkeypatch, ValueError("broken\nrule"))
    assert answer(here, sent("claude-code", "Stop", here.root), "Stop") == ""
    assert faults(here) == ["hook Stop: ValueError: broken rule: run `palace doctor`"]


def test_faults_of_a_reply_are_kept_and_it_is_said(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rule that is broken takes nothing from the others."""
    replying(monkeypatch, Reply(context="fact", faults=("a: mend it", "b: mend it")))
    assert "fact" in answer(here, sent("claude-code", "PostToolUse-Bash", here.root))
    assert faults(here) == ["b: mend it", "a: mend it"]


def test_a_server_that_answers_is_not_asked_twice(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Prompts and edits go to the server, everything else is done here."""
    told = replying(monkeypatch, Reply(context="here"), Reply(context="there"))
    prompts = ("UserPromptSubmit", "PostToolUse-Edit")
    others = ("SessionStart-startup", "PreToolUse-Edit", "PostToolUse-Bash")
    for name, where in [(n, "there") for n in prompts] + [(n, "here") for n in others]:
        assert f'"{where}"' in answer(here, sent("claude-code", name, here.root))
    assert [event.name for event in told] == ["start", "before_tool", "after_tool"]


@pytest.mark.parametrize("of_server", [None, OSError("gone")], ids=["none", "broken"])
def test_without_an_answer_of_the_server_it_is_done_here(
    here: Palace, monkeypatch: pytest.MonkeyPatch, of_server: Exception | None
) -> None:
    """A server that breaks is a line of health, and no loss."""
    replying(monkeypatch, Reply(context="here"), of_server)
    assert '"here"' in answer(here, sent("claude-code", "UserPromptSubmit", here.root))
    assert len(faults(here)) == (of_server is not None)


def test_missing_packages_are_said_at_the_start(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A clone that was not set up: the next start cannot show a line that it cannot read."""
    replying(monkeypatch, ModuleNotFoundError("No module named 'yaml'", name="yaml"))
    assert answer(here, sent("claude-code", "Stop", here.root)) == ""
    assert "`yaml` is not installed: run `make setup` in " in faults(here)[0]
    said = answer(here, sent("claude-code", "SessionStart-startup", here.root))
    assert "run `make setup`" in json.loads(said)["hookSpecificOutput"]["additionalContext"]


def test_a_missing_module_of_ours_is_a_fault(here: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """`make setup` would not mend it."""
    replying(monkeypatch, ModuleNotFoundError("no", name="memory_palace.session.x"))
    assert answer(here, sent("claude-code", "SessionStart-startup", here.root)) == ""
    assert "ModuleNotFoundError" in faults(here)[0]


def test_unknown_events_and_fields_are_counted(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are ignored, and no fault."""
    replying(monkeypatch, FACT)
    assert answer(here, sent("claude-code", "Stop", here.root), "Dreamed") == ""
    assert answer(here, sent("claude-code", "SubagentStart", here.root)) == ""
    for _ in range(2):
        assert answer(here, sent("claude-code", "PreToolUse-Bash", here.root, mood="good"))
    assert faults(here) == []
    assert ignored(here) == [
        ("claude-code PreToolUse field mood", 2),
        ("claude-code event Dreamed", 1),
    ]


def test_a_client_that_is_not_supported_is_named(here: Palace) -> None:
    """By the doctor too, with the clients that are."""
    assert answer(here, sent("claude-code", "Stop", here.root), "Stop", "--client", "x") == ""
    assert faults(here) == [
        "hook Stop: the client `x` is not supported (use claude-code, codex, opencode, pi): "
        "correct the hook's command, or run `palace install`"
    ]
    assert "the client `x` is not supported" in here.command("doctor").out


def test_a_wrong_argument_is_a_line_and_the_event_is_answered(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 2 would stop what the agent does."""
    replying(monkeypatch, FACT)
    data = sent("claude-code", "SessionStart-startup", here.root)
    assert "fact" in answer(here, data, "SessionStart", "--clinet", "codex")
    assert "`--clinet codex` is no argument of `palace hook`" in faults(here)[0]


def test_options_are_read_in_both_forms() -> None:
    """With a space and with an equals sign; without a value they are empty."""
    assert hooks.parsed(["--client=pi", "Stop", "--root", "/x"]) == hooks.Options(
        "Stop", "pi", "/x"
    )
    assert hooks.parsed(["--client"]) == hooks.Options()


def test_outside_any_palace_nothing_is_said_or_written(
    tmp_path: Path, here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the folder of the session is gone, or is no path."""
    told = replying(monkeypatch, FACT)
    monkeypatch.setattr("memory_palace.files.roots.__file__", str(tmp_path / "a/b/c/d/e.py"))
    (tmp_path / "elsewhere").mkdir()
    for cwd in (tmp_path / "elsewhere", here.root / "gone", "a\0b", "x" * 5_000):
        assert answer(here, sent("claude-code", "Stop", str(cwd).replace("\0", "\\u0000"))) == ""
    assert not told
    assert not (here.root / ".palace").exists()


def test_the_nearest_of_nested_palaces_answers(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever the client was started."""
    inner = Palace(here.root / "inner")
    (inner.root / "src").mkdir()
    replying(monkeypatch, ValueError("x"))
    answer(here, sent("claude-code", "Stop", inner.root / "src"))
    assert faults(inner)
    assert not faults(here)


def test_a_linked_worktree_has_the_palace_of_the_main_one(
    here: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One memory, whatever worktree the agent works in."""
    repository = Repository(here.root)
    repository.commit("palace.yaml", at=1_700_000_000)
    repository.worktree(tmp_path / "linked")
    replying(monkeypatch, ValueError("x"))
    answer(here, sent("claude-code", "Stop", tmp_path / "linked"))
    assert faults(here)
    assert not (tmp_path / "linked/.palace").exists()


def test_a_root_that_is_named_wins(
    here: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`--root` before the session's folder; one that is no palace gives nothing."""
    other = Palace(tmp_path / "other")
    replying(monkeypatch, ValueError("x"))
    answer(here, sent("claude-code", "Stop", here.root), "--root", str(other.root))
    assert faults(other)
    assert not faults(here)
    assert answer(here, sent("claude-code", "Stop", here.root), "--root", "/nowhere") == ""


def test_a_palace_that_is_named_and_is_none_is_said_at_the_start(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a word nobody would know that no rule holds; once, not at every event."""
    data = sent("claude-code", "SessionStart-startup", here.root)
    assert "/nowhere is not a palace root" in answer(here, data, "--root", "/nowhere")
    monkeypatch.setenv("PALACE_ROOT", "/gone")
    assert "/gone is not a palace root" in answer(here, data)
    assert answer(here, sent("claude-code", "UserPromptSubmit", here.root)) == ""


def test_a_start_that_fails_tells_the_faults_of_before(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where every start fails, nobody else would tell them."""
    replying(monkeypatch, ValueError("broken"))
    data = sent("codex", "SessionStart-startup", here.root)
    assert answer(here, data) == ""
    said = json.loads(answer(here, data))["hookSpecificOutput"]["additionalContext"]
    assert said.startswith('<palace-memory kind="wake">')
    assert "- hook SessionStart: ValueError: broken: run `palace doctor`" in said
    assert answer(here, sent("codex", "Stop", here.root)) == ""


def test_notes_that_are_not_there_are_a_fault_of_the_start(here: Palace) -> None:
    """A disk that is not mounted looks like a palace without notes and rules."""
    data = sent("claude-code", "SessionStart-startup", here.root)
    (here.root / "palace").rename(here.root / "away")
    assert answer(here, data) == ""
    assert faults(here) == [
        f"cannot read palace/ in {here.root} (No such file or directory): mount or restore it"
    ]
    assert "mount or restore it" in answer(here, data)


def test_a_fault_of_a_start_that_cannot_be_kept_is_said(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else no start would ever tell it. Where there is something to say, that is enough."""
    (here.root / ".palace").write_text("")
    data = sent("claude-code", "SessionStart-startup", here.root)
    replying(monkeypatch, OSError("no access"))
    assert "says nothing in this session: OSError: no access: run `palace d" in answer(here, data)
    assert answer(here, sent("claude-code", "Stop", here.root)) == ""
    replying(monkeypatch, Reply(faults=("broken: mend it",)))
    assert "says nothing in this session: broken: mend it." in answer(here, data)
    replying(monkeypatch, Reply(context="fact", faults=("broken: mend it",)))
    assert "broken" not in answer(here, data)


def test_after_a_tool_there_is_time_where_commands_may_run(tmp_path: Path) -> None:
    """Else a disk that hangs would cost a minute at each tool call."""
    home = {"XDG_CONFIG_HOME": str(tmp_path)}
    assert hooks.deadline("PostToolUse", home) == 5
    settings = tmp_path / "memory-palace/config.yaml"
    settings.parent.mkdir()
    settings.write_text('rules: {run_after: ["make fmt"]}\n')
    assert hooks.deadline("PostToolUse", home) == 65
    assert hooks.deadline("PreToolUse", home) == 3


def test_a_health_file_that_cannot_be_written_is_no_fault(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A disk that is read-only, a link that leads elsewhere: the answer is given all the same."""
    replying(monkeypatch, Reply(context="fact", faults=("x",)))
    (here.root / ".palace").symlink_to(here.root / "palace")
    assert "fact" in answer(here, sent("claude-code", "PreToolUse-Bash", here.root))
    assert list((here.root / "palace").iterdir()) == []


def test_the_command_answers_as_the_process_does(
    here: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`palace hook` in this process, and its help."""
    replying(monkeypatch, FACT)
    data = sent("claude-code", "SessionStart-startup", here.root).decode()
    ran = here.command("hook", "SessionStart", "--client", "claude-code", stdin=data)
    assert (ran.code, json.loads(ran.out)["hookSpecificOutput"]["additionalContext"]) == (0, "fact")
    assert "UserPromptSubmit" in here.command("hook", "--help").out
    monkeypatch.setenv("PALACE_HOOK", "1")
    assert here.command("hook", "SessionStart", stdin=data).out == ""


def process(*words: str, stdin: bytes | int, cwd: Path) -> subprocess.Popen[bytes]:
    """A hook that runs, its stdin given or a pipe that stays open."""
    from support.palaces import SCRIPTS

    given = stdin if isinstance(stdin, int) else subprocess.PIPE
    running = subprocess.Popen(
        [sys.executable, "-I", str(SCRIPTS / "hook.py"), *words],
        stdin=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=cwd,
    )
    if isinstance(stdin, bytes) and running.stdin:
        running.stdin.write(stdin)
        running.stdin.flush()
    return running


def ended(running: subprocess.Popen[bytes]) -> tuple[int, bytes]:
    """Its exit code and output; its stdin is held open until then."""
    assert running.stdout
    out = running.stdout.read()
    code = running.wait(60)
    for stream in (running.stdin, running.stdout, running.stderr):
        if stream:
            stream.close()
    return code, out


def test_a_stdin_that_never_ends_is_given_up(here: Palace) -> None:
    """Nothing comes, and nobody closes it."""
    assert ended(process("SessionEnd", stdin=b"", cwd=here.root)) == (0, b"")
    assert "nothing came on stdin" in faults(here)[0]


def test_a_whole_event_on_a_stdin_that_stays_open_is_answered(here: Palace) -> None:
    """A client need not close it."""
    data = sent("claude-code", "Stop", here.root)
    assert ended(process("Dreamed", stdin=data, cwd=here.root)) == (0, b"")
    assert ignored(here) == [("claude-code event Dreamed", 1)]


def test_a_stdin_without_end_is_not_read_to_its_end(here: Palace) -> None:
    """More than a hook reads, and more still comes."""
    with Path("/dev/zero").open("rb") as zeros:
        assert ended(process("Stop", stdin=zeros.fileno(), cwd=here.root)) == (0, b"")
    assert "the event is longer than 16 MB" in faults(here)[0]


def test_a_stdin_that_trickles_is_said_to_have_no_end() -> None:
    """It is given up at the deadline, which is no silence."""
    ours, theirs = os.pipe()
    os.write(theirs, b" ")
    assert received(ours, 0.1, 0.5) == Received(b" ", "the event did not end within 0.1 s")
    assert received(ours, 0.1, 0.5) == Received(b"")
    os.close(ours)
    os.close(theirs)


def test_where_only_sockets_can_be_waited_for_the_event_is_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Windows: `select` refuses the pipe that a client gives."""

    def refuses(*_: object) -> None:
        raise OSError("an operation was attempted on something that is not a socket")

    monkeypatch.setattr(waiting.select, "select", refuses)
    monkeypatch.setattr(waiting, "_WAITS", False)
    ours, theirs = os.pipe()
    os.write(theirs, b"{}")
    os.close(theirs)
    assert received(ours, 1.0) == Received(b"{}")
    os.close(ours)


def test_a_closed_stdin_and_stdout_are_no_fault_of_the_session(here: Palace) -> None:
    """Closed handles: exit 0, and a line."""
    from support.palaces import SCRIPTS

    line = f'"{sys.executable}" -I "{SCRIPTS / "hook.py"}" Stop <&- >&- 2>&-'
    assert subprocess.run(["sh", "-c", line], cwd=here.root, check=False).returncode == 0
    assert "nothing came on stdin" in faults(here)[0]


def test_an_event_of_five_megabytes_is_read(here: Palace) -> None:
    """What a tool gave may be long."""
    big = {"stdout": "x" * 5_000_000, "stderr": ""}
    data = sent("claude-code", "PostToolUse-Bash", here.root, tool_response=big, mood=1)
    done = hook("PostToolUse", stdin=data, cwd=here.root)
    assert done.returncode == 0
    assert ignored(here) == [("claude-code PostToolUse field mood", 1)]
    assert faults(here) == []


def test_inside_a_hook_nothing_happens(here: Palace) -> None:
    """What a hook starts may be a client with the same hooks."""
    done = hook("Stop", stdin=b"no json", cwd=here.root, PALACE_HOOK="1")
    assert (done.returncode, done.stdout) == (0, b"")
    assert faults(here) == []


def test_what_a_hook_starts_knows_that_it_is_in_one(
    here: Palace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The mark is in the environment of everything that runs below."""
    replying(monkeypatch, FACT)
    seen = tmp_path / "seen"

    def handle(*_: object) -> Reply:
        seen.write_text(os.environ["PALACE_HOOK"])
        return FACT

    monkeypatch.setattr(sys.modules["memory_palace.session.turn"], "handle", handle)
    path = tmp_path / "event"
    path.write_bytes(sent("claude-code", "SessionStart-startup", here.root))
    with path.open("rb") as stdin, (tmp_path / "out").open("wb") as out:
        assert hooks.main(["SessionStart"], stdin.fileno(), out.fileno(), {}) == 0
    assert seen.read_text() == "1"
    assert "fact" in (tmp_path / "out").read_text()
    assert "PALACE_HOOK" not in os.environ


@pytest.mark.parametrize(
    ("does", "said"),
    [
        ("while True: pass", "no answer within 0.2 s"),
        ("import re; re.match('(a|a)*b', 'a' * 40)", "no answer within 0.2 s"),
        ("import os; os.kill(os.getpid(), 9)", "ended by SIGKILL"),
        ("import os; os._exit(3)", "ended early"),
    ],
)
def test_what_hangs_or_dies_is_ended_in_time(
    here: Palace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, does: str, said: str
) -> None:
    """The client gets its empty answer, the palace a line."""
    replying(monkeypatch, FACT)
    module = sys.modules["memory_palace.session.turn"]
    monkeypatch.setattr(module, "handle", lambda *_: exec(does))
    monkeypatch.setitem(hooks.SECONDS, "PreToolUse", 0.2)
    path = tmp_path / "event"
    path.write_bytes(sent("claude-code", "PreToolUse-Bash", here.root))
    with path.open("rb") as stdin, (tmp_path / "out").open("wb") as out:
        assert hooks.main([], stdin.fileno(), out.fileno(), {}) == 0
    assert (tmp_path / "out").read_bytes() == b""
    assert faults(here) == [f"hook PreToolUse: {said}: run `palace doctor`"]


def test_what_is_late_is_killed(tmp_path: Path) -> None:
    """It does not run on beside the session until its own alarm ends it."""
    told = tmp_path / "told"

    def work(_: object) -> None:
        told.write_text(str(os.getpid()))
        time.sleep(60)

    assert in_child(work, 0.5).fault == "no answer within 0.5 s"
    _, status = os.waitpid(int(told.read_text()), 0)
    assert os.WTERMSIG(status) == signal.SIGKILL


def test_a_process_that_cannot_be_started_refuses_nothing(here: Palace) -> None:
    """Exit 0, nothing for the client, a line for a person."""
    from support.palaces import SCRIPTS

    code = (
        "import os, sys\n"
        "sys.path.insert(0, sys.argv[1])\n"
        "from memory_palace.agents import hook\n"
        "def refuses():\n"
        "    raise OSError('too many processes')\n"
        "os.fork = refuses\n"
        "hook.run(['PreToolUse'])\n"
    )
    data = sent("claude-code", "PreToolUse-Bash", here.root)
    command = [sys.executable, "-c", code, str(SCRIPTS)]
    done = subprocess.run(command, input=data, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"too many processes" in done.stderr


def test_a_start_that_hangs_tells_the_faults_of_before(
    here: Palace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The second one says what came of the first."""
    replying(monkeypatch, FACT)
    module = sys.modules["memory_palace.session.turn"]
    monkeypatch.setattr(module, "handle", lambda *_: time.sleep(60))
    monkeypatch.setitem(hooks.SECONDS, "SessionStart", 0.2)
    path = tmp_path / "event"
    path.write_bytes(sent("claude-code", "SessionStart-startup", here.root))
    said = []
    for _ in range(2):
        with path.open("rb") as stdin, (tmp_path / "out").open("wb") as out:
            assert hooks.main([], stdin.fileno(), out.fileno(), {}) == 0
        said.append((tmp_path / "out").read_text())
    assert said[0] == ""
    assert "no answer within 0.2 s: run `palace doctor`" in said[1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no child processes here")
def test_what_may_go_on_is_not_ended(tmp_path: Path) -> None:
    """On a busy machine a fault is counted late rather than not at all; nobody waits for that."""
    ours, theirs = os.pipe()

    def work(_: object) -> None:
        os.close(ours)
        time.sleep(0.4)
        os.write(theirs, b"done")

    assert in_child(work, 0.1, 10.0).fault == "no answer within 0.1 s"
    os.close(theirs)
    assert os.read(ours, 9) == b"done"
    os.close(ours)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no child processes here")
def test_what_may_go_on_holds_none_of_the_clients_pipes() -> None:
    """A client waits until all three are closed."""

    def work(write: Callable[[bytes], None]) -> None:
        nowhere = os.stat(os.devnull)
        same = [os.path.samestat(os.fstat(handle), nowhere) for handle in (0, 1, 2)]
        write(str(same).encode())

    assert in_child(work, 10.0, 1.0).data == b"[True, True, True]"


def test_two_hooks_at_once_lose_no_count(here: Palace) -> None:
    """Each of them is in the health file, which is whole."""
    data = sent("claude-code", "Stop", here.root)
    running = [process(f"Dreamed{n % 2}", stdin=data, cwd=here.root) for n in range(8)]
    for one in running:
        assert one.stdin
        one.stdin.close()
        one.stdin = None
    assert [ended(one)[0] for one in running] == [0] * 8
    assert sorted(ignored(here)) == [
        ("claude-code event Dreamed0", 4),
        ("claude-code event Dreamed1", 4),
    ]


def test_every_way_into_a_hook_is_the_same(here: Palace, tmp_path: Path) -> None:
    """The scripts, and the shell script from another folder and through a relative path."""
    from support.palaces import SCRIPTS

    data = sent("claude-code", "Stop", here.root)
    shell = os.path.relpath(SCRIPTS / "hook.sh", tmp_path)
    for command in (
        [sys.executable, str(SCRIPTS / "palace.py"), "hook"],
        [sys.executable, str(SCRIPTS / "hook.py")],
        [sys.executable, "-c", "from memory_palace.cli.entry import entry; entry()", "hook"],
        [shell],
    ):
        done = subprocess.run(
            [*command, "Dreamed"],
            input=data,
            capture_output=True,
            cwd=tmp_path,
            env=os.environ | {"PYTHONPATH": str(SCRIPTS)},
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert ignored(here) == [("claude-code event Dreamed", 4)]


def test_the_shell_script_goes_without_an_environment(tmp_path: Path) -> None:
    """A clone that was not set up: any python3, and none at all."""
    from support.palaces import SCRIPTS

    shutil.copy(SCRIPTS / "hook.sh", tmp_path)
    (tmp_path / "hook.py").write_text("print('any')")
    sh = shutil.which("sh")
    assert sh
    for path, said in ((os.environ["PATH"], b"any\n"), ("/nonexistent", b"")):
        done = subprocess.run(
            [sh, str(tmp_path / "hook.sh"), "Stop"],
            capture_output=True,
            env={"PATH": path},
            check=False,
        )
        assert (done.returncode, done.stdout) == (0, said)


def test_the_shell_script_finds_an_environment_of_windows(tmp_path: Path) -> None:
    """Git's shell runs it there, and any `python3` may be the stub of a store."""
    from support.palaces import SCRIPTS

    shutil.copytree(SCRIPTS, tmp_path / "scripts", ignore=shutil.ignore_patterns("memory_palace"))
    python = tmp_path / ".venv/Scripts/python.exe"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\n')
    python.chmod(0o755)
    script = tmp_path / "scripts/hook.sh"
    done = subprocess.run([script, "Stop"], capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["-I", str(tmp_path / "scripts/hook.py"), "Stop"]


def test_a_clone_that_is_half_there_refuses_nothing(tmp_path: Path) -> None:
    """Python exits with 2 for a script that is not there: Claude Code would stop each tool call."""
    from support.palaces import SCRIPTS

    shutil.copy(SCRIPTS / "hook.sh", tmp_path)
    done = subprocess.run([tmp_path / "hook.sh", "PreToolUse"], capture_output=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_a_captured_event_is_json_of_one_object() -> None:
    """The fixtures are what a client sends."""
    assert event_of(CAPTURED / "codex" / "Stop.json")["hook_event_name"] == "Stop"
