"""OpenClaw's memories, in its workspace: MEMORY.md, USER.md, DREAMS.md, and the days,
``memory/YYYY-MM-DD.md``."""

import re
from collections.abc import Iterator
from pathlib import Path

from memory_palace.core import dates
from memory_palace.core.imported import Piece
from memory_palace.memory.imports import sources
from memory_palace.memory.imports.sources import File, Source

_TOP = ("memory.md", "user.md", "dreams.md")
_DAY = re.compile(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)")


def open_source(path: Path) -> Source:
    """What ``path`` holds: a workspace, ``~/.openclaw`` with several, or one file."""
    if not path.is_dir():
        file = sources.one_file(path)
        inner = "memory/" if path.absolute().parent.name == "memory" else ""
        above = _above(path.parent)
        return Source(lambda source: _piece(file, f"{above}{inner}{file.name}", source))
    return Source(lambda source: _folder(path, source))


def _folder(path: Path, source: Source) -> Iterator[Piece]:
    whole = path.name == "memory"
    above = f"{_above(path)}memory/" if whole else _above(path)
    for file in sources.files(path, source):
        parts = file.name.split("/")
        if not sources.markdown(file.name):
            source.others["not Markdown"] += 1
        elif whole or "memory" in parts[:-1] or parts[-1].lower() in _TOP:
            yield from _piece(file, above + file.name, source)
        else:
            source.others["file of the workspace, no memory"] += 1


def _piece(file: File, name: str, source: Source) -> Iterator[Piece]:
    text = sources.text_of(file, source)
    if text is None:
        return
    found = _DAY.search(file.path.name)
    day = found[0] if found and dates.parse(found[0]) else ""
    source.counts["day" if day else "memory"] += 1
    modified = sources.stamp(file.modified)
    yield Piece(
        original=name,
        place=sources.without_ending(name),
        text=text,
        origin=sources.origin(file.path, name),
        created=day,
        modified=modified,
    )


def _above(folder: Path) -> str:
    return sources.above(folder, "memory")
