"""Which tools there are, and what each is for, in a sentence."""

from collections.abc import Callable
from typing import Any, NamedTuple

from memory_palace.agents.mcp_desk import Desk
from memory_palace.agents.mcp_diary import Diary
from memory_palace.agents.mcp_facts import Facts
from memory_palace.agents.mcp_finding import Finding
from memory_palace.agents.mcp_mem import Happened
from memory_palace.agents.mcp_memories import Sessions
from memory_palace.agents.mcp_more import Findings, Layers
from memory_palace.agents.mcp_palace import Palace
from memory_palace.agents.mcp_reading import Reading
from memory_palace.agents.mcp_rooms import Rooms
from memory_palace.agents.mcp_schema import PlainTool, plain
from memory_palace.agents.mcp_writing import Writing


class _Row(NamedTuple):
    """A tool and what it is for; the rest as :func:`plain` has it."""

    function: Callable[..., Any]
    description: str
    reads: bool = True
    replaces: bool = False
    again: bool = True


def basic(desk: Desk) -> list[PlainTool]:
    """The tools that every client gets."""
    finding, reading = Finding(desk), Reading(desk)
    writing, palace = Writing(desk), Palace(desk)
    return _made(
        _Row(
            finding.search, "Find notes by meaning and words, best first; `read` shows more of one."
        ),
        _Row(reading.read, "Read a note, or a part of it, with the digest that `write` needs."),
        _Row(reading.links, "The links of a note: out, back, broken."),
        _Row(reading.recent, "The notes that changed last."),
        _Row(palace.status, "How the palace is: notes, index, model, faults."),
        _Row(palace.wake, "What to know at the start of a session."),
        _Row(
            writing.remember,
            "Keep one line for later sessions; reinforces what says the same.",
            reads=False,
            again=False,
        ),
        _Row(
            writing.write,
            "Make a note, for what one line cannot hold; or change one you `read`.",
            reads=False,
            replaces=True,
        ),
    )


def further(desk: Desk) -> list[PlainTool]:
    """The tools of ``--tools all``, beside the basic ones."""
    layers, findings = Layers(desk), Findings(desk)
    happened, sessions, diary = Happened(desk), Sessions(desk), Diary(desk)
    facts, rooms = Facts(desk), Rooms(desk)
    return _made(
        _Row(layers.recall, "What a wing or a room knows, or what an id of a session rests on."),
        _Row(layers.report, "What the memory says now, for a prompt and files."),
        _Row(findings.findings, "Findings of code reviews, oldest first."),
        _Row(findings.add_finding, "Keep a finding of a code review.", reads=False),
        _Row(happened.mem_search, "Search what happened in sessions, best first, a line each."),
        _Row(happened.mem_timeline, "What happened before and after a record or a time."),
        _Row(happened.mem_get, "Records of sessions in full, by their ids."),
        _Row(happened.context, "What was done on a project lately, session by session."),
        _Row(
            sessions.observe,
            "Record what a session showed, from its entries; bare, it lists what waits.",
            reads=False,
        ),
        _Row(
            sessions.summarize,
            "Sum the session up in your own words; bare, by rules.",
            reads=False,
            again=False,
        ),
        _Row(diary.diary_write, "Add an entry to an agent's diary of today.", reads=False),
        _Row(diary.diary_read, "The latest entries of an agent's diary, oldest first."),
        _Row(facts.kg_add, "Add a fact that holds from a day on, until it is ended.", reads=False),
        _Row(facts.kg_query, "The facts of an entity that hold, now or as of a day."),
        _Row(facts.kg_invalidate, "End a fact; its past stays.", reads=False),
        _Row(facts.kg_timeline, "Every fact that an entity was ever in, by start."),
        _Row(facts.kg_extract, "Propose facts that a note or a text states; writes nothing."),
        _Row(facts.kg_stats, "How many facts there are, and of which predicates."),
        _Row(rooms.traverse, "The rooms that can be reached from a room, nearest first."),
        _Row(rooms.tunnels, "The rooms that several wings share."),
    )


def _made(*rows: _Row) -> list[PlainTool]:
    return [plain(*row) for row in rows]
