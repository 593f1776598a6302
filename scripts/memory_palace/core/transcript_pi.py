"""pi's transcripts: a header, then a tree of entries; every branch is there."""

import re
from collections.abc import Mapping
from datetime import datetime

from memory_palace.core import tool_calls
from memory_palace.core.text import sha256
from memory_palace.core.transcript_turns import (
    Reader,
    Record,
    blocks,
    kind_of,
    object_of,
    text_of,
)

_BOOKKEEPING = frozenset(
    """context_edit custom label model_change session_info thinking_level_change usage""".split()
)
_SUMMARIES = frozenset({"branch_summary", "compaction"})
_OF_FILE = re.compile(r"_([0-9A-Za-z-]{8,64})\.jsonl\Z")


class Pi(Reader):
    """Reads pi's entries."""

    client = "pi"

    def __init__(self) -> None:
        super().__init__()
        self._turns: dict[int, str] = {}
        self._said: dict[str, str] = {}

    def _take(self, record: Record, at: datetime | None) -> None:
        kind = kind_of(record)
        name = text_of(record, "id")
        if kind == "session":
            self._header(record, name)
            return
        if not name:
            self.passed["without an id"] += 1
            return
        if self._is_placed(name):
            self.passed["repeat"] += 1
            return
        before = text_of(record, "parentId")
        parent = self._at(before)
        here = parent
        if kind == "message":
            here = self._message(object_of(record, "message"), name, before, at, parent)
        elif kind in _SUMMARIES:
            self.passed["summary"] += 1
        elif kind == "custom_message":
            self.passed["made by an extension"] += 1
        elif kind in _BOOKKEEPING:
            self.passed["bookkeeping"] += 1
        else:
            self._unknown(kind)
        self._place(name, here)
        role = object_of(record, "message").get("role") if kind == "message" else None
        if role not in ("user", "assistant", "toolResult"):
            self._said[name] = self._said.get(before, before)

    def _header(self, record: Record, name: str) -> None:
        about = self.about
        about.session = about.session or name
        about.cwd = about.cwd or text_of(record, "cwd")
        # pi has no version of its own in there, but that of the format.
        found = _OF_FILE.search(text_of(record, "parentSession"))
        about.forked_from = about.forked_from or (found[1] if found else "")

    def _message(
        self, message: Record, name: str, before: str, at: datetime | None, parent: int
    ) -> int:
        role = message.get("role")
        if role == "user":
            return self._prompt(message, name, before, at, parent)
        if role == "assistant":
            return self._answer(message, name, at, parent)
        if role == "toolResult":
            output = tool_calls.output(message.get("content"))
            self._result(text_of(message, "toolCallId"), output, message.get("isError") is True)
        elif role == "bashExecution":
            return self._by_hand(message, name, at, parent)
        elif role == "system":
            self.passed["bookkeeping"] += 1
        elif role in ("custom", "hookMessage"):
            self.passed["made by an extension"] += 1
        elif role in ("branchSummary", "compactionSummary"):
            self.passed["summary"] += 1
        else:
            self._unknown(f"message of {role}")
        return parent

    def _prompt(
        self, message: Record, name: str, before: str, at: datetime | None, parent: int
    ) -> int:
        for block in blocks(message.get("content")):
            if block.get("type") != "text":
                self._attached(block)
        said = _text(message)
        if not said.strip():
            self.passed["empty"] += 1
            return parent
        self._give_up()
        # As the shell in `agents/pi` names a prompt: pi's own id of it comes later.
        turn = f"{self._said.get(before, before)}-{sha256(said)[:8]}"
        number = self._add("user", name, said, at, parent, turn=turn)
        self._turns[number] = turn
        return number

    def _answer(self, message: Record, name: str, at: datetime | None, parent: int) -> int:
        turn = self._turns.get(parent, "")
        here = parent
        for number, block in enumerate(blocks(message.get("content"))):
            kind = kind_of(block)
            ref = f"{name}#{number}" if number else name
            if kind == "text" and text_of(block, "text").strip():
                here = self._add("assistant", ref, text_of(block, "text"), at, here, turn=turn)
            elif kind == "toolCall":
                here = self._tool(block, ref, turn, at, here)
            elif kind == "thinking":
                self.passed["thinking"] += 1
            elif kind != "text":
                self._unknown(kind)
        if here != parent:
            self._turns[here] = turn
        return here

    def _tool(self, block: Record, ref: str, turn: str, at: datetime | None, parent: int) -> int:
        tool = text_of(block, "name") or "tool"
        value = block.get("arguments")
        given = value if isinstance(value, Mapping) else {}
        tools = tool_calls.NEUTRAL
        return self._call(
            text_of(block, "id") or ref,
            at,
            parent,
            turn=turn,
            tool=tool,
            command=tool_calls.command(tools, tool, given),
            given=tool_calls.bounded(given),
            files=tool_calls.files(tools, tool, given),
        )

    def _by_hand(self, message: Record, name: str, at: datetime | None, parent: int) -> int:
        """A command that the person ran."""
        command = text_of(message, "command")
        code = message.get("exitCode")
        turn = self._turns.get(parent, "")
        number = self._add(
            "tool",
            name,
            tool_calls.output(message.get("output")),
            at,
            parent,
            turn=turn,
            tool="bash",
            command=command,
            given={"command": command},
            failed=isinstance(code, int) and code != 0,
        )
        self._turns[number] = turn
        return number


def _text(message: Record) -> str:
    texts = [text_of(b, "text") for b in blocks(message.get("content")) if b.get("type") == "text"]
    return "\n".join(texts)
