"""The situation report: what the memory says now, within a budget of tokens. Pure.

Pinned and enforced entries stand outside the budget; everything else is whole or left out, and
what is left out is counted. The same memories give the same report, in whatever order they come.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from memory_palace.core import report_text
from memory_palace.core.memories import Memory
from memory_palace.core.problems import printable
from memory_palace.core.queries import GENERAL, QueryClass
from memory_palace.core.report_text import Candidate, Section, tokens
from memory_palace.core.strength import STANDING
from memory_palace.core.topics import CATEGORIES

BUDGET = 1_700
"""Tokens of the whole report, of 4 characters each."""

WARNING = 80
"""Per cent of the budget from which on the report says that it is nearly full."""

SECTIONS = {
    "preference": 400,
    "lesson": 400,
    "mistake": 200,
    "pattern": 200,
    "decision": 200,
    "done": 200,
}
"""Tokens of each category's section."""

BOOST = 1.25
"""What a section's budget is multiplied by where the query class boosts it."""

LAST_DAYS = {"decision": 7, "done": 3}
"""Entries of these categories count if they came up within so many days."""

CANDIDATES, CANDIDATES_TOKENS = 5, 150
"""Promotion candidates that are shown, and the tokens that they may take."""

PROMPT_TOKENS = 250
"""Tokens that entries near to the prompt may take; the query class says how many they are."""

FILES, FILES_TOKENS = 3, 120
"""Entries near to the files at hand, and the tokens that they may take."""


class Near(NamedTuple):
    """An entry that is near to the prompt or to files, and how near, 0 to 1."""

    memory: Memory
    similarity: float


class Report(NamedTuple):
    """The report. ``used`` and ``budget`` are tokens; ``sections`` are in order, without those
    that have nothing; ``text`` is empty where there is nothing to tell. ``words`` of the prompt
    decided the class."""

    text: str
    kind: QueryClass
    words: str
    sections: tuple[Section, ...]
    used: int
    budget: int

    @property
    def percent(self) -> int:
        """How much of the budget is used."""
        return report_text.percent(self.used, self.budget)

    @property
    def memories(self) -> tuple[Memory, ...]:
        """All entries that are shown, each once."""
        return tuple(memory for section in self.sections for memory in section.memories)

    @property
    def more(self) -> int:
        """How many entries that count now are not shown."""
        return sum(len(section.cut) for section in self.sections)


def compose(
    memories: Iterable[Memory],
    at: datetime,
    kind: QueryClass = GENERAL,
    words: str = "",
    near: Iterable[Near] = (),
    files: Iterable[Near] = (),
    candidates: Sequence[Candidate] = (),
    room: int = BUDGET,
    system_tokens: int = 0,
) -> Report:
    """The report of ``memories`` at a moment, for a class of work.

    ``words`` of the prompt decided the class. ``near`` are entries near to the prompt, ``files``
    to files. ``room`` is for a place that has less than :data:`BUDGET` tokens. ``system_tokens``
    are those of the system prompt that the report is added to: they are told, and change nothing
    else.
    """
    live = [memory for memory in memories if not (memory.archived or memory.forgotten)]
    pinned = _pinned(live)
    seen = {memory.id for memory in pinned.memories}
    purse = _Purse(min(room, BUDGET), report_text.reserved(BUDGET, system_tokens))
    sections = [
        purse.candidates(candidates),
        purse.hint(kind, words),
        pinned,
        purse.near("Near to the prompt", near, kind.vector_hits, PROMPT_TOKENS, seen),
        purse.near("Near to the files", files, FILES, FILES_TOKENS, seen),
    ]
    of = eligible(live, at, seen)
    purse.reserve([name for name in kind.order if of[name]])
    sections += [purse.category(name, of[name], kind) for name in kind.order]
    kept = tuple(section for section in sections if section.lines or section.cut)
    if not any(section.lines for section in kept):
        return Report("", kind, words, kept, 0, BUDGET)
    used = purse.spent()
    if report_text.percent(used, BUDGET) >= WARNING:
        used += tokens(report_text.WARNING_LINE)
    text = report_text.text(kept, used, BUDGET, WARNING, system_tokens)
    return Report(text, kind, words, kept, used, BUDGET)


def eligible(
    memories: Iterable[Memory], at: datetime, seen: Collection[str] = ()
) -> Mapping[str, list[Memory]]:
    """{category: its entries that count now, strongest first}, without those ``seen``."""
    found: dict[str, list[Memory]] = {name: [] for name in CATEGORIES}
    for memory in sorted(memories, key=lambda m: (-m.strength, m.path, m.line, m.id)):
        days = LAST_DAYS.get(memory.category)
        lately = days is None or memory.reinforced >= at - timedelta(days=days)
        if memory.id not in seen and memory.lifecycle in STANDING and lately:
            found[memory.category].append(memory)
    return found


def _pinned(memories: Iterable[Memory]) -> Section:
    """What is always there: pinned entries and those that a rule holds."""
    order = list(CATEGORIES)
    kept = sorted(
        (m for m in memories if m.safe),
        key=lambda m: (order.index(m.category), -m.strength, m.path, m.line, m.id),
    )
    lines = tuple(report_text.line(memory, with_category=True) for memory in kept)
    return Section("Pinned", lines, tuple(kept), (), 0, report_text.cost("Pinned", lines))


class _Purse:
    """What is left of the budget. ``head`` tokens are for what stands above the sections."""

    def __init__(self, budget: int, head: report_text.Reserved) -> None:
        self.budget = budget
        self.used = head.header
        self.later = head.warning
        """Kept back: for the warning, and for counting what does not fit further down."""
        self.counts: dict[str, int] = {}

    def spent(self) -> int:
        """Tokens that are used so far."""
        return self.used

    def reserve(self, names: Iterable[str]) -> None:
        """Keep back what it takes to count what is left out of each of these categories."""
        for name in names:
            line = report_text.more_line(name, 9_999)
            cost = report_text.cost(CATEGORIES[name].heading, [line])
            if cost <= self._room(self.budget):
                self.counts[name] = cost

    def _room(self, most: int) -> int:
        """Tokens that a section of at most ``most`` may take."""
        kept_back = self.later + sum(self.counts.values())
        return max(min(most, self.budget - self.used - kept_back), 0)

    def _section(
        self,
        name: str,
        lines: Sequence[str],
        kept: Sequence[Memory],
        cut: Sequence[Memory],
        most: int,
    ) -> Section:
        used = report_text.cost(name, lines)
        self.used += used
        return Section(name, tuple(lines), tuple(kept), tuple(cut), most, used)

    def candidates(self, found: Sequence[Candidate]) -> Section:
        """The first proposals that wait for a person, and how many more do."""
        name, room = "Promotion candidates", self._room(CANDIDATES_TOKENS)
        lines: list[str] = []
        for one in found[:CANDIDATES]:
            line = report_text.candidate_line(one)
            last = [report_text.waiting_line(len(found))] if len(found) > len(lines) + 1 else []
            if report_text.cost(name, [*lines, line, *last]) <= room:
                lines.append(line)
        if lines and len(found) > len(lines):
            lines.append(report_text.waiting_line(len(found) - len(lines)))
        return self._section(name, lines, (), (), CANDIDATES_TOKENS)

    def hint(self, kind: QueryClass, words: str) -> Section:
        """What kind of work the prompt is about, where it is of one."""
        name, most = "Kind of work", self.budget
        lines = report_text.hint_lines(kind, printable(words))
        fits = report_text.cost(name, lines) <= self._room(most)
        return self._section(name, lines if fits else (), (), (), most)

    def near(
        self, name: str, found: Iterable[Near], count: int, most: int, seen: set[str]
    ) -> Section:
        """The nearest entries that are not shown yet; they are not shown again below."""
        ordered = sorted(
            found, key=lambda n: (-n.similarity, n.memory.path, n.memory.line, n.memory.id)
        )
        room = self._room(most)
        kept: list[Memory] = []
        lines: list[str] = []
        for one in ordered:
            line = report_text.line(one.memory, with_category=True)
            is_new = one.memory.id not in seen and len(kept) < count
            if is_new and report_text.cost(name, [*lines, line]) <= room:
                kept.append(one.memory)
                lines.append(line)
                seen.add(one.memory.id)
        return self._section(name, lines, kept, (), most)

    def category(self, name: str, found: Sequence[Memory], kind: QueryClass) -> Section:
        """A category's entries, strongest first, and the count of what does not fit."""
        heading = CATEGORIES[name].heading
        most = round(SECTIONS[name] * (BOOST if name in kind.boosted else 1.0))
        self.counts.pop(name, None)
        room = self._room(most)
        kept = _fitting(heading, found, room)
        last: list[str] = []
        if len(kept) < len(found):
            kept = _fitting(heading, found, room, [report_text.more_line(name, len(found))])
            last = [report_text.more_line(name, len(found) - len(kept))]
        shown = {memory.id for memory in kept}
        lines = [*map(report_text.line, kept), *last]
        if report_text.cost(heading, lines) > room:
            lines = []  # not even the count fits
        cut = [memory for memory in found if memory.id not in shown]
        return self._section(heading, lines, kept, cut, most)


def _fitting(
    heading: str, found: Sequence[Memory], room: int, last: Sequence[str] = ()
) -> list[Memory]:
    """The entries that fit into ``room`` tokens with the lines ``last``, in their order."""
    kept: list[Memory] = []
    lines: list[str] = []
    for memory in found:
        line = report_text.line(memory)
        if report_text.cost(heading, [*lines, line, *last]) <= room:
            kept.append(memory)
            lines.append(line)
    return kept
