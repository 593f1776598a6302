"""A palace whose memories of one line are written."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from memory_palace.core.errors import PalaceError
from memory_palace.core.events import Event
from memory_palace.core.memories import Memory
from memory_palace.embed import registry
from memory_palace.files import journal
from memory_palace.memory import pen
from memory_palace.memory import state as states
from memory_palace.memory.alike import Entries
from memory_palace.memory.entries import Book, Done, Said
from support.palaces import Palace

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
DAY = timedelta(days=1)
LESSONS = "palace/topics/lessons.md"
A, B = "3f9ac2d41b7e", "0123456789ab"
NONE = registry.Choice("none", "none", "")
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


class Writer:
    """A palace, and what is done to its memories."""

    def __init__(self, root: Path, choice: registry.Choice = NONE) -> None:
        self.palace = Palace(root)
        self.root = root
        self.choice = choice
        self.now = NOW

    def remember(self, text: str, category: str = "lesson", **more: object) -> Done:
        with pen.begin(self.root, self.now, "palace remember") as p:
            said = Said(text, category, **more)  # type: ignore[arg-type]
            return Book(p).remember(said, Entries(self.root, self.choice))

    def do(self, what: str, *arguments: str) -> Done:
        with pen.begin(self.root, self.now, f"palace {what}") as p:
            done: Done = getattr(Book(p), what)(*arguments)
        return done

    def events(self) -> list[Event]:
        return list(journal.load(self.root).events)

    def kinds(self) -> list[str]:
        return [event.event for event in self.events()]

    def text(self, path: str = LESSONS) -> str:
        return (self.root / path).read_bytes().decode()

    def memories(self) -> tuple[Memory, ...]:
        return states.load(self.root, self.now).memories

    def refused(self, kind: type[PalaceError], match: str, what: str, *arguments: str) -> None:
        """The command is refused, and nothing is written."""
        before = {p: p.read_bytes() for p in sorted(self.root.rglob("*")) if p.is_file()}
        with pytest.raises(kind, match=match):
            self.remember(*arguments) if what == "remember" else self.do(what, *arguments)
        after = {p: p.read_bytes() for p in sorted(self.root.rglob("*")) if p.is_file()}
        derived = str(self.root / ".palace")
        for found in (before, after):
            for place in [p for p in found if str(p).startswith(derived)]:
                del found[place]
        assert after == before


def same(writer: Writer, done: Done) -> None:
    """What a command says of a memory is what the files say."""
    [found] = [memory for memory in writer.memories() if memory.id == done.memory.id]
    assert found == done.memory
