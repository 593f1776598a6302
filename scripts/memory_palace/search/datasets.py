"""Questions with known answers: a fixture of ours, or conversations shaped like LoCoMo.

Either becomes notes in a folder and a list of questions, so that what is measured is the
product's own index and search.
"""

import hashlib
import json
import os
import re
import shutil
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_palace.core import dates, markdown, note
from memory_palace.core.errors import BadInput
from memory_palace.core.links import TREE
from memory_palace.core.scoring import Weights
from memory_palace.core.text import nearest, split_lines
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
    named = field(str, data, "notes", "")
    source = path.parent / named
    if not source.is_dir():
        raise Wrong("notes", f"no folder {named} beside the file: name one that holds notes")
    root = into / "fixture"
    shutil.copytree(source, root / TREE, ignore=shutil.ignore_patterns(".*"), symlinks=True)
    (root / "palace.yaml").touch()
    there = sorted(p.relative_to(root).as_posix() for p in (root / TREE).rglob("*.md"))
    _age(root, there, now)
    questions = []
    for number, entry in enumerate(field(list, data, "questions", ""), start=1):
        at = f"questions[{number - 1}]"
        entry = checked(dict, entry, at)
        only(_QUESTION_KEYS, entry, at)
        text = text_of(entry, "q", at)
        relevant = field(list, entry, "relevant", at)
        if not relevant:
            raise Wrong(f"{at}.relevant", "empty: name the notes that answer it")
        found = [
            _place(root, there, place, f"{at}.relevant[{n}]") for n, place in enumerate(relevant)
        ]
        places = [place for place in found if isinstance(place, Place)]
        questions.append(
            Question(
                number=number,
                text=text,
                notes=frozenset(p.path if isinstance(p, Place) else p for p in found),
                places=frozenset(places) if len(places) == len(found) else None,
                kind=field(str, entry, "kind", at) if "kind" in entry else "",
            )
        )
    if not questions:
        raise Wrong("questions", f"empty: {SHAPE}")
    return Dataset(path.name, sha256, (Group(path.stem, root, tuple(questions)),), now=now)


def _age(root: Path, paths: list[str], now: datetime | None) -> None:
    """Files get the time of one half-life ago: a note that names no date has half the recency,
    and not the time at which somebody checked the files out."""
    if now is not None:
        moment = (now - timedelta(days=Weights().half_life_days)).timestamp()
        for path in paths:
            os.utime(root / path, (moment, moment), follow_symlinks=False)


def _place(root: Path, there: list[str], written: Any, at: str) -> Place | str:
    """``path``, ``path#heading`` or ``path#^block`` as lines of a note, or just its path."""
    path, mark, anchor = checked(str, written, at).partition("#")
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
