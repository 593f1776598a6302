"""The record of a contradiction: both claims with their sources, and how it was decided."""

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from memory_palace.core import dates, frontmatter, links, markdown, note
from memory_palace.core.contradiction import KINDS
from memory_palace.core.errors import BadInput
from memory_palace.core.links import TREE
from memory_palace.core.outline import RawLink
from memory_palace.core.problems import Problem
from memory_palace.core.text import did_you_mean, nfc, split_lines

FOLDER = f"{TREE}conflict_room/"
HALL = "hall_decisions"
STATUSES = ("open", "decided")
OPEN = "Open."
"""What stands under Decision until there is one."""

LONGEST_TITLE = 120
_TITLE_WORDS = 7

_LINK = re.compile(r"\[\[([^\[\]\n]+)\]\]")
_CODE = re.compile(r"`([^`\n]+)`")
_BLOCK_ID = re.compile(r"[ \t]+\^[A-Za-z0-9-]+[ \t]*$", re.MULTILINE)
_FENCED = re.compile(r"(?P<fence>`{3,})text\n(?P<text>.*?)\n?(?P=fence)\s*\Z", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Side:
    """One claim. ``source`` is the inside of its link, or what stands there in backticks; it is
    empty where a person wrote none. ``detail`` follows the source: lines, a branch's name."""

    text: str
    source: str = ""
    detail: str = ""
    verbatim: bool = False

    @property
    def key(self) -> str:
        """What the source means: ``^3f9a…`` for an entry, a path for a note, else itself."""
        return key_of(self.source)

    @property
    def is_link(self) -> bool:
        """False for what no ``[[link]]`` leads to: a fact."""
        return bool(self.source) and not self.source.startswith("fact ")


@dataclass(frozen=True, slots=True)
class Record:
    """One record as it is read. ``winner`` and ``loser`` are the insides of links, empty before
    the decision and in records that a person wrote without them."""

    path: str
    title: str
    status: str
    kind: str
    a: Side
    b: Side
    created: datetime | None = None
    agent: str = ""
    evidence: tuple[str, ...] = ()
    decided_by: str = ""
    decided: str = ""
    winner: str = ""
    loser: str = ""
    decision: str = ""
    problems: tuple[Problem, ...] = ()

    @property
    def is_open(self) -> bool:
        return self.status == "open"

    def is_about(self, a: str, b: str) -> bool:
        """True if its claims come from the sources with these keys, in any order."""
        mine = sorted((self.a.key, self.b.key))
        return all(mine) and mine == sorted((a, b))


def key_of(source: str) -> str:
    """What the inside of a link means: ``^3f9a…`` for a block, a path for a note."""
    if not source or source.startswith("fact "):
        return source
    link = links.parse(RawLink(source, 1))
    if link.block:
        return f"^{link.block}"
    target = nfc(link.target)
    target = target if target.startswith(TREE) else TREE + target
    return target if target.lower().endswith(".md") else f"{target}.md"


def link_to(path: str, block: str = "") -> str:
    """The inside of a link to a note, or to a line of it: ``topics/lessons#^3f9a…``."""
    target = path.removeprefix(TREE)
    target = target[:-3] if target.lower().endswith(".md") else target
    return f"{target}#^{block}" if block else target


def parse(path: str, text: str) -> Record:
    """The record in ``text``. Never raises: what is wrong is in ``problems``."""
    read = note.parse(path, text)
    sections, first_heading = _sections(read)
    problems = [*read.problems]
    status, kind = read.status or "open", _said(read, "kind")
    for name, value, known in (("status", status, STATUSES), ("kind", kind, KINDS)):
        if value and value not in known:
            what = f"`{name}` is {value!r}{did_you_mean(value, known)}"
            problems.append(Problem(path, read.lines.get(name), what))
    for name in ("claim a", "claim b"):
        if name not in sections:
            what = f"has no section `## {name.title()}`: write what that side says"
            problems.append(Problem(path, None, what, "warning"))
    return Record(
        path=path,
        title=note.note_title(read, first_heading),
        status=status if status in STATUSES else "open",
        kind=kind,
        a=_side(sections.get("claim a", "")),
        b=_side(sections.get("claim b", "")),
        created=read.created,
        agent=_said(read, "agent"),
        evidence=tuple(str(link) for link in _links(read) if link.key == "evidence"),
        decided_by=_said(read, "decided_by"),
        decided=_said(read, "decided"),
        winner=_linked(_said(read, "winner")),
        loser=_linked(_said(read, "loser")),
        decision=sections.get("decision", ""),
        problems=tuple(problems),
    )


def _said(read: note.Note, key: str) -> str:
    value = read.metadata.get(key)
    return "" if value is None else str(value).strip()


def _links(read: note.Note) -> list[links.Link]:
    return links.in_metadata(read.metadata, read.lines)


def _linked(value: str) -> str:
    found = _LINK.search(value)
    return found.group(1).strip() if found else value


def _sections(read: note.Note) -> tuple[dict[str, str], str | None]:
    """The text under each second-level heading, by its name in lower case."""
    outline = markdown.read(read.body, 1)
    lines = split_lines(read.body)
    heads = [b for b in outline.blocks if b.kind == "heading" and b.level <= 2]
    found: dict[str, str] = {}
    for n, head in enumerate(heads):
        end = heads[n + 1].start - 1 if n + 1 < len(heads) else len(lines)
        if head.level == 2:
            found.setdefault(head.heading.lower(), "\n".join(lines[head.start : end]).strip())
    return found, outline.first_heading


def _side(section: str) -> Side:
    """A claim as it is written: a quotation or a fence with a source below it, or plain text."""
    body, _, last = section.rpartition("\n")
    source = detail = ""
    if last.startswith("Source:"):
        section = body.strip()
        found = _LINK.search(last) or _CODE.search(last)
        source = found.group(1).strip() if found else ""
        detail = last[found.end() :].strip(" ,") if found else ""
    fenced = _FENCED.fullmatch(section)
    if fenced:
        return Side(fenced["text"], source, detail, verbatim=True)
    lines = section.split("\n")
    if all(line.startswith(">") for line in lines):
        section = "\n".join(line[1:].removeprefix(" ") for line in lines)
    return Side(section, source, detail)


def title_of(a: str, b: str) -> str:
    """A title from two claims: the first words of each."""
    one, other = _start(a), _start(b)
    return one if one == other else f"{one} or {other}"[:LONGEST_TITLE]


def _start(text: str) -> str:
    plain = re.sub(r"[`*_\[\]#>|]+", " ", _LINK.sub(lambda link: link.group(1), text)).split()
    said = " ".join(plain[:_TITLE_WORDS])[: LONGEST_TITLE // 2].rstrip(".,;: ")
    return (f"{said}…" if len(plain) > _TITLE_WORDS else said) or "nothing"


def render(record: Record, why: str) -> str:
    """A new record's text, open. ``why`` says what made it one."""
    values: dict[str, Any] = {
        "title": record.title,
        "type": "conflict",
        "hall": HALL,
        "created": dates.stamp(record.created) if record.created else None,
        "agent": record.agent or None,
        "status": "open",
        "kind": record.kind,
        "evidence": list(record.evidence) or None,
    }
    listed = [why, *record.evidence] if why else list(record.evidence)
    body = [
        f"# {record.title}",
        f"## Claim A\n\n{_claim(record.a)}",
        f"## Claim B\n\n{_claim(record.b)}",
        "## Evidence\n\n" + ("\n".join(f"- {line}" for line in listed) or "None yet."),
        f"## Decision\n\n{OPEN}",
    ]
    given = {key: value for key, value in values.items() if value is not None}
    return frontmatter.change("\n\n".join(body) + "\n", given)


def _claim(side: Side) -> str:
    if side.verbatim:
        runs = [len(run) for run in re.findall("`+", side.text)]
        fence = "`" * max(3, *(run + 1 for run in [2, *runs]))
        quoted = f"{fence}text\n{side.text}\n{fence}"
    else:
        quoted = "\n".join(f"> {line}".rstrip() for line in side.text.split("\n"))
    source = f"[[{side.source}]]" if side.is_link else f"`{side.source}`"
    return f"{quoted}\n\nSource: {source}{f', {side.detail}' if side.detail else ''}"


def quotable(path: str, text: str) -> str:
    """``text`` of the note at ``path`` as another note may quote it: no block ids, which would be
    there twice, and links into the same note made whole."""
    bare = _BLOCK_ID.sub("", text)
    return bare.replace("[[#", f"[[{link_to(path)}#")


def decide(
    text: str, winner: Side, loser: Side, letter: str, by: str, at: datetime, reason: str
) -> str:
    """``text`` of an open record with the decision in it: metadata, and the section's text.

    ``letter`` is the winner's, A or B. What a person wrote under Decision stays. Raises
    :class:`BadInput` if the metadata is broken.
    """
    values: dict[str, Any] = {
        "status": "decided",
        "decided_by": by,
        "decided": dates.stamp(at),
        "winner": _as_value(winner, letter),
        "loser": _as_value(loser, "B" if letter == "A" else "A"),
    }
    said = f"{letter}. {reason}\n\nDecided by {by} on {at.date().isoformat()}."
    return frontmatter.change(_with_decision(text, said), values)


def _as_value(side: Side, letter: str) -> str:
    if not side.source or side.verbatim:  # both sides of a merge are of one note
        return f"claim {letter}"
    return f"[[{side.source}]]" if side.is_link else side.source


def _with_decision(text: str, said: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    block = frontmatter.split(text)
    head, lines = text[: block.body_at], text[block.body_at :].replace("\r\n", "\n").split("\n")
    heads = [b for b in markdown.read("\n".join(lines), 1).blocks if b.kind == "heading"]
    at = next((b.start for b in heads if b.level == 2 and b.heading.lower() == "decision"), None)
    if at is None:
        whole = "\n".join(lines).rstrip("\n")
        body = f"{whole}\n\n## Decision\n\n{said}\n"
    else:
        end = next((b.start - 1 for b in heads if b.start > at and b.level <= 2), len(lines))
        old = "\n".join(lines[at:end]).strip("\n")
        kept = "" if old.strip() == OPEN or not old.strip() else f"{old}\n\n"
        rest = "\n".join(lines[end:])
        before = "\n".join(lines[:at])
        body = f"{before}\n\n{kept}{said}\n" + (f"\n{rest}" if rest.strip() else "")
    return head + body.replace("\n", newline)


def with_link(text: str, path: str, key: str, source: str) -> str:
    """``text`` of the note at ``path`` with a link under ``key`` of its metadata; what is there
    stays, then the value is a list. Raises :class:`BadInput` if the metadata is broken."""
    read = note.parse(path, text)
    if read.broken:
        raise BadInput(f"{path}: broken frontmatter: mend it by hand, then run this again")
    value, new = read.metadata.get(key), f"[[{source}]]"
    old = value if isinstance(value, list) else [] if value in (None, "") else [value]
    if any(key_of(_linked(str(item))) == key_of(source) for item in old):
        return text
    return frontmatter.change(text, {key: [*old, new] if old else new})


def linked(text: str, path: str, key: str) -> tuple[str, ...]:
    """The insides of the links under ``key`` of a note's metadata."""
    found = _links(note.parse(path, text))
    return tuple(str(link)[2:-2] for link in found if link.key == key)
