"""Where something lies that a person or an agent names: nothing is guessed, the nearest is told."""

import difflib
import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core import archiving, links, markdown, note, topics
from memory_palace.core.errors import BadInput, Missing, Refused
from memory_palace.core.links import TREE, Archived, Resolver
from memory_palace.core.outline import RawLink
from memory_palace.core.problems import printable
from memory_palace.core.text import is_cold, is_mined, nearest, nfc, short_id, split_lines, stem
from memory_palace.files import manifest as manifests
from memory_palace.files import read, roots, tree
from memory_palace.files.config import Config
from memory_palace.files.tree import Tree

if TYPE_CHECKING:
    from memory_palace.index.catalog import Catalog
    from memory_palace.index.progress import Progress
    from memory_palace.search.current import Current

CONTEXT = 2
"""Lines shown on either side of a memory's own."""

_ID = re.compile(r"[0-9a-f]{12}\Z")
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class Place:
    """A file, the lines of it that are meant (0: all), or the section."""

    path: str
    start: int = 0
    end: int = 0
    section: str = ""


def exact(root: Path, name: str) -> Place | None:
    """The file at exactly this path; ``palace/`` and ``.md`` may be left out. A mined file has its
    project's name in front (``project:demo/src/a.py``)."""
    if not name or not tree.is_text(name) or "\0" in name:
        return None
    if is_mined(name):
        from memory_palace.search import located_mined

        return Place(name) if located_mined.is_there(root, name) else None
    bare = name.removeprefix(f"{root.as_posix()}/").removeprefix("./")
    for path in dict.fromkeys((bare, f"{bare}.md", TREE + bare, f"{TREE}{bare}.md")):
        if _is_open(path) and os.path.isfile(root / path) and _is_ours(root, path):
            roots.inside(root, path)
            return Place(path)
    return None


def _is_open(path: str) -> bool:
    """False for a path that leaves the root or is hidden."""
    return not any(part == "" or part.startswith(".") for part in path.split("/"))


def _is_ours(root: Path, path: str) -> bool:
    """True for what lies in the palace, and for other files that its manifest names."""
    return path.startswith(TREE) or path in manifests.load(root).entries


def find(root: Path, config: Config, name: str, progress: "Progress | None" = None) -> Place:
    """Where ``name`` leads; see :func:`reading.read`. Raises :class:`Refused` if nowhere."""
    if not name.strip():
        raise BadInput("nothing is named: give a path, a name or an id")
    if not tree.is_text(name) or "\0" in name:
        raise BadInput(f"{printable(name)} is no name: write it as UTF-8")
    place = exact(root, name)
    if place is not None:
        return place
    if is_mined(name):
        from memory_palace.search import located_mined

        raise Refused(located_mined.why_not(root, name))
    if name.startswith("#") and _ID.match(name[1:]):
        return _hit(root, config, name[1:], progress)
    if name.startswith("^"):
        return _memory(root, config, name[1:])
    if _ID.match(name):
        try:
            return _hit(root, config, name, progress)
        except (Missing, Refused):
            return _memory(root, config, name)
    return _named(root, config, name)


def _hit(root: Path, config: Config, name: str, progress: "Progress | None") -> Place:
    """The chunk, or the single line, that an answer called by this id."""
    from memory_palace.search import current  # a path needs no index

    try:
        with current.as_it_is(root) as now:
            place = _in_catalogs(root, now, name)
        if place is not None:
            return place
    except Missing:
        pass  # no index: one is made
    with current.opened(root, config, progress) as now:
        place = _in_catalogs(root, now, name)
    if place is None:
        raise Refused(f"no hit has the id #{name} any more: ask again with `palace query`")
    return place


def _in_catalogs(root: Path, now: "Current", name: str) -> Place | None:
    for catalog in (now.main, now.below):
        found = _chunk(catalog, name) or _unit(catalog, name)
        if found:
            path, start, end, sha256 = found
            got = read.read(root, path)
            if isinstance(got, read.Text) and got.sha256 == sha256:
                return Place(path, start, end)
    return None


_ROW = """SELECT f.path, c.start, c."end", f.sha256, c.chunk_id, c.units FROM chunks c
          JOIN files f ON f.id = c.file_id"""


def _chunk(catalog: "Catalog", name: str) -> tuple[str, int, int, str] | None:
    row = catalog.db.execute(f"{_ROW} WHERE c.chunk_id = ?", (name,)).fetchone()
    return tuple(row[:4]) if row else None


def _unit(catalog: "Catalog", name: str) -> tuple[str, int, int, str] | None:
    """A single line of a chunk, named as ``search.lines`` does it."""
    for path, _, _, sha256, chunk_id, units in catalog.db.execute(f"{_ROW} WHERE c.units != '[]'"):
        for number, (start, end, _) in enumerate(json.loads(units)):
            if short_id(chunk_id, str(number)) == name:
                return path, start, end, sha256
    return None


def _memory(root: Path, config: Config, name: str) -> Place:
    """The line of the memory with this id, and those around it."""
    seen = tree.scan(root, config.exclude)
    entries: list[topics.Entry] = []
    for file in [*seen.notes, *seen.cold]:
        if file.path.startswith((topics.FOLDER, topics.ARCHIVED)):
            got = read.read(root, file.path)
            if isinstance(got, read.Text):
                entries += topics.parse(file.path, got.text).entries
    keyed = dict(topics.keyed(entries)[0])
    entry = keyed.get(name)
    if entry is None:
        near = nearest(name, keyed)
        hint = f": did you mean ^{near}?" if near else ": `palace topics` lists them"
        raise Refused(f"no memory has the id ^{printable(name)}{hint}")
    return _around(root, entry.path, entry.line)


def _around(root: Path, path: str, line: int) -> Place:
    got = read.read(root, path)
    total = len(split_lines(got.text)) if isinstance(got, read.Text) else line
    return Place(path, max(line - CONTEXT, 1), min(line + CONTEXT, total))


def _named(root: Path, config: Config, name: str) -> Place:
    """The note that a link of this name leads to; archived ones where no live one does."""
    seen = tree.scan(root, config.exclude)
    if name.startswith("[[") and name.endswith("]]"):
        link = links.parse(RawLink(name[2:-2], 1))
    else:
        link = links.Link(name.strip(), "", "", "", False, 1)
    if not link.target:
        raise BadInput(f"{printable(name)} names no note: give a path, a name or an id")
    found = _resolved(root, seen, link.target)
    path = found.path or (found.why if found.status == "archived" else None)
    if found.status == "ambiguous":
        raise Refused(f"{printable(name)} {found.why}")
    if path is None or ("," in path and not (root / path).is_file()):
        raise Refused(_miss(root, seen, link.target, path))
    if link.block:
        return _block(root, path, link.block)
    return Place(path, section=link.heading.rsplit("#", 1)[-1])


def _resolved(root: Path, seen: Tree, target: str) -> links.Resolved:
    """Where a link with this target leads. Notes are read for their aliases only where none has
    that name."""
    live = [file.path for file in seen.notes]
    cold = [Archived(file.path, (), archiving.mirrored(file.path)) for file in seen.cold]
    link = links.Link(target, "", "", "", False, 1)
    found = Resolver(dict.fromkeys(live, ()), cold, seen.others).resolve("", link, {})
    name = nfc(stem(target))
    if found.status in ("ok", "ambiguous") and any(nfc(stem(path)) == name for path in live):
        return found
    return Resolver(_aliases(root, live), cold, seen.others).resolve("", link, {})


def _aliases(root: Path, paths: list[str]) -> dict[str, tuple[str, ...]]:
    """{path: aliases} of notes, as their files say."""
    found = {}
    for path in paths:
        got = read.read(root, path)
        text = got.text if isinstance(got, read.Text) else ""
        found[path] = note.parse(path, text).aliases if "aliases" in text else ()
    return found


def _block(root: Path, path: str, block: str) -> Place:
    got = read.read(root, path)
    text = got.text if isinstance(got, read.Text) else ""
    parsed = note.parse(path, text)
    if block in markdown.read(parsed.body, parsed.body_line, links=False).block_ids:
        ends = re.compile(rf"(?:^|\s)\^{re.escape(block)}\s*$")
        for number, line in enumerate(split_lines(text), start=1):
            if ends.search(line):
                return _around(root, path, number)
    raise Refused(f"no block ^{block} in {path}")


def _miss(root: Path, seen: Tree, name: str, cold: str | None) -> str:
    """What to say of a name that nothing has."""
    shown = printable(name)
    if cold:
        return f"{shown} could be {cold}: write the path"
    if _is_open(name.rstrip("/")):
        for folder in (name.rstrip("/"), TREE + name.rstrip("/")):
            if os.path.isdir(root / folder) and (folder + "/").startswith(TREE):
                return _folder(seen, folder)
    near = _mined(root, name) or nearest_notes(seen, name)
    listed = " or ".join(printable(path) for path in near)
    return f"no note {shown}" + (
        f": did you mean {listed}?" if near else ": `palace query` finds notes by words"
    )


def _mined(root: Path, name: str) -> list[str]:
    from memory_palace.search import located_mined

    return located_mined.meant(root, name)[:_SHOWN]


def _folder(seen: Tree, folder: str) -> str:
    inside = [f.path for f in [*seen.notes, *seen.cold] if f.path.startswith(folder + "/")]
    shown = ", ".join(printable(path) for path in inside[: 2 * _SHOWN])
    more = len(inside) - 2 * _SHOWN
    listed = f"name one of {shown}" + (f" and {more} more" if more > 0 else "")
    return f"{printable(folder)} is a folder: {listed if inside else 'there is no note in it'}"


def nearest_notes(seen: Tree, name: str, most: int = _SHOWN) -> list[str]:
    """The paths of the notes that are called most like ``name``, best first."""
    paths = [file.path for file in [*seen.notes, *seen.cold]]
    wanted = nfc(stem(name)).casefold()
    by_stem: dict[str, list[str]] = {}
    for path in paths:
        by_stem.setdefault(nfc(stem(path)).casefold(), []).append(path)
    close = difflib.get_close_matches(wanted, by_stem, n=most, cutoff=0.55)
    inside = [s for s in by_stem if len(wanted) > 2 and wanted in s and s not in close]
    found = [path for s in [*close, *sorted(inside)] for path in by_stem[s]]
    return sorted(found[:most], key=is_cold)
