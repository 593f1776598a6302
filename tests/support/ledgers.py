"""Lines of ledgers for tests, as dictionaries and on the disk."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_palace.core import dates, ledger_read
from memory_palace.core.ledger import Ledger, content, record_id

START = datetime(2026, 11, 29, 8, tzinfo=UTC)
Line = dict[str, Any]


def hexes(name: object, digits: int = 16) -> str:
    """Hex digits that ``name`` always gets."""
    return hashlib.sha256(str(name).encode()).hexdigest()[:digits]


def at(seconds: int) -> str:
    """A time, in seconds after the session's start."""
    return dates.stamp(START + timedelta(seconds=seconds))


def line(event: str, seconds: int, about: str = "s", uid: object = None, **keys: Any) -> Line:
    """A line of any kind. The uid is made of what it says, unless given."""
    data = {"at": at(seconds), "by": "pi@laptop", "event": event, "uid": "", "id": about, **keys}
    return data | {"uid": hexes(json.dumps(data, sort_keys=True) if uid is None else uid)}


def entry(
    number: int, text: str = "", parent: int | None = -1, seconds: int = -1, **keys: Any
) -> Line:
    """Entry ``number``, by default after the one before it; ``parent=None``: it is the first."""
    before = number - 1 if parent == -1 else parent
    if before is not None and before >= 0:
        keys["parent"] = eid(before)
    said = text or f"what was said in entry {number}"
    when = 60 * number if seconds < 0 else seconds
    return line("entry", when, eid(number), number, role="user", text=said) | keys


def eid(number: int) -> str:
    """The id of entry ``number``."""
    return hexes(number, 12)


def oid(text: str) -> str:
    """The id of an observation or a reflection that says ``text``."""
    return record_id(content(text))


def observed(
    covers: int | None,
    *texts: str,
    sources: Sequence[int] = (),
    seconds: int = -1,
    relevance: str = "medium",
    **keys: Any,
) -> Line:
    """A line of observations that covers up to an entry (None: it does not say)."""
    cited = [eid(n) for n in (sources or ((covers or 0),))]
    when = 60 * (covers or 0) + 30 if seconds < 0 else seconds
    made = [
        {
            "id": oid(t),
            "content": t,
            "relevance": relevance,
            "sources": cited,
            "at": at(when),
            **keys,
        }
        for t in texts
    ]
    return line("observed", when, observations=made) | _covers(covers)


def reflected(covers: int | None, text: str, *supports: str, seconds: int = -1) -> Line:
    """A line of one reflection that was drawn from what ``supports`` say."""
    made = {"id": oid(text), "content": text, "supports": [oid(one) for one in supports]}
    when = 60 * (covers or 0) + 40 if seconds < 0 else seconds
    return line("reflected", when, reflections=[made]) | _covers(covers)


def dropped(covers: int | None, *texts: str, seconds: int = -1) -> Line:
    """A tombstone for what ``texts`` say."""
    when = 60 * (covers or 0) + 45 if seconds < 0 else seconds
    return line("dropped", when, ids=[oid(one) for one in texts]) | _covers(covers)


def folded(
    covers: int, full: bool = False, first_kept: int | None = None, seconds: int = -1
) -> Line:
    """That a fold was made."""
    keys = _covers(covers)
    keys |= {} if first_kept is None else {"first_kept": eid(first_kept)}
    return line("folded", 60 * covers + 50 if seconds < 0 else seconds, full=full, **keys)


def header(session: str = "s", wing: str = "", client: str = "pi", seconds: int = 0) -> Line:
    """The line that says whose session it is."""
    return line("session", seconds, session, client=client, wing=wing)


def _covers(number: int | None) -> Line:
    return {} if number is None else {"covers_up_to": eid(number)}


def ledger(*lines: Mapping[str, Any]) -> Ledger:
    """The ledger of lines."""
    return ledger_read.read(enumerate(lines, start=1))


def write(root: Path, agent: str, session: str, lines: Iterable[Mapping[str, Any]]) -> str:
    """Write a ledger's file; its path."""
    path = f"palace/chambers/{agent}/ledger/{session}.jsonl"
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text("".join(json.dumps(one) + "\n" for one in lines), "utf-8")
    return path
