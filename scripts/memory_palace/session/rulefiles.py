"""Reads the files that hold rules; one that looks as it did is not read again."""

import os
import sqlite3
import time
from pathlib import Path

from memory_palace.core import rules_read
from memory_palace.core.errors import PalaceError
from memory_palace.core.links import TREE
from memory_palace.core.rules import FOLDER, Fault, Read
from memory_palace.core.text import is_cold
from memory_palace.files import read as files
from memory_palace.files import roots, tree
from memory_palace.index import opening
from memory_palace.session.ruletable import CATALOG, TOPICS, Kept, Stamp, stamp

MOST_FILES = 5_000
_FRESH_SECONDS = 2.0
_NEVER: Stamp = (-1, -1, -1)
"""No file looks like this: it is looked at again."""


def read(root: Path, before: Kept) -> Kept:
    """All that holds rules, or may: notes below :data:`FOLDER`, topic files, and notes elsewhere
    that the index, or the last look, took for rules.

    A file that was touched a moment ago and holds no rule now keeps those that it had.
    """
    stamps: dict[str, Stamp] = {}
    faults: list[Fault] = []
    among = _notes(root, FOLDER, stamps, faults)
    topical = _notes(root, TOPICS, stamps, faults, deep=False)
    stamps[CATALOG] = _stamp(root, CATALOG)
    listed = _in_catalog(root)
    elsewhere = {
        path
        for path in (*listed, *before.reads)
        if _may_be(path) and not path.startswith((f"{FOLDER}/", f"{TOPICS}/"))
    }
    reads: dict[str, Read] = {}
    paths = [*among, *topical, *sorted(elsewhere)]
    if len(paths) > MOST_FILES:
        what = f"{len(paths):,} files may hold rules, {MOST_FILES:,} are read: archive some"
        faults.append(Fault(FOLDER, 0, what))
    for path in paths[:MOST_FILES]:
        now = _stamp(root, path)
        if now not in (None, _NEVER) and now == before.stamps.get(path) and path in before.reads:
            found = before.reads[path]
        elif now is None and path in elsewhere:
            continue
        else:
            found, holds = _of(root, path, topical=path in topical)
            now = now if holds else _NEVER
            was = before.reads.get(path)
            if now == _NEVER and was and was.rules and not found.rules:
                found = was  # an editor may be half-way through writing it
        if path in elsewhere and path not in listed and found == Read():
            continue  # it was a rule once
        stamps[path] = now
        reads[path] = found
    if faults:
        reads[""] = Read(faults=tuple(faults))
    return Kept(stamps, reads)


def _stamp(root: Path, path: str) -> Stamp:
    """A file touched a moment ago may be touched again without looking different."""
    found = stamp(root, path)
    if found and abs(time.time() - found[1] / 1e9) < _FRESH_SECONDS:
        return _NEVER
    return found


def _notes(
    root: Path, top: str, stamps: dict[str, Stamp], faults: list[Fault], deep: bool = True
) -> list[str]:
    """The notes in a folder, sorted. Symbolic links are not followed."""
    found: list[str] = []
    folders = [top]
    while folders and len(found) <= MOST_FILES:
        folder = folders.pop()
        stamps[folder] = _stamp(root, folder)
        try:
            roots.inside(root, folder)
            with os.scandir(root / folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except FileNotFoundError:
            continue
        except (OSError, PalaceError) as error:
            what = getattr(error, "strerror", None) or error
            faults.append(Fault(folder, 0, f"its rules cannot be read ({what}): mend the folder"))
            stamps[folder] = _NEVER
            continue
        for entry in listed:
            path = f"{folder}/{entry.name}"
            if entry.name.startswith(".") or not tree.is_text(path):
                continue
            if entry.is_dir(follow_symlinks=False):
                folders += [path] if deep else []
            elif path.lower().endswith(".md") and not entry.is_symlink():
                found.append(path)
            elif path.lower().endswith(".md"):
                what = "its rules do not count: a symbolic link: put the note itself here"
                faults.append(Fault(path, 0, what))
    return sorted(found)


def _in_catalog(root: Path) -> set[str]:
    """The notes that the index has as rules."""
    try:
        connection = opening.to_read(root / CATALOG, wait_seconds=0.2)
        try:
            rows = connection.execute("SELECT path FROM files WHERE type = 'rule'").fetchall()
        finally:
            connection.close()
    except (PalaceError, OSError, sqlite3.Error):
        return set()
    return {str(row[0]) for row in rows}


def _may_be(path: str) -> bool:
    parts = path.split("/")
    return path.startswith(TREE) and ".." not in parts and not is_cold(path)


def _of(root: Path, path: str, topical: bool) -> tuple[Read, bool]:
    """What a file holds, and whether that holds as long as it looks the same."""
    got = files.read(root, path)
    if isinstance(got, files.Unreadable):
        line, message = got.problem.line or 0, got.problem.message
        return Read(faults=(Fault(path, line, f"its rules do not count: {message}"),)), got.content
    reader = rules_read.of_topic if topical else rules_read.of_note
    return reader(path, got.text), True
