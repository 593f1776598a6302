"""The facts of ``manifests/facts.jsonl`` as far as a contradiction needs them.

Lines of shapes that are not known are passed over: what they mean is for whoever writes them.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import combinations
from typing import Any

from memory_palace.core import dates
from memory_palace.core.contradiction import Contradiction
from memory_palace.core.text import nfc, short_id

PATH = "manifests/facts.jsonl"
_LONG_AGO = "0001-01-01"
MOST_OBJECTS = 20
"""Values of one subject and predicate that are compared with each other."""


@dataclass(frozen=True, slots=True)
class Row:
    """One added fact. ``line`` counts from 1; the dates are as written, ``valid_to`` exclusive."""

    line: int
    id: str
    subject: str
    predicate: str
    object: str
    valid_from: str = ""
    valid_to: str = ""

    @property
    def sentence(self) -> str:
        return f"{self.subject} {self.predicate} {self.object}"

    @property
    def about(self) -> tuple[str, str]:
        """Subject and predicate as they are compared."""
        return normal(self.subject), normal(self.predicate)

    def holds(self, at: datetime) -> bool:
        """True if the fact is valid at that moment."""
        begins, ends = dates.parse(self.valid_from), dates.parse(self.valid_to)
        return (begins is None or begins <= at) and (ends is None or at < ends)


def normal(name: str) -> str:
    """``name`` as names of facts are compared."""
    kept = nfc(name).strip().lower().replace("'", "").replace("’", "")
    return "_".join(kept.split())


def read(lines: Iterable[tuple[int, dict[str, Any]]]) -> list[Row]:
    """The added facts of (line number, object) pairs, with the end that an invalidation gave."""
    listed = list(lines)
    rows = [row for number, data in listed if (row := _row(number, data)) is not None]
    for _, data in listed:
        if data.get("event") == "invalidated":
            ended = _text(data, "valid_to") or _text(data, "ended") or _text(data, "at")
            rows = [_ended(row, data, ended) for row in rows]
    return rows


def _row(number: int, data: dict[str, Any]) -> Row | None:
    parts = [_text(data, key) for key in ("subject", "predicate", "object")]
    if data.get("event") != "added" or not all(parts):
        return None
    dated = [_text(data, key) for key in ("valid_from", "valid_to")]
    return Row(number, _text(data, "id") or short_id(*parts, dated[0]), *parts, *dated)


def _ended(row: Row, data: dict[str, Any], ended: str) -> Row:
    key = _text(data, "id")
    names = tuple(normal(_text(data, name)) for name in ("subject", "predicate", "object"))
    meant = key == row.id if key else names == (*row.about, normal(row.object))
    if row.valid_to or not meant:
        return row
    return replace(row, valid_to=ended or _LONG_AGO)


def _text(data: dict[str, Any], key: str) -> str:
    value = data.get(key)
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return ""
    return " ".join(str(value).split())


def clashes(
    rows: Iterable[Row], one_valued: Iterable[str], at: datetime
) -> Iterator[tuple[Row, Row, Contradiction]]:
    """Pairs of facts valid at ``at`` of which one subject can have only one."""
    predicates = {normal(name) for name in one_valued}
    by_subject: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for row in rows:
        if row.about[1] in predicates and row.holds(at):
            by_subject[row.about].setdefault(normal(row.object), row)
    for found in by_subject.values():
        for one, other in combinations(list(found.values())[-MOST_OBJECTS:], 2):
            why = f"{one.subject} has one {one.predicate}: {one.object} and {other.object}"
            yield one, other, Contradiction("one_valued", why, 1.0)
