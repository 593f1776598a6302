"""Diaries of agents: ``palace/chambers/<agent>/diary/YYYY-MM-DD.md``, a file a day (in UTC)."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from memory_palace.core import diary, frontmatter, markdown, privacy
from memory_palace.core.diary import Entry
from memory_palace.core.errors import BadInput, Missing, Refused
from memory_palace.core.problems import Problem, printable
from memory_palace.core.text import did_you_mean, sha256, slug
from memory_palace.files import chambers, identity, read
from memory_palace.files import config as configs
from memory_palace.memory import notes_checks, pen
from memory_palace.memory.pen import Pen

_DAY = timedelta(days=1)
_AROUND = 100
"""Characters, or lines, that are more than what stands around an entry."""


@dataclass(frozen=True, slots=True)
class Written:
    """An entry and its file; ``new`` is false where the entry was there already. ``said`` are
    lines worth telling: what was taken out."""

    path: str
    agent: str
    entry: Entry
    new: bool
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Page:
    """An entry that was read, its file, and the chamber's name."""

    path: str
    agent: str
    entry: Entry


@dataclass(frozen=True, slots=True)
class Found:
    """Entries by time, how many earlier ones are left out, and files that cannot be read."""

    pages: tuple[Page, ...]
    more: int
    problems: tuple[Problem, ...]


def write(
    root: Path,
    now: datetime,
    text: str,
    agent: str = "",
    topic: str = "",
    reason: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> Written:
    """Add an entry to the diary of ``agent`` (by default :func:`own`), at ``now``.

    Private spans and secrets are left out first. The same text within a minute is one entry.
    Raises :class:`BadInput` for a text that is empty, private or no text, :class:`Refused` for a
    day that is full or would swallow the entry, :class:`Changed` if the file changed underneath.
    """
    if not text.strip():
        raise BadInput("there is no text: write what the diary is to keep")
    if len(text) > diary.LONGEST:
        raise BadInput(
            f"the text has {len(text):,} characters of {diary.LONGEST:,}: make it a note, and "
            "link to that from the diary"
        )
    with pen.begin(root, now, "palace diary write", reason, say) as held:
        name = chambers.name(root, agent or identity.harness(held.config.identity))
        path = f"{chambers.FOLDER}{name}/{diary.FOLDER}/{diary.name_of(now)}"
        kept, said = notes_checks.clean("the diary", text)
        about = diary.topic(privacy.redact(topic).text)
        moment = now.replace(second=0, microsecond=0)
        one = Entry(moment, diary.safe(kept), about, held.by)
        before = held.read(path)
        there = diary.entries(before or "", _midnight(now))
        if diary.is_again(one, (*there, *_late(held, path, now))):
            return Written(path, name, one, False, tuple(said))
        ready = _ready(before, now, name)
        _check_room(path, ready, one)
        try:
            text = diary.with_entry(ready, one)
        except ValueError as why:
            raise Refused(f"{path}: {why}: close there what is open") from None
        _put(held, path, before, text)
        return Written(path, name, one, True, tuple(said))


def own(root: Path) -> str:
    """Whose diary it is where nobody is named: the configured identity's harness, else the client
    in whose shell this runs, else ``cli``."""
    return identity.harness(configs.load(root).identity)


def find(
    root: Path,
    agent: str,
    since: datetime | None = None,
    until: datetime | None = None,
    last: int | None = None,
) -> Found:
    """The entries of ``agent``, whatever way its name is spelled: the ``last`` of those from
    ``since`` to ``until``, both inclusive.

    Raises :class:`Refused` for an agent without a diary, naming the nearest that has one.
    """
    wanted = slug(chambers.name(root, agent))
    days = [(path, name) for path, name in _days(root) if slug(name) == wanted]
    if not days:
        known = {name for _, name in _days(root)}
        hint = did_you_mean(wanted, known) or ': `palace diary write "…"` begins one'
        raise Refused(f"{printable(agent)} has no diary{hint}")
    pages: list[Page] = []
    problems: list[Problem] = []
    for path, name in days:
        day = diary.day_of(path)
        assert day is not None
        if (since and day + _DAY <= since) or (until and day > until):
            continue
        got = read.read(root, path)
        if isinstance(got, read.Unreadable):
            problems.append(got.problem)
            continue
        pages += [
            Page(path, name, one)
            for one in diary.entries(got.text, day)
            if not (since and one.at < since.replace(second=0, microsecond=0))
            and not (until and one.at > until)
        ]
    pages.sort(key=lambda page: page.entry.at)
    shown = pages[-last:] if last else pages
    return Found(tuple(shown), len(pages) - len(shown), tuple(problems))


def agents(root: Path) -> tuple[str, ...]:
    """The agents that have a diary, by name."""
    return tuple(sorted({name for _, name in _days(root)}))


def _days(root: Path) -> Iterator[tuple[str, str]]:
    """The path of each day's file and the name of its chamber, by path."""
    for name in chambers.agents(root):
        folder = f"{chambers.FOLDER}{name}/{diary.FOLDER}"
        if (root / folder).is_symlink() or not (root / folder).is_dir():
            continue
        for file in sorted(os.listdir(root / folder)):
            if diary.day_of(file):
                yield f"{folder}/{file}", name


def _ready(before: str | None, now: datetime, name: str) -> str:
    """The day's text as it may take an entry: with its metadata, if it never had any."""
    fresh = diary.new_day(now, name)
    if before is None or not before.strip("\ufeff \t\r\n"):
        return fresh
    if frontmatter.split(before).present:
        return before
    newline = "\r\n" if "\r\n" in before else "\n"
    bom = "\ufeff" if before.startswith("\ufeff") else ""
    return bom + fresh.replace("\n", newline) + newline + before.removeprefix(bom)


def _late(held: Pen, path: str, now: datetime) -> tuple[Entry, ...]:
    """The entries of the day before, where that ended just now."""
    if now - _midnight(now) >= diary.AGAIN:
        return ()
    earlier = now - _DAY
    got = read.read(held.root, path.rsplit("/", 1)[0] + f"/{diary.name_of(earlier)}")
    return () if isinstance(got, read.Unreadable) else diary.entries(got.text, _midnight(earlier))


def _check_room(path: str, text: str, one: Entry) -> None:
    """Raises :class:`Refused` where the day would be longer than what is read as Markdown."""
    added = len(diary.heading(one)) + len(one.text) + _AROUND
    lines = one.text.count("\n") + _AROUND
    if (
        len(text) + added + lines > markdown.MOST_CHARACTERS
        or text.count("\n") + lines > markdown.MOST_LINES
    ):
        raise Refused(f"{path} is full: make it a note, and link to that from tomorrow's diary")


def _put(held: Pen, path: str, before: str | None, text: str) -> None:
    """Write the day's file and log it."""
    if before is None:
        notes_checks.check_new(held.root, path, held.config.exclude)
    if "\0" in text or any("\ud800" <= character <= "\udfff" for character in text):
        raise BadInput("the text is not UTF-8, or has a NUL in it: write it as UTF-8")
    held.put(path, text)
    if held.read(path) != text:
        raise Missing(f"{path} did not read back as it was written: check the disk")
    base = sha256(before) if before is not None else None
    held.log("noted", path, path=path, digest=sha256(text), base=base)


def _midnight(moment: datetime) -> datetime:
    return moment.replace(hour=0, minute=0, second=0, microsecond=0)
