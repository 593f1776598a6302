"""Tells of changes in the tree as they happen, through the system's own notifications.

Each folder is watched by itself: a recursive watch would follow symbolic links out of the palace,
spend watches on hidden folders, and stay deaf to a tree that went away and came back.
"""

import os
import queue
import threading
from pathlib import Path
from typing import Any

from memory_palace.core.errors import Missing
from memory_palace.core.links import TREE

POLL_MS = 1000
"""Where the system cannot notify: how often every file is looked at."""

LOOK_MS = 1000
"""How often the top folder is looked at: a mount over it, or its end, may not be notified."""

LONGEST_MS = 5000
"""Changes that do not end are told after this long."""

_MANY = 1000  # so many changes at once may have overrun the system's queue, new folders among them
_ADDED, _DELETED = 1, 3  # as watchfiles counts kinds of changes


class Events(threading.Thread):
    """Watches the tree of ``root`` until :meth:`stop`; to be started once.

    Changes are told when nothing has changed for ``debounce_ms`` (at most 5000: also the time that
    stopping takes), as paths relative to the root. What happened before the watch stood is told as
    a change of the tree itself.
    """

    def __init__(self, root: Path, debounce_ms: int, polling: bool = False) -> None:
        super().__init__(name="palace watch")
        self._root = root
        self._debounce_ms = debounce_ms
        self._polling = polling
        self._ended = threading.Event()
        self._anew = threading.Event()
        self._told: queue.Queue[set[str]] = queue.Queue()
        self._fault: BaseException | None = None

    def take(self, seconds: float) -> set[str]:
        """Paths that have changed, waiting at most ``seconds`` for the first; empty if none have.

        Raises :class:`Missing` if the system cannot watch the folders.
        """
        if self._fault is not None:
            raise self._fault
        found: set[str] = set()
        try:
            found |= self._told.get(timeout=seconds)
            while True:
                found |= self._told.get_nowait()
        except queue.Empty:
            return found

    def waiting(self) -> bool:
        """True if there is something to :meth:`take`."""
        return not self._told.empty()

    def renew(self) -> None:
        """Watch all folders anew, at the next look: some change was not told."""
        self._anew.set()

    def stop(self) -> None:
        """End the thread; returns when it has ended."""
        self._ended.set()
        if self.is_alive():
            self.join()

    def run(self) -> None:
        try:
            found: set[str] = set()
            while not self._ended.is_set():
                found = self._watch(found)
        except Exception as fault:
            self._fault = _in_words(fault)
            self._told.put(set())  # wakes whoever waits

    def _watch(self, found: set[str]) -> set[str]:
        """Watch the folders that there are now, until there are others; what was found last is
        given back, to be told when the next watch stands."""
        from watchfiles._rust_notify import RustNotify  # 0.1 s to import

        there = folders(self._root)
        top = self._top()
        if not there:
            self._told.put(found | {TREE.rstrip("/")})
            self._wait_for_the_tree()
            return set()
        names = [str(self._root / folder) for folder in there]
        try:
            # Told to ignore what it may not read, it would be silent about the system's limits too.
            watch = RustNotify(names, False, self._polling, POLL_MS, False, False)
        except FileNotFoundError:
            self._ended.wait(0.05)
            return found  # a folder went meanwhile
        with watch:
            if folders(self._root) != there:
                self._ended.wait(self._debounce_ms / 1000)  # one came meanwhile, more may follow
                return found
            self._told.put(found | {TREE.rstrip("/")})
            known = set(there)
            while True:
                longest = max(LONGEST_MS, self._debounce_ms)
                seen: Any = watch.watch(longest, self._debounce_ms, LOOK_MS, self._ended)
                if seen == "stop":
                    return set()
                changes = self._relative(seen) if isinstance(seen, set) else []
                found = {path for _, path in changes if _shown(path)}
                if self._anew.is_set() or self._top() != top or _other(self._root, changes, known):
                    self._anew.clear()
                    return found
                if found:
                    self._told.put(found)

    def _wait_for_the_tree(self) -> None:
        while self._top() is None and not self._ended.wait(LOOK_MS / 1000):
            pass

    def _top(self) -> tuple[int, int] | None:
        try:
            info = (self._root / TREE).lstat()
        except OSError:
            return None
        return info.st_dev, info.st_ino

    def _relative(self, seen: set[tuple[int, str]]) -> list[tuple[int, str]]:
        start = len(str(self._root)) + 1
        return [(kind, path[start:].replace(os.sep, "/")) for kind, path in seen]


def _other(root: Path, changes: list[tuple[int, str]], known: set[str]) -> bool:
    """True if folders may have come or gone, one in place of another of its name included."""
    if len(changes) >= _MANY:
        return True
    for kind, path in changes:
        if path in known:
            if kind in (_ADDED, _DELETED):
                return True
        elif _shown(path) and _is_folder(root / path):
            return True
    return False


def folders(root: Path) -> list[str]:
    """The tree's folders that can be listed, relative to ``root``, sorted, but hidden ones and
    symbolic links; empty if there is no tree."""
    found = []
    waiting = [TREE.rstrip("/")] if _is_folder(root / TREE.rstrip("/")) else []
    while waiting:
        folder = waiting.pop()
        try:
            with os.scandir(root / folder) as entries:
                waiting += [
                    f"{folder}/{entry.name}"
                    for entry in entries
                    if not entry.name.startswith(".") and entry.is_dir(follow_symlinks=False)
                ]
        except OSError:
            continue  # gone or closed to us; the run reports it
        found.append(folder)
    return sorted(found)


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _shown(path: str) -> bool:
    """False for what is hidden, but for a cloud service's stand-ins."""
    return all(not name.startswith(".") or name.endswith(".icloud") for name in path.split("/"))


def _in_words(fault: Exception) -> Exception:
    if isinstance(fault, ImportError):
        return Missing("watchfiles is not installed: run `make setup`")
    if "limit reached" in str(fault) or "Too many open files" in str(fault):
        return Missing(
            "the system can watch no more folders for this user: run `palace watch --polling`, or "
            "raise fs.inotify.max_user_watches and fs.inotify.max_user_instances"
        )
    if isinstance(fault, OSError | RuntimeError):
        return Missing(f"the folders cannot be watched ({fault}): run `palace watch --polling`")
    return fault
