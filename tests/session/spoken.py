"""A made-up session of Claude Code: its transcript's records, and the events of its hooks."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_palace.session.events import Event
from support.palaces import REPOSITORY

START = datetime(2026, 11, 29, 9, tzinfo=UTC)
SESSION = "5e55107e-0000-4000-8000-000000000001"
CWD = "/home/user/project"
SAMPLES = REPOSITORY / "tests" / "fixtures" / "transcripts"
"""Transcripts as the clients wrote them."""


@dataclass(frozen=True, slots=True)
class Step:
    """``kind`` is ``user``, ``say`` (in the middle of a turn), ``tool`` or ``answer``."""

    kind: str
    text: str


TALK = [
    Step("user", "Light the lamp."),
    Step("say", "I look first."),
    Step("tool", "cat lamp.py"),
    Step("answer", "It is lit."),
    Step("user", "continue"),
    Step("answer", "Done."),
]
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


class Spoken:
    """The steps, half a minute apart. ``named`` says whether hooks tell the client's own ids."""

    def __init__(self, *steps: Step, session: str = SESSION, named: bool = True) -> None:
        self.steps = steps
        self.session = session
        self.named = named

    def at(self, number: int) -> datetime:
        return START + timedelta(seconds=30 * number)

    def turn(self, number: int) -> str:
        """The name of the prompt that a step belongs to."""
        prompts = [n for n in range(number + 1) if self.steps[n].kind == "user"]
        return f"prompt-{prompts[-1] if prompts else 0}"

    def records(self, first: int = 0, last: int | None = None) -> Iterator[dict[str, Any]]:
        """The records of the steps from ``first`` to before ``last``."""
        for number, step in list(enumerate(self.steps))[first:last]:
            parent = f"step-{number - 1}" if number else None
            kind = "user" if step.kind == "user" else "assistant"
            content: Any = step.text
            if step.kind == "tool":
                given = {"command": step.text}
                call = {"type": "tool_use", "id": f"call-{number}", "name": "Bash", "input": given}
                content = [call]
            elif kind == "assistant":
                content = [{"type": "text", "text": step.text}]
            record = self._record(number, kind, f"step-{number}", parent, content)
            yield record | ({"promptId": self.turn(number)} if kind == "user" else {})
            if step.kind == "tool":
                result = {"type": "tool_result", "tool_use_id": f"call-{number}", "content": "ok"}
                yield self._record(number, "user", f"done-{number}", f"step-{number}", [result])

    def _record(
        self, number: int, kind: str, name: str, parent: str | None, content: Any
    ) -> dict[str, Any]:
        return {
            "type": kind,
            "uuid": name,
            "parentUuid": parent,
            "sessionId": self.session,
            "timestamp": self.at(number).isoformat().replace("+00:00", "Z"),
            "cwd": CWD,
            "version": "2.1.332",
            "isSidechain": False,
            "message": {"id": f"m-{number}", "role": kind, "content": content},
        }

    def write(self, place: Path, first: int = 0, last: int | None = None) -> Path:
        """A transcript with those steps."""
        write(place, self.records(first, last))
        return place

    def event(self, number: int) -> Event | None:
        """What a hook is told at a step; None where there is no hook."""
        step = self.steps[number]
        names = {"user": "prompt", "tool": "after_tool", "answer": "stop"}
        if step.kind not in names:
            return None
        shared = Event("claude-code", names[step.kind], self.session, CWD)
        if self.named:
            shared = shared._replace(turn=self.turn(number))
        if step.kind == "user":
            return shared._replace(prompt=step.text)
        if step.kind == "answer":
            return shared._replace(message=step.text)
        call = f"call-{number}" if self.named else ""
        return shared._replace(
            tool="Bash",
            input={"command": step.text},
            command=step.text,
            output="ok",
            call=call,
        )


def write(place: Path, records: Iterator[dict[str, Any]] | list[dict[str, Any]]) -> None:
    """JSON lines."""
    place.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
