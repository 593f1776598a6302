"""OpenCode's sessions: a header, then messages with their parts, one after the other.

``files/opencode.py`` makes such records of its database, of an export, and of the JSON files of
older versions. A subagent has a session of its own, which names the one that it belongs to.
"""

from datetime import UTC, datetime, timedelta
from typing import Any

from memory_palace.core import tool_calls
from memory_palace.core.transcript_turns import Reader, Record, kind_of, object_of, text_of

CLIENT = "opencode"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST_MS = 253_402_300_799_000
_BOOKKEEPING = frozenset(
    "step-start step-finish snapshot patch agent subtask retry compaction".split()
)
_ENDED = frozenset({"completed", "error"})


def header(info: Record) -> Record:
    """The record that begins a session, of what is known of it."""
    return {"type": "session", "info": info}


def message(info: Record, parts: list[Any]) -> Record:
    """The record of a message and its parts."""
    return {"type": "message", "info": info, "parts": parts}


class OpenCode(Reader):
    """Reads those records."""

    client = CLIENT

    def __init__(self) -> None:
        super().__init__()
        self._last = 0
        self._prompt = ""
        self._grows = False

    def _take(self, record: Record, at: datetime | None) -> None:
        kind, info = kind_of(record), object_of(record, "info")
        if kind == "session":
            self._header(info)
        elif kind == "message":
            parts = record.get("parts")
            self._message(info, parts if isinstance(parts, list) else [])
        else:
            self._unknown(kind)

    def _header(self, info: Record) -> None:
        about = self.about
        own, above = text_of(info, "id"), text_of(info, "parentID")
        about.session, about.agent = (above, own) if above else (own, "")
        about.cwd = text_of(info, "directory")
        about.version = text_of(info, "version")
        about.at = about.at or moment(object_of(info, "time").get("created"))

    def _message(self, info: Record, parts: list[Any]) -> None:
        name, role = text_of(info, "id"), text_of(info, "role")
        at = moment(object_of(info, "time").get("created"))
        if not self.about.cwd:
            self.about.cwd = text_of(object_of(info, "path"), "cwd")
        if not name:
            self.passed["without an id"] += 1
        elif self._is_placed(name):
            self.passed["repeat"] += 1
        elif role not in ("user", "assistant"):
            self._unknown(f"message of {role}")
        elif role == "assistant" and info.get("summary") is True:
            self.passed["summary"] += 1
        else:
            if role == "user":
                self._give_up()
                self._prompt = name
            self._grows = role == "assistant" and not _is_over(info)
            for part in parts:
                if isinstance(part, dict):
                    self._part(part, name, role, at)
            self._place(name, self._last)

    def _part(self, part: Record, name: str, role: str, at: datetime | None) -> None:
        kind = kind_of(part)
        ref = text_of(part, "id") or name
        if kind == "text":
            self._text(part, ref, role, at)
        elif kind == "tool":
            self._tool(part, ref, at)
        elif kind == "reasoning":
            self.passed["thinking"] += 1
        elif kind == "file":
            self.passed["attached file"] += 1
        elif kind in _BOOKKEEPING:
            self.passed["bookkeeping"] += 1
        else:
            self._unknown(kind)

    def _text(self, part: Record, ref: str, role: str, at: datetime | None) -> None:
        said = text_of(part, "text")
        if part.get("synthetic") is True or part.get("ignored") is True:
            self.passed["made by a machine"] += 1
        elif not said.strip():
            self.passed["empty"] += 1
        else:
            time = object_of(part, "time")
            at = moment(time.get("start")) or at
            self._last = self._add(role, ref, said, at, self._last, turn=self._prompt)
            if self._grows and "start" in time and "end" not in time:
                self._calls[ref] = self._last  # as a call without a result: it is still written

    def _tool(self, part: Record, ref: str, at: datetime | None) -> None:
        tool, state = text_of(part, "tool") or "tool", object_of(part, "state")
        given, tools = object_of(state, "input"), tool_calls.NEUTRAL
        status = text_of(state, "status")
        ref = text_of(part, "callID") or ref
        if ref in self._calls:
            self.passed["repeat"] += 1
            return
        self._last = self._call(
            ref,
            moment(object_of(state, "time").get("start")) or at,
            self._last,
            turn=self._prompt,
            tool=tool,
            command=tool_calls.command(tools, tool, given),
            given=tool_calls.bounded(given),
            files=tool_calls.files(tools, tool, given),
        )
        if status in _ENDED:
            code = object_of(state, "metadata").get("exit")
            failed = status == "error" or (isinstance(code, int) and code != 0)
            came = state.get("error") if status == "error" else state.get("output")
            self._result(ref, tool_calls.output(came), failed)


def _is_over(info: Record) -> bool:
    """True for an answer that is whole, or that was broken off."""
    return "completed" in object_of(info, "time") or bool(info.get("error"))


def moment(value: object) -> datetime | None:
    """Milliseconds since the epoch as a time; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not 0 < value <= _LATEST_MS:
        return None
    return _EPOCH + timedelta(milliseconds=value)
