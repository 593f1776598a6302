"""Lines of topic files, written again: what a person wrote there keeps its id, age and evidence."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime

from memory_palace.core import topics
from memory_palace.core.errors import Changed, Refused
from memory_palace.core.text import short_id
from memory_palace.core.topics import Entry
from memory_palace.memory.pen import Pen
from memory_palace.memory.state import State

_SHOWN_WEAKEST = 3


def rewrite(
    pen: Pen,
    state: State,
    path: str,
    changes: Mapping[Entry, Entry],
    added: str = "",
    check: Callable[[str, str], None] = lambda before, after: None,
) -> str:
    """Write the topic file ``path`` with ``changes`` and with the line ``added`` at its end.

    The file's other lines that have no id get theirs. A line whose age would be lost by the write
    gets an event that keeps it. ``check`` is given the text before and after, and may raise.
    Gives the new text. Raises :class:`Changed` if the file is not what ``state`` was made from,
    :class:`Refused` if a line at its end would be code.
    """
    before = pen.read(path)
    if before != state.texts.get(path):
        raise Changed(f"{path} changed underneath: nothing was written; run this again")
    whole = dict(changes)
    here = [(key, entry) for key, entry in state.entries.items() if entry.path == path]
    for key, entry in here:
        if not entry.block:
            whole.setdefault(entry, replace(entry, block=key))
    kept = [
        (replace(entry, block=key), state.written(entry))
        for key, entry in here
        if _is_untold(state, key) and (entry in whole or not state.is_committed(entry))
    ]
    known = {entry for _, entry in here}
    kept += [(new, state.written(old)) for old, new in changes.items() if old not in known]
    text = topics.new_file(_category(added, path)) if before is None else before
    text = topics.with_changed(text, [*whole.items()])
    if added:
        text = topics.with_line(text, added)
        if not reads(path, text, added):
            raise Refused(f"{path} ends inside a code fence: close it, and run this again")
    if text != before:
        check(before or "", text)
        pen.put(path, text)
        for entry, moment in kept:
            _keep(pen, entry, moment)
    return text


def reads(path: str, text: str, line: str) -> bool:
    """True if the last line of ``text``, an entry's ``line``, is read as one: no fence is open."""
    entries = topics.parse(path, text).entries
    return bool(entries) and topics.render(entries[-1]) == line


def check_room(state: State, path: str, text: str) -> None:
    """Raises :class:`Refused` if a topic file would be too long, with what to archive first."""
    if not path.startswith(topics.FOLDER) or len(text) <= topics.MOST_CHARACTERS:
        return
    here = [memory for memory in state.live if memory.path == path and not memory.safe]
    weakest = sorted(here, key=lambda m: (m.strength, m.id))[:_SHOWN_WEAKEST]
    listed = ", ".join(f"^{memory.id} ({memory.strength:.2f})" for memory in weakest)
    raise Refused(
        f"{path} would have {len(text):,} characters of {topics.MOST_CHARACTERS:,}: run "
        "`palace archive`, or forget the weakest first"
        + (f" and archive then: {listed}" if listed else "")
    )


def _is_untold(state: State, key: str) -> bool:
    known = state.tallies.get(key)
    return known is None or known.told is None


def _category(line: str, path: str) -> topics.Category:
    (entry,) = topics.parse(path, line).entries
    return topics.CATEGORIES[entry.category]


def _keep(pen: Pen, entry: Entry, written: datetime) -> None:
    """Log a line that a person wrote as it counted so far: one event, whoever logs it."""
    pen.log(
        "remembered",
        entry.block,
        uid=short_id("adopted", entry.block) + "0000",
        at=written,
        category=entry.category,
        text=entry.text,
        cue="explicit" if entry.pinned else "behavioral",
        path=entry.path,
    )
