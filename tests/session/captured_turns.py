"""Turns as hooks capture them, and what became of them."""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_palace.core.ledger import Entry, branch
from memory_palace.files import ledgers, queue
from memory_palace.session import capture
from memory_palace.session.events import Event
from support.palaces import NOW

CLIENT = "claude-code"


def event(name: str, session: str = "s1", **fields: Any) -> Event:
    """An event of a session of Claude Code."""
    return Event(CLIENT, name, session=session)._replace(**fields)


def say(root: Path, text: str, session: str = "s1", at: datetime = NOW, **fields: Any) -> None:
    """A prompt is captured."""
    assert capture.enqueue(root, event("prompt", session, prompt=text, **fields), at) == ()


def end(root: Path, session: str = "s1", at: datetime = NOW) -> None:
    """A session ends."""
    assert capture.enqueue(root, event("end", session), at) == ()


def path(root: Path, session: str = "s1") -> str:
    """The session's ledger."""
    return ledgers.path_of(root, CLIENT, session)


def entries(root: Path, session: str = "s1") -> tuple[Entry, ...]:
    """What its ledger has, from the first to the tip; nothing is wrong with it."""
    loaded = ledgers.load(root, path(root, session))
    assert loaded.problems == ()
    found = branch(loaded.ledger)
    assert len(found) == len(loaded.ledger.entries)
    return found


def texts(root: Path, session: str = "s1") -> list[str]:
    """What was said in it."""
    return [one.text for one in entries(root, session)]


def lines(root: Path, session: str = "s1") -> Iterator[dict[str, Any]]:
    """The lines of its ledger as they are in the file."""
    for line in (root / path(root, session)).read_text().splitlines():
        yield json.loads(line)


def files(root: Path) -> list[str]:
    """The names in the queue's folder, without locks."""
    found = (root / queue.FOLDER).iterdir()
    return sorted(one.name for one in found if one.suffix in (".jsonl", ".old"))
