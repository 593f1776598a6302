"""Questions with known answers: a fixture of ours, or conversations shaped like LoCoMo.

Either becomes notes in a folder and a list of questions, so that what is measured is the
product's own index and search.
"""

import hashlib
import json
import os
import re
import shutil
import stat
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_palace.core import dates, markdown, note
from memory_palace.core.errors import BadInput
from memory_palace.core.links import TREE
from memory_palace.core.text import nearest, split_lines
from memory_palace.core.weights import Weights
from memory_palace.files.roots import MARKER
from memory_palace.search import conversations
from memory_palace.search.questions import (
    SHAPE,
    Dataset,
    Group,
    Place,
    Question,
    Wrong,
    checked,
    field,
    only,
    text_of,
)

_FIXTURE_KEYS = ("notes", "questions", "now")
_QUESTION_KEYS = ("q", "relevant", "kind")
_ITEM = re.compile(r"\s*([-*+]|\d+[.)])\s")


def load(path: Path, into: Path, pooled: bool = False) -> Dataset:
    """Write the notes of the data set at ``path`` below ``into``, an empty folder.

    ``pooled`` puts all conversations into one palace. Raises :class:`BadInput` with the place in
    the file for one of another shape.
    """
    try:
        content = path.read_bytes()
        data = json.loads(content.decode("utf-8-sig"))
    except OSError as error:
        raise BadInput(f"{path}: {error.strerror}: name a JSON file of questions") from None
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}:{error.lineno}: no JSON ({error.msg}): {SHAPE}") from None
    except (UnicodeDecodeError, RecursionError):
        raise BadInput(f"{path}: no JSON in UTF-8: {SHAPE}") from None
    sha256 = hashlib.sha256(content).hexdigest()
    try:
        if isinstance(data, list):
            return conversations.read(path.name, sha256, data, into, pooled)
        if pooled:
            raise Wrong("", "one palace already, and --pooled joins conversations: leave it out")
        return _fixture(path, sha256, checked(dict, data, ""), into)
    except Wrong as error:
        raise BadInput(f"{path}: {error}") from None


def _fixture(path: Path, sha256: str, data: dict[str, Any], into: Path) -> Dataset:
    only(_FIXTURE_KEYS, data, "")
    now = None
    if "now" in data:
        now = dates.parse(field(str, data, "now", ""))
        if now is None:
            raise Wrong("now", f"{data['now']!r} is no date: write {dates.FORMS}")
    source = _source(path.parent, field(str, data, "notes", ""))
    entries = [
        _entry(entry, f"questions[{n}]")
        for n, entry in enumerate(field(list, data, "questions", ""))
    ]
    if not entries:
        raise Wrong("questions", f"empty: {SHAPE}")
    root = into / "fixture"
    there = _copied(source, root)
    (root / "palace.yaml").touch()
    _age(root, there, now)
    questions = []
    for number, entry in enumerate(entries, start=1):
        at = f"questions[{number - 1}].relevant"
        found = [_place(root, there, one, f"{at}[{n}]") for n, one in enumerate(entry["relevant"])]
        places = [place for place in found if isinstance(place, Place)]
        questions.append(
            Question(
                number=number,
                text=entry["q"],
                notes=frozenset(p.path if isinstance(p, Place) else p for p in found),
                places=frozenset(places) if len(places) == len(found) else None,
                kind=entry.get("kind", ""),
            )
        )
    return Dataset(path.name, sha256, (Group(path.stem, root, tuple(questions)),), now=now)


def _entry(written: Any, at: str) -> dict[str, Any]:
    """A question as it is written, its shape checked; not whether the notes are there."""
    entry: dict[str, Any] = checked(dict, written, at)
    only(_QUESTION_KEYS, entry, at)
    text_of(entry, "q", at)
    relevant = field(list, entry, "relevant", at)
    if not relevant:
        raise Wrong(f"{at}.relevant", "empty: name the notes that answer it")
    for n, place in enumerate(relevant):
        checked(str, place, f"{at}.relevant[{n}]")
    if "kind" in entry:
        field(str, entry, "kind", at)
    return entry


def _source(beside: Path, named: str) -> Path:
    """The folder that ``notes`` names. A data set may come from anywhere: it reaches what lies
    below its own folder, or in the notes of the palace that it is part of, and nothing else."""
    try:
        home = beside.resolve()
        folder = (home / named).resolve()
        palace = next((p for p in (home, *home.parents) if (p / MARKER).is_file()), None)
        below = folder != home and folder.is_relative_to(home)
        # Not resolved: a `palace` that is a link may lead anywhere.
        own = palace is not None and folder.is_relative_to(palace / TREE)
        if Path(named).is_absolute() or not (below or own):
            raise Wrong("notes", f"{named!r} is not below the file's own folder: name one that is")
        if not folder.is_dir():
            raise Wrong("notes", f"no folder {named} beside the file: name one that holds notes")
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        reason = getattr(error, "strerror", None) or "links in a circle"
        raise Wrong("notes", f"{named!r} cannot be read ({reason}): name another") from None
    except ValueError as error:
        if isinstance(error, Wrong):
            raise
        raise Wrong("notes", f"{named!r} is no path: name a folder") from None
    return folder


def _copied(source: Path, root: Path) -> list[str]:
    """Copy the Markdown files below ``source`` to the palace at ``root``: their paths there.

    As in a palace, links and what begins with a dot are left out.
    """
    there = []
    try:
        for folder, names in _listed(source):
            to = root / TREE / folder.relative_to(source)
            to.mkdir(parents=True, exist_ok=True)
            for name in names:
                shutil.copy2(folder / name, to / name, follow_symlinks=False)
                there.append((to / name).relative_to(root).as_posix())
    except OSError as error:
        shown = error.filename or source
        raise Wrong("notes", f"{shown} cannot be read ({error.strerror}): mend it") from None
    return sorted(there)


def _listed(source: Path) -> Iterator[tuple[Path, list[str]]]:
    """The folders below ``source``, itself first, each with the names of its notes."""

    def stop(error: OSError) -> None:
        raise error

    for at, folders, files in os.walk(source, onerror=stop):
        folders[:] = [name for name in folders if not name.startswith(".")]
        listed = [name for name in files if name.endswith(".md") and not name.startswith(".")]
        yield Path(at), [n for n in listed if stat.S_ISREG(os.lstat(Path(at, n)).st_mode)]


def _age(root: Path, paths: list[str], now: datetime | None) -> None:
    """Files get the time of one half-life ago: a note that names no date has half the recency,
    and not the time at which somebody checked the files out."""
    if now is not None:
        moment = (now - timedelta(days=Weights().half_life_days)).timestamp()
        for path in paths:
            os.utime(root / path, (moment, moment), follow_symlinks=False)


def _place(root: Path, there: list[str], written: str, at: str) -> Place | str:
    """``path``, ``path#heading`` or ``path#^block`` as lines of a note, or just its path."""
    path, mark, anchor = written.partition("#")
    path = path if path.startswith(TREE) else TREE + path
    if path not in there:
        close = nearest(path, there)
        hint = f"did you mean `{close}`?" if close else "name one below `notes`"
        raise Wrong(at, f"no note {path}: {hint}")
    if not mark:
        return path
    text = (root / path).read_text("utf-8", "replace")
    found = _block(path, text, anchor) if anchor[:1] == "^" else _section(path, text, anchor)
    if found is None:
        what = "block" if anchor[:1] == "^" else "heading"
        raise Wrong(at, f"no {what} {anchor!r} in {path}: name one that is there")
    return found


def _section(path: str, text: str, heading: str) -> Place | None:
    """From the heading's line to the line before the next heading of its level or above."""
    parsed = note.parse(path, text)
    outline = markdown.read(parsed.body, parsed.body_line)
    headings = [block for block in outline.blocks if block.kind == "heading"]
    for n, block in enumerate(headings):
        if block.heading == heading:
            following = (b.start for b in headings[n + 1 :] if b.level <= block.level)
            end = next(following, len(split_lines(text)) + 1) - 1
            return Place(path, block.start, end, heading)
    return None


def _block(path: str, text: str, mark: str) -> Place | None:
    """The lines of the list item or paragraph that ends with ``mark``."""
    lines = split_lines(text)
    for end, line in enumerate(lines, start=1):
        if line.rstrip().endswith(f" {mark}"):
            start = end
            while start > 1 and not _ITEM.match(lines[start - 1]) and lines[start - 2].strip():
                start -= 1
            return Place(path, start, end)
    return None
