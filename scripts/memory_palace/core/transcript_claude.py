"""Claude Code's transcripts: a tree of ``user``, ``assistant`` and other records.

Each block of an answer has a record of its own. A session that was forked has the records of the
one before it, under its own session's id.
"""

import re
from collections.abc import Mapping
from datetime import datetime

from memory_palace.core import tool_calls
from memory_palace.core.prompts import is_machine_made
from memory_palace.core.transcript_turns import (
    Reader,
    Record,
    blocks,
    kind_of,
    object_of,
    text_of,
)

_BOOKKEEPING = frozenset(
    """agent-color agent-name agent-setting ai-title api-request api-request-blob
    api-request-shape atis-latch attachment attribution-snapshot content-replacement cost-state
    custom-title file-history-delta file-history-snapshot last-prompt mode permission-mode pr-link
    progress queue-operation speculation-accept summary system tag task-summary tools-used
    worktree-state""".split()
)
"""Types of records in which nobody says anything."""

_COMMAND = re.compile(
    r"\s*<command-(?:name|message)>.*?<command-name>(?P<a>[^<]*)"
    r"|\s*<command-name>(?P<b>[^<]*)",
    re.DOTALL,
)
_ARGUMENTS = re.compile(r"<command-args>(.*)</command-args>", re.DOTALL)
_LOCAL = re.compile(r"\s*<(?:local-command-|bash-)")
_INTERRUPTED = "[Request interrupted by user"
_SILENT = frozenset({"thinking", "redacted_thinking"})


class ClaudeCode(Reader):
    """Reads Claude Code's records."""

    client = "claude-code"

    def __init__(self) -> None:
        super().__init__()
        self._turn = ""
        self._tails: dict[str, int] = {}
        self._messages: dict[str, str] = {}

    def _take(self, record: Record, at: datetime | None) -> None:
        self._learn(record)
        kind = kind_of(record)
        name = text_of(record, "uuid")
        if name and self._is_placed(name):
            self.passed["repeat"] += 1
            return
        parent = self._at(record.get("parentUuid") or record.get("logicalParentUuid"))
        if not parent and record.get("isCompactSummary") is True:
            parent = self._count
        here = parent
        if not self._is_ours(record):
            self.passed["sidechain"] += 1
        elif record.get("isMeta") is True and kind in ("user", "assistant"):
            self.passed["meta"] += 1
        elif kind == "user" and name:
            here = self._user(record, name, at, parent)
        elif kind == "assistant" and name:
            here = self._assistant(record, name, at, parent)
        elif kind == "attachment" and name:
            here = self._attachment(record, name, at, parent)
        elif kind in _BOOKKEEPING:
            self.passed["bookkeeping"] += 1
        elif kind in ("user", "assistant", "attachment"):
            self.passed["without an id"] += 1
        else:
            self._unknown(kind)
        if name:
            self._place(name, here)

    def _learn(self, record: Record) -> None:
        about = self.about
        session = text_of(record, "sessionId")
        about.session = about.session or session
        about.cwd = about.cwd or text_of(record, "cwd")
        about.version = text_of(record, "version") or about.version
        if not about.agent and not self._count and record.get("isSidechain") is True:
            about.agent = text_of(record, "agentId")
        before = text_of(object_of(record, "forkedFrom"), "sessionId")
        before = before or text_of(record, "requestSessionId")
        if before and before != about.session and not about.forked_from:
            about.forked_from = before

    def _is_ours(self, record: Record) -> bool:
        if record.get("isSidechain") is not True:
            return True
        return bool(self.about.agent) and text_of(record, "agentId") == self.about.agent

    def _user(self, record: Record, name: str, at: datetime | None, parent: int) -> int:
        self._turn = text_of(record, "promptId") or self._turn
        if record.get("isCompactSummary") is True:
            self.passed["summary"] += 1
            return parent
        content = object_of(record, "message").get("content")
        texts: list[str] = []
        here = parent
        for block in blocks(content):
            if block.get("type") == "tool_result":
                here = max(here, self._result_of(block, record.get("toolUseResult")))
            elif block.get("type") == "text":
                texts.append(text_of(block, "text"))
            else:
                self._attached(block)
        said = "\n".join(text for text in texts if text.strip())
        return self._prompt(said, name, at, here, text_of(record, "promptSource")) if said else here

    def _prompt(self, said: str, name: str, at: datetime | None, parent: int, source: str) -> int:
        command = _COMMAND.match(said)
        if command:
            arguments = _ARGUMENTS.search(said)
            words = arguments[1].strip() if arguments else ""
            if not words:
                self.passed["command"] += 1
                return parent
            said = f"{(command['a'] or command['b'] or '').strip()} {words}"
        elif _LOCAL.match(said):
            self.passed["command"] += 1
            return parent
        elif said.startswith(_INTERRUPTED):
            self.passed["interruption"] += 1
            return parent
        elif is_machine_made(said, source):
            self.passed["made by a machine"] += 1
            return parent
        self._give_up()
        return self._add("user", name, said, at, parent, turn=self._turn)

    def _result_of(self, block: Record, raw: object) -> int:
        """Take a tool's result; the last turn of the answer that called it. ``raw`` is the result
        without what was written around it for the model, where it is one of text."""
        ref = text_of(block, "tool_use_id")
        output = block.get("content")
        if isinstance(raw, Mapping) and (
            isinstance(raw.get("stdout"), str) or isinstance(raw.get("content"), list)
        ):
            output = raw
        self._result(ref, tool_calls.output(output), block.get("is_error") is True)
        return self._tails.get(self._messages.pop(ref, ""), 0)

    def _assistant(self, record: Record, name: str, at: datetime | None, parent: int) -> int:
        message = object_of(record, "message")
        if record.get("isApiErrorMessage") is True or message.get("model") == "<synthetic>":
            self.passed["made by a machine"] += 1
            return parent
        answer = text_of(message, "id") or name
        here = parent
        for number, block in enumerate(blocks(message.get("content"))):
            kind = kind_of(block)
            ref = f"{name}#{number}" if number else name
            if kind == "text" and text_of(block, "text").strip():
                said = text_of(block, "text")
                here = self._add("assistant", ref, said, at, here, turn=self._turn)
            elif kind == "tool_use":
                here = self._tool(block, ref, answer, at, here)
            elif kind in _SILENT:
                self.passed["thinking"] += 1
            elif kind != "text":
                self._unknown(kind)
        if not self._messages:
            self._tails.clear()
        self._tails[answer] = here
        return here

    def _tool(self, block: Record, ref: str, answer: str, at: datetime | None, parent: int) -> int:
        tool = text_of(block, "name") or "tool"
        value = block.get("input")
        given = value if isinstance(value, Mapping) else {}
        ref = text_of(block, "id") or ref
        if ref in self._calls:
            self.passed["repeat"] += 1
            return parent
        self._messages[ref] = answer
        tools = tool_calls.CLAUDE_CODE
        return self._call(
            ref,
            at,
            parent,
            turn=self._turn,
            tool=tool,
            command=tool_calls.command(tools, tool, given),
            given=tool_calls.bounded(given),
            files=tool_calls.files(tools, tool, given),
        )

    def _attachment(self, record: Record, name: str, at: datetime | None, parent: int) -> int:
        """What a person said while the agent worked is attached to what it did."""
        attached = object_of(record, "attachment")
        said = "\n".join(
            text_of(block, "text")
            for block in blocks(attached.get("prompt"))
            if block.get("type") == "text"
        ).strip()
        by_person = attached.get("commandMode") in (None, "prompt") and not attached.get("isMeta")
        if attached.get("type") != "queued_command" or not by_person or not said:
            self.passed["bookkeeping"] += 1
            return parent
        source = text_of(object_of(attached, "origin"), "kind")
        if source not in ("", "human"):
            self.passed["made by a machine"] += 1
            return parent
        self._turn = text_of(record, "promptId") or self._turn
        return self._prompt(said, text_of(attached, "source_uuid") or name, at, parent, "")

    def _give_up(self) -> None:
        super()._give_up()
        self._messages.clear()
