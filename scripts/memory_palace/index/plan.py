"""What an index run would do: the disk and the manifest against the catalog. Writes nothing."""

import os
import stat
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from memory_palace.core import diff
from memory_palace.core.diff import FileStat, Known
from memory_palace.core.links import TREE
from memory_palace.core.problems import Problem
from memory_palace.core.text import COLD_COMPONENT, digest, is_cold, is_mined
from memory_palace.files import manifest as manifests
from memory_palace.files import read, tree
from memory_palace.files.config import Config
from memory_palace.files.manifest import Manifest
from memory_palace.files.tree import Tree
from memory_palace.index import projects, reading
from memory_palace.index.projects import Mined


@dataclass(slots=True)
class Listed:
    """Files that only the manifest names: those to index, and those that are there but not read."""

    files: list[FileStat] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


@dataclass(slots=True)
class Changes:
    """Paths by what happened to them since the catalog was written.

    ``moved`` maps a new path to the old one; ``touched`` files have a new stat and the old text;
    ``unreachable`` ones cannot be read now, and stay as they were, like the ``same`` ones.
    ``known`` counts the files in the catalog, ``mined`` those of each mined project; ``cut_anew``
    those of the ``changed`` that are as they were and will be cut better.
    """

    files: dict[str, FileStat]
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    moved: dict[str, str] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)
    touched: list[str] = field(default_factory=list)
    unreachable: dict[str, Problem] = field(default_factory=dict)
    same: list[str] = field(default_factory=list)
    known: int = 0
    unchanged: int = 0
    cut_anew: int = 0
    mined: Counter[str] = field(default_factory=Counter)

    @property
    def any(self) -> bool:
        return bool(self.added or self.changed or self.moved or self.removed)

    @property
    def to_read(self) -> list[str]:
        return [*self.added, *self.moved, *self.changed]

    def everything(self) -> "Changes":
        """The same, with every file that is there to be read again."""
        again = replace(self, touched=[], same=[], unchanged=len(self.unreachable))
        again.changed = sorted([*self.changed, *self.touched, *self.same])
        return again

    def summary(self) -> str:
        anew = f" ({self.cut_anew} only cut anew)" if self.cut_anew else ""
        return (
            f"{len(self.added)} added, {len(self.changed)} changed{anew}, {len(self.moved)} moved, "
            f"{len(self.removed)} removed, {self.unchanged} unchanged"
        )


@dataclass(slots=True)
class Surroundings:
    """The palace as it is on disk now."""

    tree: Tree
    manifest: Manifest
    listed: Listed
    mined: Mined

    def live(self) -> list[FileStat]:
        """All files to index, sorted by path."""
        live = [*self.tree.notes, *self.tree.ledgers, *self.listed.files, *self.mined.files]
        return sorted(live, key=lambda f: f.path)

    def cold(self) -> list[FileStat]:
        """All archived files, sorted by path."""
        return sorted([*self.tree.cold, *self.tree.cold_ledgers], key=lambda f: f.path)

    def problems(self) -> list[Problem]:
        return [*self.tree.problems, *self.listed.problems, *self.mined.problems]

    def may_be_there(self, path: str) -> bool:
        """True if ``path`` was not seen, yet cannot be said to be deleted."""
        if path.startswith(TREE):
            return self.tree.may_be_there(path)
        return self.mined.may_be_there(path)


def look(root: Path, config: Config) -> Surroundings:
    """Scan tree and manifest. Raises :class:`Missing` if the tree cannot be read."""
    seen = tree.scan(root, config.exclude)
    manifest = manifests.load(root)
    notes = {f.path for f in [*seen.notes, *seen.ledgers]}
    spelled = notes | {f.path for f in [*seen.cold, *seen.cold_ledgers]}
    manifests.fold_case(manifest, spelled, lambda a, b: _same_file(root / a, root / b))
    listed = _listed(root, seen, manifest, notes, config.exclude)
    return Surroundings(seen, manifest, listed, projects.look(root))


def _same_file(a: Path, b: Path) -> bool:
    try:
        return os.path.samefile(a, b)
    except OSError:
        return False


def _listed(
    root: Path, seen: Tree, manifest: Manifest, notes: set[str], patterns: tuple[str, ...]
) -> Listed:
    listed = Listed()
    left_out = set(seen.excluded)
    real_root = root.resolve()
    spec = tree.exclusion(patterns)
    for path, entry in manifest.entries.items():
        if path in notes or path in left_out or is_cold(path) or seen.may_be_there(path):
            continue
        if spec and spec.match_file(path):
            listed.refused.append(path)  # on purpose: the line stays, without a word
            continue
        if is_mined(path):
            listed.refused.append(path)
            why = f"{path} is named as a mined file is: rename its folder"
            listed.problems.append(Problem(manifests.PATH, entry.number, why))
            continue
        if any(part.startswith(".") for part in path.split("/")):
            listed.refused.append(path)
            why = f"{path} is hidden, left out: list only files without a leading dot"
            listed.problems.append(Problem(manifests.PATH, entry.number, why))
            continue
        place = root / path
        try:
            info = place.lstat()
            inside = place.resolve() == real_root / path  # no link on the way
        except OSError:
            continue  # gone: the manifest's sync reports it
        if inside and stat.S_ISREG(info.st_mode):
            listed.files.append(read.file_stat(path, info))
            continue
        what = "is no file: list files only" if inside else "leads elsewhere: list the file itself"
        listed.refused.append(path)
        listed.problems.append(Problem(manifests.PATH, entry.number, f"{path} {what}"))
    return listed


def changes(
    root: Path,
    seen: list[FileStat],
    known: list[Known],
    around: Surroundings,
    verify: bool = False,
) -> Changes:
    """Compare by stat, then by hash where the stat does not tell."""
    compared = diff.compare(seen, known, verify)
    found = Changes({f.path: f for f in seen}, same=list(compared.same), known=len(known))
    by_path = {k.path: k for k in known}
    found.mined = Counter(projects.scope(k.path) for k in known if is_mined(k.path))
    for path in compared.suspect:
        got = reading.read_bytes(root, path)
        if isinstance(got, read.Unreadable) and not got.content:
            found.unreachable[path] = got.problem
            continue
        now = got.sha256 if isinstance(got, read.Unreadable) else digest(got[0])
        (found.touched if now == by_path[path].sha256 else found.changed).append(path)
    gone = [path for path in compared.gone if not around.may_be_there(path)]
    left: dict[str, list[str]] = defaultdict(list)
    for path in gone:
        left[projects.scope(path)].append(path)
    for scope, paths in left.items():
        new = [path for path in compared.new if projects.scope(path) == scope]
        hashes = {}
        for path in new:
            got = reading.read_bytes(root, path)
            if not isinstance(got, read.Unreadable):
                hashes[path] = digest(got[0])
        found.moved |= diff.moves(new, paths, hashes, {p: by_path[p].sha256 for p in paths})
    moved_away = set(found.moved.values())
    found.added = [path for path in compared.new if path not in found.moved]
    found.removed = [path for path in gone if path not in moved_away]
    hidden = len(compared.gone) - len(gone)
    found.unchanged = len(found.same) + len(found.touched) + len(found.unreachable) + hidden
    return found


@dataclass(frozen=True, slots=True)
class Losses:
    """How many files were known, and how many of them are not there any more."""

    gone: int
    known: int


def losses(todo: Changes, cold: Changes, around: Surroundings) -> list[Losses]:
    """What a run would forget, live and archived, that is neither left out nor only changed
    sides between tree and archive; without mined files (see :func:`dropped`)."""
    left_out = set(around.tree.excluded)
    archived = _places_before(path for path in cold.added)
    gone = [path for path in todo.removed if path not in left_out and path not in archived]
    lost = [path for path in cold.removed if not _places_before([path]) & todo.files.keys()]
    own = sum(not is_mined(path) for path in gone)
    return [Losses(own, todo.known - todo.mined.total()), Losses(len(lost), cold.known)]


def dropped(todo: Changes, around: Surroundings) -> list[str]:
    """A line for each project of whose listed files many are gone: its folder is there and can be
    read, so they are dropped. Their sources are not ours; what comes back is read again."""
    gone = Counter(projects.scope(path) for path in todo.removed if path in around.mined.lines)
    return [
        f"project {name}: {count} of {todo.mined[name]} files are gone from "
        f"{around.mined.folders[name]}, so dropped: `palace mine` takes their lines out too"
        for name, count in sorted(gone.items())
        if diff.too_many_gone(count, todo.mined[name])
    ]


def _places_before(paths: Iterable[str]) -> set[str]:
    """Where archived notes stood before, by the mirrored path."""
    return {path.replace(f"/{COLD_COMPONENT}/", "/", 1) for path in paths}


def manifest_losses(around: Surroundings) -> Losses:
    """What a sync would take out of the manifest, new files counted against it as moves."""
    there = {f.path for f in [*around.tree.notes, *around.tree.ledgers]}
    left_out = set(around.tree.excluded)
    listed = [
        path
        for path in around.manifest.entries
        if path.startswith(TREE) and not is_cold(path) and path not in left_out
    ]
    gone = [path for path in listed if path not in there and not around.tree.may_be_there(path)]
    archived = _places_before(f.path for f in around.cold())
    gone = [path for path in gone if path not in archived]
    new = len(there.difference(listed))
    return Losses(max(len(gone) - new, 0), len(listed))
