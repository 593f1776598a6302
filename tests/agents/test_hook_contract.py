"""The contract with the clients: captured events through real processes, and what comes back."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from agents.hooks import captured, event_of, hook, replying, schema, sent
from memory_palace.agents import dialects
from memory_palace.agents import hook as hooks
from memory_palace.agents.waiting import Received
from memory_palace.core import fence
from memory_palace.session import health, record
from memory_palace.session.events import Reply
from serve.running import serving
from support.palaces import OLD_NS, SCRIPTS, Palace

ALL = list(captured())
CLIENTS = ("claude-code", "codex")

RULE = """---
type: rule
trigger: bash_contains git push --force
action: block
reason: Others pull from it.
---
# No forced push
"""
WARNING = """---
type: rule
trigger: bash_contains echo
action: warn
reason: Echo lies.
---
# Echo
"""
VERIFIER = """---
type: rule
verifier: tool_called Read before git commit
reason: Read first.
---
# Read first
"""
ALL_OF_IT = Reply(context="fact", deny="no", ask="sure?", retry="again")
CONTEXT = {"additionalContext": "fact"}
TOLD: dict[str, dict[str, Any] | None] = {
    "SessionStart": {"hookSpecificOutput": {"hookEventName": "SessionStart", **CONTEXT}},
    "UserPromptSubmit": {"hookSpecificOutput": {"hookEventName": "UserPromptSubmit", **CONTEXT}},
    "PreToolUse": {
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": "no",
            **CONTEXT,
        }
    },
    "PostToolUse": {"hookSpecificOutput": {"hookEventName": "PostToolUse", **CONTEXT}},
    "PostToolUseFailure": {
        "hookSpecificOutput": {"hookEventName": "PostToolUseFailure", **CONTEXT}
    },
    "Stop": {"decision": "block", "reason": "again"},
    "SubagentStop": {"decision": "block", "reason": "again"},
}
"""What a client is told of a reply that says all it can; nothing at any other event."""


@pytest.fixture
def ruled(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Palace:
    """An indexed palace with three rules and a note, and no server by itself."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    rules = {"push": RULE, "echo": WARNING, "first": VERIFIER}
    for name, text in rules.items():
        keyword_palace.write(f"palace/reflection_wing/rules/{name}.md", text)
    keyword_palace.notes(project_rooms__stones__amber="# Amber\n\nThe amber ledger is in the barn.")
    keyword_palace.command("index")
    # As if nobody had written there just now: what was is read again for a moment.
    for path in ("palace/reflection_wing/rules", ".palace/index/catalog.sqlite"):
        os.utime(keyword_palace.root / path, ns=(OLD_NS, OLD_NS))
    return keyword_palace


@pytest.mark.parametrize(("client", "host", "path"), ALL, ids=lambda v: getattr(v, "stem", v))
def test_a_captured_event_gets_exactly_this(
    keyword_palace: Palace,
    monkeypatch: pytest.MonkeyPatch,
    client: str,
    host: str,
    path: Path,
) -> None:
    """For each event of each client, named by the client and by the argument."""
    replying(monkeypatch, ALL_OF_IT)
    data = json.dumps(event_of(path, keyword_palace.root)).encode()
    for words in ([], [host, "--client", client]):
        said = hooks.answer(hooks.parsed(words), Received(data))
        assert (json.loads(said) if said else None) == TOLD.get(host)
    assert health.read(keyword_palace.root) == ()


@pytest.mark.parametrize(("client", "host", "path"), ALL, ids=lambda v: getattr(v, "stem", v))
def test_a_captured_event_is_answered_by_the_process(
    ruled: Palace, client: str, host: str, path: Path
) -> None:
    """With the real session behind it: exit 0, nothing on stderr, output of the event's schema,
    no fault."""
    data = event_of(path, ruled.root)
    done = hook(host, stdin=json.dumps(data).encode(), cwd=ruled.root)
    assert (done.returncode, done.stderr) == (0, b"")
    assert health.read(ruled.root) == health.ignored(ruled.root) == ()
    if host in ("SessionEnd", "PreCompact") or host not in dialects.EVENTS:
        assert done.stdout == b""
    if done.stdout:
        Draft202012Validator(schema(client, host)).validate(json.loads(done.stdout))


def told(palace: Palace, client: str, name: str, **fields: Any) -> dict[str, Any]:
    """What a hook in a process of its own says; {} if nothing."""
    host = name.partition("-")[0]
    data = sent(client, name, palace.root, session_id="one", **fields)
    done = hook(host, "--client", client, stdin=data, cwd=palace.root)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout) if done.stdout else {}
    if found:
        Draft202012Validator(schema(client, host)).validate(found)
    return found


def shell(command: str) -> dict[str, Any]:
    """The fields of a shell's call."""
    return {"tool_name": "Bash", "tool_input": {"command": command}}


@pytest.mark.parametrize("client", CLIENTS)
def test_a_session_from_start_to_end(ruled: Palace, client: str) -> None:
    """Oriented, given what fits, stopped, warned, kept going once."""
    start = told(ruled, client, "SessionStart-startup")["hookSpecificOutput"]
    assert start["additionalContext"].startswith(fence.OPEN)
    assert "amber" in start["additionalContext"].lower()

    assert told(ruled, client, "UserPromptSubmit", prompt="thanks!") == {}
    denied = told(ruled, client, "PreToolUse-Bash", **shell("cd x && git push --force"))
    said = denied["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert "Others pull from it." in said["permissionDecisionReason"]
    assert told(ruled, client, "PreToolUse-Bash", **shell("git push")) == {}
    warned = told(ruled, client, "PreToolUse-Bash", **shell("echo hello"))
    assert "Echo lies." in warned["hookSpecificOutput"]["additionalContext"]

    assert told(ruled, client, "PostToolUse-Bash", **shell("git commit -m x")) == {}
    kept = told(ruled, client, "Stop")
    assert kept["decision"] == "block"
    assert "Read first" in kept["reason"]
    assert told(ruled, client, "Stop-again") == {}
    assert told(ruled, client, "SessionEnd") == {}
    assert health.read(ruled.root) == ()


@pytest.mark.parametrize("client", CLIENTS)
def test_a_prompt_is_given_what_fits_once(ruled: Palace, client: str) -> None:
    """In a session that was not shown it at its start."""
    first = told(ruled, client, "UserPromptSubmit", prompt="where is the amber ledger?")
    assert "in the barn" in first["hookSpecificOutput"]["additionalContext"]
    assert told(ruled, client, "UserPromptSubmit", prompt="where is the amber ledger?") == {}
    assert told(ruled, client, f"PreCompact-{'auto' if client == 'codex' else 'manual'}") == {}
    again = told(ruled, client, "UserPromptSubmit", prompt="where is the amber ledger?")
    assert again == first


def test_a_palace_that_cannot_be_written_is_no_silence(ruled: Palace) -> None:
    """As on a read-only disk no record, no kept rules and no line of health can be written: rules
    and memory answer all the same."""
    derived = ruled.root / ".palace"
    (derived / "sessions").write_text("")  # a file in the way of a folder
    for name in ("health.json", "health.lock", "rules.json"):
        (derived / name).mkdir()  # a folder in the way of a file
    denied = told(ruled, "codex", "PreToolUse-Bash", **shell("git push --force"))
    assert denied["hookSpecificOutput"]["permissionDecision"] == "deny"
    found = told(ruled, "codex", "UserPromptSubmit", prompt="where is the amber ledger?")
    assert "in the barn" in found["hookSpecificOutput"]["additionalContext"]
    start = told(ruled, "codex", "SessionStart-startup")
    assert "amber" in start["hookSpecificOutput"]["additionalContext"].lower()


def test_two_hooks_at_once_keep_the_record_whole(ruled: Palace) -> None:
    """Each tool call is there once."""
    running = []
    for number in range(6):
        data = sent("codex", "PostToolUse-Bash", ruled.root, **shell(f"ls {number}"))
        one = subprocess.Popen(
            [sys.executable, "-I", str(SCRIPTS / "hook.py"), "PostToolUse"],
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
        )
        assert one.stdin
        one.stdin.write(data)
        one.stdin.close()
        running.append(one)
    assert [one.wait(60) for one in running] == [0] * 6
    key = record.key("codex", json.loads(data)["session_id"])
    rows = record.read(ruled.root, key)
    assert sorted(row["command"] for row in rows) == [f"ls {number}" for number in range(6)]
    assert health.read(ruled.root) == ()


def imported(palace: Palace, name: str, **fields: Any) -> set[str]:
    """The full names of all modules that a hook imports, from its start to its end."""
    host = name.partition("-")[0]
    data = sent("claude-code", name, palace.root, **fields)
    done = subprocess.run(
        [sys.executable, "-I", "-X", "importtime", str(SCRIPTS / "hook.py"), host],
        input=data,
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    lines = done.stderr.decode().splitlines()
    return {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}


def foreign(modules: set[str]) -> set[str]:
    """The packages among them, without ours and those of the standard library."""
    tops = {name.split(".")[0] for name in modules} - sys.stdlib_module_names
    # Those that the environment itself brings at every start.
    tops -= {"sitecustomize", "usercustomize", "_distutils_hack", "imported package"}
    tops -= {"org", "toml"}  # only looked for, by the parser of frontmatter
    return {name for name in tops if not name.startswith("__editable__")} - {"memory_palace"}


HEAVY = {
    *("asyncio", "click", "concurrent", "dataclasses", "email", "http", "inspect"),
    *("logging", "multiprocessing", "random", "sqlite3", "ssl", "tempfile", "unittest"),
}
"""Modules of the standard library that take milliseconds."""

_NOTES = {"frontmatter", "yaml"}
_VALUES = {"dataclasses", "inspect"}
_INDEX = {*_VALUES, "random", "sqlite3"}
_LEDGER = {*_VALUES, "logging", "random"}
PINNED: dict[str, tuple[set[str], set[str]]] = {
    "PreToolUse-Bash": (set(), set()),
    "PostToolUse-Bash": (set(), set()),
    "PostToolUseFailure-Bash-failing": (set(), set()),
    "Stop": (set(), set()),
    "SubagentStop": (set(), set()),
    "PreCompact-manual": ({"filelock"}, _LEDGER),  # what was said until now goes into its ledger
    "SessionEnd": (set(), set()),
    "SubagentStart": (set(), set()),
    "UserPromptSubmit": (_NOTES, _INDEX),
    "PostToolUse-Edit": (_NOTES, _INDEX),
    "SessionStart-startup": (_NOTES, _INDEX),
}
"""(packages, heavy modules) that an event may import, once the palace's rules are kept."""


@pytest.mark.parametrize("name", PINNED)
def test_a_hook_imports_what_it_must(ruled: Palace, name: str) -> None:
    """Nothing but the standard library and little of that, until notes are looked at."""
    imported(ruled, "PreToolUse-Bash")  # keeps the rules
    found = imported(ruled, name)
    packages, heavy = PINNED[name]
    assert foreign(found) == packages
    assert {module.split(".")[0] for module in found} & HEAVY == heavy


def test_what_the_server_answers_imports_no_package(ruled: Palace) -> None:
    """A prompt costs a client of the server, and no index."""
    with serving(ruled.root):
        found = imported(ruled, "UserPromptSubmit", prompt="where is the amber ledger?")
    assert foreign(found) == set()
    assert not {name for name in found if name.startswith("memory_palace.index.catalog")}
