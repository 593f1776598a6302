"""``manifests/memory_events.jsonl``: what happened to memories, appended one line at a time."""

import os
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from memory_palace.core import events
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.events import PATH, Event
from memory_palace.core.problems import Problem
from memory_palace.files import jsonl, read, roots

MOST_BYTES = 256 * 1024 * 1024
_TAIL = 256 * 1024


@dataclass(frozen=True, slots=True)
class Journal:
    """The events in order, each once, and what is wrong with any line."""

    events: tuple[Event, ...]
    problems: tuple[Problem, ...]


def load(root: Path) -> Journal:
    """Read the log; a missing one is empty.

    A last line without a line feed that does not parse was cut off by a kill: it is left out,
    with a warning. Raises :class:`BadInput` if the log is no regular file or too large,
    :class:`Missing` if it cannot be read.
    """
    return parse(read_raw(root))


def read_raw(root: Path) -> bytes:
    """The log's bytes, none if there is no log. Raises as :func:`load` does."""
    roots.inside(root, PATH)
    if not os.path.lexists(root / PATH):
        return b""
    got = read.read_bytes(root, PATH, MOST_BYTES, "the log")
    if isinstance(got, read.Unreadable):
        raise (BadInput if got.content else Missing)(f"{PATH}: {got.problem.message}")
    return got[0]


def parse(data: bytes) -> Journal:
    """The events of a log's bytes."""
    lines, problems = jsonl.parse_log(PATH, data.decode("utf-8", "surrogateescape"))
    whole = ((line.number, line.data) for line in lines if line.data is not None)
    found, more = events.read_all(whole)
    return Journal(tuple(found), (*problems, *more))


def append(root: Path, event: Event) -> None:
    """Add one event, on the disk before this returns. A cut-off last line is ended first.

    For whoever holds the writer lock. Raises OSError.
    """
    jsonl.append(roots.inside(root, PATH), [event.as_line()])


def follow(root: Path, about: str, now: datetime) -> datetime:
    """When a new event on ``about`` may be dated: ``now``, or just after its last one.

    Within a second, and where a clock went back, order would be lost. Any event that names
    ``about`` is followed, in the newest part of the log only; not a date in a far future.
    """
    try:
        with (root / PATH).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _TAIL))
            tail = file.read()
    except OSError:
        return now
    named = jsonl.dump({"": about})[5:-1].encode("utf-8", "surrogateescape")
    if named not in tail:
        return now
    naming = b"\n".join(line for line in tail.split(b"\n") if named in line)
    known = [event.at for event in parse(naming).events if event.at <= now + events.SKEW]
    return max([now, *(at + timedelta(seconds=1) for at in known)])
