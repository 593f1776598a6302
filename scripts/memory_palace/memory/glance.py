"""Topic entries at a glance: those that fit a text, and whether they stand, in milliseconds.

For hooks, which start a process each. ``memory/state.py`` reads and folds all there is; here the
few entries that fit are looked at. Their lifecycle comes out the same, but for the caps between
active and provisional, which are no matter: both are shown.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import (
    events,
    filenames,
    memories,
    private_spans,
    tally,
    tokens,
    topics,
)
from memory_palace.core.errors import BadInput
from memory_palace.core.keywords import Term
from memory_palace.core.memories import Memory
from memory_palace.core.proof import Weighed, weighed
from memory_palace.core.strength import STANDING
from memory_palace.core.topics import Entry
from memory_palace.files import read, roots
from memory_palace.files.walk import walk
from memory_palace.index import scratch
from memory_palace.memory import tallies

MOST_BYTES = 256 * 1024
"""Bytes of topic files that are read, those on top first; the six full ones have 72 KB."""

MOST_FILES = 64
MOST_LOOKED_AT = 30
"""Entries that fit whose lifecycle is looked at, the best first."""

BLAME_SECONDS = 0.4
"""How long git may take to say when a line was written that no event tells of."""

_ENTRY = re.compile(r"[-*+][ \t]+\[")


class Lines(NamedTuple):
    """The live entries of a palace with their ids, and the texts of their files."""

    pairs: tuple[tuple[str, Entry], ...]
    texts: dict[str, str]


def lines(root: Path) -> Lines:
    """Read the live topic files as they stand now; one that cannot be read is left out."""
    texts: dict[str, str] = {}
    left = MOST_BYTES
    for path in _files(root):
        got = read.read(root, path)
        if isinstance(got, read.Text) and len(got.text) <= left and _ENTRY.search(got.text):
            texts[path] = got.text
            left -= len(got.text)
    entries = [entry for path, text in texts.items() for entry in topics.parse(path, text).entries]
    return Lines(tuple(without_private(topics.keyed(entries)[0], texts)), texts)


def visible(texts: Mapping[str, str]) -> dict[str, dict[int, str]]:
    """{path: {line: what its entry says}} of the topic files that have private spans, without
    those; an entry of which nothing is left is not in it."""
    found = {}
    for path, text in texts.items():
        shown = private_spans.hidden(text)
        if shown is not text:
            entries = topics.parse(path, shown).entries
            found[path] = {e.line: e.text for e in entries if not private_spans.is_blank(e.text)}
    return found


def without_private(
    pairs: Iterable[tuple[str, Entry]], texts: Mapping[str, str]
) -> Iterator[tuple[str, Entry]]:
    """(id, entry) of the ``pairs`` as they may be shown."""
    shown = visible(texts)
    for key, entry in pairs:
        if entry.path not in shown:
            yield key, entry
        elif said := shown[entry.path].get(entry.line):
            yield key, replace(entry, text=said)


def words_of(found: Lines) -> scratch.Texts:
    """What the entries say, to look words up in; close it."""
    return scratch.Texts([tokens.indexable(entry.text) for _, entry in found.pairs])


def fitting(
    found: Lines, words: scratch.Texts, terms: Sequence[Term], asked: Weighed | None
) -> list[tuple[str, Entry, float]]:
    """(id, entry, worth) of the entries that keywords prove to be about a question, best first.

    ``asked`` are its terms by their rarity in the index; without one, by that in the entries.
    """
    places = words.places([term.expression for term in terms])
    if asked is None:
        asked = weighed(len(found.pairs), map(len, places))
    has: dict[int, list[int]] = {}
    for place, having in enumerate(places):
        for number in having:
            has.setdefault(number, []).append(place)
    proven = [
        (*found.pairs[number], asked.worth(these))
        for number, these in has.items()
        if asked.proves(these)
    ]
    return sorted(proven, key=lambda one: (-one[2], one[1].path, one[1].line))[:MOST_LOOKED_AT]


def speaking_of(found: Lines, path: str) -> list[tuple[str, Entry, float]]:
    """(id, entry, worth) of the entries that name a file, its stem or its folder, closest first."""
    named = []
    for key, entry in found.pairs:
        how = filenames.speaks_of(entry.text, path)
        if how is not None:
            named.append((key, entry, 1.0 - how.rank / 10))
    return sorted(named, key=lambda one: (-one[2], one[1].path, one[1].line))[:MOST_LOOKED_AT]


def standing(
    root: Path, found: Lines, wanted: Iterable[tuple[str, Entry]], now: datetime
) -> dict[str, Memory]:
    """{id: memory} of those that are active or provisional.

    Raises :class:`BadInput` or :class:`Missing` if the log cannot be read.
    """
    pairs = list(wanted)
    if not pairs:
        return {}
    counted = tallies.some(root, now, [key for key, _ in pairs])
    untold = any(counted.get(key, tally.NOTHING).told is None for key, _ in pairs)
    until = now + events.SKEW
    made = memories.add_up(pairs, counted, now, _Written(root, found, now, untold), until)
    return {memory.id: memory for memory in made if memory.lifecycle in STANDING}


class _Written:
    """When lines were written that no event tells of, as ``memory.state`` has it."""

    def __init__(self, root: Path, found: Lines, now: datetime, needed: bool) -> None:
        if needed:
            from memory_palace.memory import state  # with git and the note's parser

            self._written = state.Written(root, found.texts, now, BLAME_SECONDS)

    def __call__(self, entry: Entry) -> datetime:
        return self._written(entry)


def _files(root: Path) -> Iterator[str]:
    """The paths of live topic files, those on top first, few enough to be read."""
    top = topics.FOLDER.rstrip("/")
    try:
        place = roots.inside(root, top)
    except BadInput:
        return
    count = 0
    for folder, folders, names in walk(place):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        inside = Path(folder).relative_to(root).as_posix()
        for name in sorted(names):
            if name.lower().endswith(".md") and not name.startswith("."):
                count += 1
                if count > MOST_FILES:
                    return
                yield f"{inside}/{name}"
