"""A palace with rules, and the events of a session in it."""

import os
from pathlib import Path
from typing import Any

from memory_palace.core.text import slug
from memory_palace.session import guard, record
from memory_palace.session.events import Event, Reply
from support.palaces import OLD_NS, Palace

FOLDER = "palace/reflection_wing/rules"
KEY = "claude-code/s1"


class Ruled:
    """What a client's session meets there."""

    def __init__(self, root: Path) -> None:
        self.palace = Palace(root)
        self.root = root
        (root / FOLDER).mkdir(parents=True)
        (root / "palace/topics").mkdir()

    def rule(self, trigger: str = "", action: str = "", name: str = "", **keys: str) -> str:
        """Write a rule's note; its path."""
        keys = ({"trigger": trigger, "action": action} if trigger else {}) | keys
        lines = "".join(f"{key}: '{value}'\n" for key, value in keys.items())
        path = f"{FOLDER}/{slug(name or trigger or 'rule')}.md"
        self.palace.write(path, f"---\ntype: rule\n{lines}---\nx\n")
        self.old()
        return path

    def old(self) -> None:
        """Have every folder look as if nothing was done there lately."""
        for folder in ("", "/reflection_wing", "/reflection_wing/rules", "/topics"):
            os.utime(self.root / f"palace{folder}", ns=(OLD_NS, OLD_NS))

    def event(self, name: str, **fields: Any) -> Event:
        fields = {"client": "claude-code", "session": "s1", "cwd": str(self.root)} | fields
        return Event(name=name, **fields)

    def before(self, command: str = "", **fields: Any) -> Reply:
        """A tool is about to run: a shell's if there is a command."""
        fields = {"tool": "Bash" if command else "Edit", "command": command} | fields
        return guard.before(self.root, self.event("before_tool", **fields))

    def after(self, command: str = "", name: str = "after_tool", **fields: Any) -> Reply:
        """A tool has run."""
        fields = {"tool": "Bash" if command else "Edit", "command": command} | fields
        return guard.after(self.root, self.event(name, **fields))

    def stop(self, **fields: Any) -> Reply:
        """The turn is about to end."""
        return guard.at_stop(self.root, self.event("stop", **fields))

    def turn(self) -> None:
        """A prompt begins a turn."""
        record.append(self.root, KEY, [{"k": "turn"}])

    def rows(self, key: str = KEY) -> list[dict[str, Any]]:
        return record.read(self.root, key)
