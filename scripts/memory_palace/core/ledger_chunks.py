"""What a session's ledger says was found, one record after the other: as it is searched and shown.

Session entries are no records: they are what a record leads back to.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import NamedTuple

from memory_palace.core import dates, layers
from memory_palace.core.condense import SEPARATOR
from memory_palace.core.ledger import SUMMARY, Header, Ledger, record_id, tokens
from memory_palace.core.private_spans import hidden

KINDS = ("observation", "reflection", "summary")

IMPORTANCE = {"reflection": 7, "summary": 4}
"""What a record that is no observation counts: a lasting conclusion as a principle does."""

TITLE_WORDS = 12
TITLE_CHARACTERS = 120
FEWEST_WORDS = 4
MOST_FILES = 5
"""Files that are named beside a record's content."""


class Record(NamedTuple):
    """An observation, a reflection or a summary, as it stands on ``line`` of a ledger.

    ``type`` is what it is of, else its ``kind``; ``sources`` are the ids of the entries (of a
    reflection: of the observations) that it rests on; ``work`` is in tokens. ``parts`` are those
    of a summary, each with its name: its content on lines of their own.
    """

    id: str
    kind: str
    type: str
    at: datetime
    content: str
    line: int
    relevance: str = ""
    sources: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    room: str = ""
    work: int = 0
    by: str = ""
    dropped: bool = False
    parts: tuple[str, ...] = ()

    @property
    def read(self) -> int:
        """Tokens that all of it takes (:func:`full`)."""
        return tokens(full(self))

    @property
    def importance(self) -> int:
        """How much it counts, 3 to 8, by its type."""
        return IMPORTANCE.get(self.kind) or layers.importance(None, None, self.type)


def records(ledger: Ledger) -> tuple[Record, ...]:
    """All records of a ledger, by time and id; private spans that a hand put there are hidden."""
    gone = ledger.dropped
    found = [
        Record(
            one.id,
            "observation",
            one.type or "observation",
            one.at,
            hidden(one.content),
            one.line,
            one.relevance,
            one.sources,
            one.files,
            one.room,
            one.work,
            one.by,
            one.id in gone,
        )
        for one in ledger.observations
    ]
    found += [
        Record(
            one.id,
            *("reflection", "reflection", one.at, hidden(one.content), one.line, "", one.supports),
            by=one.by,
        )
        for one in ledger.reflections
    ]
    for summary in ledger.summaries:
        said = said_in(summary.parts)
        found.append(
            Record(
                record_id(said),
                *("summary", "summary", summary.at, hidden(said), summary.line),
                by=summary.by,
                parts=tuple(map(hidden, _named(summary.parts))),
            )
        )
    return tuple(sorted(found, key=order))


def order(record: Record) -> tuple[datetime, str, int]:
    """What records are sorted by: time, then id."""
    return record.at, record.id, record.line


def said_in(parts: Mapping[str, str]) -> str:
    """A summary's parts on one line, each with its name."""
    return " ".join(_named(parts))


def _named(parts: Mapping[str, str]) -> list[str]:
    return [
        f"{name.replace('_', ' ').capitalize()}: {parts[name]}" for name in SUMMARY if name in parts
    ]


def telling(record: Record) -> str:
    """What it says; of a decision that shares its line with what came before, what the person said
    who spoke last."""
    if record.type != "decision":
        return record.content
    parts = reversed(record.content.split(SEPARATOR))
    said = next((one for one in parts if one.startswith("User: ")), "")
    # A bare yes or no says nothing without what it is about.
    return said if len(said.split()) > FEWEST_WORDS else record.content


def title(record: Record) -> str:
    """The first words of what it says (:func:`telling`)."""
    words = telling(record).split()
    cut = " ".join(words[:TITLE_WORDS])
    return layers.clipped(cut + (" …" if len(words) > TITLE_WORDS else ""), TITLE_CHARACTERS)


def line(record: Record) -> str:
    """A record on one line: ``2026-11-29 14:03 bugfix: content (files)``."""
    more = len(record.files) - MOST_FILES
    named = ", ".join(record.files[:MOST_FILES]) + (f", {more} more" if more > 0 else "")
    said = f"{dates.minute(record.at)} {record.type}: {record.content}"
    return said + (f" ({named})" if named else "")


def full(record: Record) -> str:
    """All that a record says by itself; its sources are told apart."""
    facts = [dates.stamp(record.at), record.type]
    facts += [record.relevance] if record.relevance else []
    facts += ["dropped"] if record.dropped else []
    lines = [f"[{record.id}] {' '.join(facts)}", *(record.parts or [record.content])]
    lines += [f"files: {', '.join(record.files)}"] if record.files else []
    return "\n".join(lines)


def session_day(found: Iterable[Record], header: Header | None) -> str:
    """The day on which a session began, as far as is known; empty where nothing is."""
    times = [one.at for one in found]
    times += [header.at] if header and header.at else []
    return dates.stamp(min(times))[:10] if times else ""
