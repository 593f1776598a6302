"""A session as a note: Markdown with a heading for each thing that was said, ``## 14:03 User``.

A turn ends with its id on a line of its own, ``^5feceb66ffc8``: it can be linked to, and is known
again whatever is edited above it.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from memory_palace.core import diary, excerpts, frontmatter
from memory_palace.core.text import short_id, slug
from memory_palace.core.transcripts import About, Turn

FOLDER = "sessions"
TYPE = "session"

PART_BYTES = 1_000_000
PART_TURNS = 2_000
PART_LINES = 10_000
"""What one note has at most, but for its last turn; the session goes on in the next part."""

LONGEST_TITLE = 80

_ROLES = {"user": "User", "assistant": "Assistant", "tool": "Assistant"}
_FENCES = re.compile(r"`{3,}")
_IDS = re.compile(r"^\^([0-9a-f]{12})[ \t]*\r?$", re.MULTILINE)
_OPENED = re.compile(r"(`{3,})[^`]*\Z")
_NAME = re.compile(r"-([0-9a-f]{12})(?:-part-(\d{1,6}))?\.md\Z")
_SPOKE = re.compile(r"## (?:[\d: -]{5,17} )?(User|Assistant)\b")
_MARKS = " \t#>*_`\"'“”"
_LEAD = re.compile(r"\A(?:[\s#>*_`]|[-+](?:\s|\Z)|\d{1,3}[.)](?:\s|\Z))+")
_PART = re.compile(r" \(part \d{1,6}\)\Z")
_MARKUP = re.compile(r"^[ \t]{0,12}(?:#|`{3}|~{3}|=+[ \t]*$|-+[ \t]*$|\$\$)|[<\r]|%%|\$\$", re.M)


def session_id(client: str, session: str, agent: str) -> str:
    """12 hex digits that name a session, whatever path its transcript has."""
    return short_id(client, session, agent)


def name(day: str, title: str, key: str, part: int = 1) -> str:
    """The file's name of a session's note, or of one of its further parts."""
    more = f"-part-{part}" if part > 1 else ""
    return f"{day}-{slug(title) if title else TYPE}-{key}{more}.md"


def named(path: str) -> tuple[str, int] | None:
    """The session and the part that a note's name says; None for other names."""
    found = _NAME.search(path)
    return (found[1], int(found[2] or 1)) if found else None


def ids(text: str) -> set[int]:
    """The ids of all turns in a note, as numbers."""
    return {int(found, 16) for found in _IDS.findall(text)}


def standing(text: str) -> int:
    """How many turns stand in a note; ids that a tool's output shows are no turns."""
    found: set[str] = set()
    fence = ""
    for line in text.split("\n"):
        if fence:
            if line.startswith(fence) and not line.strip("` \t\r"):
                fence = ""
        elif opened := _OPENED.match(line):
            fence = opened[1]
        elif known := _IDS.match(line):
            found.add(known[1])
    return len(found)


def last_role(text: str) -> str:
    """The role of whom a note's last heading names; empty for any other heading."""
    at = text.rfind("\n## ")
    found = _SPOKE.match(text, at + 1) if at >= 0 else None
    return found[1].lower() if found else ""


def title(prompt: str) -> str:
    """A title made of the first thing that a person said; empty if that has no words."""
    for line in prompt[:10_000].split("\n"):
        plain = " ".join(_LEAD.sub("", line[:1_000], count=1).strip(_MARKS).split())
        if any(map(str.isalnum, plain)):
            plain = plain.replace("[[", "").replace("]]", "")
            return excerpts.cut(plain, LONGEST_TITLE)
    return ""


def title_of_part(whole: str, part: int) -> str:
    """The title of a further part; ``whole`` may be that of any part."""
    plain = _PART.sub("", whole)
    return f"{plain} (part {part})" if part > 1 else plain


def head(values: Mapping[str, Any]) -> str:
    """The metadata block of a new note; keys without a value are left out."""
    lines = [
        f"{key}: {frontmatter.scalar(value)}\n"
        for key, value in values.items()
        if value not in (None, "", [])
    ]
    return f"---\n{''.join(lines)}---\n"


def about_keys(about: About, session: str) -> dict[str, Any]:
    """The keys of a note that say whose session it is."""
    return {
        "client": about.client,
        "version": about.version,
        "source_id": session,
        "subagent": about.agent,
        "forked_from": about.forked_from,
    }


def turn(one: Turn, text: str, key: str, day: str, before: str, back: str = "") -> str:
    """A turn as it stands in a note.

    ``day`` is the note's own, ``before`` the role of the turn above it; ``back`` the time of the
    turn that it goes back to, where that is an earlier one.
    """
    if one.role == "tool":
        below = before in ("assistant", "tool") and not back
        top = "" if below else f"{_heading(one, day, back)}\n\n"
        failed = ", failed" if one.failed else ""
        return f"{top}*Tool{failed}:*\n\n{fenced(text)}\n\n^{key}\n"
    return f"{_heading(one, day, back)}\n\n{safe(text)}\n\n^{key}\n"


def _heading(one: Turn, day: str, back: str) -> str:
    said = f"## {clock(one.at, day)} {_ROLES[one.role]}" if one.at else f"## {_ROLES[one.role]}"
    return f"{said} (back to {back})" if back else said


def clock(at: datetime | None, day: str) -> str:
    """When a turn was, within the session's ``day``; with its date on any other day."""
    if at is None:
        return "an earlier turn"
    stamp = at.isoformat()
    return stamp[11:16] if stamp[:10] == day else f"{stamp[:10]} {stamp[11:16]}"


def fenced(text: str) -> str:
    """``text`` as a block of code that nothing in it ends."""
    longest = max((len(run) for run in _FENCES.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}text\n{text}\n{fence}"


def safe(text: str) -> str:
    """``text`` as it can stand below a heading: see :func:`diary.safe`."""
    return diary.safe(text) if _MARKUP.search(text) else text.strip("\n")


CLOSINGS = ("", "```\n\n", "~~~\n\n", "-->\n\n", "%%\n\n", "$$\n\n")
"""What ends something that a hand left open at the end of a note."""


def appended(text: str, added: str) -> str:
    """``text``, an existing note, with ``added`` below it, which begins with a heading or a line
    of tools. What a hand left open above it is closed, so that it stands as it is written."""
    from memory_palace.core import markdown

    block = frontmatter.split(text)
    gap = "" if text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    probe = "## probe\n"
    for closing in CLOSINGS:
        found = markdown.read(f"{text[block.body_at :]}{gap}{closing}{probe}").blocks
        if found and found[-1].kind == "heading" and found[-1].heading == "probe":
            return f"{text}{gap}{closing}{added}"
    return f"{text}{gap}{added}"
