"""What an agent should know at the start: who it serves, the essential story, what is waiting."""

import os
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import dates, layers, note
from memory_palace.core.layers import L1, TOKEN, Told
from memory_palace.core.links import TREE
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable
from memory_palace.files import read, starter
from memory_palace.session import mended, notes, wings
from memory_palace.session.wings import Wing

IDENTITY = f"{TREE}grand_hall/identity.md"
SHARED = (f"{TREE}reflection_wing",)
"""What is for every wing: it fills what a wing leaves of the essential story."""

FAULTS_DAYS = 7
"""A fault that has not come up for so long is not shown any more."""

MOST_HEALTH = 8
"""Faults that are shown: the story has its room."""

_LINE = 300
_FEWEST = 120
"""Characters below which no story is begun."""


class Wake(NamedTuple):
    """The wake-up. ``identity`` is the digest of its file, empty where there is none; ``notes``
    are those in the story, ``more`` how many of the wing are not; ``said`` are lines about what
    is missing."""

    text: str
    wing: str
    identity: str
    notes: tuple[Told, ...]
    more: int
    said: tuple[str, ...]


def wake(
    root: Path,
    now: datetime,
    wing: str | None = None,
    budget: int | None = None,
    cwd: Path | None = None,
    mailbox: Sequence[str] = (),
    faults: bool = True,
) -> Wake:
    """Layers 0 and 1, then the lines of the ``mailbox`` and of hooks that failed.

    ``wing`` names one; without it that of the repository at ``cwd``, else the whole palace.
    ``budget`` is in tokens, for all of it. Raises :class:`Refused` for an unknown wing.
    """
    chosen = wings.named(root, wing) if wing is not None else wings.at(root, cwd)
    most = budget * TOKEN if budget is not None else None
    digest, identity, faulty = _identity(root, most)
    lines = layers.joined(
        (
            section("Mailbox", mailbox),
            health_section(fault_lines(root, now) if faults else ()),
        )
    )
    left = None if most is None else most - len(layers.joined((identity, lines))) - 4
    if left is not None and left < 0:
        lines, left = "", most - len(identity) - 2 if most else 0
    story, kept, more, said = _story(root, chosen, left)
    text = layers.joined((identity, story, lines))
    name = chosen.name if chosen else ""
    return Wake(text, name, digest if identity else "", kept, more, (*faulty, *said))


def fault_lines(root: Path, now: datetime) -> list[str]:
    """Faults of hooks that came up lately, newest first, each with what to run."""
    oldest = dates.stamp(now - timedelta(days=FAULTS_DAYS))
    found = []
    for fault in mended.standing(root):
        if fault.last >= oldest:
            times = f"{fault.times} times, last " if fault.times > 1 else ""
            found.append(f"{fault.message} ({times}{fault.last})")
    return found


def _identity(root: Path, most: int | None) -> tuple[str, str, tuple[str, ...]]:
    """The digest of the identity, its text, and a line where it is there and cannot be read."""
    got = read.read(root, IDENTITY)
    if isinstance(got, read.Unreadable):
        is_there = os.path.lexists(root / IDENTITY)
        said = f"{got.problem.path}: {got.problem.message}"
        return "", "", (said,) if is_there else ()
    room = layers.LONGEST_IDENTITY if most is None else min(layers.LONGEST_IDENTITY, most)
    body = hidden(note.parse(IDENTITY, got.text).body)
    if starter.UNFILLED in body:
        return "", f"[{IDENTITY} is not filled in yet]", ()
    text = layers.identity(body, IDENTITY, room)
    return got.sha256, text, ()


def section(heading: str, lines: Iterable[str]) -> str:
    """Lines under a heading; empty without any."""
    items = [layers.clipped(f"- {printable(line)}", _LINE) for line in lines]
    return "\n".join([f"# {heading}", "", *items]) if items else ""


def health_section(lines: Sequence[str]) -> str:
    """The first few faults, and how many more there are."""
    more = len(lines) - MOST_HEALTH
    counted = [f"{more} more: `palace doctor` lists them"] if more > 0 else []
    return section("Health", [*lines[:MOST_HEALTH], *counted])


def _story(
    root: Path, wing: Wing | None, left: int | None
) -> tuple[str, tuple[Told, ...], int, tuple[str, ...]]:
    """The essential story in at most ``left`` characters, its notes, how many more there are."""
    found = notes.listed(root, wing.folders if wing else (TREE.rstrip("/"),))
    told = notes.best(root, found, L1.notes)
    shared = []
    if wing and len(told) < L1.notes:
        others = notes.listed(root, SHARED)
        shared = notes.best(root, others, L1.notes - len(told))
    others_left = len(found) - len(told)
    room = min(L1.all or 0, left if left is not None else L1.all or 0)
    head = f"# Essential story{f': {printable(wing.name)}' if wing else ''}\n\n"
    if not (told or shared) or room < _FEWEST:
        return "", (), len(found), found.said
    known = _known(root) if wing is None else ""
    room -= len(head) + len(_more(len(found), wing, known))
    shown = layers.compose(told, L1._replace(all=room), others_left, shared)
    if not shown.text:
        return "", (), len(found), found.said
    text = head + shown.text + _more(shown.more, wing, known)
    return text, shown.notes, shown.more, found.said


def _more(count: int, wing: Wing | None, known: str) -> str:
    """The line that counts what is left out, and says how to see it."""
    if not count:
        return ""
    if wing:
        return f"\n\n[{count} more: `palace recall {printable(wing.name)}`]"
    return f"\n\n[{count} more: `palace recall WING`{known}]"


def _known(root: Path) -> str:
    names = [wing.name for wing in wings.every(root)]
    return layers.clipped(f"; wings: {printable(', '.join(names))}", 200) if names else ""
