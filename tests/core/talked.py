"""Entries of a session, in a few words: who said it, or which tool gave it."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from memory_palace.core.ledger import Entry, Observation, content, record_id

START = datetime(2026, 11, 29, 9, tzinfo=UTC)


def entries(*rows: Entry) -> tuple[Entry, ...]:
    """``rows`` with ids (their place, as hex), parents and times, a minute apart."""
    found: list[Entry] = []
    for number, one in enumerate(rows):
        parent = found[-1].id if found else ""
        at = START + timedelta(minutes=number)
        kept = (one.tool, one.files, one.failed)
        found.append(Entry(f"{number:012x}", parent, one.role, one.text, at, *kept))
    return tuple(found)


def user(text: str) -> Entry:
    """What a person said."""
    return Entry("", "", "user", text, START)


def agent(text: str) -> Entry:
    """What an agent said."""
    return Entry("", "", "assistant", text, START)


def shell(command: str, output: str = "", failed: bool = False) -> Entry:
    """A command and what it printed."""
    return Entry("", "", "tool", f"$ {command}\n{output}".strip(), START, "Bash", (), failed)


def edit(file: str, new: str, old: str = "") -> Entry:
    """An edit of a file."""
    lines = [f"Edit {file}", *(f"- {one}" for one in old.splitlines())]
    lines += [f"+ {one}" for one in new.splitlines()]
    return Entry("", "", "tool", "\n".join(lines), START, "Edit", (file,))


def observation(
    text: str,
    relevance: str = "medium",
    type: str = "",
    files: Sequence[str] = (),
    day: int = 0,
) -> Observation:
    """An observation with this content."""
    line = content(text)
    at = START + timedelta(days=day)
    found = (record_id(line), line, at, relevance, ("0" * 12,), "", type, "", tuple(files))
    return Observation(*found)
