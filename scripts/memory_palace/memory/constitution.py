"""The constitution: a candidate becomes an article, by a person, with name, reason and date."""

import re
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core import drafts, frontmatter, note, proposals
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.note import Note
from memory_palace.core.promotion import WING
from memory_palace.core.text import nfc, stem
from memory_palace.files import read
from memory_palace.memory import proposals as queues
from memory_palace.memory.approval import PROMOTED
from memory_palace.memory.evidence import Shelf
from memory_palace.memory.pen import Pen
from memory_palace.memory.proposals import spoken

PATH = f"{WING}constitution.md"
CANDIDATES = f"{WING}constitution_candidates/"
TYPE = "constitution_candidate"

_OPEN = (None, "proposed")
_ARTICLE = re.compile(r"^## (\d+)\. ", re.MULTILINE)
_NEW = """---
title: Constitution
type: constitution
priority: high
created: {day}
pinned: true
---
# Constitution

Articles that hold in every task. Each was a principle first and was approved by a person, with a
reason. Changing one takes a proposal in `constitution_candidates`.
"""


@dataclass(frozen=True, slots=True)
class Article:
    """The article that a candidate became."""

    number: int
    title: str
    candidate: str
    who: str


def candidates(root: Path) -> list[Note]:
    """All candidate notes by path, decided or not. What cannot be read is left out."""
    found = []
    for path in queues.notes_in(root, CANDIDATES):
        got = read.read(root, path)
        if isinstance(got, read.Text):
            found.append(note.parse(path, got.text))
    return found


def waiting(root: Path) -> list[Note]:
    """The candidates that nobody has decided yet."""
    return [one for one in candidates(root) if one.type == TYPE and one.status in _OPEN]


def find(root: Path, name: str) -> Note | None:
    """The candidate with exactly this path, name or link; None if there is none."""
    key = nfc(name.strip().removeprefix("[[").removesuffix("]]"))
    key = key.removesuffix(".md").removeprefix("palace/")
    for one in candidates(root):
        place = nfc(one.path).removeprefix("palace/").removesuffix(".md")
        if key in (place, stem(place)):
            return one
    return None


def approve(pen: Pen, shelf: Shelf, candidate: Note, who: str, reason: str) -> Article:
    """Append the candidate as an article, and mark it as approved.

    Raises :class:`BadInput` without a name or a reason, :class:`Refused` if it is decided.
    """
    if not who.strip():
        raise BadInput("an article is approved by a person: name one with --by NAME")
    who, reason = spoken(who, "--by"), spoken(reason, "--reason")
    _still_open(candidate)
    text = pen.read(candidate.path)
    if text is None:
        raise Refused(f"{candidate.path} is gone: restore it first")
    title = candidate.title or drafts.title_of(stem(candidate.path).replace("-", " "))
    source = _link(shelf, candidate.path)
    day = pen.now.date().isoformat()
    before = pen.read(PATH) or _NEW.format(day=day)
    number = max((int(n) for n in _ARTICLE.findall(before)), default=0) + 1
    if f"From {source}." not in before:  # else killed before the candidate was marked
        article = [
            f"## {number}. {title}",
            "",
            _proposed(candidate),
            f"Approved by {who} on {day}: {reason.rstrip('.')}.",
            f"From {source}.",
        ]
        newline = "\r\n" if "\r\n" in before else "\n"
        lines = "\n".join(["", *article, ""]).replace("\r", "").replace("\n", newline)
        before = before.rstrip() + newline + lines
    marked = _marked(pen, text, "approved", who, reason, {PROMOTED: [proposals.link_to(PATH)]})
    pen.put(PATH, before)
    pen.put(candidate.path, marked)
    pen.log(
        "applied",
        candidate.path,
        destination="constitution",
        path=candidate.path,
        page=PATH,
        who=who,
    )
    return Article(number, title, candidate.path, who)


def reject(pen: Pen, candidate: Note, who: str, reason: str) -> None:
    """Mark the candidate as rejected; the note stays. Raises :class:`Refused` if it is decided."""
    _still_open(candidate)
    who, reason = spoken(who, "--by") if who else pen.by, spoken(reason, "--reason")
    text = pen.read(candidate.path) or ""
    pen.put(candidate.path, _marked(pen, text, "rejected", who, reason, {}))
    pen.log("rejected", candidate.path, destination="constitution", who=who)


def _still_open(candidate: Note) -> None:
    if candidate.status in ("approved", "rejected"):
        where = f", and stands in {PATH}" if candidate.status == "approved" else ""
        raise Refused(f"{candidate.path} is {candidate.status} already{where}: change it by hand")


def _marked(
    pen: Pen, text: str, status: str, who: str, reason: str, more: dict[str, list[str]]
) -> str:
    decision = {
        "status": status,
        "decided_by": who,
        "decided": pen.now.date().isoformat(),
        "decision_reason": reason,
    }
    return frontmatter.change(text, {**decision, **more})


def _link(shelf: Shelf, path: str) -> str:
    """By its name alone, as people write it, where only one note has it."""
    short = f"[[{stem(path)}]]"
    return short if shelf.resolve(short).path == path else proposals.link_to(path)


def _proposed(candidate: Note) -> str:
    """The section that has the article's text, else the first paragraph."""
    _, found, rest = candidate.body.partition("## Proposed article")
    section = re.split(r"^#{1,2} ", rest, maxsplit=1, flags=re.MULTILINE)[0] if found else ""
    text = section.strip() or drafts.first_paragraph(candidate.body)
    if not text:
        raise BadInput(f"{candidate.path} has no article: write it below `## Proposed article`")
    return text
