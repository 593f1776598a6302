"""What a hook keeps of its event: one line in the queue, within milliseconds.

Nothing here waits for anybody, and nothing is written that was not cleaned before.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core.errors import PalaceError
from memory_palace.files import queue
from memory_palace.session.events import Event

VARIABLE = "PALACE_CAPTURE"
KEPT_AT = ("prompt", "after_tool", "tool_failed", "stop", "subagent_stop", "end")
"""The events that leave something."""

LONGEST_ID = 200
"""Characters of a client's own ids; a longer one is cut and gets a digest."""

MOST_FILES = 100
_MOST_SETTINGS = 1 << 20
_SWITCH = rb"(?m)^capture[ \t]*:[ \t]*([^#\r\n]*)"
_ON = ("", "on")
_FULL = (
    f"this turn was not captured, {queue.FOLDER} is full: `palace observe --auto` empties it, or "
    "says why that fails"
)


class State(NamedTuple):
    """Whether turns are captured, and ``why`` not: what switched it off, and where. ``wrong`` is
    true where that is no word for it."""

    on: bool
    why: str = ""
    wrong: bool = False


def enqueue(root: Path, event: Event, now: datetime) -> tuple[str, ...]:
    """Keep what ``event`` tells of the session, if there is anything and capture is on.

    Gives lines for the health file; raises nothing that the palace or the disk is the cause of.
    """
    if event.name not in KEPT_AT or not state(root).on:
        return ()
    try:
        for item in items(event, now):
            name = queue.name(item["client"], item["session"], item["agent"])
            if queue.put(root, name, line(item)) == queue.FULL:
                return (_FULL,)
    except OSError as error:
        why = error.strerror or type(error).__name__
        return (f"this turn was not captured ({why}): make {queue.FOLDER} writable",)
    except PalaceError as error:
        return (f"this turn was not captured: {error}",)
    return ()


def state(root: Path, environment: Mapping[str, str] | None = None) -> State:
    """What ``$PALACE_CAPTURE``, ``palace.yaml`` and the user's own configuration say: any of them
    switches it off, and so does what none of them should say."""
    environment = os.environ if environment is None else environment
    said = environment.get(VARIABLE, "").strip().lower()
    if said not in _ON:
        wrong = said != "off"
        return State(False, f"${VARIABLE} is {said}" + ": use on or off" * wrong, wrong)
    base = environment.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    own = os.path.join(base, "memory-palace", "config.yaml")
    for path, shown in ((str(root / "palace.yaml"), "palace.yaml"), (own, own)):
        value = _switch(path)
        if value not in _ON:
            wrong = value != "off"
            return State(
                False, f"{shown} has `capture: {value}`" + ": write on or off" * wrong, wrong
            )
    return State(True)


def _switch(path: str) -> str:
    """What a configuration says of capture; empty if nothing. It is parsed only where it has the
    word in another place than at the start of a line: that takes longer than all the rest."""
    try:
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
        try:
            data = os.read(handle, _MOST_SETTINGS)
        finally:
            os.close(handle)
    except (OSError, ValueError):
        return ""
    if b"capture" not in data:
        return ""
    import re

    found = re.findall(_SWITCH, data)
    if len(found) == 1:
        value: str = found[0].decode("utf-8", "replace").strip().strip("\"'").strip()
        return value
    if not any(b"capture" in part.partition(b"#")[0] for part in data.split(b"\n")):
        return ""  # a comment
    from memory_palace.core import yaml12

    try:
        parsed = yaml12.load(data.decode("utf-8-sig", "replace"))
    except yaml12.BadYaml:
        return "what cannot be read"
    told = parsed.get("capture") if isinstance(parsed, dict) else None
    return "" if told is None else str(told)


def items(event: Event, now: datetime) -> Iterator[dict[str, Any]]:
    """What goes into the queue for an event, cleaned: an entry, the end of a session, or both."""
    shared = {
        "client": event.client,
        "session": short_id(event.session) or f"unnamed-{now:%Y-%m-%d}",
        "agent": short_id(event.agent),
        "cwd": event.cwd,
        "at": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
    }
    made = _entry(event) if event.name != "end" else {}
    if made:
        # Who has no id of the client's is told apart by one of ours.
        yield shared | {"kind": "entry", "uid": os.urandom(8).hex()} | made
    if event.name in ("end", "subagent_stop"):
        yield shared | {"kind": "end"}


def line(item: dict[str, Any]) -> bytes:
    """An item as the queue holds it."""
    try:
        return json.dumps(item, ensure_ascii=False).encode()
    except UnicodeEncodeError:  # half a character
        return json.dumps(item).encode()


def short_id(text: str) -> str:
    """A client's id as it is kept: on one line, and not endless."""
    text = " ".join(text.split())
    if len(text) <= LONGEST_ID:
        return text
    from memory_palace.core.text import sha256

    return f"{text[: LONGEST_ID // 2]}-{sha256(text)[:16]}"


def _entry(event: Event) -> dict[str, Any]:
    """Role, text and what belongs to them; {} if there is nothing to keep."""
    from memory_palace.core import captured

    if event.name == "prompt":
        from memory_palace.core import prompt_tags

        if prompt_tags.is_machine_made(event.prompt, event.source):
            return {}
        text = captured.said(event.prompt)
        return {"role": "user", "text": text, "ref": short_id(event.turn)} if text else {}
    if event.name in ("stop", "subagent_stop"):
        text = captured.said(event.message)
        return {"role": "assistant", "text": text, "ref": short_id(event.turn)} if text else {}
    if not event.tool:
        return {}
    failed = event.name == "tool_failed" or captured.is_failure(event.output)
    try:
        text = captured.of_tool(event.tool, event.command, event.input, event.output, failed)
    except Exception:  # whatever a client gave: the call itself is kept
        text = captured.said(f"{event.tool} {event.command}", captured.MOST_TOOL)
    found: dict[str, Any] = {"role": "tool", "text": text, "ref": short_id(event.call)}
    found["tool"] = captured.name(event.tool)
    if event.files:
        found["files"] = [
            captured.name(file, captured.LONGEST_FILE) for file in event.files[:MOST_FILES]
        ]
    if failed:
        found["failed"] = True
    return found
