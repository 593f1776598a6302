"""The tool that finds."""

from dataclasses import replace
from typing import Annotated

from pydantic import BaseModel, Field

from memory_palace.agents import mcp_fact_rows, mcp_texts
from memory_palace.agents.mcp_desk import Day, Desk, Words, moments
from memory_palace.agents.mcp_fact_rows import Row
from memory_palace.agents.mcp_schema import Said
from memory_palace.core import dates, private_spans
from memory_palace.core.errors import BadInput
from memory_palace.core.fence import fenced
from memory_palace.files import read
from memory_palace.memory.usage import note_retrieved
from memory_palace.search.hits import Hit
from memory_palace.search.query import Query

MOST_HITS = 50
MOST_SHOWN = 40_000
"""Characters of stored text that one answer shows."""


class Place(BaseModel):
    """Where a hit stands."""

    path: str
    start: int
    end: int
    id: str
    heading: str
    type: str
    priority: str
    date: str
    score: float
    archived: bool


class Hits(Said):
    """What `search` answers. ``facts`` are about entities that the query names."""

    hits: list[Place]
    notes: list[str]
    facts: list[Row]


class Finding:
    """The tool; see the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def search(
        self,
        query: Words = "",
        top_k: Annotated[
            int, Field(ge=0, le=MOST_HITS, description="How many hits; 0: as configured.")
        ] = 0,
        rooms: Annotated[
            list[str], Field(description="Only below palace/ROOM, say `topics`.")
        ] = [],  # noqa: B006
        types: Annotated[list[str], Field(description="Only notes of these types.")] = [],  # noqa: B006
        tags: Annotated[list[str], Field(description="Only notes with one of these tags.")] = [],  # noqa: B006
        since: Day = "",
        until: Day = "",
        lines: Annotated[bool, Field(description="Single lines instead of sections.")] = False,
        archived: Annotated[bool, Field(description="Search the archive too.")] = False,
        as_of: Annotated[
            str, Field(description="Only notes and facts as of the end of this day.")
        ] = "",
    ) -> Hits:
        if not any((query.strip(), rooms, types, tags, since, until, as_of)):
            raise BadInput("nothing is asked: give `query`, or a filter such as `types` or `since`")
        now = self._desk.now()
        first, last = moments(since, until, now)
        configured = ("neighbors",) if top_k else ("top_k", "neighbors")
        asked = Query(
            text=query,
            types=tuple(types),
            rooms=tuple(rooms),
            tags=tuple(tags),
            since=first,
            until=last,
            top_k=top_k,
            lines=lines,
            archived=archived,
            facts=True,
            as_of=mcp_fact_rows.moment("as_of", as_of, end=True),
        )
        answer = self._desk.source.ask(asked, configured, now)
        note_retrieved(self._desk.root, [hit.path for hit in answer.hits], now)
        notes = [mcp_texts.told(note) for note in answer.notes]
        hits = [shown for hit in answer.hits if (shown := self._shown(hit))]
        told = (
            ["facts:", *mcp_fact_rows.plain_lines(answer.facts, min(asked.as_of or now, now))]
            if answer.facts
            else []
        )
        parts = (mcp_texts.hits(hits), "\n".join(told))
        text = fenced("\n\n".join(part for part in parts if part), "search", MOST_SHOWN)
        return Hits(
            text="\n".join(part for part in (text, *notes) if part),
            hits=[_place(hit) for hit in hits],
            notes=notes,
            facts=[mcp_fact_rows.row(fact, asked.as_of or now) for fact in answer.facts],
        )

    def _shown(self, hit: Hit) -> Hit | None:
        """The hit without private spans; None if nothing else is in it."""
        got = read.read(self._desk.root, hit.path)
        if isinstance(got, read.Unreadable):
            return None  # gone a moment ago
        shown = private_spans.of_chunk(got.text, hit.start, hit.text, hit.heading)
        if shown is None:
            return None
        return replace(hit, text=shown[0], heading=shown[1], title=private_spans.hidden(hit.title))


def _place(hit: Hit) -> Place:
    return Place(
        path=hit.path,
        start=hit.start,
        end=hit.end,
        id=hit.id,
        heading=mcp_texts.heading(hit),
        type=hit.type,
        priority=hit.priority or "",
        date=dates.stamp(hit.date) if hit.date else "",
        score=round(hit.score, 6),
        archived=hit.archived,
    )
