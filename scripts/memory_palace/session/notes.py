"""The notes of a part of the palace, best first: known from the catalog, read where it matters.

No file is asked for its stat. Names are listed, so that notes which are new are seen and those
that are gone are not; a note is read when it is shown, or when only its hall says what it counts.
"""

import contextlib
import heapq
import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import dates, layers, note, private_spans
from memory_palace.core.errors import PalaceError
from memory_palace.core.kinds import DEFAULT_TYPE
from memory_palace.core.layers import Told
from memory_palace.core.links import TREE
from memory_palace.core.note import Note
from memory_palace.core.rules import FOLDER
from memory_palace.core.text import COLD_COMPONENT, is_cold, nfc, stem
from memory_palace.core.topics import FOLDER as TOPICS
from memory_palace.files import read, roots, tree
from memory_palace.files.walk import walk
from memory_palace.index import opening

MOST_NEW = 1_000
"""Notes that the index does not know and that are read all the same."""

MOST_HEADS = 3_000
"""Notes whose hall is looked up; of more of them only the type counts."""

NO_STORY = (
    TOPICS,
    f"{TREE}grand_hall/",
    f"{TREE}reflection_wing/proposals/",
    f"{FOLDER}/",
)
"""What is shown elsewhere, not decided yet, or acts by itself."""

WAIT_SECONDS = 0.2
"""How long a writer may keep the catalog from being read; a session's start waits for nobody."""

_HEAD = 4_096
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0)
_HALL = re.compile(rb"^hall:[ \t]*[\"']?(hall_[a-z]+)", re.MULTILINE)
_TARGET = re.compile(r"\[\[([^\[\]|#]+)")


class Row(NamedTuple):
    """What the catalog has of a note. ``time`` is seconds since the epoch."""

    path: str
    title: str
    type: str
    priority: str | None
    time: float | None
    sha256: str


class Listed(NamedTuple):
    """Notes of some folders: ``rows`` as the catalog has them, ``told`` those that it does not
    know. ``said`` are lines about what is missing."""

    rows: tuple[Row, ...]
    told: tuple[Told, ...]
    said: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.rows) + len(self.told)


def listed(root: Path, folders: Sequence[str], leave_out: Sequence[str] = NO_STORY) -> Listed:
    """The live notes below ``folders`` that nothing has superseded.

    An index that is missing or broken is said; the files are walked then.
    """
    said: list[str] = []
    rows, old = _catalog(root, folders, said)
    on_disk = set(names(root, folders))
    known = {row.path for row in rows}
    new, later = _unknown(root, sorted(on_disk - known))
    if later:
        said.append(f"{later} notes are not in the index yet: `palace index` adds them")
    parsed = [(path, text, note.parse(path, text.text)) for path, text in new]
    targets = {nfc(t) for _, _, one in parsed for t in _targets(one)}
    told = [
        _told(one, text)
        for path, text, one in parsed
        if _is_story(path, leave_out) and not _is_over(one, targets)
    ]
    return Listed(
        tuple(
            row
            for row in rows
            if row.path in on_disk
            and row.path not in old
            and _is_story(row.path, leave_out)
            and not _named(row.path, targets)
        ),
        tuple(told),
        tuple(said),
    )


def best(root: Path, found: Listed, most: int) -> list[Told]:
    """The first ``most`` notes by importance, recency and path, as they are on disk now."""
    heads = MOST_HEADS
    # A note without a priority may count the most until its hall has been looked at, so it waits
    # at that place in the queue; whatever comes out of the queue read is in order.
    queue: list[tuple[tuple[int, float, str], int, Row | Told]] = []
    for row in found.rows:
        weight = layers.PRIORITY.get(row.priority or "", layers.MOST)
        queue.append((layers.rank(weight, row.time, row.path), row.priority is None, row))
    queue += [(layers.rank(n.importance, n.time, n.path), 0, n) for n in found.told]
    heapq.heapify(queue)
    kept: list[Told] = []
    while queue and len(kept) < most:
        _, is_open, one = heapq.heappop(queue)
        if isinstance(one, Told):
            kept.append(one)
        elif is_open:
            heads -= 1
            hall = _hall(root, one.path) if heads >= 0 else None
            weight = layers.importance(None, hall, one.type)
            heapq.heappush(queue, (layers.rank(weight, one.time, one.path), 0, one))
        elif (as_it_is := _read(root, one)) is not None:
            place = layers.rank(as_it_is.importance, as_it_is.time, one.path)
            heapq.heappush(queue, (place, 0, as_it_is))
    return kept


def _catalog(root: Path, folders: Sequence[str], said: list[str]) -> tuple[list[Row], set[str]]:
    """The catalog's rows below ``folders``, and the paths of what was superseded."""
    try:
        place = roots.index_folder(root) / opening.MAIN
        with contextlib.closing(opening.to_read(place, WAIT_SECONDS)) as db:
            rows = []
            for folder in folders:
                # "0" comes after "/": all paths that begin with the folder.
                rows += db.execute(
                    "SELECT path, title, type, priority, time, sha256 FROM files"
                    " WHERE path > ? AND path < ?",
                    (f"{folder}/", f"{folder}0"),
                ).fetchall()
            old = db.execute(
                """SELECT CASE l.key WHEN 'supersedes' THEN l.path ELSE f.path END
                   FROM links l JOIN files f ON f.id = l.file_id
                   WHERE l.key IN ('supersedes', 'superseded_by') AND l.path NOT NULL
                     AND l.path != f.path"""
            ).fetchall()
    except (PalaceError, sqlite3.Error) as error:
        why = str(error).replace(": run `palace index`", ": `palace index` makes one")
        said.append(f"{why}; the files were read instead")
        return [], set()
    return [Row(*row) for row in rows], {path for (path,) in old}


def names(root: Path, folders: Sequence[str]) -> Iterator[str]:
    """The paths of all notes on disk, without asking any for its stat."""
    for folder in folders:
        if any((root / part).is_symlink() for part in _parts(folder)):
            continue
        for place, inner, files in walk(root / folder):
            inside = place[len(str(root)) + 1 :].replace(os.sep, "/")
            inner[:] = [name for name in inner if name[0] != "." and name != COLD_COMPONENT]
            yield from (
                f"{inside}/{name}"
                for name in files
                if name[0] != "." and name.lower().endswith(".md")
            )


def _parts(folder: str) -> list[str]:
    parts = folder.split("/")
    return ["/".join(parts[: n + 1]) for n in range(len(parts))]


def _unknown(root: Path, paths: list[str]) -> tuple[list[tuple[str, read.Text]], int]:
    """Notes that the catalog does not know, read: the newest where they are many; and how many
    were not read."""
    paths = [path for path in paths if not tree.is_conflict_copy(path.rpartition("/")[2])]
    if paths and (spec := tree.exclusion(_patterns(root))):
        paths = [path for path in paths if not spec.match_file(path)]
    later = len(paths) - MOST_NEW
    if later > 0:
        paths = sorted(paths, key=lambda path: (-_modified(root, path), path))[:MOST_NEW]
    texts = [(path, read.read(root, path)) for path in sorted(paths) if tree.is_text(path)]
    return [(path, got) for path, got in texts if isinstance(got, read.Text)], max(later, 0)


def _patterns(root: Path) -> tuple[str, ...]:
    from memory_palace.files import config

    try:
        return config.load(root).exclude
    except PalaceError:
        return ()


def _modified(root: Path, path: str) -> float:
    try:
        return (root / path).lstat().st_mtime
    except OSError:
        return 0.0


def _hall(root: Path, path: str) -> str | None:
    """The hall that a note's metadata names, by a look at its first bytes."""
    try:
        handle = os.open(root / path, _FLAGS)
        try:
            head = os.read(handle, _HEAD)
        finally:
            os.close(handle)
    except OSError:
        return None
    found = _HALL.search(head[: head.find(b"\n---", 3)]) if head[:6].find(b"---") >= 0 else None
    return found[1].decode() if found else None


def _read(root: Path, row: Row) -> Told | None:
    """A known note as it is on disk; None if it is gone, or was superseded since."""
    got = read.read(root, row.path)
    if isinstance(got, read.Unreadable):
        return None
    parsed = note.parse(row.path, got.text)
    if parsed.metadata.get("superseded_by"):
        return None
    return _told(parsed, got, row)


def _told(parsed: Note, got: read.Text, row: Row | None = None) -> Told:
    kind, priority = parsed.type or DEFAULT_TYPE, parsed.priority
    if row and (parsed.broken or not parsed.has_metadata):
        kind, priority = row.type, row.priority  # the manifest speaks for it
    moment = parsed.updated or parsed.created
    known = row.time if row else got.stat.mtime_ns / 1e9
    time = known if moment is None else moment.timestamp()
    body = private_spans.hidden(parsed.body)
    if row and row.sha256 == got.sha256 and body is parsed.body:
        title = row.title
    else:
        title = note.note_title(parsed, layers.first_heading(body))
    return Told(
        parsed.path,
        private_spans.hidden(title),
        layers.importance(priority, parsed.hall, kind),
        time,
        dates.from_seconds(time).date().isoformat() if time is not None else "",
        layers.flat(body, layers.L2.characters),
        got.sha256,
    )


def _targets(parsed: Note) -> list[str]:
    """What the note says that it supersedes, as it is written in the links."""
    value = parsed.metadata.get("supersedes")
    values = value if isinstance(value, list) else [value]
    return [found[1].strip() for v in values if isinstance(v, str) and (found := _TARGET.search(v))]


def _is_over(parsed: Note, targets: set[str]) -> bool:
    return bool(parsed.metadata.get("superseded_by")) or _named(parsed.path, targets)


def _named(path: str, targets: set[str]) -> bool:
    """True if one of the links' ``targets`` can only be this note."""
    whole = nfc(path.removeprefix(TREE).removesuffix(".md"))
    return bool(targets) and (whole in targets or nfc(stem(path)) in targets)


def _is_story(path: str, leave_out: Sequence[str]) -> bool:
    return not is_cold(path) and not path.startswith(tuple(leave_out))
