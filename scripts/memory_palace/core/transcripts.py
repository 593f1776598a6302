"""Transcripts of clients: which client wrote one, and the reader of it.

Formats are internal to each client and change: a reader leaves out what it does not know, and
counts it.
"""

from memory_palace.core.transcript_turns import About, Reader, Record, Turn, kind_of

__all__ = ["CLIENTS", "EXPECTED", "About", "Reader", "Record", "Turn", "client_of", "reader"]

CLIENTS = ("claude-code", "codex", "pi")

EXPECTED = (
    "a transcript of Claude Code (~/.claude/projects/*/*.jsonl), Codex "
    "(~/.codex/sessions/*/*/*/rollout-*.jsonl) or pi (~/.pi/agent/sessions/*/*.jsonl)"
)

_CODEX = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted"})
_PI = frozenset({"message", "model_change", "thinking_level_change", "compaction"})


def client_of(record: Record) -> str:
    """The client that writes such records, of :data:`CLIENTS`; empty if this one does not tell."""
    kind = kind_of(record)
    if kind in _CODEX and isinstance(record.get("payload"), dict):
        return "codex"
    if isinstance(record.get("sessionId"), str):
        return "claude-code"
    if kind == "session" and isinstance(record.get("id"), str) and "cwd" in record:
        return "pi"
    if kind in _PI and isinstance(record.get("id"), str) and "parentId" in record:
        return "pi"
    return ""


def reader(client: str) -> Reader:
    """A reader of one transcript of ``client``, which is one of :data:`CLIENTS`."""
    if client == "claude-code":
        from memory_palace.core.transcript_claude import ClaudeCode

        return ClaudeCode()
    if client == "codex":
        from memory_palace.core.transcript_codex import Codex

        return Codex()
    if client == "pi":
        from memory_palace.core.transcript_pi import Pi

        return Pi()
    raise ValueError(client)
