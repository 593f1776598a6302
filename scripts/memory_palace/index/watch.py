"""Keep an index fresh while notes are written: what to do with each burst of changes.

An event only says that it is time to look: the run itself compares all files with the catalog, so
nothing depends on which events came, in which order, or whether one got lost.
"""

import functools
import os
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core.errors import Busy, Missing, PalaceError
from memory_palace.core.links import TREE
from memory_palace.core.problems import Problem, in_order
from memory_palace.core.text import MINED, digest
from memory_palace.embed import registry
from memory_palace.embed.registry import Choice
from memory_palace.files import config as configs
from memory_palace.files import local, projects, roots, tree
from memory_palace.files import manifest as manifests
from memory_palace.files.config import Config
from memory_palace.index import catalog as catalogs
from memory_palace.index import freshness, run
from memory_palace.index.build import Indexed, Options
from memory_palace.index.plan import Changes

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

LOOK_SECONDS = 1.0
"""How often the root and the few watched files outside the tree are looked at."""

SWEEP_SECONDS = 300.0
"""How often the tree is compared without an event: some disks, and full queues, lose them."""

PATIENCE_SECONDS = 2.0
"""How long one run waits for another writer; it is tried again at the next look."""

VECTORS_SECONDS = 5.0
"""After this long, vectors give way to newer changes, so that those are searchable too."""

_LOOK_SHARE = 100.0  # a look waits until this many times its own duration has passed
_NAMED = 3
_TREE_LINE = '{"path": "%s' % TREE  # how the manifest's own lines for notes begin


class Newer(KeyboardInterrupt):
    """Ends the vectors of a run for newer changes: an interrupt, after which they are kept."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What a run did. ``line`` is empty if there is nothing to tell; ``problems`` are errors that
    came up, ``mended`` paths whose errors are gone; ``again`` if it has to be tried again."""

    line: str = ""
    problems: tuple[Problem, ...] = ()
    mended: tuple[str, ...] = ()
    again: bool = False


def matters(path: str, excluded: "GitIgnoreSpec | None" = None) -> bool:
    """True if an event at ``path`` (relative to the root) can change the index.

    Folders and files that are no notes do: they bring and take notes, and links lead to them.
    """
    top, *below = path.split("/")
    if f"{top}/" != TREE:
        return False
    for name in below:
        # A cloud service's stand-in for a note is hidden, and tells that the note is away.
        if name.startswith(".") and not name.endswith(".icloud"):
            return False
    return not (excluded and excluded.match_file(path))


def described(done: Indexed, reasons: Iterable[str] = (), always: bool = False) -> str:
    """One line on what a run did, a few paths named; empty if it did nothing (``always`` if not).

    ``reasons`` are files outside the tree that were read again.
    """
    parts = [*_kinds(done.changes), *(f"archive: {part}" for part in _kinds(done.cold))]
    told = done.changes.files.keys() | {*done.changes.removed}
    parts += [f"read {name} again" for name in reasons if name not in told]
    if done.vectors:
        parts.append(f"{done.vectors} vector{'s' * (done.vectors != 1)}")
    if done.manifest_written and not parts:
        parts.append("manifest written")
    if not parts and always:
        parts.append("up to date again")
    seconds = done.keyword_seconds + done.vector_seconds
    return f"{'; '.join(parts)}; {seconds:.2f} s" if parts else ""


def _kinds(changes: Changes) -> list[str]:
    moved = [f"{old} to {new}" for new, old in changes.moved.items()]
    kinds = {
        "added": changes.added,
        "changed": changes.changed,
        "moved": moved,
        "removed": changes.removed,
    }
    return [f"{kind} {_few(paths)}" for kind, paths in kinds.items() if paths]


def _few(paths: list[str]) -> str:
    if len(paths) <= _NAMED:
        return ", ".join(paths)
    return f"{paths[0]} and {len(paths) - 1} more"


class _Steps:
    """A run's progress: lines go on, and vectors end when ``newer`` says that there is news."""

    def __init__(self, say: Callable[[str], None], newer: Callable[[], bool]) -> None:
        self.say = say
        self.read = 0
        self._newer = newer
        self._vectors_since: float | None = None

    def start(self, label: str, total: int) -> None:
        if label == "vectors":
            self._vectors_since = time.monotonic()
        else:
            self.read += total

    def advance(self, steps: int) -> None:
        since = self._vectors_since
        if since is not None and time.monotonic() - since > VECTORS_SECONDS and self._newer():
            raise Newer

    def stop(self) -> None:
        self._vectors_since = None


class Keeper:
    """Runs the index of ``root`` again and again; the model stays loaded in between.

    ``say`` gets what a run has to tell while it is under way, and faults, each once until a run
    succeeds. ``newer`` says whether changes are waiting.
    """

    def __init__(
        self, root: Path, say: Callable[[str], None], newer: Callable[[], bool] = lambda: False
    ) -> None:
        """Raises :class:`BadInput` or :class:`Missing` for settings that cannot be used."""
        self._root = root
        self._identity = _identity(root)
        self._say = say
        self._newer = newer
        self._faults: set[tuple[str, str]] = set()
        self._problems: dict[tuple[str, str], Problem] = {}
        self._manifest = ""
        self._listed: tuple[str, ...] = ()
        self._reasons: list[str] = []
        self._seen: dict[str, tuple[int, int, int] | None] = {}
        self._mined = 0
        self._rest = LOOK_SECONDS
        self._looked = self._swept = time.monotonic()
        self._settings_differ = False
        self.news()
        self.config: Config = configs.load(root)
        self.choice: Choice = _kept(registry.choose(self.config))
        self._excluded = tree.exclusion(self.config.exclude)

    def concerned(self, paths: Iterable[str]) -> bool:
        """True if one of these events (paths relative to the root) calls for a run."""
        return any(matters(path, self._excluded) for path in paths)

    def news(self) -> bool:
        """True if settings, manifest, or a file that it lists outside the tree, have changed since
        the last call. Raises :class:`Missing` if the root is gone."""
        if _identity(self._root) != self._identity:
            raise Missing(f"{self._root} is gone: run `palace watch` again when it is back")
        started = time.monotonic()
        if self._seen and started - self._looked < self._rest:
            return False
        own = str(configs.user_file(os.environ))
        of_projects = self._of_projects()
        names = (roots.MARKER, own, manifests.PATH, *self._listed, local.PATH, *of_projects)
        now = {name: _stat(self._root / name) for name in names}
        mined = bool(of_projects) and self._mined_differ()
        changed = [name for name in now if now[name] != self._seen.get(name)]
        if manifests.PATH in changed and self._is_as_written():
            changed.remove(manifests.PATH)
        gone = [name for name in self._seen if name not in now and name.startswith(projects.FOLDER)]
        first, self._seen = not self._seen, now
        self._looked = time.monotonic()
        self._rest = max(LOOK_SECONDS, _LOOK_SHARE * (self._looked - started))
        if first:
            return False
        changed += gone
        self._settings_differ |= roots.MARKER in changed or own in changed
        self._reasons += [name for name in changed if name not in self._reasons]
        return bool(changed) or mined

    def _of_projects(self) -> list[str]:
        """What says which files are mined; empty without a project."""
        try:
            names = sorted(os.listdir(self._root / projects.FOLDER))
        except OSError:
            names = []
        return [f"{projects.FOLDER}/{name}" for name in names]

    def _mined_differ(self) -> bool:
        """True if mined files have changed since the last look. What a run could not mend waits
        for the next change."""
        try:
            with catalogs.open_to_read(roots.index_folder(self._root) / catalogs.MAIN) as catalog:
                count = freshness.changed_mined(self._root, catalog.known(MINED))
        except (PalaceError, sqlite3.Error, OSError):
            return False  # a run says what is wrong
        before, self._mined = self._mined, count
        return count not in (0, before)

    def missed(self) -> bool:
        """From time to time: True if files have changed although no event said so."""
        if time.monotonic() - self._swept < SWEEP_SECONDS:
            return False
        self._swept = time.monotonic()
        try:
            with catalogs.open_to_read(roots.index_folder(self._root) / catalogs.MAIN) as catalog:
                return freshness.changed_files(self._root, self.config, catalog) > 0
        except (PalaceError, sqlite3.Error, OSError):
            return True  # the run says what is wrong, or mends it

    def refresh(self) -> Ran:
        """One index run. A fault is said, once, and waits for the next change. Raises
        :class:`Missing` if the root is gone."""
        if _identity(self._root) != self._identity:  # else a run would make its folders anew
            raise Missing(f"{self._root} is gone: run `palace watch` again when it is back")
        self._read_settings()
        steps = _Steps(self._once, self._newer)
        started = time.monotonic()
        try:
            options = Options(wait_seconds=PATIENCE_SECONDS)
            done = run.index(self._root, self.config, self.choice, options, steps)
        except Newer:
            passed = time.monotonic() - started
            return Ran(
                f"{steps.read} read, vectors go on after newer changes; {passed:.2f} s", again=True
            )
        except Busy:
            return Ran(again=True)  # whom it waits for has been said
        except PalaceError as error:
            self._fault(type(error).__name__, str(error))
            return Ran()
        except (sqlite3.Error, OSError) as error:
            self._fault(type(error).__name__, f"{error}: tried again at the next change")
            return Ran()
        self._swept = time.monotonic()
        line = described(done, self._reasons, always=bool(self._faults))
        self._faults.clear()
        self._reasons = []
        self._note_manifest(done)
        return Ran(line, *self._differences(done))

    def _read_settings(self) -> None:
        """Take over changed settings; with a fault in them those before still count."""
        if not self._settings_differ:
            return
        self._settings_differ = False
        try:
            config = configs.load(self._root)
            choice = registry.choose(config)
        except PalaceError as error:
            self._say(f"error: {error}; until then the settings before count")
            self._reasons = [name for name in self._reasons if name == manifests.PATH]
            return
        if _model(choice, config) != _model(self.choice, self.config):
            self.choice = _kept(choice)
            self._say(str(choice))
        self.config = config
        self._excluded = tree.exclusion(config.exclude)

    def _differences(self, done: Indexed) -> tuple[tuple[Problem, ...], tuple[str, ...]]:
        """Errors that are new, and paths that have none any more. An error that only changed its
        line is the same one."""
        now = {(problem.path, problem.message): problem for problem in done.errors}
        came = in_order([now[key] for key in now.keys() - self._problems.keys()])
        went = {path for path, _ in self._problems} - {path for path, _ in now}
        self._problems = now
        left = {*done.changes.removed, *done.changes.moved.values()}
        left |= {*done.cold.removed, *done.cold.moved.values()}
        return tuple(came), tuple(sorted(went - left))

    def _note_manifest(self, done: Indexed) -> None:
        """Remember what the manifest says, to know the run's own write, and what else it lists."""
        text = done.synced.text
        now = digest(text.encode("utf-8", "surrogateescape"))
        if now == self._manifest:
            return
        self._manifest = now
        self._listed = ()
        if all(line.startswith(_TREE_LINE) for line in text.splitlines()):
            return
        try:
            entries = manifests.load(self._root).entries
        except PalaceError:
            return  # changed meanwhile: the next look finds it
        self._listed = tuple(path for path in entries if not path.startswith(TREE))

    def _is_as_written(self) -> bool:
        try:
            return digest(manifests.read_raw(self._root) or b"") == self._manifest
        except PalaceError:
            return False

    def _fault(self, kind: str, message: str) -> None:
        # Counts in a message change from try to try; the fault is the same.
        key = (kind, "".join(c for c in message if not c.isdigit()))
        if key not in self._faults:
            self._faults.add(key)
            self._say(f"error: {message}")

    def _once(self, line: str) -> None:
        if ("", line) not in self._faults:
            self._faults.add(("", line))
            self._say(line)


def _kept(choice: Choice) -> Choice:
    """The same choice, whose model is loaded once."""
    return replace(choice, load=functools.cache(choice.load)) if choice.load else choice


def _model(choice: Choice, config: Config) -> tuple[object, ...]:
    """What makes a loaded model another one."""
    return choice.name, choice.fingerprint, config.device, config.models.get(choice.name)


def _stat(path: Path) -> tuple[int, int, int] | None:
    try:
        info = path.lstat()
    except OSError:
        return None
    return info.st_size, info.st_mtime_ns, info.st_ino


def _identity(folder: Path) -> tuple[int, int] | None:
    """Which folder it is; another one in its place, or another disk, is not the same."""
    try:
        info = folder.stat()
    except OSError:
        return None
    return info.st_dev, info.st_ino
