"""What each client calls the moments of a session, and what it may be told: one table.

Claude Code and Codex send the same shape under the same names and differ in what they accept back.
OpenCode and pi are reached through plugins of ours, which speak that shape too.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from memory_palace.core import fence
from memory_palace.core import tool_calls as tools
from memory_palace.session.events import Event, Reply

EVENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "PreToolUse": "before_tool",
    "PostToolUse": "after_tool",
    "PostToolUseFailure": "tool_failed",
    "Stop": "stop",
    "SubagentStop": "subagent_stop",
    "PreCompact": "compact",
    "SessionEnd": "end",
}
"""The hosts' names of what is answered, and ours."""

PASSED_OVER = frozenset({"PostCompact", "SubagentStart", "PermissionRequest", "Notification"})
"""Events that clients have too and that nothing is done at."""

_COMMON = (
    "session_id transcript_path cwd hook_event_name prompt_id permission_mode agent_id agent_type"
    " effort model turn_id session_title"
)
_TOOL = "tool_name tool_input tool_use_id mcp_server"
_STOP = "stop_hook_active last_assistant_message background_tasks session_crons"
_FIELDS = {
    "start": "source seconds_since_last_response context_tokens prompt_cache_likely_expired"
    " estimated_cache_write_usd",
    "prompt": "prompt source",
    "before_tool": _TOOL,
    "after_tool": f"{_TOOL} tool_response duration_ms",
    "tool_failed": f"{_TOOL} error is_interrupt duration_ms",
    "stop": _STOP,
    "subagent_stop": f"{_STOP} agent_transcript_path",
    "compact": "trigger custom_instructions",
    "end": "reason",
}
_KNOWN = {name: frozenset(f"{_COMMON} {fields}".split()) for name, fields in _FIELDS.items()}

_CONTEXT = frozenset({"start", "prompt", "before_tool", "after_tool", "tool_failed"})
_RETRY = frozenset({"stop", "subagent_stop"})
_NO_REASON = "A rule of the palace says so."
MOST = 10_000
"""A longer text is put into a file by the client, where a model does not see it."""


class Dialect(NamedTuple):
    """A client. ``asks`` where a hook can have it ask the person; ``measure`` is how it counts the
    length of a text; ``tools`` are its shells and what edits files."""

    client: str
    asks: bool
    measure: fence.Measure
    tools: tools.Tools


DIALECTS = {
    dialect.client: dialect
    for dialect in (
        Dialect("claude-code", True, fence.UNITS, tools.CLAUDE_CODE),
        # It takes `ask` for a fault of the hook, and then runs the tool.
        Dialect("codex", False, fence.BYTES, tools.CODEX),
        Dialect("opencode", False, fence.UNITS, tools.NEUTRAL),
        Dialect("pi", True, fence.UNITS, tools.NEUTRAL),
    )
}
CLIENTS = tuple(DIALECTS)


def client_of(data: Mapping[str, Any]) -> str:
    """The client that sent ``data``, for a hook that was set up without ``--client``."""
    transcript = data.get("transcript_path")
    name = transcript.replace("\\", "/").rsplit("/", 1)[-1] if isinstance(transcript, str) else ""
    return "codex" if "turn_id" in data or name.startswith("rollout-") else "claude-code"


def decode(dialect: Dialect, host: str, data: Mapping[str, Any]) -> tuple[Event, list[str]]:
    """The event of ``data`` under the host's name ``host`` (one of :data:`EVENTS`), and the names
    of fields that were ignored: unknown, or of another type than expected."""
    name = EVENTS[host]
    read = _Reader(data)
    tool = read.text("tool_name")
    given = read.mapping("tool_input")
    failed = name == "tool_failed"
    event = Event(
        client=dialect.client,
        name=name,
        session=read.text("session_id"),
        cwd=read.text("cwd"),
        source=_source(name, read),
        prompt=read.text("prompt"),
        tool=tool,
        input=tools.bounded(given),
        command=tools.command(dialect.tools, tool, given),
        files=tools.files(dialect.tools, tool, given),
        output=tools.output(data.get("error" if failed else "tool_response")),
        message="" if _is_compacting(data) else read.text("last_assistant_message"),
        again=data.get("stop_hook_active") is True,
        agent=read.text("agent_id"),
        transcript=read.text("transcript_path"),
        call=read.text("tool_use_id"),
        turn=read.text("prompt_id") or read.text("turn_id"),
    )
    unknown = (tools.clean(key)[:80] for key in data if key not in _KNOWN[name])
    return event, [*read.wrong, *unknown]


def _is_compacting(data: Mapping[str, Any]) -> bool:
    """True for the agent of no type that Claude Code has write a compaction's summary: nobody is
    told what it says."""
    return data.get("agent_type") == "" and bool(data.get("agent_id"))


def _source(name: str, read: "_Reader") -> str:
    key = {"start": "source", "prompt": "source", "compact": "trigger", "end": "reason"}.get(name)
    return read.text(key) if key else ""


class _Reader:
    """Takes fields out by type; ``wrong`` names those that have another one."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self.wrong: list[str] = []

    def text(self, key: str) -> str:
        value = self._data.get(key)
        if isinstance(value, str):
            return tools.clean(value)
        if value is not None and key not in self.wrong:
            self.wrong.append(key)
        return ""

    def mapping(self, key: str) -> Mapping[str, Any]:
        value = self._data.get(key)
        if isinstance(value, Mapping):
            return value
        if isinstance(value, str | list):
            return {"command": value}  # some tools take their text bare: a command, a patch
        if value is not None:
            self.wrong.append(key)
        return {}


def encode(dialect: Dialect, host: str, reply: Reply) -> bytes:
    """What the client reads on stdout; empty where there is nothing to say."""
    found = dict(_fields(dialect, host, reply))
    return json.dumps(found).encode("ascii") + b"\n" if found else b""


def _fields(dialect: Dialect, host: str, reply: Reply) -> Iterator[tuple[str, Any]]:
    name = EVENTS[host]

    def text(value: str) -> str:
        return fence.shortened(tools.clean(value), MOST, dialect.measure).strip()

    if name in _RETRY and (retry := text(reply.retry)):
        yield "decision", "block"
        yield "reason", retry
    said: dict[str, str] = {}
    if name == "before_tool" and (reply.deny or reply.ask):
        deny = bool(reply.deny) or not dialect.asks
        said["permissionDecision"] = "deny" if deny else "ask"
        said["permissionDecisionReason"] = text(_reason(dialect, reply)) or _NO_REASON
    if name in _CONTEXT and (context := text(reply.context)):
        said["additionalContext"] = context
    if said:
        yield "hookSpecificOutput", {"hookEventName": host, **said}


def _reason(dialect: Dialect, reply: Reply) -> str:
    if reply.deny or dialect.asks:
        return reply.deny or reply.ask
    return f"{reply.ask}\nA person has to decide this, and this client cannot ask: it was not run."
