"""The events of a palace, counted. What a long log comes to is kept in ``.palace/memory``.

The kept counts are of a beginning of the log, named by its length and its hash: a log that was
merged or mended has another beginning and is counted anew.
"""

import contextlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from memory_palace.core import events, tally
from memory_palace.core.errors import PalaceError
from memory_palace.core.events import PATH, Event
from memory_palace.core.problems import Problem
from memory_palace.core.tally import Tally
from memory_palace.core.text import digest
from memory_palace.files import atomic, journal, roots

FORMAT = 1
KEPT_FROM = 256 * 1024
"""Bytes of a log from which its counts are kept, and after so many more are kept anew."""

_UIDS = re.compile(rb'"uid"\s*:\s*"([^"]*)"')
_PLAIN = re.compile(r"[0-9A-Za-z_-]+")  # spelled in one way only
_NAME = f"{roots.MEMORY}/tallies.json"


@dataclass(frozen=True)
class Counted:
    """The tally of each memory, up to a moment that clocks may differ by; problems of the log."""

    tallies: Mapping[str, Tally]
    problems: tuple[Problem, ...]
    data: bytes

    @cached_property
    def events(self) -> tuple[Event, ...]:
        """The events themselves, in order: read when they are asked for."""
        return journal.parse(self.data).events


def load(root: Path, now: datetime) -> Counted:
    """Count the events of ``root``. Raises as :func:`journal.load` does."""
    data = journal.read_raw(root)
    kept = _kept(root, data, now) if len(data) >= KEPT_FROM else None
    if kept is not None:
        return kept
    log = journal.parse(data)
    happened = [event for event in log.events if event.at <= now + events.SKEW]
    future = events.from_the_future(log.events, now)
    counted = Counted(tally.count(happened), (*log.problems, *future), data)
    if len(data) >= KEPT_FROM and not future and data.endswith(b"\n"):
        _keep(root, counted, max([event.at for event in log.events], default=now))
    return counted


def some(root: Path, now: datetime, ids: Iterable[str]) -> Mapping[str, Tally]:
    """The tallies of a few memories at least, in milliseconds even of a long log that nobody has
    counted: only lines that name one of ``ids`` are parsed. Raises as :func:`journal.load` does.
    """
    data = journal.read_raw(root)
    kept = _kept(root, data, now) if len(data) >= KEPT_FROM else None
    if kept is not None:
        return kept.tallies
    log = journal.parse(_naming(data, ids))
    return tally.count(event for event in log.events if event.at <= now + events.SKEW)


def _naming(data: bytes, ids: Iterable[str]) -> bytes:
    """The lines of a log that name one of ``ids``, in their order."""
    found: dict[int, bytes] = {}
    for name in {one.encode("utf-8", "surrogatepass") for one in ids if one}:
        at = data.find(name)
        while at >= 0:
            start = data.rfind(b"\n", 0, at) + 1
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            found[start] = data[start:end]
            at = data.find(name, end)
    return b"".join(found[start] + b"\n" for start in sorted(found))


def _kept(root: Path, data: bytes, now: datetime) -> Counted | None:
    """What was kept of the beginning of ``data``, and the rest counted; None if it is another."""
    try:
        raw = json.loads((roots.inside(root, _NAME)).read_bytes())
        size = int(raw["size"])
        if raw["format"] != FORMAT or size > len(data) or raw["sha256"] != digest(data[:size]):
            return None
        before = {key: _from_list(values) for key, values in raw["tallies"].items()}
        problems = [Problem(PATH, *values) for values in raw["problems"]]
        newest = datetime.fromisoformat(raw["newest"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, PalaceError):
        return None
    rest = journal.parse(data[size:])
    newest = max([newest, *(event.at for event in rest.events)])
    if newest > now + events.SKEW:
        return None  # also what is kept may be of days to come, if the clock went back
    known = set(_UIDS.findall(data, 0, size)) if rest.events else set()
    for event in rest.events:
        if not _PLAIN.fullmatch(event.uid) or event.uid.encode() in known:
            return None  # a repeat would count twice
    lines = data.count(b"\n", 0, size)
    problems += [
        Problem(PATH, (one.line or 0) + lines, one.message, one.grade) for one in rest.problems
    ]
    counted = Counted(tally.count(rest.events, before), tuple(problems), data)
    if len(data) - size >= KEPT_FROM and data.endswith(b"\n"):
        _keep(root, counted, newest)
    return counted


def _keep(root: Path, counted: Counted, newest: datetime) -> None:
    """Write the counts; where that fails, the next one counts again."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "size": len(counted.data),
        "sha256": digest(counted.data),
        "newest": newest.isoformat(),
        "problems": [(one.line, one.message, one.grade) for one in counted.problems],
        "tallies": {key: _as_list(one) for key, one in counted.tallies.items()},
    }
    with contextlib.suppress(OSError, PalaceError):
        atomic.write(roots.inside(root, _NAME), json.dumps(data).encode())


def _as_list(one: Tally) -> list[Any]:
    moments = [part for pair in (one.forgot, one.revived) for part in pair or (None, None)]
    # To the microsecond, as people may have written them.
    times = [m.isoformat() if isinstance(m, datetime) else m for m in (one.told, one.last)]
    stamps = [m.isoformat() if isinstance(m, datetime) else m for m in moments]
    return [times[0], one.evidence, one.cue, times[1], *stamps]


def _from_list(values: list[Any]) -> Tally:
    told, evidence, cue, last, forgot, forgot_uid, revived, revived_uid = values
    return Tally(
        _moment(told),
        int(evidence),
        str(cue),
        _moment(last),
        (datetime.fromisoformat(forgot), forgot_uid) if forgot else None,
        (datetime.fromisoformat(revived), revived_uid) if revived else None,
    )


def _moment(text: str | None) -> datetime | None:
    return datetime.fromisoformat(text) if text else None
