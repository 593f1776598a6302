"""What became of topic entries: their text, their place, and how strong each is."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from memory_palace.core.memories import Memory
from memory_palace.core.strength import Lifecycle
from memory_palace.core.topics import normal
from memory_palace.core.worddiff import Hunk, changes, overlap

Kind = Literal[
    "added",
    "edited",
    "moved",
    "archived",
    "restored",
    "forgotten",
    "pinned",
    "unpinned",
    "reinforced",
    "rescored",
    "removed",
]

ALIKE = 0.6
"""How much of the shorter of two lines is the same if one, without an id, became the other."""
MOST_PAIRS = 10_000
"""Pairs of such lines that are looked at."""


@dataclass(frozen=True, slots=True)
class Standing:
    """How a memory stands."""

    strength: float
    lifecycle: Lifecycle
    evidence: int


@dataclass(frozen=True, slots=True)
class EntryChange:
    """What became of one entry. ``path`` and ``line`` are where it stands now (a removed one:
    where it stood), ``was`` its file before where that is another. ``before`` and ``after`` are
    None for one that was added or removed."""

    kind: Kind
    id: str
    category: str
    text: str
    path: str
    line: int
    was: str = ""
    words: tuple[Hunk, ...] = ()
    before: Standing | None = None
    after: Standing | None = None


def compare(before: Sequence[Memory], after: Sequence[Memory]) -> tuple[EntryChange, ...]:
    """The changes between two folds at the same moment, by path and line.

    An entry is the same if it has its id, or its text, or (without an id) much of its text in the
    same file. What only decay would change is no change.
    """
    found = []
    pairs, gone, new = _paired(before, after)
    for one, two in pairs:
        change = _changed(one, two)
        if change:
            found.append(change)
    found += [_only("removed", memory, before=_standing(memory)) for memory in gone]
    found += [_only("added", memory, after=_standing(memory)) for memory in new]
    return tuple(sorted(found, key=lambda change: (change.path, change.line, change.id)))


def _paired(
    before: Sequence[Memory], after: Sequence[Memory]
) -> tuple[list[tuple[Memory, Memory]], list[Memory], list[Memory]]:
    olds = {memory.id: memory for memory in before}
    pairs = [(olds.pop(memory.id), memory) for memory in after if memory.id in olds]
    same = {two.id for _, two in pairs}
    left = [memory for memory in after if memory.id not in same]
    by_text: dict[tuple[str, str], list[Memory]] = defaultdict(list)
    for memory in olds.values():
        by_text[memory.category, normal(memory.text)].append(memory)
    new = []
    for memory in left:
        told = by_text.get((memory.category, normal(memory.text)))
        if told:
            pairs.append((olds.pop(told.pop(0).id), memory))
        else:
            new.append(memory)
    # A line that had an id when it was written cannot have become one with another id.
    bare = [memory for memory in olds.values() if not memory.written]
    for one, two in _alike(bare, new):
        pairs.append((olds.pop(one.id), two))
        new.remove(two)
    return pairs, list(olds.values()), new


def _alike(bare: list[Memory], new: list[Memory]) -> Iterable[tuple[Memory, Memory]]:
    if len(bare) * len(new) > MOST_PAIRS:
        return
    close = []
    for one in bare:
        for two in new:
            if (one.path, one.category) == (two.path, two.category):
                share = overlap(one.text, two.text)
                if share >= ALIKE:
                    close.append((-share, one.line, two.line, one, two))
    taken: set[str] = set()
    for _, _, _, one, two in sorted(close, key=lambda found: found[:3]):
        if not {f"-{one.id}", f"+{two.id}"} & taken:
            taken |= {f"-{one.id}", f"+{two.id}"}
            yield one, two


def _changed(one: Memory, two: Memory) -> EntryChange | None:
    kind = _kind(one, two)
    if kind is None:
        return None
    words = tuple(changes(one.text, two.text, two.line))
    return EntryChange(
        kind,
        two.id,
        two.category,
        two.text,
        two.path,
        two.line,
        "" if one.path == two.path else one.path,
        words,
        _standing(one),
        _standing(two),
    )


def _kind(one: Memory, two: Memory) -> Kind | None:
    if one.archived != two.archived:
        return "archived" if two.archived else "restored"
    if one.path != two.path:
        return "moved"
    if (one.text, one.category, one.enforced) != (two.text, two.category, two.enforced):
        return "edited"
    if two.forgotten and not one.forgotten:
        return "forgotten"
    if one.pinned != two.pinned:
        return "pinned" if two.pinned else "unpinned"
    if two.evidence > one.evidence:
        return "reinforced"
    if (one.evidence, one.cue, one.forgotten) != (two.evidence, two.cue, two.forgotten):
        return "rescored"
    return "rescored" if one.lifecycle != two.lifecycle else None


def _only(
    kind: Kind, memory: Memory, before: Standing | None = None, after: Standing | None = None
) -> EntryChange:
    return EntryChange(
        kind,
        memory.id,
        memory.category,
        memory.text,
        memory.path,
        memory.line,
        before=before,
        after=after,
    )


def _standing(memory: Memory) -> Standing:
    return Standing(memory.strength, memory.lifecycle, memory.evidence)
