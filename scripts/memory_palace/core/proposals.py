"""Proposals: what is to become a rule, a principle or a skill, as a note that a person decides.

The note holds in full, in a fence, the page that approval would write, so it may be edited before.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from memory_palace.core import dates, frontmatter, note
from memory_palace.core.problems import Problem
from memory_palace.core.promotion import DESTINATIONS, WING
from memory_palace.core.text import did_you_mean, sha256, slug

FOLDER = f"{WING}proposals/"
STATUSES = ("proposed", "applied", "rejected")

_ID = re.compile(r"[0-9a-f]{12}\Z")
_FENCE = re.compile(r"(`{3,}|~{3,})[ \t]*(?:markdown|md)\Z")
_QUOTE = "> "
_LINK = re.compile(r"\[\[[^\[\]\n]+\]\]\Z")


@dataclass(frozen=True, slots=True)
class Evidence:
    """A link (``[[topics/lessons#^…]]``) and its day (``2026-11-29``, or empty)."""

    link: str
    day: str = ""


@dataclass(frozen=True, slots=True)
class Proposal:
    """One proposal. ``text`` is what it is about, ``draft`` the page that approval would write.

    ``decided_by`` to ``page`` (a link) are empty until it is decided; ``decided`` is a stamp.
    """

    id: str
    destination: str
    category: str
    title: str
    text: str
    reason: str
    created: datetime
    draft: str
    evidence: tuple[Evidence, ...] = ()
    agent: str = ""
    confidence: str = ""
    status: str = "proposed"
    decided_by: str = ""
    decided: str = ""
    decision_reason: str = ""
    page: str = ""
    path: str = ""

    @property
    def links(self) -> tuple[str, ...]:
        """The links of the evidence."""
        return tuple(evidence.link for evidence in self.evidence)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A proposal read, or what is wrong with its file."""

    proposal: Proposal | None
    problems: tuple[Problem, ...] = ()


def proposal_id(destination: str, category: str, text: str) -> str:
    """12 hex digits: the same proposal has the same id on every machine and in every scan."""
    return sha256(f"{destination}|{category}|{text}")[:12]


def path_of(title: str, identity: str) -> str:
    """Where a new proposal's file goes."""
    return f"{FOLDER}{slug(title)}-{identity}.md"


def link_to(path: str) -> str:
    """The link to a note by its whole path, which no other note shares."""
    return f"[[{path.removeprefix('palace/').removesuffix('.md')}]]"


def render(proposal: Proposal) -> str:
    """The proposal's file."""
    p = proposal
    keys: dict[str, str] = {
        "title": p.title,
        "type": "proposal",
        "status": p.status,
        "id": p.id,
        "destination": p.destination,
        "category": p.category,
        "confidence": p.confidence,
        "created": dates.stamp(p.created),
        "agent": p.agent,
    }
    head = [f"{key}: {frontmatter.scalar(value)}" for key, value in keys.items() if value]
    if p.evidence:
        head += ["evidence:", *(f"  - {frontmatter.scalar(link)}" for link in p.links)]
    head.append(f"reason: {frontmatter.scalar(p.reason)}")
    for key in ("decided_by", "decided", "decision_reason", "page"):
        if getattr(p, key):
            head.append(f"{key}: {frontmatter.scalar(getattr(p, key))}")
    fence = _fence_for(p.draft)
    rest = [
        "---",
        f"# {p.title}",
        "",
        "## Proposed",
        "",
        f"To become: {p.destination.replace('_', ' ')}.",
        "",
        _QUOTE + p.text,
        "",
        "## Evidence",
        "",
        *(f"- {e.link}, {e.day}" if e.day else f"- {e.link}" for e in p.evidence),
        "",
        "## Draft",
        "",
        "What approval writes. Change it here first if it should read otherwise.",
        "",
        f"{fence}markdown",
        *p.draft.removesuffix("\n").split("\n"),
        fence,
        "",
        "## How to decide",
        "",
        "```sh",
        f'palace promote approve {p.id} --by NAME --reason "why"',
        f'palace promote reject {p.id} --by NAME --reason "why"',
        "```",
    ]
    return "\n".join(["---", *head, *rest]) + "\n"


def decided(
    text: str, status: str, by: str, at: datetime, reason: str, page: str | None = None
) -> str:
    """A proposal's ``text`` with the decision in its metadata; nothing else changes."""
    values: Mapping[str, Any] = {
        "status": status,
        "decided_by": by,
        "decided": dates.stamp(at),
        "decision_reason": reason,
    }
    return frontmatter.change(text, {**values, "page": page} if page else values)


def parse(path: str, text: str) -> Parsed:
    """The proposal in ``text``. Never raises: what is wrong is in ``problems``."""
    found = note.parse(path, text)
    if found.broken or not found.has_metadata:
        what = "has no frontmatter, so it is no proposal: restore it, or move it away"
        return Parsed(None, found.problems or (Problem(path, 1, what),))
    reader = _Reader(path, found)
    destination = reader.one_of("destination", DESTINATIONS)
    status = reader.one_of("status", STATUSES)
    identity = reader.text("id")
    proposal = Proposal(
        id=identity,
        destination=destination,
        category=reader.text("category"),
        title=reader.text("title"),
        text="",
        reason=reader.text("reason", needed=False),
        created=reader.moment("created"),
        draft="",
        evidence=reader.evidence(),
        status=status,
        path=path,
        **{key: reader.text(key, needed=False) for key in _FREE},
    )
    lines = found.body.split("\n")
    said = [line.rstrip("\r") for line in lines]
    about, draft = _quoted(said), _draft(lines)
    if about is None:
        reader.wrong(None, "has no quoted text below `## Proposed`: restore it")
    if draft is None:
        reader.wrong(None, "has no draft in a fence below `## Draft`: restore it")
    if not _ID.match(identity) or (
        about is not None and not reader.problems and not _names(proposal, about)
    ):
        what = f"`id` is {identity!r}, which is not that of its destination, category and text"
        reader.wrong("id", f"{what}: restore them, or move the file away and scan again")
    if reader.problems or about is None or draft is None:
        return Parsed(None, tuple(reader.problems))
    return Parsed(replace(proposal, text=about, draft=draft))


_FREE = ("agent", "confidence", "decided_by", "decided", "decision_reason", "page")


def _names(proposal: Proposal, text: str) -> bool:
    return proposal.id == proposal_id(proposal.destination, proposal.category, text)


class _Reader:
    """Reads single keys of a proposal; what is wrong is collected."""

    def __init__(self, path: str, found: note.Note) -> None:
        self.path = path
        self.note = found
        self.problems: list[Problem] = []

    def wrong(self, key: str | None, message: str) -> None:
        line = self.note.lines.get(key, 1) if key else None
        self.problems.append(Problem(self.path, line, message))

    def text(self, key: str, needed: bool = True) -> str:
        value = self.note.metadata.get(key)
        if value is None and not needed:
            return ""
        if not isinstance(value, str) or (needed and not value.strip()):
            self.wrong(key, f"`{key}` is {value!r}: write text, in quotes where it is a number")
            return ""
        return value

    def one_of(self, key: str, known: tuple[str, ...]) -> str:
        value = self.text(key)
        if value and value not in known:
            self.wrong(key, f"`{key}` is {value!r}{did_you_mean(value, known)}")
        return value

    def moment(self, key: str) -> datetime:
        value = self.text(key)
        found = dates.parse(value) if value else None
        if value and not found:
            self.wrong(key, f"`{key}` is {value!r}: write {dates.FORMS}")
        return found or dates.from_seconds(0)

    def evidence(self) -> tuple[Evidence, ...]:
        value = self.note.metadata.get("evidence")
        links = [value] if isinstance(value, str) else value or []
        if not isinstance(links, list) or not all(
            isinstance(link, str) and _LINK.match(link) for link in links
        ):
            self.wrong("evidence", '`evidence` is no list of links: write - "[[note]]" lines')
            return ()
        days: dict[str, str] = {}
        for line in self.note.body.split("\n"):
            item = re.match(r"- (\[\[[^\[\]\n]+\]\]), (\d{4}-\d\d-\d\d)\r?\Z", line)
            if item:
                days.setdefault(item[1], item[2])
        return tuple(Evidence(link, days.get(link, "")) for link in links)


def _quoted(lines: list[str]) -> str | None:
    if "## Proposed" not in lines:
        return None
    for line in lines[lines.index("## Proposed") + 1 :]:
        if line.startswith(_QUOTE):
            return line.removeprefix(_QUOTE)
        if line.startswith("## "):
            break
    return None


def _draft(lines: list[str]) -> str | None:
    """What stands in the first fence below the heading."""
    heading = next((n for n, line in enumerate(lines) if line.rstrip() == "## Draft"), None)
    if heading is None:
        return None
    opening = ""
    kept: list[str] = []
    for line in lines[heading + 1 :]:
        bare = line.rstrip()
        if not opening:
            found = _FENCE.match(bare)
            if found:
                opening, returns = found[1], line.endswith("\r")
            elif bare.startswith("## "):
                return None
        elif bare.startswith(opening) and set(bare) == {opening[0]}:
            return "\n".join(kept) + "\n"
        else:
            kept.append(line.removesuffix("\r") if returns else line)
    return None


def _fence_for(draft: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", draft)), default=0)
    return "`" * max(longest + 1, 3)
