"""MemPalace's exports: a JSON object a drawer and line, or a Markdown file a room."""

import json
import re
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from memory_palace.files import roots
from memory_palace.memory.imports import mempalace_stores, sources
from memory_palace.memory.imports.mempalace_stores import Drawer, Room
from memory_palace.memory.imports.sources import File, Source

LONGEST_LINE = 10 * 1024 * 1024

_TITLE = re.compile(r"# (?P<wing>\S.*?) / (?P<room>\S.*?)\s*\Z")
_FIELD = re.compile(r"\| (?P<key>Source|Filed|Added by) \| (?P<value>.*?) \|\s*\Z")
_INDEXES = frozenset({"index.md", "overview.md", "readme.md"})


def of_lines(file: File, source: Source) -> Iterator[Room]:
    """The rooms of a JSONL export. Where each line begins is held, no text."""
    places: dict[tuple[str, str], list[tuple[str, int, str, int]]] = defaultdict(list)
    with open(file.path, "rb", opener=roots.unhindered) as opened:
        at, number = 0, 0
        while line := opened.readline(LONGEST_LINE):
            number += 1
            found = _line(line)
            if found is None and line.strip():
                source.odd.append(f"{file.name}:{number}: no drawer: left out")
            elif found is not None:
                name, text, said = found
                one = mempalace_stores.drawer(name, text, said)
                where = mempalace_stores.place(said)
                places[where].append((one.source, one.chunk, one.id, at))
            at += len(line)
    for (wing, room), found_there in sorted(places.items()):
        offsets = [place[-1] for place in sorted(found_there)]
        yield Room(wing, room, lambda offsets=offsets: _at(file, offsets))  # type: ignore[misc]


def _at(file: File, offsets: list[int]) -> Iterator[Drawer]:
    with open(file.path, "rb", opener=roots.unhindered) as opened:
        for at in offsets:
            opened.seek(at)
            found = _line(opened.readline(LONGEST_LINE))
            if found is not None:
                yield mempalace_stores.drawer(*found)


def _line(line: bytes) -> tuple[str, str, dict[str, Any]] | None:
    try:
        data = json.loads(line.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        return None
    if not isinstance(data, dict):
        return None
    name, text = data.get("id"), data.get("document", data.get("content"))
    if not isinstance(name, str) or not isinstance(text, str) or not text.strip():
        return None
    said = data.get("metadata")
    return name, text, said if isinstance(said, dict) else data


def of_markdown(file: File, source: Source) -> Iterator[Room]:
    """The room of a Markdown export's file."""
    if file.path.name.lower() in _INDEXES:
        source.others["index of an export"] += 1
        return
    text = sources.text_of(file, source)
    lines = text.split("\n") if text else []
    title = _TITLE.match(lines[0]) if lines else None
    if title is None:
        source.others["Markdown that is no room of an export"] += bool(lines)
        return
    yield Room(title["wing"], title["room"], lambda: _drawers(lines))


def _drawers(lines: list[str]) -> Iterator[Drawer]:
    name, said, held = "", dict[str, str](), list[str]()
    for line in [*lines, "## "]:
        if line.startswith("## "):
            if held:
                yield _drawer(name, held, said)
            name, said, held = line[3:].strip(), {}, []
        elif line.startswith(">"):
            held.append(line[1:].removeprefix(" "))
        elif found := _FIELD.match(line):
            said[found["key"]] = "" if found["value"] == "unknown" else found["value"]


def _drawer(name: str, held: list[str], said: dict[str, str]) -> Drawer:
    return Drawer(
        name,
        "\n".join(held),
        said.get("Source", ""),
        0,
        said.get("Filed", ""),
        said.get("Added by", ""),
    )
