"""Changes of the tree, told by the real watcher; and what it says where it cannot watch."""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import watchfiles._rust_notify as notify

from memory_palace.core.errors import Missing
from memory_palace.index import events
from memory_palace.index.events import Events, folders

BOTH = pytest.mark.parametrize("polling", [False, True], ids=["notified", "polling"])


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a tree of two folders."""
    (tmp_path / "palace/topics").mkdir(parents=True)
    return tmp_path


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks come after a moment."""
    monkeypatch.setattr(events, "POLL_MS", 50)
    monkeypatch.setattr(events, "LOOK_MS", 100)


@contextmanager
def watching(root: Path, polling: bool = False) -> Iterator[Events]:
    """A watch that stands: it has told of all that was before."""
    watch = Events(root, 20, polling)
    watch.start()
    try:
        until(watch, lambda seen: "palace" in seen)
        yield watch
    finally:
        watch.stop()


def until(watch: Events, true: Callable[[set[str]], bool]) -> set[str]:
    """Take what comes until it is so; all that came."""
    seen: set[str] = set()
    end = time.monotonic() + 60
    while not true(seen):
        assert time.monotonic() < end, f"only {sorted(seen)} came"
        seen |= watch.take(0.2)
    return seen


def told_of_writes(watch: Events, root: Path, path: str) -> set[str]:
    """Write ``path`` until it is told of: the first may come while a new watch is being set up,
    and is told as a change of the tree then."""
    (root / path).write_text("text")

    def told(seen: set[str]) -> bool:
        if path not in seen and not watch.waiting():
            (root / path).write_text("text" * (len(seen) + 2))
        return path in seen

    return until(watch, told)


@BOTH
def test_writes_moves_and_deletions(root: Path, polling: bool) -> None:
    """Each is told by its path from the root; a rename by both; hidden files are not."""
    topics = root / "palace/topics"
    with watching(root, polling) as watch:
        (topics / ".a.tmp").write_text("text")
        (topics / ".a.tmp").rename(topics / "a.md")
        seen = until(watch, lambda seen: "palace/topics/a.md" in seen)
        (topics / "a.md").rename(topics / "b.md")
        seen |= until(watch, lambda seen: {"palace/topics/a.md", "palace/topics/b.md"} <= seen)
        (topics / "b.md").unlink()
        seen |= until(watch, lambda seen: "palace/topics/b.md" in seen)
        (topics / ".hidden").mkdir()
        (topics / ".hidden/c.md").write_text("text")
        (topics / "z.md").write_text("text")
        seen |= until(watch, lambda seen: "palace/topics/z.md" in seen)
        assert not any("/." in path for path in seen)


@BOTH
def test_new_and_moved_folders_are_watched(root: Path, polling: bool) -> None:
    """Made in one go, moved, or replaced: what is written there is told."""
    with watching(root, polling) as watch:
        (root / "palace/n/e/s/t").mkdir(parents=True)
        until(watch, lambda seen: "palace" in seen)
        told_of_writes(watch, root, "palace/n/e/s/t/a.md")
        (root / "palace/n").rename(root / "palace/m")
        until(watch, lambda seen: "palace" in seen)
        told_of_writes(watch, root, "palace/m/e/s/t/b.md")
        shutil.rmtree(root / "palace/m")
        (root / "palace/m").mkdir()
        until(watch, lambda seen: "palace" in seen)
        told_of_writes(watch, root, "palace/m/c.md")


@BOTH
def test_a_tree_that_goes_and_comes_back(root: Path, polling: bool) -> None:
    """Its end and its return are told, and it is watched again."""
    with watching(root, polling) as watch:
        (root / "palace").rename(root / "away")
        until(watch, lambda seen: "palace" in seen)
        (root / "away").rename(root / "palace")
        until(watch, lambda seen: "palace" in seen)
        told_of_writes(watch, root, "palace/topics/a.md")


def test_symbolic_links_are_not_followed(root: Path, tmp_path: Path) -> None:
    """A link out of the palace brings nothing with it: no watch, no event."""
    outside = tmp_path / "outside"
    (outside / "deep").mkdir(parents=True)
    (root / "palace/link").symlink_to(outside)
    (root / "palace/.hidden").mkdir()
    assert folders(root) == ["palace", "palace/topics"]
    with watching(root) as watch:
        (outside / "a.md").write_text("text")
        (outside / "deep/a.md").write_text("text")
        (root / "palace/topics/b.md").write_text("text")
        seen = until(watch, lambda seen: "palace/topics/b.md" in seen)
        assert not any("link" in path for path in seen)


def test_a_burst_of_thousands_loses_no_folder(root: Path) -> None:
    """After as many changes as can overrun a queue, a new folder is watched all the same."""
    with watching(root) as watch:
        for number in range(1500):
            folder = root / f"palace/f{number % 30}"
            folder.mkdir(exist_ok=True)
            (folder / f"n{number}.md").write_text("text")
        until(watch, lambda seen: "palace" in seen)
        told_of_writes(watch, root, "palace/f29/last.md")


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (OSError("OS file watch limit reached. about [...]"), "run `palace watch --polling`, or"),
        (RuntimeError("Too many open files (os error 24)"), "run `palace watch --polling`, or"),
        (PermissionError("denied"), r"cannot be watched \(denied\)"),
        (OSError("No such device"), r"cannot be watched \(No such device\)"),
        (ImportError("watchfiles"), "run `make setup`"),
    ],
)
def test_a_system_that_cannot_watch(
    fault: Exception, says: str, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A limit, or anything else, ends in a line that says what to do."""

    def refuses(*arguments: object) -> None:
        raise fault

    monkeypatch.setattr(notify, "RustNotify", refuses)
    watch = Events(root, 20)
    watch.start()
    try:
        with pytest.raises(Missing, match=says):
            until(watch, lambda seen: False)
    finally:
        watch.stop()


def test_a_tree_without_folders(tmp_path: Path) -> None:
    """A tree that is a link or is not there has none to watch."""
    assert folders(tmp_path) == []
    (tmp_path / "palace").symlink_to(tmp_path)
    assert folders(tmp_path) == []


def test_a_folder_that_cannot_be_listed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It cannot be watched either; the run reports it. When it can be, it is watched."""
    real = os.scandir
    closed = [True]

    def scandir(path: Any) -> Any:
        if closed and str(path).endswith("topics"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert folders(root) == ["palace"]
    with watching(root) as watch:
        closed.clear()
        (root / "palace/topics").chmod(0o700)
        until(watch, lambda seen: "palace" in seen)
        told_of_writes(watch, root, "palace/topics/a.md")


def test_a_watch_is_renewed(root: Path) -> None:
    """After a change that was not told, everything is watched and looked at anew."""
    with watching(root) as watch:
        watch.renew()
        until(watch, lambda seen: "palace" in seen)
        told_of_writes(watch, root, "palace/topics/a.md")
