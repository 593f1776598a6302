"""The tools of ``--tools all`` that look for what happened in sessions: search, around, in full."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, Field

from memory_palace.agents import mcp_texts
from memory_palace.agents.mcp_desk import Day, Desk, Words, moments
from memory_palace.agents.mcp_schema import Said
from memory_palace.core import dates, ledger_chunks, ledger_text, recent_work
from memory_palace.core.errors import BadInput
from memory_palace.core.fence import fenced
from memory_palace.core.problems import printable
from memory_palace.files import roots
from memory_palace.search import recent

if TYPE_CHECKING:
    from memory_palace.session.mem_around import Whole as InFull
    from memory_palace.session.mem_ledgers import Found

MOST_SHOWN = 40_000
MOST_IDS = 50

Kind = Literal[
    "decision",
    "bugfix",
    "feature",
    "refactor",
    "discovery",
    "change",
    "observation",
    "reflection",
    "summary",
]


class Row(BaseModel):
    """A record and where it stands; ``read`` and ``work`` are tokens."""

    id: str
    type: str
    at: str
    title: str
    ledger: str
    session: str
    wing: str
    read: int
    work: int
    score: float


class Rows(Said):
    """What `mem_search` and `mem_timeline` answer."""

    records: list[Row]
    more: int


class Whole(Said):
    """What `mem_get` answers: the ids that were found, and those that no ledger has."""

    found: list[str]
    missing: list[str]


class Recent(Said):
    """What `context` answers: the sessions shown, and how many more there are."""

    wing: str
    sessions: list[str]
    more: int


class Happened:
    """The tools; see the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def mem_search(
        self,
        query: Words = "",
        types: Annotated[list[Kind], Field(description="Only records of these types.")] = [],  # noqa: B006
        wing: Annotated[str, Field(description="Only of this project; empty: of all.")] = "",
        since: Day = "",
        until: Day = "",
        most: Annotated[int, Field(ge=1, le=50, description="At most so many.")] = 10,
    ) -> Rows:
        from memory_palace.session import mem

        desk, now = self._desk, self._desk.now()
        if not any((query.strip(), types, wing, since, until)):
            raise BadInput("nothing is asked: give `query`, or a filter such as `types` or `since`")
        first, last = moments(since, until, now)
        asked = mem.Asked(query, tuple(types), wing, first, last, most)
        found = mem.search(
            desk.root, asked, now, lambda one: desk.source.ask(one, ("neighbors",), now)
        )
        rows = [_row(hit.found, hit.score) for hit in found.hits]
        lines = [_line(hit.found) for hit in found.hits]
        said = [*map(mcp_texts.told, found.said)]
        said += [f"{found.more} more: ask for more with `most`"] if found.more else []
        return _rows(rows, lines, "mem", said, found.more)

    def mem_timeline(
        self,
        anchor: Annotated[str, Field(description="An id of 12 hex digits, a date, 24h, 7d.")],
        before: Annotated[int, Field(ge=0, le=100, description="So many before it.")] = 5,
        after: Annotated[int, Field(ge=0, le=100, description="So many after it.")] = 5,
        wing: Annotated[
            str, Field(description="Of this project; empty: of the anchor's, of all for a time.")
        ] = "",
    ) -> Rows:
        from memory_palace.session import mem_around

        at = recent.moment(anchor, self._desk.now())
        chosen = dates.stamp(at) if at else anchor
        found = mem_around.timeline(self._desk.root, chosen, before, after, wing)
        rows = [_row(one, 0.0) for one in found.records]
        lines = [
            f"{'>' if one.record.id == found.anchor else '-'} {_line(one)}" for one in found.records
        ]
        return _rows(rows, lines, "timeline", [] if rows else ["nothing around that time"], 0)

    def mem_get(
        self,
        ids: Annotated[list[str], Field(max_length=MOST_IDS, description="Ids of 12 hex digits.")],
    ) -> Whole:
        from memory_palace.session import mem_around

        if not ids:
            raise BadInput("`ids` is empty: name ids that `mem_search` gave")
        found, missing = mem_around.get(self._desk.root, ids)
        text = fenced("\n\n".join(map(_whole, found)), "mem", MOST_SHOWN)
        said = f"no ledger has {', '.join(missing)}: `mem_search` finds records" if missing else ""
        return Whole(
            text="\n".join(part for part in (text, said) if part),
            found=[one.record.record.id if one.record else _entry_id(one) for one in found],
            missing=missing,
        )

    def context(
        self,
        wing: Annotated[
            str, Field(description="A project; empty: that of the repository at hand.")
        ] = "",
        hours: Annotated[
            int, Field(ge=1, le=8_760, description="How far back.")
        ] = recent_work.HOURS,
        budget: Annotated[
            int, Field(ge=100, le=50_000, description="Tokens of 4 characters, in all.")
        ] = recent_work.BUDGET,
    ) -> Recent:
        from memory_palace.session import context, wings

        desk = self._desk
        chosen = wing or wings.repository(roots.current())
        found = context.recent(desk.root, desk.now(), chosen, hours)
        title = context.title(chosen, hours)
        shown = recent_work.compose(found.sessions, title, budget, found.unread)
        told, blank, last = shown.text.rpartition("\n\n")
        last = mcp_texts.in_tools(last) if shown.more else last
        whole = shown.sessions or shown.more
        text = fenced(f"{told}{blank}{last}", "context", 4 * 50_000) if whole else ""
        return Recent(
            text=text
            or f"nothing was recorded of {printable(chosen) or 'any project'} in that time",
            wing=chosen,
            sessions=[one.name for one in shown.sessions],
            more=shown.more,
        )


def _rows(rows: list[Row], lines: list[str], kind: str, said: list[str], more: int) -> Rows:
    text = fenced("\n".join(lines), kind, MOST_SHOWN)
    return Rows(text="\n".join([text, *said] if text else said), records=rows, more=more)


def _row(one: "Found", score: float) -> Row:
    record, source = one.record, one.source
    return Row(
        id=record.id,
        type=record.type,
        at=dates.stamp(record.at),
        title=ledger_chunks.title(record),
        ledger=source.path,
        session=source.session,
        wing=source.wing,
        read=record.read,
        work=record.work,
        score=round(score, 6),
    )


def _line(one: "Found") -> str:
    """A record in 50 to 100 tokens, with what reading all of it costs and what it cost to learn."""
    record = one.record
    facts = ["dropped"] if record.dropped else []
    facts += [f"read {record.read}"]
    facts += [f"work {record.work}"] if record.work else []
    about = f"{one.source.wing}: " if one.source.wing else ""
    return printable(
        f"[{record.id}] {dates.minute(record.at)} {record.type} {about}"
        f"{ledger_chunks.title(record)} ({', '.join(facts)})"
    )


def _whole(one: "InFull") -> str:
    """A record or an entry in full, with where it stands and what it rests on."""
    head = f"{one.source.agent}, session {one.source.session}, {one.source.path}"
    if one.entry:
        return f"{printable(head)}\n{ledger_text.entry_head(one.entry)}\n{one.entry.text}"
    assert one.record is not None
    lines = [printable(head), ledger_chunks.full(one.record.record)]
    lines += [f"from {cited.id} ({printable(cited.role)})" for cited in one.cited]
    lines += [f"also in {printable(path)}" for path in one.also]
    return "\n".join(lines)


def _entry_id(one: "InFull") -> str:
    return one.entry.id if one.entry else ""
