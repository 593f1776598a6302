"""Files and lines on their way into the archive, which is written before the live file."""

from collections.abc import Sequence

from memory_palace.core import archiving, frontmatter, topics
from memory_palace.core.archiving import Planned
from memory_palace.core.errors import Changed, Refused
from memory_palace.core.memories import Memory
from memory_palace.core.problems import Problem
from memory_palace.core.text import stem
from memory_palace.core.topics import CATEGORIES, Entry
from memory_palace.memory.pen import Pen


def put_file(pen: Pen, items: Sequence[Planned], problems: list[Problem]) -> list[Planned]:
    """Move one note or topic file; entries of a topic file that is there already join it.

    Raises :class:`Refused` or :class:`BadInput` if the file cannot be moved as it is.
    """
    (item,) = items
    if not item.half and item.kind == "topic" and pen.read(item.target) is not None:
        gone = _join(pen, item, item.entries, problems)
        if gone:
            _log(pen, item, gone)
        return [item] if gone else []
    if not item.half:
        before = pen.read(item.source)
        if before is None:
            raise Refused(f"it is gone from {item.source}: run this again")
        if any(e.key in archiving.KEYS for e in frontmatter.split(before).entries or ()):
            raise Refused(
                f"it has {', '.join(archiving.KEYS)} of its own: `palace restore {item.source}` "
                "ends a restore that was cut off; else rename the keys first"
            )
        _stamped(pen, before, item)  # metadata that is broken is found before anything moves
        pen.move(item.source, item.target)
    text = pen.read(item.target)
    if text is None:
        raise Changed(f"{item.target} is gone: run this again")
    pen.put(item.target, _stamped(pen, text, item))
    _log(pen, item, item.entries)
    return [item]


def put_entries(pen: Pen, items: Sequence[Planned], problems: list[Problem]) -> list[Planned]:
    """Move single entries of one topic file into its archived file, which is made if need be."""
    wanted = [memory for item in items for memory in item.entries]
    gone = {memory.id for memory in _join(pen, items[0], wanted, problems)}
    moved = [item for item in items if item.id in gone]
    for item in moved:
        _log(pen, item, ())
    return moved


def _join(
    pen: Pen, item: Planned, wanted: Sequence[Memory], problems: list[Problem]
) -> list[Memory]:
    """Move the lines of ``wanted``; those that could be moved. A line that the archive has already,
    with the same id and text, only leaves the live file: a kill left it in both."""
    live = pen.read(item.source)
    if live is None:
        raise Refused(f"it is gone from {item.source}: run this again")
    cold = pen.read(item.target)
    there = {entry.key: entry for entry in topics.parse(item.target, cold or "").entries}
    here = {(e.line, e.text): e for e in topics.parse(item.source, live).entries}
    lines = live.split("\n")
    joining: list[str] = []
    leaving: list[tuple[Entry, None]] = []
    gone: list[Memory] = []
    for memory in wanted:
        entry = here.get((memory.line, memory.text))
        if entry is None:
            raise Changed(f"{item.source} changed underneath: run this again")
        same = there.get(memory.id)
        if same is None:
            if cold is None:
                cold = _new_file(pen, entry, item)
            joining.append(lines[entry.line - 1].strip())
            there[memory.id] = entry
        elif (same.category, topics.normal(same.text)) != (
            entry.category,
            topics.normal(entry.text),
        ):
            what = f"^{memory.id} has another text in {item.target}:{same.line}"
            what += ": take the id off one of the lines"
            problems.append(Problem(item.source, entry.line, what))
            continue
        leaving.append((entry, None))
        gone.append(memory)
    if gone and cold is not None:
        cold = topics.with_lines(cold, joining)
        if not archiving.is_stamped(cold):
            cold = _stamped(pen, cold, item)
        if not {memory.id for memory in gone} <= {
            entry.key for entry in topics.parse(item.target, cold).entries
        }:
            raise Refused(f"{item.target} ends inside a code fence: close it, and run this again")
        pen.put(item.target, cold)
        pen.put(item.source, topics.with_changed(live, leaving))
    return gone


def find(path: str, text: str, memory: Memory) -> Entry:
    """The entry of ``memory`` in its file. Raises :class:`Changed` if it is not where it was."""
    for entry in topics.parse(path, text).entries:
        if entry.line == memory.line and entry.text == memory.text:
            return entry
    raise Changed(f"{path} changed underneath: nothing was written to it; run this again")


def _new_file(pen: Pen, entry: Entry, item: Planned) -> str:
    category = CATEGORIES[entry.category]
    if item.source != category.path:  # a topic file of a person's own making
        category = category._replace(heading=stem(item.source))
    return _stamped(pen, topics.new_file(category), item)


def _stamped(pen: Pen, text: str, item: Planned) -> str:
    return archiving.stamped(text, archiving.day(pen.now), item.source, item.reason)


def _log(pen: Pen, item: Planned, entries: Sequence[Memory]) -> None:
    listed = [memory.id for memory in entries]
    pen.log(
        "archived",
        item.id,
        reason=pen.reason or item.reason,
        path=item.source,
        to=item.target,
        entries=listed or None,
    )
