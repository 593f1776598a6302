"""What memory holds about the files that were just edited: once a file and session."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from memory_palace.core import excerpts, fence
from memory_palace.core.problems import printable
from memory_palace.session import record
from memory_palace.session.events import MOST_FILES, Event, Reply
from memory_palace.session.finding import Cold, Finder
from memory_palace.session.prompting import entry_text, fitted, fresh, once, rows_of

MOST_ENTRIES = 3
MOST_CHARACTERS = 1_500
"""The whole of one reminder, marks included."""

LONGEST_PATH = 1_000


def reply(root: Path, event: Event, now: datetime, finder: Finder | None = None) -> Reply:
    """The entries about the edited files that this session was not reminded of yet."""
    files = named(event.files, event.cwd)
    if not files:
        return Reply()
    session = record.key(event.client, event.session, event.agent)
    rows = record.read(root, session)
    reminded = {row.get("path") for row in rows if row.get("k") == "reminded"}
    wanted = [file for file in files if file not in reminded]
    if not wanted:
        return Reply()
    finder = finder or Cold(root, now)
    shown = record.shown(rows)
    found = finder.about(wanted, MOST_ENTRIES * 2)
    pieces = list(fresh([one.piece for one in found], shown))[:MOST_ENTRIES]
    keys = {piece.key for piece in pieces}
    about = list(dict.fromkeys(one.file for one in found if one.piece.key in keys))
    head = f"Entries about {excerpts.cut(printable(', '.join(about)), MOST_CHARACTERS // 3)}:"
    room = MOST_CHARACTERS - fence.size(fence.fenced(head, "files")) - 1
    texts, kept = fitted(map(entry_text, pieces), pieces, room)
    new, more = once(finder.faults, shown)
    if kept:
        told = {piece.key for piece in kept}
        done = dict.fromkeys(one.file for one in found if one.piece.key in told)
        more += [{"k": "reminded", "path": file} for file in done]
        more += rows_of(kept)
    faults = record.noted(root, session, more)
    context = "\n".join([head, *texts]) if kept else ""
    return Reply(context=fence.fenced(context, "files"), faults=(*faults, *new))


def named(files: Sequence[str], cwd: str) -> list[str]:
    """The first few files, each once, relative to ``cwd`` where they lie in it, with ``/``."""
    found: dict[str, None] = {}
    for file in files[:MOST_FILES]:
        if not file or "\0" in file or len(file) > LONGEST_PATH:
            continue
        path = os.path.normpath(os.path.join(cwd, file) if cwd else file)
        inside = cwd and path.startswith(os.path.normpath(cwd) + os.sep)
        path = os.path.relpath(path, cwd) if inside else path
        found[path.replace(os.sep, "/")] = None
    return list(found)
