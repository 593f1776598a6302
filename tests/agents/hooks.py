"""Hooks as clients run them: captured events, a process, and the schemas of what may come back."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from memory_palace import serve, session
from memory_palace.session.events import Event, Reply
from support.palaces import SCRIPTS

CAPTURED = Path(__file__).with_name("captured")
HOME = "/home/user/project"
"""The folder of the captured sessions."""

_TEXT = {"type": "string", "minLength": 1, "maxLength": 10_000, "pattern": r"\S"}


def captured() -> Iterator[tuple[str, str, Path]]:
    """(client, the host's name of the event, file) of every captured event."""
    for path in sorted(CAPTURED.rglob("*.json")):
        yield path.parent.name, path.stem.partition("-")[0], path


def event_of(path: Path, cwd: Path | str = HOME) -> dict[str, Any]:
    """A captured event, as if its session ran in ``cwd``."""
    data: dict[str, Any] = json.loads(path.read_text().replace(HOME, str(cwd)))
    return data


def sent(client: str, name: str, cwd: Path | str = HOME, **fields: Any) -> bytes:
    """A captured event as a client writes it, with some fields changed."""
    data = event_of(CAPTURED / client / f"{name}.json", cwd) | fields
    return json.dumps(data).encode()


def hook(
    *words: str, stdin: bytes = b"", script: str = "hook.py", cwd: Path | None = None, **env: str
) -> subprocess.CompletedProcess[bytes]:
    """Run the hook in a process of its own, as a client does."""
    return subprocess.run(
        [sys.executable, "-I", str(SCRIPTS / script), *words],
        input=stdin,
        capture_output=True,
        env=os.environ | env,
        cwd=cwd,
        timeout=60,
        check=False,
    )


def replying(
    monkeypatch: pytest.MonkeyPatch,
    reply: Reply | Exception,
    of_server: Reply | Exception | None = None,
) -> list[Event]:
    """Have the session say ``reply`` (or fail) in this process, and the warm server ``of_server``;
    the events that the session was told."""
    told: list[Event] = []

    def handle(root: Path, event: Event, now: object, finder: object = None) -> Reply:
        told.append(event)
        if isinstance(reply, Exception):
            raise reply
        return reply

    def ask(root: Path, event: Event, now: object) -> Reply | None:
        if isinstance(of_server, Exception):
            raise of_server
        return of_server

    for room, name, function in ((session, "turn", handle), (serve, "hooking", ask)):
        module = ModuleType(f"{room.__name__}.{name}")
        setattr(module, function.__name__, function)
        monkeypatch.setitem(sys.modules, module.__name__, module)
        monkeypatch.setattr(room, name, module, raising=False)
    return told


def schema(client: str, host: str) -> dict[str, Any]:
    """The JSON schema of what ``client`` takes at ``host``, written as strictly as the strictest
    of them: nothing that is not named, no empty text, none that is too long."""
    fields: dict[str, Any] = {}
    decisions = {"claude-code": ["deny", "ask"], "pi": ["deny", "ask"]}.get(client, ["deny"])
    if host in ("Stop", "SubagentStop"):
        fields = {"decision": {"const": "block"}, "reason": _TEXT}
        return _object(fields, required=["decision", "reason"])
    if host in ("PreCompact", "SessionEnd"):
        return {"not": {}}  # nothing at all
    said: dict[str, Any] = {"hookEventName": {"const": host}, "additionalContext": _TEXT}
    extra: dict[str, Any] = {}
    if host == "PreToolUse":
        said["permissionDecision"] = {"enum": decisions}
        said["permissionDecisionReason"] = _TEXT
        extra = {
            "dependentRequired": {
                "permissionDecision": ["permissionDecisionReason"],
                "permissionDecisionReason": ["permissionDecision"],
            }
        }
    inner = _object(said, required=["hookEventName"]) | extra | {"minProperties": 2}
    return _object({"hookSpecificOutput": inner}, required=["hookSpecificOutput"])


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }
