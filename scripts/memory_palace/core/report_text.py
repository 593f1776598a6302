"""How the situation report reads: its lines, what they cost, and why it is as it is."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_palace.core import dates
from memory_palace.core.layers import TOKEN, clipped
from memory_palace.core.memories import Memory
from memory_palace.core.problems import printable
from memory_palace.core.queries import GENERAL, QueryClass
from memory_palace.core.topics import CATEGORIES

if TYPE_CHECKING:
    from memory_palace.core.report import Report

LONGEST = 300
"""Characters of an entry that are shown."""

WARNING_LINE = "The budget is nearly used up: `palace consolidate` lists what can go."

_FILES = {category.heading: category.path for category in CATEGORIES.values()}
_DATED = ("decision", "done")
_LONGEST_CANDIDATE = 80


class Candidate(NamedTuple):
    """A proposal that waits for a person: its id, where it is to go, and what it says."""

    id: str
    destination: str
    text: str


class Section(NamedTuple):
    """A part of the report. ``memories`` are shown; ``cut`` count now and did not fit.

    ``budget`` and ``used`` are tokens; a budget of 0 is none: the section stands outside of it.
    """

    name: str
    lines: tuple[str, ...]
    memories: tuple[Memory, ...]
    cut: tuple[Memory, ...]
    budget: int
    used: int


class Reserved(NamedTuple):
    """Tokens for what stands above the sections."""

    header: int
    warning: int


def percent(used: int, budget: int) -> int:
    """``used`` in per cent of ``budget``, rounded."""
    return round(100 * used / budget) if budget else 0


def tokens(text: str) -> int:
    """Tokens of ``text``, with the line's end."""
    return -(-(len(text) + 1) // TOKEN)


def title(name: str) -> str:
    """A section's heading; with the file of a category."""
    place = _FILES.get(name)
    return f"## {name} ({place})" if place else f"## {name}"


def cost(name: str, lines: Sequence[str]) -> int:
    """Tokens of a section with its heading and the blank line before it; 0 without lines."""
    return tokens("\n".join(["", title(name), *lines])) if lines else 0


def line(memory: Memory, with_category: bool = False) -> str:
    """An entry on one line; with its place where that is not its category's file."""
    day = f"{dates.stamp(memory.reinforced)[:10]} " if memory.category in _DATED else ""
    category = f"[{memory.category}] " if with_category else ""
    mark = " *(enforced)*" if memory.enforced else ""
    usual = memory.path == CATEGORIES[memory.category].path
    place = "" if usual else f" ({printable(memory.path)}:{memory.line})"
    said = clipped(printable(memory.text), LONGEST)
    return f"- {category}{day}{said}{mark}{place} ^{memory.id}"


def more_line(name: str, more: int) -> str:
    """How many entries of a category did not fit, and where they are."""
    return f"[{more} more: `palace recall topics/{CATEGORIES[name].file.removesuffix('.md')}`]"


def candidate_line(one: Candidate) -> str:
    """A proposal on one line."""
    said = clipped(printable(one.text), _LONGEST_CANDIDATE)
    return f"- {said} ({one.destination.replace('_', ' ')}, {one.id})"


def waiting_line(more: int) -> str:
    """How many more proposals wait."""
    return f"[{more} more: `palace promote list --status proposed`]"


def hint_lines(kind: QueryClass, words: str) -> list[str]:
    """What kind of work it is, and what follows; nothing for the general kind."""
    if kind is GENERAL:
        return []
    first = ", ".join(CATEGORIES[name].heading.lower() for name in kind.boosted)
    because = f" (`{words}`)" if words else ""
    return [f"{kind.name.replace('_', ' ')}{because}: more room for {first}"]


def reserved(budget: int, system_tokens: int) -> Reserved:
    """What the lines above the sections take at most."""
    return Reserved(tokens("\n".join(_head(budget, budget, system_tokens))), tokens(WARNING_LINE))


def text(
    sections: Sequence[Section], used: int, budget: int, warning: int, system_tokens: int
) -> str:
    """The whole report."""
    head = _head(used, budget, system_tokens)
    if percent(used, budget) >= warning:
        head.append(WARNING_LINE)
    shown = [section for section in sections if section.lines]
    parts = ["\n".join([title(section.name), *section.lines]) for section in shown]
    return "\n\n".join(["\n".join(head), *parts])


def _head(used: int, budget: int, system_tokens: int) -> list[str]:
    full = percent(used, budget)
    head = [f"# Project Memory [{full}% — {used:,}/{budget:,} tokens]"]
    if system_tokens:
        head.append(f"Added to a system prompt of {system_tokens:,} tokens.")
    return head


def explained(report: "Report") -> str:
    """The class and why, what each section may take and took, and what was cut."""
    kind = report.kind
    why = f"the prompt says `{printable(report.words)}`" if report.words else "no other matches"
    boosted = ", ".join(_heading(name) for name in kind.boosted) or "none"
    lines = [
        f"class: {kind.name} ({why})",
        f"order: {', '.join(_heading(name) for name in kind.order)}",
        f"boosted: {boosted}; near to the prompt: at most {kind.vector_hits}",
        f"used: {report.used:,} of {report.budget:,} tokens ({report.percent} %)",
        "",
        f"{'section':<22} {'budget':>6} {'used':>6} {'shown':>6} {'cut':>5}",
    ]
    for one in report.sections:
        allowed = f"{one.budget:,}" if one.budget else "none"
        entries = len(one.memories) or len([line for line in one.lines if line.startswith("-")])
        row = f"{one.name:<22} {allowed:>6} {one.used:>6,} {entries:>6} {len(one.cut):>5}"
        lines.append(row)
    cut = [memory for section in report.sections for memory in section.cut]
    lines += ["", "cut:"] if cut else []
    lines += [f"{line(memory, with_category=True)} ({memory.strength:.2f})" for memory in cut]
    return "\n".join(lines)


def _heading(name: str) -> str:
    return CATEGORIES[name].heading.lower()


def as_dict(report: "Report", system_tokens: int = 0) -> dict[str, Any]:
    """The report with the keys that ``--format json`` promises."""
    return {
        "class": report.kind.name,
        "words": report.words,
        "order": list(report.kind.order),
        "boosted": list(report.kind.boosted),
        "vector_hits": report.kind.vector_hits,
        "used": report.used,
        "budget": report.budget,
        "percent": report.percent,
        "system_tokens": system_tokens,
        "more": report.more,
        "sections": [
            {
                "name": section.name,
                "budget": section.budget,
                "used": section.used,
                "entries": [_entry(memory) for memory in section.memories],
                "cut": [memory.id for memory in section.cut],
            }
            for section in report.sections
        ],
        "text": report.text,
    }


def _entry(memory: Memory) -> dict[str, Any]:
    return {
        "id": memory.id,
        "category": memory.category,
        "text": memory.text,
        "path": memory.path,
        "line": memory.line,
        "strength": round(memory.strength, 6),
        "lifecycle": memory.lifecycle,
        "pinned": memory.pinned,
        "enforced": memory.enforced,
    }
