"""The rules of a palace, quickly: kept in ``.palace/rules.json`` with what their files looked like.

What is kept can do no more than a rule can: what comes with a stranger's clone warns and blocks.
"""

import json
import os
from pathlib import Path
from stat import S_ISREG
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_palace.core.rules import FOLDER, Fault, Read, Rule, together
from memory_palace.files import roots

if TYPE_CHECKING:
    from memory_palace.core.problems import Problem

PATH = f"{roots.DERIVED}/rules.json"
FORMAT = 1
"""Raise it when what is kept changes."""

TOPICS = "palace/topics"
CATALOG = f"{roots.DERIVED}/index/catalog.sqlite"
ALWAYS = frozenset({FOLDER, TOPICS, CATALOG})
"""What is always looked at."""

MOST_BYTES = 16 << 20

Stamp = tuple[int, int, int] | None
"""Size, time and inode of a file or folder; None if there is none."""


class Kept(NamedTuple):
    """What was read: {path: stamp} of all that was looked at, and {path: what it holds}."""

    stamps: dict[str, Stamp]
    reads: dict[str, Read]


class Table(NamedTuple):
    """All rules in their order, and what is wrong with others. ``looked`` is true if files were
    read for it."""

    rules: tuple[Rule, ...]
    faults: tuple[Fault, ...]
    looked: bool = False

    @property
    def problems(self) -> "list[Problem]":
        """The faults as problems of files."""
        from memory_palace.core.problems import Problem

        return [Problem(path, line or None, message) for path, line, message in self.faults]


def load(root: Path, look: bool = False) -> Table:
    """The rules of ``root``. Files are read again where one of them has changed, or with ``look``,
    which also finds rules elsewhere that the index knows of. Never raises."""
    kept = _kept(root)
    if kept and not look and all(stamp(root, path) == was for path, was in kept.stamps.items()):
        return Table(*together(kept.reads))
    from memory_palace.session import rulefiles

    made = rulefiles.read(root, kept or Kept({}, {}))
    if made != kept:
        _keep(root, made)
    return Table(*together(made.reads), looked=True)


def stamp(root: Path, path: str) -> Stamp:
    """What ``path`` looks like now; a symbolic link for itself."""
    try:
        info = os.lstat(root / path)
    except (OSError, ValueError):
        return None
    return info.st_size, info.st_mtime_ns, info.st_ino


def _kept(root: Path) -> Kept | None:
    """What was kept; None if there is nothing, or it is damaged."""
    try:
        place = roots.inside(root, PATH)
        info = place.stat()
        if not S_ISREG(info.st_mode) or info.st_size > MOST_BYTES:
            return None
        data = json.loads(place.read_bytes())
        if data["format"] != FORMAT:
            return None
        stamps = {str(path): _stamp(value) for path, value in data["stamps"].items()}
        reads = {str(path): _read(value) for path, value in data["reads"].items()}
    except Exception:  # whatever is in it, it can be made again
        return None
    if not (stamps.keys() >= ALWAYS and reads.keys() <= stamps.keys() | {""}):
        return None  # it would never be old
    return Kept(stamps, reads)


def _stamp(value: Any) -> Stamp:
    if value is None:
        return None
    size, modified, inode = map(int, value)
    return size, modified, inode


def _read(value: Any) -> Read:
    rules, faults, covers, entries = value
    made = [Rule(str(r[0]), int(r[1]), *map(str, r[2:])) for r in rules]
    wrong = [Fault(str(path), int(line), str(message)) for path, line, message in faults]
    if entries and len(entries) != len(made):
        raise ValueError("damaged")
    return Read(tuple(made), tuple(wrong), tuple(map(str, covers)), tuple(map(str, entries)))


def _keep(root: Path, made: Kept) -> None:
    data = {"format": FORMAT, "stamps": made.stamps, "reads": made.reads}
    try:
        place = roots.inside(root, PATH)
        place.parent.mkdir(exist_ok=True)
        other = place.with_name(f".rules.{os.getpid()}.tmp")
        other.write_text(json.dumps(data), "utf-8")
        other.replace(place)
    except Exception:  # a read-only disk: the rules are read each time
        return
