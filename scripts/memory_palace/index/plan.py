"""What an index run would do: the disk and the manifest against the catalog. Writes nothing."""

import os
from dataclasses import dataclass, field
from pathlib import Path

from memory_palace.core import diff
from memory_palace.core.diff import FileStat, Known
from memory_palace.core.links import TREE
from memory_palace.core.problems import Problem
from memory_palace.core.text import digest, is_cold
from memory_palace.files import manifest as manifests
from memory_palace.files import read, tree
from memory_palace.files.config import Config
from memory_palace.files.manifest import Manifest
from memory_palace.files.tree import Tree


@dataclass(slots=True)
class Listed:
    """Files that only the manifest names: those to index, and those that are there but refused."""

    files: list[FileStat] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Changes:
    """Paths by what happened to them since the catalog was written.

    ``moved`` maps a new path to the old one; ``touched`` files have a new stat and the old text;
    ``unreachable`` ones cannot be read now, and stay as they were.
    """

    files: dict[str, FileStat]
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    unreachable: dict[str, Problem] = field(default_factory=dict)
    unchanged: int = 0
    dangerous: bool = False

    @property
    def any(self) -> bool:
        return bool(self.added or self.changed or self.moved or self.removed)

    def summary(self) -> str:
        return (
            f"{len(self.added)} added, {len(self.changed)} changed, {len(self.moved)} moved, "
            f"{len(self.removed)} removed, {self.unchanged} unchanged"
        )


@dataclass(slots=True)
class Surroundings:
    """The palace as it is on disk now."""

    tree: Tree
    manifest: Manifest
    listed: Listed

    def live(self) -> list[FileStat]:
        """All files to index, sorted by path."""
        return sorted([*self.tree.notes, *self.listed.files], key=lambda f: f.path)

    def problems(self) -> list[Problem]:
        return [*self.tree.problems, *self.listed.problems]


def look(root: Path, config: Config) -> Surroundings:
    """Scan tree and manifest. Raises :class:`Missing` if the tree cannot be read."""
    seen = tree.scan(root, config.exclude)
    manifest = manifests.load(root)
    notes = {f.path for f in seen.notes}
    manifests.fold_case(manifest, notes, lambda a, b: _same_file(root / a, root / b))
    return Surroundings(seen, manifest, _listed(root, seen, manifest, notes))


def _same_file(a: Path, b: Path) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:
        return False


def _listed(root: Path, seen: Tree, manifest: Manifest, notes: set[str]) -> Listed:
    listed = Listed()
    left_out = set(seen.excluded)
    real_root = root.resolve()
    for path, entry in manifest.entries.items():
        if path in notes or path in left_out or is_cold(path):
            continue
        place = root / path
        try:
            info = place.lstat()
            inside = place.resolve().is_relative_to(real_root) and not place.is_symlink()
        except OSError:
            continue  # gone: the manifest's sync reports it
        if inside and not place.is_dir():
            listed.files.append(FileStat(path, info.st_size, info.st_mtime_ns, info.st_ino))
            continue
        what = "is a folder: list its files" if inside else "leads elsewhere: list the file itself"
        listed.refused.append(path)
        listed.problems.append(Problem(manifests.PATH, entry.number, f"{path} {what}"))
    return listed


def changes(
    root: Path, seen: list[FileStat], known: list[Known], around: Tree, verify: bool = False
) -> Changes:
    """Compare by stat, then by hash where the stat does not tell."""
    compared = diff.compare(seen, known, verify)
    found = Changes({f.path: f for f in seen}, unchanged=len(compared.same))
    by_path = {k.path: k for k in known}
    for path in compared.suspect:
        got = read.read_bytes(root, path)
        if isinstance(got, read.Unreadable) and not got.content:
            found.unreachable[path] = got.problem
            found.unchanged += 1
            continue
        now = "" if isinstance(got, read.Unreadable) else digest(got[0])
        (found.touched if now == by_path[path].sha256 else found.changed).append(path)
    found.unchanged += len(found.touched)
    gone = [path for path in compared.gone if not _hidden(around, path)]
    found.unchanged += len(compared.gone) - len(gone)
    if gone:
        hashes = {}
        for path in compared.new:
            got = read.read_bytes(root, path)
            if not isinstance(got, read.Unreadable):
                hashes[path] = digest(got[0])
        found.moved = diff.moves(compared.new, gone, hashes, {p: by_path[p].sha256 for p in gone})
    moved_away = set(found.moved.values())
    found.added = [path for path in compared.new if path not in found.moved]
    found.removed = [path for path in gone if path not in moved_away]
    found.dangerous = diff.too_many_gone(len(found.removed), len(known))
    return found


def _hidden(around: Tree, path: str) -> bool:
    return path.startswith(TREE) and around.may_be_there(path)
