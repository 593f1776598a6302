"""basic-memory's notes: Markdown with permalinks, observations (``- [category] text #tag``) and
relations (``- relation [[Target]]``). All of it is kept; links find notes by title or permalink."""

import re
from collections.abc import Iterator
from pathlib import Path

from memory_palace.core import note
from memory_palace.core.imported import Piece
from memory_palace.core.text import stem
from memory_palace.memory.imports import sources
from memory_palace.memory.imports.sources import File, Source

_OBSERVATION = re.compile(r"^\s{0,8}[-*]\s+\[[^\]\[()\n]{1,100}\]\s+\S", re.MULTILINE)
_TASK = re.compile(r"^\s{0,8}[-*]\s+\[[ xX-]\]\s", re.MULTILINE)
_RELATION = re.compile(r"^\s{0,8}[-*]\s+[^\[\]\n]{0,200}\[\[[^\[\]\n]{1,500}\]\]", re.MULTILINE)


def open_source(path: Path) -> Source:
    """What ``path`` holds: a project's folder, or one note."""
    if not path.is_dir():
        file = sources.one_file(path)
        return Source(lambda source: _piece(file, sources.above(path.parent), source))
    return Source(lambda source: _folder(path, source))


def _folder(path: Path, source: Source) -> Iterator[Piece]:
    above = sources.above(path)
    for file in sources.files(path, source):
        if sources.markdown(file.name):
            yield from _piece(file, above, source)
        else:
            source.others["not Markdown"] += 1


def _piece(file: File, above: str, source: Source) -> Iterator[Piece]:
    text = sources.text_of(file, source)
    if text is None:
        return
    said = note.parse(file.name, text)
    permalink = said.metadata.get("permalink")
    permalink = permalink.strip() if isinstance(permalink, str) else ""
    own = stem(file.name)
    names = [name for name in (said.title, permalink) if name and name != own]
    source.counts["note"] += 1
    source.counts["observation"] += len(_OBSERVATION.findall(said.body)) - len(
        _TASK.findall(said.body)
    )
    source.counts["relation"] += len(_RELATION.findall(said.body))
    yield Piece(
        original=above + file.name,
        place=sources.without_ending(above + file.name),
        text=text,
        origin=sources.origin(file.path, above + file.name),
        id=permalink,
        modified=sources.stamp(file.modified),
        aliases=tuple(dict.fromkeys(names)),
    )
