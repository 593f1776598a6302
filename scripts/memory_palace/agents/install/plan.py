"""All changes of one run, computed before the first is written."""

import contextlib
import difflib
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_palace.agents.install.entries import Edited
from memory_palace.agents.install.jsontext import TextFault
from memory_palace.agents.install.site import Site
from memory_palace.core.errors import BadInput, Changed
from memory_palace.files import atomic


@dataclass(frozen=True, slots=True)
class Edit:
    """One file of a client: ``make`` gives its new text from the one it has (None: no file).
    A ``shared`` one may be another client's too."""

    path: Path
    make: Callable[[str | None], Edited]
    shared: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One file that becomes another. ``target`` is what ``path`` leads to, ``before`` and
    ``after`` are bytes (None: no file), ``what`` says in words what is put in or taken out."""

    path: Path
    target: Path
    before: bytes | None
    after: bytes | None
    what: tuple[str, ...]


def plan(site: Site, edits: Sequence[Edit]) -> list[Change]:
    """The changes that ``edits`` come to; files that stay as they are are left out.

    Raises :class:`BadInput` with path and line for the first file that cannot be edited.
    """
    changes: dict[Path, Change] = {}
    for edit in edits:
        shown = site.shown(edit.path)
        target = _target(site, edit.path)
        same = changes.get(target)  # CLAUDE.md is often a link to AGENTS.md
        before = same.after if same else _read(target, shown)
        try:
            after, what = edit.make(None if before is None else before.decode())
        except UnicodeDecodeError as error:
            line = error.object.count(b"\n", 0, error.start) + 1
            raise BadInput(f"{shown}:{line}: not UTF-8: mend it") from None
        except TextFault as fault:
            raise BadInput(f"{shown}:{fault.line}: {fault}") from None
        encoded = None if after is None else after.encode()
        if encoded != before:
            first = (same.path, target, same.before) if same else (edit.path, target, before)
            changes[target] = Change(*first, encoded, (*(same.what if same else ()), *what))
    return list(changes.values())


def apply(site: Site, changes: Sequence[Change]) -> None:
    """Write all of ``changes``, or none: what was written is taken back when one fails.

    Raises :class:`~memory_palace.core.errors.Changed` if a file is no longer what was read.
    """
    done: list[Change] = []
    try:
        for change in changes:
            _write(change.target, change.after, change.before)
            done.append(change)
    except BaseException:
        for change in reversed(done):
            with contextlib.suppress(Exception):
                _write(change.target, change.before, change.after)
        _tidy(site, [change for change in changes if change.before is None])
        raise
    _tidy(site, [change for change in changes if change.after is None])


def read(path: Path, otherwise: str = "{}") -> str:
    """What the file says, ``otherwise`` if it is not there or is no text."""
    if not path.is_file():  # reading a pipe would wait for a writer
        return otherwise
    try:
        return path.read_bytes().decode()
    except (OSError, UnicodeDecodeError):
        return otherwise


def diff(site: Site, change: Change) -> str:
    """The change as a unified diff."""
    name = site.shown(change.path)
    old, new = ((data or b"").decode().splitlines() for data in (change.before, change.after))
    rows = difflib.unified_diff(
        old,
        new,
        "/dev/null" if change.before is None else name,
        "/dev/null" if change.after is None else name,
        lineterm="",
        n=1,
    )
    return "\n".join(rows)


def _target(site: Site, path: Path) -> Path:
    """Where a write to ``path`` ends: dotfiles are often links into a folder of their own.

    In a project that may be a stranger's, a link must not lead out of it.
    """
    target = Path(os.path.realpath(path))
    if site.project and not target.is_relative_to(os.path.realpath(site.here)):
        raise BadInput(f"{site.shown(path)} leads out of the project: replace it by a file")
    if target.is_symlink():
        raise BadInput(f"{site.shown(path)} is a symbolic link to itself: remove it")
    return target


def _read(target: Path, shown: str) -> bytes | None:
    if target.exists() and not target.is_file():
        raise BadInput(f"{shown} is not a regular file: move it away")
    for folder in target.parents:
        if folder.exists():
            if not folder.is_dir():
                raise BadInput(f"{shown}: {folder} is not a folder: move it away")
            break
    return atomic.read_or_none(target)


def _write(target: Path, data: bytes | None, expected: bytes | None) -> None:
    if data is not None:
        try:
            atomic.write(target, data, expected)
        except OSError as error:  # not the name of a temporary file
            raise OSError(error.errno, error.strerror, str(target)) from None
        return
    if atomic.read_or_none(target) != expected:
        raise Changed(f"{target.name} changed underneath: nothing was written; run it again")
    target.unlink()


def _tidy(site: Site, changes: Sequence[Change]) -> None:
    """Remove the folders of these files that are empty now, below the user's or the project's."""
    top = site.here if site.project else site.home
    for change in changes:
        folder = change.path.parent
        while folder != top and folder.is_relative_to(top):
            try:
                folder.rmdir()
            except OSError:
                break
            folder = folder.parent
