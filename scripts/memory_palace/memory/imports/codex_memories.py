"""Codex's memories: ``~/.codex/memories`` (MEMORY.md, memory_summary.md, raw_memories.md,
rollout_summaries/*.md, …), and AGENTS.md."""

import re
from collections.abc import Iterator
from pathlib import Path

from memory_palace.core.imported import Piece
from memory_palace.memory.imports import sources
from memory_palace.memory.imports.sources import File, Source

_AGENTS = ("agents.md", "agents.override.md", "*/agents.md")
_HEAD = re.compile(r"(thread_id|updated_at|rollout_path|cwd|git_branch)\s*:\s*(\S.*)\Z")
_HEAD_LINES = 12


def open_source(path: Path) -> Source:
    """What ``path`` holds: the memories' folder, ``~/.codex``, or one file."""
    if not path.is_dir():
        file = sources.one_file(path)
        above = _above(path.parent)
        return Source(lambda source: _piece(file, above + file.name, source))
    return Source(lambda source: _folder(path, source))


def _folder(path: Path, source: Source) -> Iterator[Piece]:
    whole = path.name == "memories" or (path / "memory_summary.md").is_file()
    above = _above(path)
    for file in sources.files(path, source):
        inside = whole or file.name.startswith("memories/")
        if not sources.markdown(file.name):
            source.others["not Markdown"] += 1
        elif inside or sources.matches(file.name, _AGENTS):
            name = file.name.removeprefix("memories/")
            yield from _piece(file, above + name, source)
        else:
            source.others["not a memory of Codex"] += 1


def _piece(file: File, name: str, source: Source) -> Iterator[Piece]:
    text = sources.text_of(file, source)
    if text is None:
        return
    head: dict[str, str] = {}
    if not text.startswith("---"):
        for line in text.split("\n", _HEAD_LINES)[:_HEAD_LINES]:
            found = _HEAD.match(line.strip())
            if found:
                head.setdefault(found[1], found[2].strip())
    summaries = "rollout_summaries/" in f"/{name}"
    source.counts["session summary" if summaries else "memory"] += 1
    yield Piece(
        original=name,
        place=sources.without_ending(name),
        text=text,
        origin=sources.origin(file.path, name),
        id=head.get("thread_id", ""),
        updated=sources.iso(head.get("updated_at")),
        modified=sources.stamp(file.modified),
    )


def _above(folder: Path) -> str:
    return sources.above(folder, "memories")
