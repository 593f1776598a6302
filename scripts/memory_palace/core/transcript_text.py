"""Conversations as plain text: who speaks stands before each turn, or a person's lines are quoted.

User: Why does it fail?             > Why does it fail?
Assistant: The path is wrong.       The path is wrong.
"""

import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from memory_palace.core import dates
from memory_palace.core.text import short_id
from memory_palace.core.transcript_turns import Reader, Record, text_of

CLIENT = "text"

HEAD_LINES = 400
"""Lines by which the form is told."""

MOST_FENCED = 2_000
"""Lines of a code fence: of a longer one, or one that is not closed, speakers count again."""

_SPEAKERS = {
    **dict.fromkeys("user human you me".split(), "user"),
    **dict.fromkeys(
        "assistant ai claude chatgpt gpt codex gemini copilot bot".split(), "assistant"
    ),
}
_TIME = r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?)?(?:Z|[+-]\d\d:?\d\d)?"
_SPOKEN = re.compile(
    rf"\s{{0,3}}(?:[#]{{1,6}}\s+|[-]\s+)?(?:[\[(](?P<before>{_TIME})[\])]\s*)?[*_]{{0,3}}"
    rf"(?P<who>[A-Za-z]{{2,12}})[*_]{{0,3}}(?:\s*[\[(](?P<after>{_TIME})[\])])?[*_]{{0,3}}\s*:"
    r"[*_]{0,3}[ \t]?(?P<rest>.*)\Z",
    re.DOTALL,
)
_HEADED = re.compile(
    rf"\s{{0,3}}#{{1,6}}\s+(?P<who>[A-Za-z]{{2,12}})(?:\s+\(?(?P<at>{_TIME})\)?)?\s*\Z"
)
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_RULE = re.compile(r"(---)[ \t]*\Z")


def form(lines: Iterable[str]) -> str:
    """The form of a text that begins with ``lines``: ``spoken``, ``quoted``, or empty where it is
    no conversation of both sides."""
    said: list[str] = []
    quoted = groups = 0
    before = first = None
    for line, fenced in _fences(lines):
        found = None if fenced else speaker(line)
        if found:
            said.append(found[0])
        if line.strip() and not fenced:
            now = line.startswith(">")
            first = now if first is None else first
            quoted += now
            groups += now != before
            before = now
    if said.count("user") and said.count("assistant"):
        return "spoken"
    return "quoted" if first and quoted and groups >= 2 else ""


def speaker(line: str) -> tuple[str, str, str] | None:
    """The role of who begins to speak in ``line``, the time that it names, and what is said in
    it; None if nobody does."""
    found = _SPOKEN.match(line)
    if found:
        role = _SPEAKERS.get(found["who"].lower())
        if role:
            return role, found["before"] or found["after"] or "", found["rest"]
    found = _HEADED.match(line)
    role = _SPEAKERS.get(found["who"].lower()) if found else None
    return (role, found["at"] or "", "") if found and role else None


def records(lines: Iterable[str], shape: str) -> Iterator[Record]:
    """What is said in ``lines`` (without their ends), of the form ``shape``: objects with ``role``,
    ``text`` and ``timestamp``. What stands before the first speaker has the role ``before``."""
    parts = _spoken(lines) if shape == "spoken" else _quoted(lines)
    for role, at, said in parts:
        text = "\n".join(said).strip("\n")
        if text.strip():
            yield {"type": "said", "role": role, "text": text, "timestamp": at}


def _spoken(lines: Iterable[str]) -> Iterator[tuple[str, str, list[str]]]:
    role, at, said = "before", "", list[str]()
    for line, fenced in _fences(lines):
        found = None if fenced else speaker(line)
        if found is None:
            said.append(line)
        else:
            yield role, at, said
            role, at, rest = found
            said = [rest]
    yield role, at, said


def _quoted(lines: Iterable[str]) -> Iterator[tuple[str, str, list[str]]]:
    role, said = "before", list[str]()
    for line, fenced in _fences(lines):
        is_quote = not fenced and line.startswith(">")
        wanted = "user" if is_quote else "assistant" if role != "before" else role
        if not line.strip():
            wanted = role
        if wanted != role:
            yield role, "", said
            role, said = wanted, []
        said.append(line[1:].removeprefix(" ") if is_quote else line)
    yield role, "", said


def _fences(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line, and whether it stands in a code fence that is closed, or in metadata on top."""
    held: list[str] = []
    sign = ""
    for number, line in enumerate(lines):
        found = _FENCE.match(line) or (_RULE.match(line) if sign == "---" or not number else None)
        if not sign:
            if found:
                sign, held = found[1], [line]
            else:
                yield line, False
            continue
        held.append(line)
        if found and found[1].startswith(sign) and not line.strip("`~- \t"):
            yield held[0], sign == "---"
            yield from ((one, True) for one in held[1:])
            sign, held = "", []
        elif len(held) > MOST_FENCED:
            yield from ((one, False) for one in held)
            sign, held = "", []
    yield from ((one, False) for one in held)


class Text(Reader):
    """Reads what :func:`records` gives. The session is named after its first turns."""

    client = CLIENT

    def __init__(self) -> None:
        super().__init__()
        self._last = 0
        self._seen: dict[str, int] = {}
        self._first = self._begun = ""

    def earlier_sessions(self) -> Iterator[str]:
        """The names that the session had while the first line of its second turn was written."""
        for end in range(len(self._begun) - 1, -1, -1):
            for torn in ("", "\ufffd"):  # or a character of it
                yield short_id(self._first, self._begun[:end] + torn)

    def _take(self, record: Record, at: datetime | None) -> None:
        role, said = text_of(record, "role"), text_of(record, "text")
        if role not in ("user", "assistant"):
            self.passed["lines before anybody speaks"] += said.count("\n") + 1
            return
        if not self.about.session:
            begun = said.strip().split("\n", 1)[0][:200]
            if self._first:
                self.about.session, self._begun = short_id(self._first, begun), begun
            else:
                self._first = f"{role} {begun}"
        ref = short_id(role, said)
        self._seen[ref] = self._seen.get(ref, 0) + 1
        name = f"{ref}-{self._seen[ref]}"
        self._last = self._add(role, name, said, at, self._last)


def day_in(name: str) -> str:
    """The day that a file's name says, ``2026-11-29``; empty where it says none."""
    for found in re.finditer(r"(?<!\d)\d{4}-\d\d-\d\d(?!\d)", name):
        if dates.parse(found[0]):
            return found[0]
    return ""
