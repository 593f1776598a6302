"""Cards: one task in a note, with the checks that say when it is done."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from memory_palace.core.kinds import PRIORITIES
from memory_palace.core.outline import Outline
from memory_palace.core.problems import Problem
from memory_palace.core.text import did_you_mean, split_lines, stem

if TYPE_CHECKING:  # what reads Markdown takes long to import, and `--help` has no use for it
    from memory_palace.core.note import Note

FOLDER = "palace/dispatch_corridor/cards/"
STATUSES = ("active", "blocked", "completed")
SECTIONS = ("Goal", "Inputs", "Outputs", "Acceptance checks", "Next action")
NOT_DECIDED = "Not decided yet."
NONE = "None."

_ITEM = re.compile(r"([ \t]*)(?:[-*+]|\d{1,9}[.)])(?:[ \t]+(.*?))?\s*\Z")
_BOX = re.compile(r"\[(.)\](?:[ \t]+(.*))?\Z")
_HASHES = re.compile(r" {0,3}#{1,6}(?:[ \t]|\Z)")
_UNDERLINE = re.compile(r" {0,3}(?:=+|-+)[ \t]*\Z")
_STARTS_A_BLOCK = re.compile(
    r"#{1,6}(?!\S)|>|[-+*](?!\S)|(?:[-*_]\s*){3,}\Z|```|~~~|\$\$|%%|<(?!https?:)"
    r"|(\d{1,9})[.)](?!\S)"
)


@dataclass(frozen=True, slots=True)
class Check:
    """One acceptance check: its line (from 1), whether it holds, what it says."""

    line: int
    done: bool
    text: str


@dataclass(frozen=True, slots=True)
class Card:
    """One card. ``status`` is None where it is none of :data:`STATUSES`; ``goal`` and
    ``next_action`` are their sections' text, ``inputs`` and ``outputs`` their list items."""

    path: str
    title: str
    status: str | None
    priority: str | None
    goal: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    checks: tuple[Check, ...]
    next_action: str
    created: datetime | None = None
    updated: datetime | None = None
    problems: tuple[Problem, ...] = ()
    unread: int | None = None
    """The line from which no check was looked for, in a card that is too long; None in others."""

    @property
    def open_checks(self) -> tuple[Check, ...]:
        """The checks that do not hold."""
        return tuple(check for check in self.checks if not check.done)

    @property
    def holds(self) -> bool:
        """True if there is a check, and all hold."""
        return bool(self.checks) and not self.open_checks and self.unread is None

    @property
    def is_completed(self) -> bool:
        """True if the card says so and its checks agree."""
        return self.status == "completed" and self.holds


def is_card(found: "Note") -> bool:
    """True for a note in the cards' folder that is to be read as a card."""
    if found.type is None:
        return stem(found.path).lower() != "readme"
    return found.type == "card"


def parse(path: str, text: str) -> Card:
    """The card in ``text``. Never raises: what is wrong is in ``problems``."""
    from memory_palace.core import markdown, note

    found = note.parse(path, text)
    outline = markdown.read(found.body, found.body_line)
    body = _Body(text, outline)
    problems = list(found.problems)
    checks = _checks(path, body, problems)
    if outline.read_to is not None:
        what = "too long to be read: checks from here on are not seen; move text to another note"
        problems.append(Problem(path, outline.read_to, what))
    return Card(
        path=path,
        title=note.note_title(found, outline.first_heading),
        status=_status(found, problems),
        priority=found.priority,
        goal=body.prose("Goal"),
        inputs=body.items("Inputs"),
        outputs=body.items("Outputs"),
        checks=checks,
        next_action=body.prose("Next action"),
        created=found.created,
        updated=found.updated,
        problems=tuple(problems),
        unread=outline.read_to,
    )


def faults(card: Card) -> list[Problem]:
    """Why the card cannot count as completed, a problem for each open check."""
    found = [
        Problem(card.path, c.line, f"open check: {c.text or '(empty)'}") for c in card.open_checks
    ]
    if card.unread is not None:
        found.append(Problem(card.path, card.unread, "checks from here on are not seen"))
    if not card.checks:
        what = "no acceptance check: write one as `- [ ] …` under `## Acceptance checks`"
        found.append(Problem(card.path, None, what))
    return found


def _status(found: "Note", problems: list[Problem]) -> str | None:
    line = found.lines.get("status", 1)
    if found.type is None and not found.broken:
        what = "no `type`: write `type: card`"
        problems.append(Problem(found.path, found.lines.get("type", 1), what, "warning"))
    if found.status is None and "status" not in found.lines and not found.broken:
        what = f"no `status`, counts as active: write {', '.join(STATUSES[:-1])} or {STATUSES[-1]}"
        problems.append(Problem(found.path, line, what, "warning"))
        return "active"
    if found.status in STATUSES:
        return found.status
    if found.status is not None:
        what = f"`status` is {found.status!r}{did_you_mean(found.status, STATUSES)}"
        problems.append(Problem(found.path, line, what))
    return None


class _Body:
    """The sections of a card, by their names in any case: headings of the second level, with all
    that stands under them."""

    def __init__(self, text: str, outline: Outline) -> None:
        # As Markdown reads it, a return that ends no line is a space.
        self.lines = [line.rstrip("\r").replace("\r", " ") for line in split_lines(text)]
        self.blocks = outline.blocks

    def spans(self, name: str) -> list[tuple[int, int]]:
        """From which line (from 1) to before which one its text stands, for each of that name."""
        found = []
        headings = [b for b in self.blocks if b.kind == "heading"]
        for number, heading in enumerate(headings):
            if heading.level == 2 and heading.heading.casefold().rstrip(":") == name.casefold():
                after = (h.start for h in headings[number + 1 :] if h.level <= heading.level)
                end = next(after, len(self.lines) + 1)
                found.append((self._below(heading.start), end))
        return found

    def _below(self, heading: int) -> int:
        """The line after a heading, whose last line underlines it where it has no hashes."""
        if _HASHES.match(self.lines[heading - 1]):
            return heading + 1
        numbers = range(heading + 1, len(self.lines) + 1)
        return next((n + 1 for n in numbers if _UNDERLINE.match(self.lines[n - 1])), heading + 1)

    def prose(self, name: str) -> str:
        """The text of its first section, without blank lines around it."""
        spans = self.spans(name)
        return "\n".join(self.lines[spans[0][0] - 1 : spans[0][1] - 1]).strip() if spans else ""

    def listed(self, name: str) -> list[tuple[int, bool, str]]:
        """The list items of its sections: line, whether none is around it, first line of text."""
        found = []
        for start, end in self.spans(name):
            for block in self.blocks:
                if block.kind not in ("bullet_list", "ordered_list"):
                    continue
                if start <= block.start < end:
                    found += self._items((block.start, *block.cuts))
        return found

    def _items(self, starts: Sequence[int]) -> list[tuple[int, bool, str]]:
        found: list[tuple[int, bool, str]] = []
        margin = None
        for line in starts:
            match = _ITEM.match(self.lines[line - 1])
            if match:
                indent = len(match[1].expandtabs(4))
                margin = indent if margin is None else margin
                found.append((line, indent < margin + 2, match[2] or ""))
        return found

    def items(self, name: str) -> tuple[str, ...]:
        """The outermost list items of its sections, each with its first line."""
        return tuple(text for _, outermost, text in self.listed(name) if outermost)


def _checks(path: str, body: _Body, problems: list[Problem]) -> tuple[Check, ...]:
    found = []
    for line, outermost, text in body.listed("Acceptance checks"):
        box = _BOX.match(text)
        if box:
            found.append(Check(line, box[1] in "xX", (box[2] or "").strip()))
        elif outermost:
            what = "a check without a box, counts as open: write `- [ ] …`"
            problems.append(Problem(path, line, what, "warning"))
            found.append(Check(line, False, text))
    return tuple(found)


@dataclass(frozen=True, slots=True)
class Draft:
    """What a new card says, each text on one line."""

    title: str
    goal: str = ""
    inputs: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    next_action: str = ""
    priority: str | None = None


def render(draft: Draft, created: str, agent: str) -> str:
    """The text of a new, active card. ``created`` is a day."""
    from memory_palace.core import frontmatter

    assert draft.priority is None or draft.priority in PRIORITIES, draft.priority
    metadata = {
        "title": draft.title,
        "type": "card",
        "priority": draft.priority,
        "created": created,
        "agent": agent,
        "status": "active",
    }
    texts = {
        "Goal": [_line(draft.goal)] if draft.goal else [],
        "Inputs": [f"- {_line(item)}" for item in draft.inputs],
        "Outputs": [f"- {_line(item)}" for item in draft.outputs],
        "Acceptance checks": [f"- [ ] {check}" for check in draft.checks],
        "Next action": [_line(draft.next_action or NOT_DECIDED)],
    }
    body = [f"# {draft.title}"]
    for name in SECTIONS:
        body += ["", f"## {name}", *([""] if texts[name] else []), *texts[name]]
    return frontmatter.change("\n".join(body) + "\n", metadata)


def _line(text: str) -> str:
    """``text`` as a paragraph: what would start another kind of block is escaped."""
    start = _STARTS_A_BLOCK.match(text)
    if not start:
        return text
    at = len(start[1] or "")
    return f"{text[:at]}\\{text[at:]}"


def completed(text: str, day: str, next_action: str = "") -> str:
    """``text`` with status ``completed``, ``updated`` and its next action; all else as it was.

    Without ``next_action`` it is :data:`NONE`, and one that starts with "None" stays. Raises
    :class:`BadInput` if the metadata cannot be changed safely.
    """
    from memory_palace.core import frontmatter

    values: Mapping[str, Any] = {"status": "completed", "updated": day}
    return frontmatter.change(_with_next(text, next_action), values)


def _body(text: str) -> _Body:
    from memory_palace.core import markdown, note

    found = note.parse("", text)
    return _Body(text, markdown.read(found.body, found.body_line))


def _with_next(text: str, next_action: str) -> str:
    body = _body(text)
    newline = "\r\n" if "\r\n" in text else "\n"
    wanted = _line(next_action or NONE)
    spans = body.spans("Next action")
    if not spans:
        ending = "" if text.endswith("\n") else newline
        longer = f"{text}{ending}{newline}## Next action{newline}{newline}{wanted}{newline}"
        # A fence or a comment that is never closed would swallow it.
        return longer if _body(longer).spans("Next action") else text
    if not next_action and re.match(r"none\b", body.prose("Next action"), re.IGNORECASE):
        return text
    start, end = spans[0]
    below = (b.start for b in body.blocks if b.kind == "heading" and start <= b.start < end)
    end = min(below, default=end)  # a section under it stays
    lines = text.split("\n")
    last = end > len(body.lines)
    ending = newline.removesuffix("\n")
    new = [ending, wanted + ending] + ([] if last else [ending])
    lines[start - 1 : end - 1] = new
    if last and lines[-1] != "":
        lines.append("")
    return "\n".join(lines)
