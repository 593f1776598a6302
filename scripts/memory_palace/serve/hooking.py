"""Asks a palace's warm server about a session's event, from a process that lives for milliseconds.

It never starts a server, and where none answers in its time the hook does the work by itself.
"""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_palace.core.errors import PalaceError
from memory_palace.core.prompt_ends import bounded
from memory_palace.serve import place, wire
from memory_palace.session import turn
from memory_palace.session.events import MOST_FILES, Event, Reply

SECONDS = 1.0
"""What the answer may take by default: as much again is left to do without."""

FIRST_SECONDS = 0.4
"""Within these a server that is alive says at least that it works on it."""

SPARE_SECONDS = 0.1
"""So much earlier the server gives up: what it records as shown has to reach the asker."""

_LONGEST = 4_096
_MOST_SECONDS = 60.0


class Unfit(ValueError):
    """A request that is none; the message names the field."""


def ask(root: Path, event: Event, now: datetime, seconds: float = SECONDS) -> Reply | None:
    """What the server of ``root`` says of ``event``, within ``seconds``; None if there is none, it
    is not like this process, stays silent, or declines: nothing is done then.

    What the rules say after a tool is added here: a server runs no commands.
    """
    if event.name not in turn.SERVED or (event.name == "after_tool" and not event.files):
        return None
    reply = _asked(root.resolve(), event, now, seconds)
    if reply is None or event.name != "after_tool":
        return reply
    try:
        return turn.after(root, event, reply)
    except Exception as error:
        # Not to be done once more: a command of the user's may have run.
        fault = f"rules after a tool: {type(error).__name__}: {error}: run `palace doctor`"
        return reply._replace(faults=(*reply.faults, fault))


def _asked(root: Path, event: Event, now: datetime, seconds: float) -> Reply | None:
    end = time.monotonic() + seconds
    try:
        if place.policy() == "off":
            return None
        where = place.address(root)
        if where is None:
            return None
        connection = place.connect(where, min(FIRST_SECONDS, seconds))
    except (OSError, PalaceError):
        return None
    lines = wire.Lines(connection, wire.MOST_REPLY)
    try:
        line = wire.line_of(_request(root, where.token, event, now, seconds))
        lines.send_line(line, min(FIRST_SECONDS, seconds))
        patience = FIRST_SECONDS
        while (left := end - time.monotonic()) > 0:
            said = lines.receive(min(patience, left))
            if said is None:
                return None
            if "wait" not in said:
                return _reply(said.get("ok"))
            patience = 2 * wire.BEAT_SECONDS
    except (OSError, wire.Garbled):
        return None
    finally:
        lines.close()
    return None


def _request(root: Path, token: str, event: Event, now: datetime, seconds: float) -> dict[str, Any]:
    """Only what the server needs: a tool's input and output may have megabytes."""
    return {
        "op": "hook",
        "root": str(root),
        "token": token,
        "like": wire.myself(),
        "now": now.isoformat(),
        "until": time.time() + max(seconds - SPARE_SECONDS, 0.0),
        "event": {
            "client": event.client,
            "name": event.name,
            "session": event.session,
            "cwd": event.cwd,
            "source": event.source,
            "prompt": bounded(event.prompt),
            "files": list(event.files[:MOST_FILES]),
            "agent": event.agent,
        },
    }


def _reply(data: object) -> Reply | None:
    if not isinstance(data, dict):
        return None
    context, faults = data.get("context"), data.get("faults")
    if not isinstance(context, str) or not isinstance(faults, list):
        return None
    return Reply(context=context, faults=tuple(str(fault) for fault in faults))


def decoded(request: Mapping[str, Any]) -> tuple[Event, datetime, float]:
    """The event of a request, its moment, and until when the asker waits (seconds, UTC).

    Unknown fields are passed over. Raises :class:`Unfit`.
    """
    data = request.get("event")
    if not isinstance(data, dict):
        raise Unfit("event is no object")
    files = data.get("files", [])
    if not isinstance(files, list):
        raise Unfit("event.files is no list")
    event = Event(
        client=_text(data, "client"),
        name=_text(data, "name"),
        session=_text(data, "session"),
        cwd=_text(data, "cwd"),
        source=_text(data, "source"),
        prompt=_text(data, "prompt"),
        files=tuple(file for file in files if isinstance(file, str))[:MOST_FILES],
        agent=_text(data, "agent"),
    )
    if event.name not in turn.SERVED:
        raise Unfit(f"event.name is {event.name[:40]!r}")
    until = request.get("until")
    if not isinstance(until, int | float) or not until <= time.time() + _MOST_SECONDS:
        raise Unfit("until is no moment")
    return event, _moment(request.get("now")), float(until)


def _text(data: Mapping[str, Any], name: str) -> str:
    value = data.get(name, "")
    if not isinstance(value, str):
        raise Unfit(f"event.{name} is no text")
    return bounded(value) if name == "prompt" else value[:_LONGEST]


def _moment(data: object) -> datetime:
    try:
        moment = datetime.fromisoformat(str(data))
    except ValueError:
        raise Unfit("now is no date") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
