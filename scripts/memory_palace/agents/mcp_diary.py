"""The tools of ``--tools all`` for agents' diaries."""

import os
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from memory_palace.agents.mcp_desk import ANONYMOUS, Day, Desk, Listed, Reason, client, moments
from memory_palace.agents.mcp_schema import Said
from memory_palace.core import dates
from memory_palace.core.fence import fenced
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable
from memory_palace.files import config as configs
from memory_palace.files import identity
from memory_palace.memory import diary
from memory_palace.memory.diary import Page

MOST_SHOWN = 40_000

Agent = Annotated[str, Field(description="Whose diary, in any spelling; empty: your own.")]


class Noted(Said):
    """What `diary_write` answers; ``new`` is false where the entry was there already."""

    path: str
    agent: str
    at: str
    new: bool


class Entry(BaseModel):
    """Where an entry stands."""

    path: str
    start: int
    end: int
    at: str
    by: str


class Told(Said):
    """What `diary_read` answers, oldest first; ``more`` are earlier ones."""

    entries: list[Entry]
    more: int


class Diary:
    """The tools; see the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def diary_write(
        self,
        text: Annotated[str, Field(description="What the diary is to keep.")],
        topic: Annotated[str, Field(description="What it is about: joins the heading.")] = "",
        agent: Agent = "",
        reason: Reason = "",
    ) -> Noted:
        desk, told = self._desk, list[str]()
        whose = agent or _own(desk.root)
        done = diary.write(desk.root, desk.now(), text, whose, topic, reason, told.append)
        desk.source.wrote()
        where = f"{done.path} {done.entry.at:%H:%M}"
        head = f"wrote {where}" if done.new else f"there already: {where}"
        return Noted(
            text="\n".join(map(printable, [head, *done.said, *told])),
            path=done.path,
            agent=done.agent,
            at=dates.stamp(done.entry.at),
            new=done.new,
        )

    def diary_read(
        self, agent: Agent = "", most: Listed = 10, since: Day = "", until: Day = ""
    ) -> Told:
        root = self._desk.root
        first, last = moments(since, until, self._desk.now())
        whose = agent or _own(root)
        found = diary.find(root, whose, first, last, most)
        text = fenced("\n\n".join(map(_entry, found.pages)), "diary", MOST_SHOWN)
        more = f"{found.more} earlier: ask for more with `most`, or with `until`"
        lines = [
            text or f"{printable(whose)} wrote nothing in that time",
            more if found.more else "",
            *(printable(str(problem)) for problem in found.problems),
        ]
        return Told(
            text="\n".join(line for line in lines if line),
            entries=[_place(page) for page in found.pages],
            more=found.more,
        )


def _own(root: Path) -> str:
    """The diary of who is configured, else of the client by the name it gave, else that of MCP."""
    whose = diary.own(root)
    named = os.environ.get(identity.VARIABLE) or configs.load(root).identity
    if named and whose != ANONYMOUS:
        return whose
    name = client.get().lower().removesuffix("-mcp-client")
    return name[:60] if any(map(str.isalnum, name)) else whose


def _entry(page: Page) -> str:
    one = page.entry
    head = [f"{one.at:%Y-%m-%d %H:%M}", one.topic, one.by]
    return "\n".join([printable("  ".join(word for word in head if word)), hidden(one.text)])


def _place(page: Page) -> Entry:
    one = page.entry
    at = dates.stamp(one.at)
    return Entry(path=page.path, start=one.start, end=one.end, at=at, by=one.by)
