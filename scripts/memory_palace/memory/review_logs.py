"""What became of JSONL files: lines that a log gained, and lines that it must not have lost."""

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from memory_palace.core import events
from memory_palace.core.problems import Problem
from memory_palace.core.text import split_lines
from memory_palace.core.worddiff import one_line
from memory_palace.files import jsonl
from memory_palace.files.jsonl import Line

MOST_LISTED = 20
"""Lost lines of one log that are named one by one."""
_LISTS = ("manifests/watchdog_manifest_v1.jsonl", "manifests/projects/")


@dataclass(frozen=True, slots=True)
class LogChange:
    """What became of one JSONL file. ``lost`` are lines of before that are nowhere in it now, with
    their numbers before; ``problems`` is what is wrong with added lines."""

    path: str
    added: tuple[Line, ...]
    lost: tuple[Line, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def append_only(self) -> bool:
        """True for a log, whose lines stay; False for a list, which is written anew."""
        return is_log(self.path)

    @property
    def kinds(self) -> Mapping[str, int]:
        """{event: how many were added}, most first."""
        named = (line.data.get("event") for line in self.added if line.data)
        counts = Counter(one_line(name) for name in named if isinstance(name, str))
        return dict(counts.most_common())


@dataclass(frozen=True, slots=True)
class FactChange:
    """A line that was added to the facts: ``event`` is ``added``, ``invalidated``, …"""

    event: str
    text: str
    line: int


def is_jsonl(path: str) -> bool:
    """True for a log or a list of the memory."""
    return path.lower().endswith(".jsonl")


def is_log(path: str) -> bool:
    """True for an append-only log: any JSONL file but the lists of what is indexed."""
    return is_jsonl(path) and not path.startswith(_LISTS)


def compare(path: str, before: str, after: str) -> LogChange:
    """The lines that only one side has, wherever they stand: a merge may put them in any order."""
    olds, news = _lines(before), _lines(after)
    were, are = set(olds.values()), set(news.values())
    added = _parsed(path, {n: raw for n, raw in news.items() if raw not in were})
    lost = _parsed(path, {n: raw for n, raw in olds.items() if raw not in are})
    # The same object, written with other spaces or keys in another order, is the same line.
    there = {_canonical(line) for line in added[0]}
    known = {_canonical(line) for line in lost[0]}
    return LogChange(
        path,
        tuple(line for line in added[0] if _canonical(line) not in known),
        tuple(line for line in lost[0] if _canonical(line) not in there),
        tuple(added[1]),
    )


def _lines(text: str) -> dict[int, str]:
    lines = enumerate(split_lines(text.removeprefix("\ufeff")), start=1)
    return {number: raw.strip() for number, raw in lines if raw.strip()}


def _parsed(path: str, lines: dict[int, str]) -> tuple[list[Line], list[Problem]]:
    found, problems = jsonl.parse(path, "\n".join(lines.values()))
    numbers = list(lines)
    return (
        [Line(numbers[line.number - 1], line.raw, line.data) for line in found],
        [Problem(path, numbers[(p.line or 1) - 1], p.message, p.grade) for p in problems],
    )


def _canonical(line: Line) -> str:
    return line.raw if line.data is None else json.dumps(line.data, sort_keys=True)


def facts(change: LogChange) -> tuple[FactChange, ...]:
    """What was said of facts, in the order of the lines."""
    return tuple(
        FactChange(_text(line.data.get("event")) or "added", _fact(line.data), line.number)
        for line in change.added
        if line.data is not None
    )


def _fact(data: Mapping[str, Any]) -> str:
    parts = [_text(data.get(key)) for key in ("subject", "predicate", "object")]
    if not any(parts):
        parts = [_text(data.get("id"))]
    since = [f"({key} {_text(data[key])})" for key in ("valid_from", "valid_to") if data.get(key)]
    return " ".join([*(part for part in parts if part), *since])


def _text(value: Any) -> str:
    return one_line(value) if isinstance(value, str) else "" if value is None else str(value)


def lost(change: LogChange) -> list[Problem]:
    """What is wrong if a log lost lines: one problem a line."""
    if not change.append_only:
        return []
    what = "event" if change.path == events.PATH else "line"
    said = "gone from an append-only log: put it back"
    found = [
        Problem(change.path, line.number, f"{_described(line, what)} is {said}")
        for line in change.lost[:MOST_LISTED]
    ]
    more = change.lost[MOST_LISTED:]
    if more:
        found.append(Problem(change.path, more[0].number, f"{len(more)} more {what}s are {said}"))
    return found


def _described(line: Line, what: str) -> str:
    data = line.data or {}
    name, about = _text(data.get("event")), _text(data.get("id") or data.get("uid"))
    return f"{what} {name} {about}".rstrip() if name or about else f"this {what}"
