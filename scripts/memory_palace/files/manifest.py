"""``manifests/watchdog_manifest_v1.jsonl``: one line a file that is indexed."""

import os
import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.kinds import DEFAULT_TYPE, PRIORITIES
from memory_palace.core.links import TREE
from memory_palace.core.problems import Problem
from memory_palace.core.text import is_cold, nfc
from memory_palace.files import atomic, jsonl, read, roots
from memory_palace.files.tree import is_text

PATH = "manifests/watchdog_manifest_v1.jsonl"
MOST_BYTES = 256 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Said:
    """What a note's own metadata says: nothing at all (no block), or its type and priority."""

    block: bool
    type: str | None = None
    priority: str | None = None


@dataclass(slots=True)
class Entry:
    """A line that names a file. ``path`` is normal; ``number`` counts from 1; ``raw`` as read."""

    path: str
    data: dict[str, Any]
    number: int
    raw: str

    def word(self, key: str) -> str | None:
        value = self.data.get(key)
        return value if isinstance(value, str) else None


@dataclass(slots=True)
class Manifest:
    """The manifest as read: entries by path, lines that name no file, and problems."""

    entries: dict[str, Entry]
    odd: list[str]
    problems: list[Problem]
    raw: bytes | None


@dataclass(slots=True)
class Synced:
    """A manifest brought in line with the tree: its text, and what changed."""

    text: str
    added: list[str]
    updated: list[str]
    removed: list[str]
    problems: list[Problem]


def read_raw(root: Path) -> bytes | None:
    """The manifest's bytes, None if there is none. Raises :class:`BadInput` if it is no regular
    file of the root, or too large, :class:`Missing` if it cannot be read."""
    roots.inside(root, PATH)
    try:
        os.lstat(root / PATH)
    except FileNotFoundError:
        return None
    except OSError:
        pass  # read_bytes says it in words
    got = read.read_bytes(root, PATH, MOST_BYTES, "a manifest")
    if isinstance(got, read.Unreadable):
        raise (BadInput if got.content else Missing)(f"{PATH}: {got.problem.message}")
    return got[0]


def load(root: Path) -> Manifest:
    """Read the manifest of ``root``; a missing one is empty. Raises as :func:`read_raw` does."""
    raw = read_raw(root)
    if raw is None:
        return Manifest({}, [], [], None)
    # A stray byte spoils its own line only, and comes back as it was when the file is written.
    lines, problems = jsonl.parse(PATH, raw.decode("utf-8", "surrogateescape"))
    manifest = Manifest({}, [], problems, raw)
    for line in lines:
        path = line.data.get("path") if line.data is not None else None
        if line.data is None:
            manifest.odd.append(line.raw)
        elif not isinstance(path, str) or not path or "\0" in path:
            problems.append(
                Problem(PATH, line.number, "has no `path`: add one, relative to the root")
            )
            manifest.odd.append(line.raw)
        elif not is_text(path):
            problems.append(Problem(PATH, line.number, "its `path` is not UTF-8: mend it"))
            manifest.odd.append(line.raw)
        elif _outside(path):
            problems.append(
                Problem(PATH, line.number, f"path {path!r} is outside the root: make it relative")
            )
            manifest.odd.append(line.raw)
        else:
            entry = Entry(posixpath.normpath(path), line.data, line.number, line.raw)
            _check_words(entry, problems)
            _add(manifest.entries, entry, problems)
    return manifest


def _outside(path: str) -> bool:
    normal = posixpath.normpath(path)
    return (
        normal.startswith(("/", "../")) or normal in ("..", ".") or "\\" in path or path[1:2] == ":"
    )


def _check_words(entry: Entry, problems: list[Problem]) -> None:
    kind, priority = entry.data.get("type"), entry.data.get("priority")
    if kind is not None and not isinstance(kind, str):
        problems.append(
            Problem(PATH, entry.number, f"type {kind!r} is not text: mend it; left out")
        )
    if priority is not None and priority not in PRIORITIES:
        problems.append(
            Problem(
                PATH, entry.number, f"priority {priority!r}: write high, medium or low; left out"
            )
        )


def _add(entries: dict[str, Entry], entry: Entry, problems: list[Problem]) -> None:
    first = entries.get(entry.path)
    if first is None:
        entries[entry.path] = entry
        return
    problems.append(
        Problem(
            PATH,
            entry.number,
            f"names {entry.path} again (line {first.number}): made one",
            "warning",
        )
    )
    merged = first.data | {key: v for key, v in entry.data.items() if key not in first.data}
    entries[entry.path] = Entry(first.path, merged | {"path": first.path}, first.number, "")


def fold_case(
    manifest: Manifest, noted: Iterable[str], same_file: Callable[[str, str], bool]
) -> None:
    """On a disk that ignores case, or how letters are composed, give lines the tree's spelling.

    ``noted`` are the paths of the tree, live and cold; ``same_file(a, b)`` says whether two paths
    lead to one file.
    """
    noted = set(noted)
    folded = {_folded(path): path for path in noted}
    for path in [p for p in manifest.entries if p not in noted]:
        real = folded.get(_folded(path))
        if real and same_file(path, real):
            entry = manifest.entries.pop(path)
            data = entry.data | {"path": real}
            _add(manifest.entries, Entry(real, data, entry.number, ""), manifest.problems)


def _folded(path: str) -> str:
    return nfc(nfc(path).casefold())


def move(manifest: Manifest, moved: Mapping[str, str]) -> None:
    """Let a moved note keep its line; ``moved`` maps new paths to old ones."""
    for new, old in moved.items():
        entry = manifest.entries.get(old)
        if entry and new not in manifest.entries:
            del manifest.entries[old]
            manifest.entries[new] = Entry(new, entry.data | {"path": new}, entry.number, "")


def effective(said: Said, entry: Entry | None) -> tuple[str, str | None]:
    """(type, priority) that count: a note with a metadata block speaks for itself; for a file
    without one its manifest line does."""
    if said.block:
        return said.type or DEFAULT_TYPE, said.priority
    priority = entry.word("priority") if entry else None
    return (entry.word("type") if entry else None) or DEFAULT_TYPE, (
        priority if priority in PRIORITIES else None
    )


def sync(
    manifest: Manifest,
    notes: Mapping[str, Said],
    may_be_there: Callable[[str], bool],
    left_out: Callable[[str], bool],
    exists: Callable[[str], bool],
) -> Synced:
    """The manifest with a line for each of ``notes`` (paths in the tree), sorted by path.

    Lines of files outside the tree stay as they are. A line of the tree goes if its file is
    ``left_out`` (excluded, archived) or gone; never if the file ``may_be_there``.
    """
    synced = Synced("", [], [], [], list(manifest.problems))
    kept: dict[str, str] = {}
    for path, entry in manifest.entries.items():
        if path in notes:
            continue
        in_tree = path.startswith(TREE)
        if is_cold(path) or (in_tree and left_out(path)):
            synced.removed.append(path)
        elif may_be_there(path) or exists(path):
            kept[path] = entry.raw or jsonl.dump(entry.data)
        elif in_tree:
            synced.removed.append(path)
        else:
            synced.problems.append(
                Problem(
                    PATH,
                    entry.number,
                    f"{path} is not there: restore it or remove the line",
                    "warning",
                )
            )
            kept[path] = entry.raw or jsonl.dump(entry.data)
    for path, said in notes.items():
        before = manifest.entries.get(path)
        data = _line(path, said, before)
        if before is None:
            synced.added.append(path)
        elif data != before.data or not before.raw:  # no raw: two made one, or moved
            synced.updated.append(path)
        same = before is not None and before.raw and data == before.data
        kept[path] = before.raw if before and same else jsonl.dump(data)
    lines = [kept[path] for path in sorted(kept)] + manifest.odd
    synced.text = "".join(line + "\n" for line in lines)
    return synced


def _line(path: str, said: Said, entry: Entry | None) -> dict[str, Any]:
    kind, priority = effective(said, entry)
    data = dict(entry.data) if entry else {}
    data["path"] = path
    if said.block or not isinstance(data.get("type"), str):
        data["type"] = kind
    if said.block and priority is None:
        data.pop("priority", None)
    elif priority is not None:
        data["priority"] = priority
    return data


def save(root: Path, manifest: Manifest, synced: Synced) -> bool:
    """Write the synced manifest if it differs; True if it did. Raises
    :class:`Changed` if it moved on, :class:`BadInput` if a symbolic link leads elsewhere."""
    data = synced.text.encode("utf-8", "surrogateescape")
    if data == (manifest.raw or b""):
        return False
    place = roots.inside(root, PATH)
    atomic.tidy(place)
    atomic.write(place, data, expected=manifest.raw)
    return True
