"""The room map: a block of Markdown between two marks, a Mermaid graph and a table of rooms.

The block holds no links, so that drawing the map joins no rooms, and days in UTC, so that every
machine draws the same.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from memory_palace.core import dates
from memory_palace.core.errors import Refused
from memory_palace.core.links import TREE
from memory_palace.core.mining import same
from memory_palace.core.problems import printable
from memory_palace.core.room_names import GENERAL
from memory_palace.core.rooms_graph import Graph, Room, size_order

PATH = f"{TREE}grand_hall/README.md"
"""The note that the map stands in."""

BEGIN = "<!-- palace:map:start -->"
END = "<!-- palace:map:end -->"

DRAWN_ROOMS = 30
DRAWN_LINKS = 24
LISTED_ROOMS = 200

_MARK = re.compile(r"<!--\s*palace:map:(start|end)\s*-->")
_FENCE = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)*(?P<signs>`{3,}|~{3,})(?P<info>.*)")
_PAIR = ["start", "end"]
_ENTITIES = re.compile(r"[!-,:-@\[-^`{-~]")  # the signs of ASCII but `-`, `.`, `/`, `_`
_LONGEST_LABEL = 60
_LONGEST_NAME = 200
_MOST_LINES = 5


def block(graph: Graph) -> str:
    """The block, marks included, without a line feed at its end."""
    by_size = sorted(graph.rooms.values(), key=size_order)
    if not by_size:
        return f"{BEGIN}\n\nThere are no rooms yet.\n\n{END}"
    head = f"{_counted(len(by_size), 'room')} in {_counted(len(_joining(graph)), 'wing')}."
    told = " Solid lines lead to a wing, dotted ones count links between notes."
    parts = [head + told, *_drawn(graph, by_size), table(by_size[:LISTED_ROOMS])]
    rest = len(by_size) - LISTED_ROOMS
    if rest > 0:
        parts.append(f"Listed are the {LISTED_ROOMS} largest rooms, without {rest} more.")
    return "\n\n".join([BEGIN, *parts, END])


def _drawn(graph: Graph, by_size: Sequence[Room]) -> list[str]:
    """The drawing, and what is not in it."""
    shown = by_size[:DRAWN_ROOMS]
    parts = [drawing(graph, shown)]
    rest = len(by_size) - len(shown)
    if rest > 0:
        parts.append(f"Drawn are the {DRAWN_ROOMS} largest rooms, without {rest} more.")
    pairs = len(_pairs(graph, [room.name for room in shown])) - DRAWN_LINKS
    if pairs > 0:
        dotted = f"{DRAWN_LINKS} pairs of rooms with most links"
        parts.append(f"Joined by dots are the {dotted}, without {pairs} more.")
    return parts


def _joining(graph: Graph) -> list[str]:
    return [wing for wing in graph.wings if same(wing) != GENERAL]


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"


def drawing(graph: Graph, rooms: Iterable[Room]) -> str:
    """``rooms`` as a Mermaid graph: their wings, and the links between two of them."""
    shown = sorted(rooms, key=lambda room: room.name)
    called = {room.name: f"r{number}" for number, room in enumerate(shown, start=1)}
    wings = sorted({wing for room in shown for wing in room.joining})
    wing_called = {wing: f"w{number}" for number, wing in enumerate(wings, start=1)}
    lines = [f'    {wing_called[wing]}(["{label(wing)}"])' for wing in wings]
    lines += [f'    {called[room.name]}["{label(room.name)}"]' for room in shown]
    lines += [
        f"    {wing_called[wing]} --- {called[room.name]}"
        for room in shown
        for wing in room.joining
    ]
    pairs = _pairs(graph, called)
    strongest = sorted(sorted(pairs)[:DRAWN_LINKS], key=lambda pair: pair[1:])
    lines += [
        f'    {called[one]} -. "{-count}" .- {called[other]}' for count, one, other in strongest
    ]
    return "\n".join(["```mermaid", "graph LR", *lines, "```"])


def _pairs(graph: Graph, names: Collection[str]) -> list[tuple[int, str, str]]:
    """The pairs of rooms among ``names`` that links join: minus their count, and both names."""
    wanted = frozenset(names)
    return [
        (-count, one, other)
        for one in wanted
        for other, count in graph.links.get(one, {}).items()
        if one < other and other in wanted
    ]


def label(name: str) -> str:
    """A name as the text of a quoted Mermaid node: what has a meaning there is an entity."""
    plain = _cut(printable(name), _LONGEST_LABEL)
    return _ENTITIES.sub(lambda found: f"#{ord(found[0])};", plain)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 2].rstrip() + " …"


def table(rooms: Sequence[Room]) -> str:
    """``rooms`` as a table, by name: wings, notes, mined files where there are any, newest day."""
    mined = any(room.files for room in rooms)
    heads = ["Room", "Wings", "Notes", *(["Files"] if mined else []), "Newest"]
    rows = [heads, ["---"] * len(heads)]
    for room in sorted(rooms, key=lambda room: room.name):
        wings = ", ".join(map(code, room.joining)) or "–"
        files = [str(room.files or "")] if mined else []
        rows.append([code(room.name), wings, str(room.notes), *files, day(room)])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def code(name: str) -> str:
    """A name as a code span in a cell of a table, whatever backticks and bars it holds."""
    plain = _cut(printable(name), _LONGEST_NAME).replace("|", "\\|")
    longest = max(map(len, re.findall("`+", plain)), default=0)
    if not longest and plain.strip() == plain:
        return f"`{plain}`"
    fence = "`" * (longest + 1)
    return f"{fence} {plain} {fence}"


def day(room: Room) -> str:
    """The day of a room's newest note, in UTC; empty where none has a time."""
    return "" if room.newest is None else dates.stamp(dates.from_seconds(room.newest))[:10]


def put(text: str, made: str) -> str:
    """``text`` with the block ``made`` between its marks, or at its end where it has none. All
    else stays as it is; the block gets the line feeds of the text. Marks in a code fence only
    tell of marks.

    Raises :class:`Refused` unless the marks are there once each and in order.
    """
    marks = _marks(text)
    crlf = text.count("\r\n") == text.count("\n") > 0
    made = made.replace("\n", "\r\n") if crlf else made
    feed = "\r\n" if crlf else "\n"
    if not marks:
        ends = next((n for n in (2, 1) if text.endswith(feed * n)), 0 if text else 2)
        return text + feed * (2 - ends) + made + feed
    if _kinds(marks) != _PAIR:
        raise Refused(f"{PATH}: {_wrong(marks)}: nothing was written; leave one {BEGIN} and {END}")
    return text[: marks[0].begins] + made + text[marks[1].ends :]


class _Mark(NamedTuple):
    """A line that is a mark: which one, the line from 1, and where it begins and ends."""

    kind: str
    line: int
    begins: int
    ends: int


def _marks(text: str) -> list[_Mark]:
    """The marks outside of code fences; all, where only so they are a pair: a fence that somebody
    left open above the map takes its start for code."""
    every, outside, fenced = list[_Mark](), list[_Mark](), list[_Mark]()
    at, fence = 0, ""
    for number, line in enumerate(text.split("\n"), start=1):
        mark = _MARK.fullmatch(line.strip(" \t\r\ufeff"))
        if mark:
            begins = at + line.startswith("\ufeff")
            one = _Mark(mark[1], number, begins, at + len(line.removesuffix("\r")))
            every.append(one)
            (fenced if fence else outside).append(one)
        elif _kinds(outside[-1:]) != ["start"]:  # within the map a hand may have broken its fence
            fence, before = _fence_after(line, fence), fence
            if before and not fence:
                fenced.clear()
        at += len(line) + 1
    outside += fenced  # a fence that does not end is none
    return every if _kinds(every) == _PAIR and outside and _kinds(outside) != _PAIR else outside


def _kinds(marks: Iterable[_Mark]) -> list[str]:
    return [mark.kind for mark in marks]


def _fence_after(line: str, fence: str) -> str:
    """The signs of the code fence that is open after ``line``, empty for none."""
    found = _FENCE.match(line)
    if not found:
        return fence
    if not fence:
        return found["signs"]
    return "" if found["signs"].startswith(fence) and not found["info"].strip() else fence


def _wrong(marks: Sequence[_Mark]) -> str:
    """What is wrong with marks that are not one start and then one end."""
    of = {kind: [str(m.line) for m in marks if m.kind == kind] for kind in ("start", "end")}
    for kind, lines in of.items():
        if len(lines) > 1:
            return f"the map's {kind} mark is there {len(lines)} times, in lines {_few(lines)}"
        if not lines:
            (other,) = (one for one in of if one != kind)
            return f"the map's {other} mark is there, in line {of[other][0]}, and no {kind} mark"
    start, end = of["start"][0], of["end"][0]
    return f"the map's end mark, in line {end}, is before its start mark, in line {start}"


def _few(lines: Sequence[str]) -> str:
    more = len(lines) - _MOST_LINES
    return ", ".join(lines[:_MOST_LINES]) + (f" and {more} more" if more > 0 else "")
