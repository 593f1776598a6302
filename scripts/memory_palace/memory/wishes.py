"""What a person wished, in that person's words, as proposals: never memories by themselves."""

import contextlib
import json
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path

from memory_palace.core import proposals, topics, wishes
from memory_palace.core.drafts import Material
from memory_palace.core.errors import BadInput
from memory_palace.core.ledger import Entry
from memory_palace.core.proposals import Evidence, Proposal
from memory_palace.core.wishes import Wish
from memory_palace.files import atomic, ledgers, roots
from memory_palace.memory import entries as memories
from memory_palace.memory import pen
from memory_palace.memory import proposals as queues
from memory_palace.memory import state as states
from memory_palace.memory.pen import Pen

DESTINATION = "topic"
MOST_OPEN = 20
"""Wishes that wait to be decided. Those beyond are counted: they stand in the ledgers."""

LEFT = f"{roots.DERIVED}/ledger/wishes.json"
"""How many were only counted since the last one was proposed: derived, and of this machine."""


def propose(root: Path, entries: Iterable[Entry], now: datetime, path: str = "") -> tuple[str, ...]:
    """Propose what a person wished in ``entries`` of the ledger ``path`` (looked for, if it is not
    given); the ids of the new proposals.

    Not proposed is what was before, whatever became of it, and what a memory says already. Raises
    as :func:`pen.begin` does.
    """
    said = [
        (entry, wish)
        for entry in entries
        if entry.role == "user"
        for wish in wishes.wishes(entry.text)
    ]
    if not said:
        return ()
    with pen.begin(root, now, "palace observe", "what a person wished in a session") as held:
        new = _new(held, said, path)
        waiting = [one for one in queues.load(root).open if one.destination == DESTINATION]
        room = max(MOST_OPEN - len(waiting), 0)
        queues.scan(held, queues.Found(tuple(new[:room]), 0))
        _count(root, len(new) - room if room < len(new) else 0, anew=room > 0 and bool(new))
        return tuple(one.id for one in new[:room])


def left_out(root: Path) -> int:
    """How many wishes were said while :data:`MOST_OPEN` waited, since one was proposed."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        found = json.loads((root / LEFT).read_text("utf-8")).get("left")
        return found if isinstance(found, int) and found > 0 else 0
    return 0


def _new(held: Pen, said: Iterable[tuple[Entry, Wish]], path: str) -> list[Proposal]:
    """The proposals of wishes that nobody has made before, each once."""
    state = states.load(held.root, held.now)
    queue = queues.load(held.root)
    ids = {event.id for event in state.events if event.event in ("applied", "rejected")} | queue.ids
    texts = {topics.normal(o.text) for o in queue.proposals if o.destination == DESTINATION}
    texts |= {topics.normal(memory.text) for memory in state.live if not memory.forgotten}
    found: list[Proposal] = []
    for entry, wish in said:
        one = _proposal(held, entry, wish, path)
        if one is None or one.id in ids or topics.normal(one.text) in texts:
            continue
        ids = ids | {one.id}
        texts.add(topics.normal(one.text))
        found.append(one)
    return found


def _proposal(held: Pen, entry: Entry, wish: Wish, path: str) -> Proposal | None:
    """The proposal that a wish makes; None for a text that can be no entry."""
    try:
        text = memories.clean(wish.text)
    except BadInput:
        return None
    if not topics.reads_back(topics.Entry("", 1, wish.category, text)):
        return None
    day = entry.at.date().isoformat()
    where = path or _ledger_of(held.root, entry)
    return queues.build(
        Material(
            DESTINATION,
            text,
            f'"{text}", said in entry {entry.id} (`palace recall {entry.id}`)',
            (Evidence(proposals.link_to(where), day),) if where else (),
            "",
            held.now.date().isoformat(),
            entry.by or held.by,
            category=wish.category,
        ),
        wish.category,
        text,
        held.now,
    )


def _ledger_of(root: Path, entry: Entry) -> str:
    """The ledger that holds an entry; empty where none does."""
    there = (path for path in ledgers.every(root) if ledgers.mentions(root, path, entry.id))
    return next(there, "")


def _count(root: Path, more: int, anew: bool) -> None:
    before = 0 if anew else left_out(root)
    if more or (anew and left_out(root)):
        with contextlib.suppress(OSError):
            atomic.write(root / LEFT, json.dumps({"left": before + more}).encode())
