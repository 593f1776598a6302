"""``manifests/facts.jsonl``: facts in time, appended one line at a time."""

import contextlib
import gc
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from memory_palace.core import facts
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.events import Event
from memory_palace.core.facts import PATH, Facts
from memory_palace.files import journal, jsonl, read, roots


def load(root: Path, about: Iterable[str] | None = None) -> Facts:
    """The facts of a palace, and what is wrong with any line; none without the log.

    With ``about`` only the facts of these entities, and what is wrong with lines about them or
    with lines that cannot be read: about half the time of all.

    Raises :class:`BadInput` if the log is no regular file or too large, :class:`Missing` if it
    cannot be read.
    """
    roots.inside(root, PATH)
    if not os.path.lexists(root / PATH):
        return facts.fold(())
    got = read.read_bytes(root, PATH, journal.MOST_BYTES, "the facts")
    if isinstance(got, read.Unreadable):
        raise (BadInput if got.content else Missing)(f"{PATH}: {got.problem.message}")
    return parse(got[0], about)


def parse(data: bytes, about: Iterable[str] | None = None) -> Facts:
    """The facts of a log's bytes."""
    with _uncollected():
        return _parse(data, about)


def _parse(data: bytes, about: Iterable[str] | None) -> Facts:
    lines, problems = jsonl.parse_log(PATH, data.decode("utf-8", "surrogateescape"))
    whole = [(line.number, line.data) for line in lines if line.data is not None]
    found = facts.fold(whole, about)
    return Facts(found.found, found.spelled, found.predicates, (*problems, *found.problems))


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """No search for cyclic garbage while a hundred thousand objects are made that have none: it
    takes a third of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def append(root: Path, events: Iterable[Event]) -> None:
    """Add events, on the disk before this returns. A cut-off last line is ended first.

    For whoever holds the writer lock. Raises OSError.
    """
    jsonl.append(roots.inside(root, PATH), [event.as_line() for event in events])
