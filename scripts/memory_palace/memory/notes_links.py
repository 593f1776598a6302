"""Who links to a note that is renamed, and which of these links would not find it any more."""

from dataclasses import dataclass
from pathlib import Path

from memory_palace.core import archiving, note
from memory_palace.core.links import Anchors, Archived, Resolver
from memory_palace.core.text import is_cold
from memory_palace.files import read, tree
from memory_palace.files.config import Config
from memory_palace.files.tree import Tree
from memory_palace.memory import review_links
from memory_palace.search import located


@dataclass(frozen=True, slots=True)
class Calling:
    """The notes that link to a note, by path, and the names in their links that only lead there
    while it is where it was: aliases for it."""

    sources: tuple[str, ...]
    lost: tuple[str, ...]


def calling(root: Path, config: Config, source: str, target: str) -> Calling:
    """The links to the note ``source``, which is to be at ``target``; read from the files."""
    seen = tree.scan(root, config.exclude)
    texts = {file.path: _text(root, file.path) for file in seen.notes}
    aliases = {path: _aliases(path, text) for path, text in texts.items()}
    before = _resolver(seen, aliases)
    moved = {target if path == source else path: names for path, names in aliases.items()}
    after = _resolver(seen, moved)
    anchors: dict[str, Anchors] = {}
    sources: set[str] = set()
    lost: set[str] = set()
    for path, text in texts.items():
        if "[[" not in text:
            continue
        for link in review_links.written(path, text):
            if not link.target or before.resolve(path, link, anchors).path != source:
                continue
            if path != source:
                sources.add(path)
            if after.resolve(path, link, anchors).path != target:
                lost.add(link.target)
    return Calling(tuple(sorted(sources)), tuple(sorted(lost)))


def _text(root: Path, path: str) -> str:
    got = read.read(root, path)
    return got.text if isinstance(got, read.Text) else ""


def _aliases(path: str, text: str) -> tuple[str, ...]:
    # Metadata is read only where there can be an alias: a palace has thousands of notes.
    return note.parse(path, text).aliases if "aliases" in text else ()


def _resolver(seen: Tree, aliases: dict[str, tuple[str, ...]]) -> Resolver:
    cold = [Archived(file.path, (), archiving.mirrored(file.path)) for file in seen.cold]
    return Resolver(aliases, cold, seen.others)


def near(root: Path, config: Config, path: str) -> str:
    """``: did you mean …?`` with the live notes that are called most like ``path``."""
    seen = tree.scan(root, config.exclude)
    if is_cold(path) or not seen.notes:
        return ""
    found = [one for one in located.nearest_notes(seen, path) if not is_cold(one)]
    return f": did you mean {' or '.join(found)}?" if found else ": `palace query` finds notes"
