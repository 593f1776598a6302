"""A day of a diary: Markdown with a heading for each entry, ``## 14:03`` in UTC.

Only such headings divide a file: all else in it, a person's lines too, belongs to the entry above.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from memory_palace.core import frontmatter, markdown
from memory_palace.core.text import nfc

FOLDER = "diary"
AGAIN = timedelta(minutes=1)
"""The same text by the same writer within so long is one entry."""

LONGEST_TOPIC = 80

LONGEST = 100_000
"""Characters of an entry."""

_CLOSINGS = ("```", "~~~", "-->")
"""What ends a code fence or a comment that nothing else ends."""

_NAME = re.compile(r"(\d{4}-\d\d-\d\d)\.md\Z")
_HEADING = re.compile(
    r"(?P<time>[01]?\d|2[0-3]):(?P<minute>[0-5]\d)(?::[0-5]\d)?(?:\s+(?P<topic>\S.*?))??"
    r"(?:\s*\((?P<by>[\w.-]{1,60}@[\w.-]{1,60})\))?\s*\Z"
)
_WRITER = re.compile(r"(?:\s*\([\w.-]+@[\w.-]+\))+\Z")
_ATX = re.compile(r" {0,3}#{1,6}(?=[ \t]|\Z)")


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry. ``at`` is the minute that its heading names, ``by`` who wrote it
    (``pi@laptop``); ``start`` and ``end`` are lines of the file, from 1, inclusive."""

    at: datetime
    text: str
    topic: str = ""
    by: str = ""
    start: int = 0
    end: int = 0


def day_of(path: str) -> datetime | None:
    """The day that a file's name says, at its first moment in UTC; None for any other name."""
    found = _NAME.search(path)
    try:
        return datetime.fromisoformat(f"{found[1]}T00:00:00+00:00") if found else None
    except ValueError:
        return None


def name_of(moment: datetime) -> str:
    """The file's name for the day of ``moment`` (in UTC)."""
    return f"{moment.date().isoformat()}.md"


def new_day(day: datetime, agent: str) -> str:
    """A file without entries: the same bytes on every machine, so that git can join two."""
    date = day.date().isoformat()
    head = {
        "title": f"Diary of {agent}, {date}",
        "type": "diary",
        "hall": "hall_diary",
        "created": date,
        "agent": agent,
    }
    keys = "".join(f"{key}: {frontmatter.scalar(value)}\n" for key, value in head.items())
    return f"---\n{keys}---\n"


def entries(text: str, day: datetime) -> tuple[Entry, ...]:
    """The entries of a day's file by time; two of one minute as they stand there."""
    _, blocks = _parts(text)
    found = []
    for start, heading, lines in blocks:
        named = _HEADING.match(heading)
        assert named is not None
        moment = day.replace(hour=int(named["time"]), minute=int(named["minute"]))
        said = "\n".join(line.removesuffix("\r") for line in lines[1:]).strip("\n")
        end = start + len(lines) - 1
        while end > start and not lines[end - start].strip():
            end -= 1
        found.append(Entry(moment, said, named["topic"] or "", named["by"] or "", start, end))
    return tuple(sorted(found, key=lambda one: one.at))


def with_entry(text: str, one: Entry) -> str:
    """``text`` with one more entry, all entries by time. Nothing of ``text`` is left out: whole
    entries move where two machines wrote them out of order. Line feeds stay as they are.

    A code fence or a comment that a hand left open above the entry is closed. Raises ValueError
    where the entry would not stand as one all the same.
    """
    before = len(_parts(text)[1])
    for closing in ("", *_CLOSINGS):
        made = _joined(text, one, closing)
        if len(_parts(made)[1]) == before + 1:
            return made
    raise ValueError("what stands above would swallow the entry")


def _joined(text: str, one: Entry, closing: str) -> str:
    """``text`` with one more entry, and the line ``closing`` (empty: none) above that."""
    ending = "\r" if "\r\n" in text else ""
    head, blocks = _parts(text)
    clock = one.at.strftime("%H%M")
    parts = [("", head)] if text else []
    parts += sorted(((_clock(said), lines) for _, said, lines in blocks), key=lambda part: part[0])
    at = sum(when <= clock for when, _ in parts)
    if closing and at:
        when, lines = parts[at - 1]
        parts[at - 1] = when, [*_ended(lines, ending)[:-1], closing + ending, ending]
    made = [f"## {heading(one)}", "", *one.text.split("\n")]
    parts.insert(at, (clock, [line + ending for line in made]))
    lines = [line for _, part in parts for line in _ended(part, ending)]
    lines[-1] = ""
    return "\n".join(lines)


def heading(one: Entry) -> str:
    """What stands after the ``## `` of an entry."""
    topic = f" {one.topic}" if one.topic else ""
    return f"{one.at.strftime('%H:%M')}{topic}" + (f" ({one.by})" if one.by else "")


def is_again(one: Entry, there: Iterable[Entry]) -> bool:
    """True if an entry of the same writer and text stands within :data:`AGAIN` among ``there``."""
    minute = one.at.replace(second=0, microsecond=0)
    said = " ".join(nfc(one.text).split())
    return any(
        abs(other.at - minute) <= AGAIN
        and (other.by, other.topic) == (one.by, one.topic)
        and " ".join(nfc(other.text).split()) == said
        for other in there
    )


def topic(text: str) -> str:
    """``text`` as it can stand in a heading: one line, no mark of a heading at its ends, at most
    :data:`LONGEST_TOPIC` characters."""
    plain = " ".join(text.split())[:LONGEST_TOPIC].strip(" #")
    return _WRITER.sub("", plain).strip(" #")


def safe(text: str) -> str:
    """``text`` as it can stand below an entry's heading without ending or hiding anything.

    Its headings go down until the highest is of level 3. A code fence or a comment that nothing
    closes is closed; what would still reach beyond it is made a quote, line by line.
    """
    text = text.replace("\r\n", "\n").replace("\r", "\n").strip("\n")
    lowered = _lowered(text)
    for closing in ("", *(f"\n{one}" for one in _CLOSINGS)):
        if _stands(lowered + closing):
            return lowered + closing
    return "\n".join(f"> {line}".rstrip() for line in text.split("\n"))


def _lowered(text: str) -> str:
    """``text`` with its headings below those of entries."""
    found = [block for block in markdown.read(text).blocks if block.kind == "heading"]
    highest = min((block.level for block in found), default=3)
    if highest >= 3:
        return text
    lines = text.split("\n")
    for block in reversed(found):
        at = block.start - 1
        level = min(block.level + 3 - highest, 6)
        bare = lines[at].lstrip(" ")
        if _ATX.match(lines[at]):
            lines[at] = "#" * level + bare.lstrip("#")
        else:  # underlined: the line of signs goes, the text becomes a heading of one line
            signs = {"=", "-"}
            under = next(n for n in range(at + 1, len(lines)) if set(lines[n].strip()) <= signs)
            joined = " ".join(line.strip() for line in lines[at:under])
            lines[at : under + 1] = ["#" * level + " " + joined]
    return "\n".join(lines)


def _stands(text: str) -> bool:
    """True if a heading after ``text`` is one, whatever follows, and ``text`` has none of the two
    top levels."""
    above = f"## 00:00\n\n{text}\n\n"
    # A formula is only one where something closes it.
    found = markdown.read(f"{above}## 00:01\n\n$$\n").blocks
    tops = [block.start for block in found if block.kind == "heading" and block.level <= 2]
    return tops == [1, above.count("\n") + 1]


def _clock(said: str) -> str:
    """Hour and minute of a heading, as they sort."""
    return said.split(":")[0].zfill(2) + said.split(":")[1][:2]


def _parts(text: str) -> tuple[list[str], list[tuple[int, str, list[str]]]]:
    """The lines above the first entry, and of each entry its line, heading and lines."""
    block = frontmatter.split(text)
    body = text[block.body_at :]
    at = [
        (found.start, found.heading)
        for found in markdown.read(body, block.body_line).blocks
        if found.kind == "heading" and found.level == 2 and _HEADING.match(found.heading)
    ]
    lines = text.split("\n")
    starts = [*(start for start, _ in at), len(lines) + 1]
    blocks = [
        (start, said, lines[start - 1 : after - 1])
        for (start, said), after in zip(at, starts[1:], strict=True)
    ]
    return lines[: starts[0] - 1], blocks


def _ended(lines: list[str], ending: str) -> list[str]:
    """``lines`` with a blank line at their end."""
    if not lines:
        return []
    if lines[-1].strip():  # the file's last line, and no line feed after it
        return [*lines[:-1], lines[-1].removesuffix("\r") + ending, ending]
    return [*lines[:-1], ending]
