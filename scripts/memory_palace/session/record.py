"""What happened in one session on this machine: a JSON line each, derived and short-lived.

Appended with one write a call, so that two hooks at once do not lose a line. A line that does not
parse (a torn one) is passed over.
"""

import json
import os
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_palace.core.errors import PalaceError
from memory_palace.core.text import sha256
from memory_palace.files import roots

FOLDER = f"{roots.DERIVED}/sessions"
MOST_BYTES = 4 << 20
"""Only the end of a longer record is read."""

KEPT_DAYS = 14
"""Records that nothing was added to for so long are removed when a session starts."""

KEPT_SECONDS = 3_600
"""So long a file may be half written: what is older was left by a hook that was killed."""

KINDS = {
    "turn": (),
    "tool": ("tool", "command"),
    "shown": ("key", "digest"),
    "reminded": ("path",),
    "retried": (),
    "compacted": (),
}
"""Each kind of line (key ``k``) and the keys it has. A turn begins with its prompt; after
``compacted`` what was shown before is no longer in the agent's context."""

_APPENDING = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)


def key(client: str, session: str, agent: str = "") -> str:
    """The name of a session's record: a subagent has one of its own."""
    return "/".join(part for part in (client, session, agent) if part)


def place(root: Path, session: str) -> Path:
    """The record's file. Raises :class:`BadInput` where a symbolic link leads it elsewhere."""
    return roots.inside(root, f"{FOLDER}/{sha256(session)[:16]}.jsonl")


def append(root: Path, session: str, rows: Iterable[dict[str, Any]]) -> None:
    """Add lines to the record. Raises OSError where the palace cannot be written, and
    :class:`BadInput` as :func:`place` does."""
    data = "".join(json.dumps(row) + "\n" for row in rows).encode("ascii")
    if not data:
        return
    path = place(root, session)
    path.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(path, _APPENDING, 0o600)
    try:
        size = os.fstat(handle).st_size
        if size:
            os.lseek(handle, size - 1, os.SEEK_SET)  # Windows has no pread; writes go to the end
            if os.read(handle, 1) != b"\n":
                data = b"\n" + data  # end the line of a killed writer
        os.write(handle, data)
    finally:
        os.close(handle)


def noted(root: Path, session: str, rows: Iterable[dict[str, Any]]) -> tuple[str, ...]:
    """As :func:`append`; a line for the health file where that fails."""
    try:
        append(root, session, rows)
    except OSError as error:
        why = error.strerror or type(error).__name__
        return (f"the session's record cannot be written ({why}): make {FOLDER} writable",)
    except PalaceError as error:
        return (str(error),)
    return ()


def read(root: Path, session: str) -> list[dict[str, Any]]:
    """The lines of the record, oldest first; none if there is no record or it cannot be read."""
    try:
        with open(place(root, session), "rb", opener=roots.unhindered) as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - MOST_BYTES))
            data = file.read()
    except (OSError, PalaceError):
        return []
    found = []
    for line in data.split(b"\n"):
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found.append(row)
    return found


def this_turn(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines since the last prompt."""
    for at in range(len(rows) - 1, -1, -1):
        if rows[at].get("k") == "turn":
            return rows[at + 1 :]
    return rows


def shown(rows: list[dict[str, Any]]) -> dict[str, str]:
    """{key: digest} of what is in the agent's context already: nothing from before a compaction."""
    found: dict[str, str] = {}
    for row in rows:
        if row.get("k") == "compacted":
            found.clear()
        elif row.get("k") == "shown" and "key" in row:
            found[str(row["key"])] = str(row.get("digest"))
    return found


def prune(root: Path, now: datetime) -> int:
    """Remove records that nothing was added to for :data:`KEPT_DAYS`, and files that killed hooks
    left half written; how many."""
    moment = now.timestamp()
    return _removed(root, FOLDER, ".jsonl", moment - KEPT_DAYS * 86_400) + _removed(
        root, roots.DERIVED, ".tmp", moment - KEPT_SECONDS
    )


def _removed(root: Path, folder: str, ending: str, oldest: float) -> int:
    removed = 0
    try:
        found = list(os.scandir(roots.inside(root, folder)))
    except (OSError, PalaceError):
        return 0
    for entry in found:
        try:
            modified = entry.stat(follow_symlinks=False).st_mtime
            if entry.name.endswith(ending) and modified < oldest:
                os.unlink(entry.path)
                removed += 1
        except OSError:
            continue
    return removed
