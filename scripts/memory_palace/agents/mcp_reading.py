"""The tools that read single notes, their links, and what changed last."""

from typing import Annotated

from pydantic import BaseModel, Field

from memory_palace.agents import mcp_texts
from memory_palace.agents.mcp_desk import Day, Desk, Listed, moments
from memory_palace.agents.mcp_schema import Said
from memory_palace.core import dates
from memory_palace.core.fence import fenced
from memory_palace.core.problems import printable
from memory_palace.search import linked, reading, recent
from memory_palace.search.linked import Broken, Linked
from memory_palace.search.query import Query

MOST_LINES = 1_000
MOST_CHARACTERS = 40_000
"""Characters of a note that one `read` gives."""

_FAR = 999_999_999

Name = Annotated[str, Field(description="A path, a note's name, a [[link]], #id of a hit, ^id.")]


class Read(Said):
    """What `read` answers: lines ``start`` to ``end`` of ``total``; ``left`` are not shown."""

    path: str
    title: str
    heading: str
    digest: str
    start: int
    end: int
    total: int
    left: int
    archived: bool


class Link(BaseModel):
    """A link: the note at its other end and its title, its line, how it is written."""

    path: str
    title: str
    line: int
    text: str
    status: str


class Links(Said):
    """What `links` answers. A broken link has the reason as its title."""

    path: str
    title: str
    out: list[Link]
    back: list[Link]
    broken: list[Link]


class Changed(BaseModel):
    """A note and its time."""

    path: str
    title: str
    date: str
    type: str


class Recent(Said):
    """What `recent` answers, the newest first; ``more`` are older ones."""

    notes: list[Changed]
    more: int


class Reading:
    """The tools; see the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def read(
        self,
        path: Name,
        section: Annotated[str, Field(description="Only this heading's part.")] = "",
        start: Annotated[
            int, Field(ge=0, le=_FAR, description="First line, from 1; 0: the top.")
        ] = 0,
        end: Annotated[
            int, Field(ge=0, le=_FAR, description="Last line; 0: as far as it goes.")
        ] = 0,
    ) -> Read:
        name = f"{path}:{start or 1}-{end or _FAR}" if start or end else path
        found = reading.read(
            self._desk.root, name, section, MOST_LINES, MOST_CHARACTERS, withhold=True
        )
        numbered = "\n".join(f"{n}\t{line}" for n, line in enumerate(found.lines, found.start))
        text = fenced(numbered, "note", 4 * MOST_CHARACTERS)
        head = f"{printable(found.path)}, lines {found.start}-{found.end} of {found.total}"
        lines = [head, f"digest {found.digest}", text or "the note is empty"]
        if found.left:
            lines.append(f"{found.left} more lines: read them with start={found.end + 1}")
        if found.cut:
            lines.append(f"the line goes on for {found.cut} characters that are not shown")
        return Read(
            text="\n".join(lines),
            path=found.path,
            title=found.title,
            heading=found.heading,
            digest=found.digest,
            start=found.start,
            end=found.end,
            total=found.total,
            left=found.left,
            archived=found.archived,
        )

    def links(self, path: Name) -> Links:
        found = linked.links(self._desk.root, path)
        lines = [
            *(f"-> {one.path}  {one.title}  line {one.line}" for one in found.out),
            *(f"<- {one.path}:{one.line}  {one.title}" for one in found.back),
            *(f"!! line {bad.line}: {bad.text} {bad.status}: {bad.why}" for bad in found.broken),
        ]
        text = fenced("\n".join(map(printable, lines)), "links", MOST_CHARACTERS)
        late = mcp_texts.told(f"links {found.late}") if found.late else ""
        nothing = "" if text else "no links: nothing leads from here or to here"
        return Links(
            text="\n".join(part for part in (printable(found.path), text, nothing, late) if part),
            path=found.path,
            title=found.title,
            out=[_link(one) for one in found.out],
            back=[_link(one) for one in found.back],
            broken=[_broken(bad) for bad in found.broken],
        )

    def recent(
        self,
        since: Day = "",
        until: Day = "",
        rooms: Annotated[list[str], Field(description="Only below palace/ROOM.")] = [],  # noqa: B006
        types: Annotated[list[str], Field(description="Only notes of these types.")] = [],  # noqa: B006
        most: Listed = 20,
    ) -> Recent:
        first, last = moments(since, until, self._desk.now())
        asked = Query(
            types=tuple(types),
            rooms=tuple(rooms),
            since=first,
            until=last,
            top_k=most,
        )
        found = recent.recent(self._desk.root, asked)
        lines = [
            f"{dates.local_day(one.date) if one.date else 'no date'}  {one.path}  {one.title}"
            for one in found.notes
        ]
        lines += [f"{found.more} older"] if found.more else []
        text = fenced("\n".join(map(printable, lines)), "recent", MOST_CHARACTERS)
        late = mcp_texts.told(f"notes {found.late}") if found.late else ""
        nothing = mcp_texts.told(found.nothing)
        return Recent(
            text="\n".join(part for part in (text, nothing, late) if part),
            notes=[
                Changed(
                    path=one.path,
                    title=one.title,
                    date=dates.stamp(one.date) if one.date else "",
                    type=one.type,
                )
                for one in found.notes
            ],
            more=found.more,
        )


def _link(one: Linked) -> Link:
    return Link(path=one.path, title=one.title, line=one.line, text=one.text, status=one.status)


def _broken(bad: Broken) -> Link:
    near = bad.near[0] if bad.near else ""
    return Link(path=near, title=bad.why, line=bad.line, text=bad.text, status=bad.status)
