"""Codex's transcripts (rollouts): ``{timestamp, type, payload}``, one thing after the other.

What was said and done is there twice, as ``response_item`` and as ``event_msg``: the first is
read. A subagent has a rollout of its own, which names the session that it belongs to.
"""

import json
import re
from collections.abc import Mapping
from datetime import datetime

from memory_palace.core import tool_calls
from memory_palace.core.prompts import is_machine_made
from memory_palace.core.text import short_id
from memory_palace.core.transcript_turns import (
    Reader,
    Record,
    blocks,
    kind_of,
    object_of,
    text_of,
)

_BOOKKEEPING = frozenset(
    """compacted session_state token_usage_record turn_context world_state""".split()
)
_CALLS = frozenset({"function_call", "custom_tool_call", "local_shell_call", "tool_search_call"})
_RESULTS = frozenset({"function_call_output", "custom_tool_call_output", "tool_search_output"})
_SILENT = frozenset({"reasoning", "ghost_snapshot", "compaction", "compaction_summary"})
_ADDED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|subagent_notification"
    r"|user_shell_command|skill)\b|# AGENTS\.md instructions for )"
)
_HEAD = re.compile(
    r"(?:(?:Chunk ID|Wall time|Exit code|Original token count|Total output lines):[^\n]*\n"
    r"|Process [^\n]*\n)+\n?Output:\n"
)
_CODE = re.compile(r"(?:Exit code:|Process exited with code) (-?\d{1,9})$", re.MULTILINE)


class Codex(Reader):
    """Reads Codex's records."""

    client = "codex"

    def __init__(self) -> None:
        super().__init__()
        self._turn = ""
        self._last = 0

    def _take(self, record: Record, at: datetime | None) -> None:
        kind = kind_of(record)
        payload = object_of(record, "payload")
        if kind == "session_meta":
            self._header(payload)
        elif kind == "event_msg":
            self._turn = text_of(payload, "turn_id") or self._turn
            self.passed["mirrored or bookkeeping"] += 1
        elif kind == "response_item":
            self._item(record, payload, at)
        elif kind in _BOOKKEEPING:
            self._turn = text_of(payload, "turn_id") or self._turn
            self.about.cwd = self.about.cwd or text_of(payload, "cwd")
            self.passed["mirrored or bookkeeping"] += 1
        else:
            self._unknown(kind)

    def _header(self, payload: Record) -> None:
        about = self.about
        if about.session:  # a fork may have the header of the session before it, too
            return
        own = text_of(payload, "id")
        about.session = text_of(payload, "session_id") or own
        about.agent = own if own != about.session else ""
        about.cwd = text_of(payload, "cwd")
        about.version = text_of(payload, "cli_version")
        about.forked_from = text_of(payload, "forked_from_id")

    def _item(self, record: Record, payload: Record, at: datetime | None) -> None:
        kind = kind_of(payload)
        passed_on = object_of(payload, "internal_chat_message_metadata_passthrough")
        self._turn = text_of(passed_on, "turn_id") or self._turn
        if kind == "message":
            if object_of(record, "metadata").get("compaction_output") is True:
                self.passed["summary"] += 1
            else:
                self._message(payload, passed_on, text_of(record, "timestamp"), at)
        elif kind in _CALLS:
            self._tool(payload, text_of(record, "timestamp"), at)
        elif kind in _RESULTS:
            self._output(payload)
        elif kind in _SILENT:
            self.passed["thinking" if kind == "reasoning" else "mirrored or bookkeeping"] += 1
        else:
            self._unknown(kind)

    def _message(self, payload: Record, more: Record, stamp: str, at: datetime | None) -> None:
        role = payload.get("role")
        if role not in ("user", "assistant"):
            self.passed["meta"] += 1
            return
        kinds = more.get("content_item_kinds")
        named = kinds if isinstance(kinds, list) else []
        texts = []
        for number, block in enumerate(blocks(payload.get("content"))):
            kind = named[number] if number < len(named) else ""
            text = text_of(block, "text")
            if not text and "text" not in block:
                self._attached(block)
            if role == "user" and (_ADDED.match(text) or not _by_person(kind)):
                continue
            texts.append(text)
        said = "\n".join(text for text in texts if text.strip())
        if not said:
            self.passed["meta" if role == "user" else "empty"] += 1
        elif role == "user" and is_machine_made(said):
            self.passed["made by a machine"] += 1
        else:
            if role == "user":
                self._give_up()
            ref = text_of(payload, "id") or short_id(stamp, str(role), said)
            self._follow(ref, role=str(role), said=said, at=at)

    def _follow(self, ref: str, role: str, said: str, at: datetime | None) -> None:
        if self._is_placed(ref):
            self.passed["repeat"] += 1
            return
        self._last = self._add(role, ref, said, at, self._last, turn=self._turn)
        self._place(ref, self._last)

    def _tool(self, payload: Record, stamp: str, at: datetime | None) -> None:
        tool = text_of(payload, "name") or "shell"
        given = _given(payload)
        ref = text_of(payload, "call_id") or text_of(payload, "id") or short_id(stamp, tool)
        if self._is_placed(ref):
            self.passed["repeat"] += 1
            return
        tools = tool_calls.CODEX
        self._last = self._call(
            ref,
            at,
            self._last,
            turn=self._turn,
            tool=tool,
            command=tool_calls.command(tools, tool, given),
            given=tool_calls.bounded(given),
            files=tool_calls.files(tools, tool, given),
        )
        self._place(ref, self._last)

    def _output(self, payload: Record) -> None:
        output = payload.get("output", payload.get("tools"))
        failed = object_of(payload, "output").get("success") is False
        text = tool_calls.output(output)
        if text.startswith("{") and '"metadata"' in text:
            try:
                told = json.loads(text)
            except (ValueError, RecursionError):
                told = {}
            if isinstance(told, dict) and isinstance(told.get("output"), str):
                failed = failed or bool(object_of(told, "metadata").get("exit_code"))
                text = told["output"]
        codes, text = _split(text)
        self._result(text_of(payload, "call_id"), text, failed or any(codes))


def _by_person(kind: object) -> bool:
    """Codex says of each text what it is; older versions do not."""
    return not isinstance(kind, str) or not kind or kind.startswith(("user.", "unknown"))


def _given(payload: Record) -> Mapping[str, object]:
    """The arguments of a call: JSON in a text, a text, or an action of a shell."""
    action = payload.get("action")
    if isinstance(action, Mapping):
        return action
    value = payload.get("arguments", payload.get("input"))
    if isinstance(value, Mapping):
        return value
    if not isinstance(value, str):
        return {}
    try:
        found = json.loads(value)
    except (ValueError, RecursionError):
        found = None
    return found if isinstance(found, dict) else {"input": value}


def _split(text: str) -> tuple[list[int], str]:
    """The exit codes that Codex puts before an output, and the output. A patch that ran in a
    shell has two heads."""
    codes: list[int] = []
    for _ in range(2):
        head = _HEAD.match(text)
        if not head:
            break
        codes += [int(code) for code in _CODE.findall(head[0])]
        text = text[head.end() :]
    return codes, text
