"""Claude Code's memories: ``CLAUDE.md`` files, rules, and what it keeps of a project,
``~/.claude/projects/<project>/memory/*.md``."""

from collections.abc import Iterator
from pathlib import Path

from memory_palace.core import note
from memory_palace.core.imported import Piece
from memory_palace.memory.imports import sources
from memory_palace.memory.imports.sources import File, Source

_MEMORY = ("claude.md", "claude.local.md", "*/claude.md", "*/claude.local.md")
_RULES = ("rules/*.md", "*/.claude/rules/*.md", ".claude/rules/*.md")


def open_source(path: Path) -> Source:
    """What ``path`` holds: a CLAUDE.md, a memory folder, a project, or all of ``~/.claude``."""
    if not path.is_dir():
        file = sources.one_file(path)
        return Source(lambda source: _piece(file, _above(path.parent), source))
    return Source(lambda source: _folder(path, source))


def _folder(path: Path, source: Source) -> Iterator[Piece]:
    whole = path.name == "memory"
    above = _above(path)
    for file in sources.files(path, source, hidden=True):
        in_memory = whole or "/memory/" in f"/{file.name}"
        if not sources.markdown(file.name):
            source.others["not Markdown"] += 1
        elif "plugins" in file.name.split("/"):
            source.others["of a plugin"] += 1
        elif in_memory or sources.matches(file.name, (*_MEMORY, *_RULES)):
            yield from _piece(file, above, source)
        else:
            source.others["not a memory of Claude Code"] += 1


def _piece(file: File, above: str, source: Source) -> Iterator[Piece]:
    text = sources.text_of(file, source)
    if text is None:
        return
    *folders, last = file.name.split("/")
    kept = (part.strip("-. ") for part in folders if part not in ("projects", "memory"))
    parts = [*(part for part in kept if part), last]
    name = above + "/".join(parts)
    said = note.parse(file.name, text).metadata
    called = said.get("name")
    names = (called.strip(),) if isinstance(called, str) and called.strip() else ()
    # Links go by a memory's name; MEMORY.md is the index of the others.
    source.counts["index file" if file.path.name == "MEMORY.md" else "memory"] += 1
    yield Piece(
        original=name,
        place=sources.without_ending(name),
        text=text,
        origin=sources.origin(file.path, name),
        title=names[0] if names else "",
        modified=sources.stamp(file.modified),
        aliases=names,
    )


def _above(folder: Path) -> str:
    return sources.above(folder, "memory")
