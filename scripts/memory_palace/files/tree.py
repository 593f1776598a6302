"""The palace tree on disk: which notes are there, and what could not be seen."""

import os
import re
import stat
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core.diff import FileStat
from memory_palace.core.errors import Missing
from memory_palace.core.links import TREE
from memory_palace.core.problems import Problem
from memory_palace.core.text import COLD_COMPONENT, is_cold
from memory_palace.files.read import file_stat

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

_CONFLICT_COPY = re.compile(
    r"\.sync-conflict-\d{8}-\d{6}|\(.*conflicted copy.*\)|\(.*Konflikt.*\)|_conf\(\d+\)"
    r"|~[A-Z]+-.*-\d+\.md$|\.(orig|rej)(\.\d+)?\.md$"
    r"|(?-i:[._](BACKUP|BASE|LOCAL|REMOTE)[._]\d+\.md$)",  # git mergetool's; not `x.local.md`
    re.IGNORECASE,
)
LEDGERS = f"{TREE}chambers/*/ledger/*.jsonl"
"""Where sessions' ledgers stand, as SQLite's GLOB has it."""

_DATALESS = 0x40000000  # macOS: the content is in the cloud
_OFFLINE = 0x00001000 | 0x00400000  # Windows: offline, recall on data access


@dataclass(slots=True)
class Tree:
    """What a scan saw. Paths are relative to the root, lists sorted by path.

    ``notes`` are live, ``cold`` lie in the archive, ``others`` are files that are no notes;
    ``ledgers`` and ``cold_ledgers`` are those of them that are sessions' ledgers.
    ``unseen`` are folders that could not be listed and ``away`` notes that a cloud service keeps
    elsewhere: nothing at or below them counts as deleted.
    """

    notes: list[FileStat] = field(default_factory=list)
    cold: list[FileStat] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    ledgers: list[FileStat] = field(default_factory=list)
    cold_ledgers: list[FileStat] = field(default_factory=list)
    excluded: list[str] = field(default_factory=list)
    unseen: list[str] = field(default_factory=list)
    away: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    _hidden: tuple[int, int, frozenset[str], frozenset[str]] = field(
        default=(0, 0, frozenset(), frozenset()), init=False, repr=False, compare=False
    )

    def may_be_there(self, path: str) -> bool:
        """True if ``path`` was not seen, yet cannot be said to be deleted."""
        # Thousands of evicted notes are asked for one by one: look them up in sets, made anew only
        # when the lists have grown.
        if self._hidden[:2] != (len(self.away), len(self.unseen)):
            away, unseen = frozenset(self.away), frozenset(self.unseen)
            self._hidden = (len(self.away), len(self.unseen), away, unseen)
        _, _, away, unseen = self._hidden
        return path in away or (bool(unseen) and not unseen.isdisjoint(_folders(path)))


def look(root: Path) -> None:
    """Raises :class:`Missing` if the notes cannot be listed: every answer would be empty."""
    try:
        with os.scandir(root / TREE):
            pass
    except OSError as error:
        raise Missing(
            f"cannot read {TREE} in {root} ({error.strerror}): mount or restore it"
        ) from None


def is_conflict_copy(name: str) -> bool:
    """True if a sync tool or a merge gave a file this name: it is reported, not indexed."""
    return _CONFLICT_COPY.search(name) is not None


def is_ledger(path: str) -> bool:
    """True for a session's ledger, live or archived."""
    if not path.endswith(".jsonl") or "/ledger/" not in path:
        return False
    from memory_palace.files import ledgers  # only where there are any

    return ledgers.is_ledger(path.replace(f"/{COLD_COMPONENT}/", "/", 1))


def _folders(path: str) -> Iterator[str]:
    """The folders above ``path``."""
    end = path.rfind("/")
    while end > 0:
        yield path[:end]
        end = path.rfind("/", 0, end)


def exclusion(patterns: tuple[str, ...]) -> "GitIgnoreSpec | None":
    """The gitignore patterns of ``index.exclude``, relative to the root; None for no pattern."""
    if not patterns:
        return None
    from pathspec import GitIgnoreSpec

    return GitIgnoreSpec.from_lines(patterns)


def scan(root: Path, patterns: tuple[str, ...] = ()) -> Tree:
    """Walk ``root/palace``. Symbolic links are never followed.

    Raises :class:`Missing` if the tree itself cannot be listed: then nothing is known to be gone.
    """
    tree = Tree()
    top = root / TREE.rstrip("/")
    try:
        if top.is_symlink():
            raise Missing(
                f"{TREE} is a symbolic link: make it a folder, or use `--root` where it leads"
            )
        with os.scandir(top) as entries:
            next(entries, None)
    except OSError as error:
        raise Missing(
            f"cannot read {TREE} in {root} ({error.strerror}): nothing was changed; "
            "mount or restore it, or run `palace init`"
        ) from None
    spec = exclusion(patterns)
    for path, entry in _walk(root, TREE.rstrip("/"), tree):
        _place(root, tree, path, entry, spec)
    tree.notes.sort(key=lambda f: f.path)
    tree.cold.sort(key=lambda f: f.path)
    tree.ledgers.sort(key=lambda f: f.path)
    tree.cold_ledgers.sort(key=lambda f: f.path)
    tree.others.sort()
    return tree


def _walk(root: Path, top: str, tree: Tree) -> Iterator[tuple[str, os.DirEntry[str]]]:
    folders = [top]
    while folders:
        folder = folders.pop()
        try:
            with os.scandir(root / folder) as entries:
                listed = sorted(entries, key=lambda e: e.name)
        except OSError as error:
            tree.unseen.append(folder)
            tree.problems.append(
                Problem(
                    folder,
                    None,
                    f"cannot be listed ({error.strerror}): its notes are kept as they were",
                )
            )
            continue
        for entry in listed:
            path = f"{folder}/{entry.name}"
            if entry.name.startswith("."):
                if entry.name.endswith(".icloud"):
                    tree.away.append(f"{folder}/{entry.name[1:-7]}")
                continue
            if not entry.is_symlink() and entry.is_dir(follow_symlinks=False):
                folders.append(path)
            else:
                yield path, entry


def _place(
    root: Path, tree: Tree, path: str, entry: os.DirEntry[str], spec: "GitIgnoreSpec | None"
) -> None:
    is_note = path.lower().endswith(".md")
    if not is_text(path):
        tree.problems.append(Problem(path, None, "its name is not UTF-8: rename it"))
        return
    if entry.is_symlink():
        _report_link(root, tree, path)
        return
    if not is_note:
        tree.others.append(path)
        if not is_ledger(path):
            return
    if spec and spec.match_file(path):
        tree.excluded.append(path)
        return
    if "\\" in path:
        # Windows reads it as two names, so no manifest could list it for every machine.
        tree.problems.append(Problem(path, None, "its name has a backslash: rename it"))
        return
    if is_conflict_copy(entry.name):
        tree.excluded.append(path)
        tree.problems.append(
            Problem(
                path,
                None,
                "a sync tool's conflict copy, not indexed: merge it, then delete it",
                "warning",
            )
        )
        return
    try:
        info = entry.stat(follow_symlinks=False)
    except OSError as error:
        tree.away.append(path)
        tree.problems.append(Problem(path, None, f"cannot be read ({error.strerror}): check it"))
        return
    if not stat.S_ISREG(info.st_mode):
        tree.problems.append(
            Problem(path, None, "not a regular file, left out: move it away", "warning")
        )
        return
    if _is_away(info):
        tree.away.append(path)
        return
    found = file_stat(path, info)
    if is_note:
        (tree.cold if is_cold(path) else tree.notes).append(found)
    else:
        (tree.cold_ledgers if is_cold(path) else tree.ledgers).append(found)


def _report_link(root: Path, tree: Tree, path: str) -> None:
    """A link to a note inside is met at its own place; any other is worth a word."""
    try:
        target = (root / path).resolve(strict=True)
    except (OSError, RuntimeError):
        message = "a symbolic link that leads nowhere, left out: mend or remove it"
    else:
        if target.is_relative_to((root / TREE).resolve()):
            return
        message = "a symbolic link out of the palace, left out: copy the file in instead"
    tree.problems.append(Problem(path, None, message, "warning"))


def _is_away(info: os.stat_result) -> bool:
    flags = getattr(info, "st_flags", 0) & _DATALESS
    return bool(flags or getattr(info, "st_file_attributes", 0) & _OFFLINE)


def is_text(path: str) -> bool:
    """False if ``path`` has bytes, or halves of characters, that UTF-8 cannot hold."""
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
