"""The notes that changed last, by the time that each note has."""

import json
import os
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from memory_palace.core import dates
from memory_palace.files import config as configs
from memory_palace.index.progress import Progress
from memory_palace.search import current
from memory_palace.search import query as queries
from memory_palace.search.query import Query

FORMS = f"{dates.FORMS}, 7d, 24h, today or yesterday"

_OTHERS = frozenset({"observation", "code", "document"})
"""Types of what is no note: listed where they are asked for."""

_AGO = re.compile(r"(\d{1,5})\s*(h|d|w)\Z", re.IGNORECASE)
_UNITS = {"h": timedelta(hours=1), "d": timedelta(days=1), "w": timedelta(weeks=1)}
_DAYS = {"today": 0, "yesterday": 1}


@dataclass(frozen=True, slots=True)
class Recent:
    """A note and its time, in UTC; ``source`` says where that comes from: ``note`` (what it says
    itself), ``git`` or ``mtime``."""

    path: str
    title: str
    date: datetime | None
    source: str
    type: str
    priority: str | None
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Listing:
    """Notes, the newest first; how many there are besides; why it is as the last run of the index
    left it (empty if it is as the files are now); and why there is none, where there is none."""

    notes: tuple[Recent, ...]
    more: int = 0
    late: str = ""
    nothing: str = ""


def moment(text: str, now: datetime, end: bool = False) -> datetime | None:
    """A date, or so long before ``now`` (``24h``, ``7d``, ``2w``), ``today`` or ``yesterday``.

    A day given as an end means the whole day; the local one, for the words. None for another form.
    """
    plain = text.strip().lower()
    ago = _AGO.match(plain)
    if ago:
        try:
            return now - int(ago[1]) * _UNITS[ago[2]]
        except OverflowError:
            return None
    if plain in _DAYS:
        day = now.astimezone() - timedelta(days=_DAYS[plain])
        first = day.replace(hour=0, minute=0, second=0, microsecond=0)
        last = timedelta(days=1) - timedelta(microseconds=1) if end else timedelta()
        return (first + last).astimezone(UTC)
    return dates.end_of(text) if end else dates.parse(text)


def recent(root: Path, asked: Query, progress: Progress | None = None) -> Listing:
    """The notes that pass the filters of ``asked``, at most its ``top_k``, newest first.

    Notes of one time are in the order of their paths; those without a time come last. Raises
    :class:`Missing` if the notes cannot be listed.
    """
    config = configs.load(root)
    condition, values = queries.where(
        replace(asked, text="", notes_only=_OTHERS.isdisjoint(asked.types))
    )
    with current.opened(root, config, progress) as now:
        rows = now.main.db.execute(
            f"""SELECT path, title, time, time_source, type, priority, tags FROM files
                WHERE {condition} ORDER BY time IS NULL, time DESC, path""",
            values,
        ).fetchall()
        if now.late:  # what is gone since is not told of
            rows = [row for row in rows if os.path.isfile(root / row[0])]
        nothing = ""
        if not rows:
            nothing = queries.unknown(asked, [now.main]) or "no note is of that time"
        late = now.late
    found = [
        Recent(
            path=path,
            title=title,
            date=None if time is None else dates.from_seconds(time),
            source=source,
            type=kind,
            priority=priority,
            tags=tuple(json.loads(tags)),
        )
        for path, title, time, source, kind, priority, tags in rows[: asked.top_k]
    ]
    return Listing(tuple(found), len(rows) - len(found), late, nothing)
