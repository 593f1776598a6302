"""What clients send becomes one kind of event, and one kind of reply becomes what they take."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agents.hooks import CAPTURED, captured, event_of, schema
from memory_palace.agents import dialects
from memory_palace.core import fence
from memory_palace.core import tool_calls as tools
from memory_palace.session.events import NAMES, Event, Reply

ANSWERED = [(c, h, p) for c, h, p in captured() if h in dialects.EVENTS]


def decoded(client: str, name: str, **fields: Any) -> Event:
    """The event of a captured file."""
    data = event_of(CAPTURED / client / f"{name}.json") | fields
    host = name.partition("-")[0]
    return dialects.decode(dialects.DIALECTS[client], host, data)[0]


def encoded(client: str, host: str, **fields: str) -> Any:
    """What the client is told, parsed; None if nothing."""
    said = dialects.encode(dialects.DIALECTS[client], host, Reply(**fields))  # type: ignore[arg-type]
    return json.loads(said) if said else None


def test_every_moment_has_a_name_in_the_clients() -> None:
    """The table names each moment of a session once."""
    assert sorted(dialects.EVENTS.values()) == sorted(NAMES)


@pytest.mark.parametrize(("client", "host", "path"), ANSWERED, ids=lambda v: getattr(v, "stem", v))
def test_every_field_of_a_captured_event_is_known(client: str, host: str, path: Path) -> None:
    """Nothing is counted as ignored that today's clients send."""
    event, ignored = dialects.decode(dialects.DIALECTS[client], host, event_of(path))
    assert ignored == []
    assert event.client == client
    assert event.session.startswith("0000")
    assert event.cwd == "/home/user/project"


@pytest.mark.parametrize(("client", "host", "path"), ANSWERED, ids=lambda v: getattr(v, "stem", v))
def test_the_client_is_seen_from_the_event(client: str, host: str, path: Path) -> None:
    """A hook that was set up without `--client` knows who sent a captured event."""
    assert dialects.client_of(event_of(path)) == client


@pytest.mark.parametrize(
    ("client", "name", "fields"),
    [
        ("claude-code", "SessionStart-compact", {"name": "start", "source": "compact"}),
        ("codex", "SessionStart-resume", {"name": "start", "source": "resume"}),
        ("claude-code", "UserPromptSubmit", {"prompt": "stop twice", "source": ""}),
        ("codex", "UserPromptSubmit-in-subagent", {"prompt": "subtask", "name": "prompt"}),
        ("claude-code", "PreToolUse-Bash", {"tool": "Bash", "command": "rm -rf nothing-here"}),
        ("codex", "PreToolUse-Bash", {"tool": "Bash", "command": "echo hello"}),
        ("claude-code", "PreToolUse-Read", {"tool": "Read", "command": "", "files": ()}),
        ("claude-code", "PostToolUse-Bash", {"output": "hello", "name": "after_tool"}),
        ("claude-code", "PostToolUse-Read", {"output": "alpha\nbeta\n", "files": ()}),
        ("codex", "PostToolUse-Bash", {"output": "hello\n"}),
        ("claude-code", "PostToolUse-Edit", {"files": ("/home/user/project/a.txt",)}),
        ("codex", "PostToolUse-apply_patch", {"files": ("a.txt",), "command": ""}),
        ("codex", "PreToolUse-Bash-apply_patch", {"files": ("a.txt",), "tool": "Bash"}),
        ("claude-code", "PostToolUseFailure-Bash-failing", {"output": "Exit code 1"}),
        ("claude-code", "Stop", {"again": False, "message": "One."}),
        ("claude-code", "Stop-again", {"again": True, "message": "Two."}),
        ("codex", "Stop-again", {"again": True}),
        ("claude-code", "SubagentStop", {"name": "subagent_stop", "agent": "ac8510cea9291c1a3"}),
        ("claude-code", "SubagentStop", {"message": "Sub done."}),
        ("claude-code", "SubagentStop-of-compaction", {"message": ""}),
        ("claude-code", "PreCompact-manual", {"name": "compact", "source": "manual"}),
        ("codex", "PreCompact-auto", {"name": "compact", "source": "auto"}),
        ("claude-code", "SessionEnd-clear", {"name": "end", "source": "clear"}),
    ],
    ids=lambda v: v if isinstance(v, str) else "",
)
def test_an_event_says_what_the_client_said(client: str, name: str, fields: dict[str, Any]) -> None:
    """The fields of captured events are found under our names."""
    event = decoded(client, name)
    assert {key: getattr(event, key) for key in fields} == fields


@pytest.mark.parametrize(
    ("client", "name", "call", "turn"),
    [
        ("claude-code", "UserPromptSubmit", "", "prompt_id"),
        ("claude-code", "PostToolUse-Edit", "tool_use_id", "prompt_id"),
        ("claude-code", "PostToolUseFailure-Read", "tool_use_id", "prompt_id"),
        ("claude-code", "Stop-again", "", "prompt_id"),
        ("claude-code", "SubagentStop", "", "prompt_id"),
        ("codex", "UserPromptSubmit", "", "turn_id"),
        ("codex", "PostToolUse-apply_patch", "tool_use_id", "turn_id"),
        ("codex", "Stop", "", "turn_id"),
        ("codex", "SessionEnd", "", ""),
    ],
)
def test_a_call_and_a_turn_keep_the_client_s_ids(
    client: str, name: str, call: str, turn: str
) -> None:
    """What names a tool call, and what a prompt with all that follows it, is in the event."""
    data = event_of(CAPTURED / client / f"{name}.json")
    event = decoded(client, name)
    assert (event.call, event.turn) == (data.get(call, ""), data.get(turn, ""))
    assert bool(event.call) == bool(call)
    assert bool(event.turn) == bool(turn)


def test_a_turn_without_its_own_name_takes_the_other() -> None:
    """A prompt's id comes first; an empty one, or one of another type, does not count."""
    both = {"prompt_id": "p", "turn_id": "t"}
    assert decoded("codex", "Stop", **both).turn == "p"
    assert decoded("codex", "Stop", **both | {"prompt_id": ""}).turn == "t"
    assert decoded("codex", "Stop", **both | {"prompt_id": 7}).turn == "t"
    assert decoded("codex", "PostToolUse-Bash", tool_use_id=None).call == ""


def test_unknown_and_mistyped_fields_are_named() -> None:
    """They are left out of the event and told by name."""
    data = event_of(CAPTURED / "claude-code" / "UserPromptSubmit.json")
    data |= {"prompt": ["a"], "mood": "good", "session_id": 7}
    dialect = dialects.DIALECTS["claude-code"]
    event, ignored = dialects.decode(dialect, "UserPromptSubmit", data)
    assert (event.prompt, event.session) == ("", "")
    assert sorted(ignored) == ["mood", "prompt", "session_id"]


@pytest.mark.parametrize(
    ("set_of_tools", "tool", "given_", "command", "files"),
    [
        (tools.CODEX, "shell", {"command": ["bash", "-lc", "git push"]}, "bash -lc 'git push'", ()),
        (tools.CODEX, "local_shell", {"command": ["ls", "a b"]}, "ls 'a b'", ()),
        (tools.CODEX, "exec_command", {"cmd": "ls"}, "ls", ()),
        (tools.CLAUDE_CODE, "Monitor", {"command": "tail -f log"}, "tail -f log", ()),
        (tools.CLAUDE_CODE, "Monitor", {"ws": {"url": "ws://x"}}, "", ()),
        (tools.CLAUDE_CODE, "NotebookEdit", {"notebook_path": "/a.ipynb"}, "", ("/a.ipynb",)),
        (tools.CLAUDE_CODE, "MultiEdit", {"file_path": "/a.py", "edits": []}, "", ("/a.py",)),
        (tools.CLAUDE_CODE, "Bash", {"command": 7}, "", ()),
        (tools.CLAUDE_CODE, "mcp__x__edit", {"file_path": "/a"}, "", ()),
        (tools.NEUTRAL, "bash", {"command": "ls"}, "ls", ()),
        (tools.NEUTRAL, "write", {"filePath": "/a"}, "", ("/a",)),
        (tools.NEUTRAL, "edit", {"path": "a"}, "", ("a",)),
    ],
)
def test_commands_and_files_are_found_in_a_tool_call(
    set_of_tools: tools.Tools,
    tool: str,
    given_: dict[str, Any],
    command: str,
    files: tuple[str, ...],
) -> None:
    """Whatever the client calls its tools and their arguments."""
    assert tools.command(set_of_tools, tool, given_) == command
    assert tools.files(set_of_tools, tool, given_) == files


def test_a_patch_names_its_files_once() -> None:
    """Added, updated, deleted and moved ones."""
    patch = (
        "*** Begin Patch\n*** Add File: a.md\n+x\n*** Update File: b.md\n*** Move to: c.md\n"
        "@@\n-*** Add File: no.md\n*** Delete File: d e.md\n*** Update File: a.md\n*** End Patch"
    )
    found = tools.files(tools.CODEX, "apply_patch", {"input": patch})
    assert found == ("a.md", "b.md", "c.md", "d e.md")
    assert tools.files(tools.CODEX, "Bash", {"command": "echo '*** Add File: a'"}) == ()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, ""),
        ("out", "out"),
        ({"stdout": "a", "stderr": "b", "interrupted": False}, "a\nb"),
        ({"stdout": "a", "stderr": ""}, "a"),
        ([{"type": "text", "text": "a"}, {"type": "image"}], "a"),
        ({"content": [{"type": "text", "text": "a"}]}, "a"),
        ({"type": "text", "file": {"filePath": "a", "content": "b"}}, "b"),
        ({"filePath": "é"}, '{"filePath": "é"}'),
        (7, "7"),
    ],
)
def test_what_a_tool_gave_is_text(value: Any, text: str) -> None:
    """Texts, streams and blocks; anything else as JSON."""
    assert tools.output(value) == text


def test_a_long_output_keeps_its_two_ends() -> None:
    """Errors stand at the end, what was done at the beginning."""
    found = tools.output("start" + "x" * 5_000_000 + "end")
    assert len(found) <= tools.MOST_OUTPUT
    assert found.startswith("startxxx")
    assert found.endswith("xxxend")


def test_a_text_that_no_file_takes_is_cleaned() -> None:
    """NUL is left out, so that it hides no command; a lone half of a character is replaced, two
    halves are joined."""
    event = decoded("claude-code", "UserPromptSubmit", prompt="a\0b \ud800 \ud83d\ude00 é")
    assert event.prompt == "ab \ufffd 😀 é"


@pytest.mark.parametrize("client", dialects.CLIENTS)
def test_a_context_goes_where_the_model_sees_it(client: str) -> None:
    """At a start, a prompt, before and after a tool; nowhere else."""
    for host in dialects.EVENTS:
        found = encoded(client, host, context="fact")
        if host in ("Stop", "SubagentStop", "PreCompact", "SessionEnd"):
            assert found is None
        else:
            inner = {"hookEventName": host, "additionalContext": "fact"}
            assert found == {"hookSpecificOutput": inner}


@pytest.mark.parametrize("client", dialects.CLIENTS)
def test_a_denied_tool_call_carries_its_reason(client: str) -> None:
    """And a warning beside it."""
    assert encoded(client, "PreToolUse", deny="no force", context="fact") == {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no force",
            "additionalContext": "fact",
        }
    }


def test_a_client_that_cannot_ask_is_told_no() -> None:
    """Codex takes `ask` for a broken hook and runs the tool: the palace said to ask first."""
    asked = encoded("claude-code", "PreToolUse", ask="deploys")["hookSpecificOutput"]
    assert asked["permissionDecision"] == "ask"
    told = encoded("codex", "PreToolUse", ask="deploys")["hookSpecificOutput"]
    assert told["permissionDecision"] == "deny"
    assert told["permissionDecisionReason"].startswith("deploys\n")


def test_a_turn_that_is_not_over_is_sent_back() -> None:
    """With the reason, at a stop and at a subagent's."""
    for host in ("Stop", "SubagentStop"):
        for client in dialects.CLIENTS:
            assert encoded(client, host, retry="run the tests") == {
                "decision": "block",
                "reason": "run the tests",
            }
    assert encoded("codex", "UserPromptSubmit", retry="x", deny="y", ask="z") is None


def test_nothing_to_say_is_nothing_on_stdout() -> None:
    """No empty object, which some clients show."""
    for client in dialects.CLIENTS:
        for host in dialects.EVENTS:
            assert dialects.encode(dialects.DIALECTS[client], host, Reply()) == b""


TEXTS = st.one_of(
    st.text(max_size=40),
    st.text(st.sampled_from("aé\n😀\ud800\0 <>"), max_size=40).map(lambda t: t * 900),
    st.builds(fence.fenced, st.text(min_size=1, max_size=60).map(lambda t: t * 400), st.just("x")),
)


@given(
    st.sampled_from(dialects.CLIENTS),
    st.sampled_from(sorted(dialects.EVENTS)),
    st.builds(Reply, TEXTS, TEXTS, TEXTS, TEXTS),
)
def test_whatever_the_reply_the_client_takes_it(client: str, host: str, reply: Reply) -> None:
    """The output fits the schema, has no lone surrogate, and is short as the client counts."""
    said = dialects.encode(dialects.DIALECTS[client], host, reply)
    if not said:
        return
    found = json.loads(said)
    Draft202012Validator(schema(client, host)).validate(found)
    measure = dialects.DIALECTS[client].measure
    for text in (*found.values(), *found.get("hookSpecificOutput", {}).values()):
        if isinstance(text, str):
            text.encode("utf-8")
            assert fence.size(text, measure) <= 10_000


_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)
_NAMED = st.sampled_from(
    ["session_id", "cwd", "prompt", "tool_name", "tool_input", "tool_response", "error", "source"]
)


@given(
    st.sampled_from(dialects.CLIENTS),
    st.sampled_from(sorted(dialects.EVENTS)),
    st.dictionaries(_NAMED | st.text(max_size=8), _JSON),
    st.sampled_from(["Bash", "Edit", "apply_patch", "bash", "other"]),
)
def test_any_object_is_an_event(client: str, host: str, data: dict[str, Any], tool: str) -> None:
    """Whatever a client sends is read without a fault, into texts that any file takes."""
    event, ignored = dialects.decode(dialects.DIALECTS[client], host, {**data, "tool_name": tool})
    assert event.name == dialects.EVENTS[host]
    for text in (event.prompt, event.command, event.output, *event.files, *ignored):
        text.encode("utf-8")
        assert "\0" not in text
