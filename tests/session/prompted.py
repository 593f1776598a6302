"""A palace with entries and notes, and the prompts of a session in it."""

import json
from datetime import datetime, timedelta
from typing import Any

from memory_palace.core import dates
from memory_palace.core.events import PATH
from memory_palace.session import record, turn
from memory_palace.session.events import Event, Reply
from memory_palace.session.finding import Finder
from support.palaces import NOW, Palace

KEY = "claude-code/s1"
FILLER = {
    f"project_rooms__filler__n{n}": f"# Note {n}\n\nThis one is about matter number {n} and work."
    for n in range(30)
}


class Prompted:
    """What a client's session is told there."""

    def __init__(self, palace: Palace) -> None:
        self.palace = palace
        self.root = palace.root
        self.lines: dict[str, list[str]] = {}

    def entry(
        self, text: str, key: str, file: str = "lessons", days: float = 1.0, **log: Any
    ) -> None:
        """Write a line of a topic file, and the event that remembered it ``days`` ago."""
        category = {"lessons": "lesson", "preferences": "preference", "mistakes": "mistake"}[file]
        self.lines.setdefault(file, []).append(f"- [{category}] {text} ^{key}")
        self.palace.notes(
            **{f"topics__{file}": "\n".join([f"# {file}", "", *self.lines[file]]) + "\n"}
        )
        self.log("remembered", key, days, category=category, text=text, cue="explicit", **log)
        self.log("reinforced", key, days)

    def log(self, event: str, key: str, days: float = 0.0, **data: Any) -> None:
        """Append an event."""
        path = self.root / PATH
        path.parent.mkdir(exist_ok=True)
        before = path.read_text() if path.exists() else ""
        row = {
            "at": dates.stamp(NOW - timedelta(days=days)),
            "by": "pi@laptop",
            "event": event,
            "uid": f"{len(before):016x}",
            "id": key,
        }
        path.write_text(before + json.dumps(row | data) + "\n")

    def event(self, name: str, **fields: Any) -> Event:
        fields = {"client": "claude-code", "session": "s1", "cwd": str(self.root)} | fields
        return Event(name=name, **fields)

    def say(
        self, prompt: str, finder: Finder | None = None, now: datetime = NOW, **fields: Any
    ) -> Reply:
        """A prompt."""
        return turn.handle(self.root, self.event("prompt", prompt=prompt, **fields), now, finder)

    def edit(self, *files: str, finder: Finder | None = None, **fields: Any) -> Reply:
        """A tool has changed files."""
        event = self.event("after_tool", tool="Edit", files=files, **fields)
        return turn.served(self.root, event, NOW, finder)

    def rows(self, kind: str, key: str = KEY) -> list[dict[str, Any]]:
        """The lines of one kind in the session's record."""
        return [row for row in record.read(self.root, key) if row.get("k") == kind]
