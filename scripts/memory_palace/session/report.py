"""The situation report of a palace: its memories as they stand, and what is near to the work."""

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core import queries, report
from memory_palace.core.errors import PalaceError
from memory_palace.core.layers import flat
from memory_palace.core.memories import Memory
from memory_palace.core.private_spans import hidden
from memory_palace.core.report import BUDGET, Near, Report
from memory_palace.core.report_text import Candidate
from memory_palace.files import read, roots
from memory_palace.memory import state as states
from memory_palace.memory.state import State
from memory_palace.session import withheld

if TYPE_CHECKING:
    from memory_palace.memory.alike import Entries

PROPOSALS = "palace/reflection_wing/proposals"
_TITLE = 200


def compose(
    root: Path,
    now: datetime,
    prompt: str = "",
    files: Sequence[str] = (),
    system_tokens: int = 0,
    entries: "Entries | None" = None,
    room: int = BUDGET,
    state: State | None = None,
) -> Report:
    """The report of ``root`` at ``now``, for a prompt and the files at hand.

    Near is what ``entries`` has near vectors for, or what has words in common. ``room`` is in
    tokens, where there is less than the whole budget. ``state`` is used where the caller has it.
    Raises what :func:`memory.state.load` does.
    """
    found = withheld.without_private(state or states.load(root, now))
    kind, words = queries.classified(prompt)
    return report.compose(
        found.live,
        now,
        kind,
        words,
        near_prompt(found, prompt, entries),
        near_files(found, files, entries),
        candidates(root),
        room,
        system_tokens,
    )


def near_prompt(state: State, prompt: str, entries: "Entries | None" = None) -> list[Near]:
    """The entries near to a prompt, in no order; none for a prompt that asks nothing."""
    if not prompt.strip():
        return []
    from memory_palace.core import prompts, report_near

    question = "" if prompts.is_social(prompt) else prompts.question(prompt)
    if not question:
        return []
    comparable = _comparable(state)
    if entries is None or not entries.usable:
        return report_near.to_prompt(question, comparable)
    return _by_vectors(question, comparable, entries, report_near.PROMPT)


def near_files(state: State, files: Sequence[str], entries: "Entries | None" = None) -> list[Near]:
    """The entries near to files, in no order; those that name a file are nearest."""
    if not files:
        return []
    from memory_palace.core import report_near

    comparable = _comparable(state)
    found = {n.memory.id: n for n in report_near.to_files(files, comparable)}
    if entries is not None and entries.usable:
        for path in files[: report_near.MOST_FILES]:
            for near in _by_vectors(path, comparable, entries, report_near.FILES):
                before = found.get(near.memory.id)
                if before is None or before.similarity < near.similarity:
                    found[near.memory.id] = near
    return list(found.values())


def _comparable(state: State) -> list[Memory]:
    return [memory for memory in state.live if memory.lifecycle != "dropped"]


def _by_vectors(
    text: str, memories: Sequence[Memory], entries: "Entries", above: float
) -> list[Near]:
    nearest = entries.nearest(text, [memory.text for memory in memories])
    return [Near(memories[place], cosine) for place, cosine in nearest if cosine > above]


def candidates(root: Path) -> list[Candidate]:
    """The proposals that wait for a person, the ones with most evidence first."""
    try:
        folder = roots.inside(root, PROPOSALS)
        names = sorted(name for name in os.listdir(folder) if name.endswith(".md"))
    except (OSError, PalaceError):
        return []
    if not names:
        return []
    from memory_palace.core import proposals  # most palaces have none

    found = []
    for name in names:
        got = read.read(root, f"{PROPOSALS}/{name}")
        if isinstance(got, read.Unreadable):
            continue
        one = proposals.parse(f"{PROPOSALS}/{name}", got.text).proposal
        if one and one.status == "proposed":
            said = flat(hidden(one.title or one.text), _TITLE)
            found.append((-len(one.evidence), one.id, Candidate(one.id, one.destination, said)))
    return [candidate for _, _, candidate in sorted(found)]
