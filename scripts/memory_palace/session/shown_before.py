"""What a session had been shown before its context was compacted: named again, by title."""

import re
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any

from memory_palace.core import layers, note
from memory_palace.core.links import TREE
from memory_palace.core.memories import Memory
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable
from memory_palace.files import read
from memory_palace.memory.state import State

MOST = 15
"""Notes and entries that are named, the last ones shown first."""

LONGEST = 100
"""Characters of each title."""

_NOTE = re.compile(r"palace/.+?\.md(?=\Z|[:#])")


def lines(
    root: Path, rows: Sequence[Mapping[str, Any]], state: State | None, here: Container[str]
) -> str:
    """A section that names what the rows of a record say was shown and is not ``here``, by its
    key; empty for nothing."""
    memories = {one.id: one for one in state.live if not one.forgotten} if state else {}
    found: dict[str, str] = {}
    for row in reversed(rows):
        if row.get("k") == "shown" and len(found) < MOST:
            key = str(row.get("key"))
            path = _NOTE.match(key)  # or one of its sections
            name = path[0] if path else key
            line = "" if name in here or name in found else _line(root, name, memories)
            if line:
                found[name] = line
    listed = found.values()
    return "\n".join(["# Shown before the compaction", "", *listed]) if found else ""


def _line(root: Path, name: str, memories: Mapping[str, Memory]) -> str:
    memory = memories.get(name)
    if memory:
        return f"- {layers.clipped(printable(memory.text), LONGEST)} ^{memory.id}"
    if not name.startswith(TREE) or ".." in name.split("/"):
        return ""
    got = read.read(root, name)
    if isinstance(got, read.Unreadable):
        return ""  # it is gone
    parsed = note.parse(name, got.text)
    title = hidden(note.note_title(parsed, layers.first_heading(hidden(parsed.body))))
    return f"- {printable(name)}: {layers.clipped(printable(title), LONGEST)}"
