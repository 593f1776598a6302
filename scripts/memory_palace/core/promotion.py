"""What grows up: which memories are ready for which destination, on how much evidence."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date

from memory_palace.core import mechanical
from memory_palace.core.links import TREE
from memory_palace.core.mechanical import Form

DESTINATIONS = (
    "skill",
    "enforcement",
    "project_rule",
    "principle",
    "prompt_kernel",
    "failure_pattern",
    "thinking_path",
    "constitution_candidate",
    "topic",
)
"""What a proposal may become. A ``topic`` is a memory of one line, in a person's own words."""
FOLDERS = {
    "enforcement": "rules",
    "principle": "principles",
    "prompt_kernel": "prompt_kernels",
    "failure_pattern": "failure_patterns",
    "thinking_path": "thinking_paths",
    "constitution_candidate": "constitution_candidates",
}
"""Folders in the reflection wing of the destinations that become one note each."""
WING = f"{TREE}reflection_wing/"
ROOMS = f"{TREE}project_rooms/"
GENERAL = "general"
"""The room of a rule that no project's evidence speaks for."""

THRESHOLDS = {"enforcement": 3, "skill": 3, "project_rule": 5}
TIER_2 = frozenset({"principle", "prompt_kernel", "failure_pattern", "thinking_path"})
"""The reflection wing: only what several tasks speak for gets there, however often it was said."""
FIRST_LOOK = 3
MARKS_EVERY = 3
TASKS = 3
"""Completed cards and sessions that make several tasks ..."""
DAYS = 2
"""... on at least so many days."""
ROOMS_AT_LEAST = 2
"""What evidence of fewer project rooms than this speaks for is a local trick."""


@dataclass(frozen=True, slots=True)
class Source:
    """A completed card or a session that speaks for something; ``project`` is empty for none."""

    path: str
    day: date
    project: str = ""


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A destination, why, and for an enforcement the rule."""

    destination: str
    reason: str
    form: Form | None = None


def mark(evidence: int) -> int:
    """The last mark at or below ``evidence``: 0, 3, 5, then each multiple of 3."""
    if evidence < FIRST_LOOK:
        return 0
    marks = (FIRST_LOOK, THRESHOLDS["project_rule"], evidence // MARKS_EVERY * MARKS_EVERY)
    return max(one for one in marks if one <= evidence)


def looked_at(evidence: int) -> bool:
    """True once ``evidence`` has passed a mark, whenever the last look was.

    A scan that was not run at exactly 3 or 5 misses nothing: what was decided has an id, and that
    never comes back.
    """
    return mark(evidence) > 0


def several_tasks(sources: Iterable[Source]) -> bool:
    """True for :data:`TASKS` different sources over at least :data:`DAYS` days."""
    found = {source.path: source.day for source in sources}
    return len(found) >= TASKS and len(set(found.values())) >= DAYS


def suggestions(
    category: str, text: str, evidence: int, sources: Iterable[Source], enforced: bool = False
) -> tuple[Suggestion, ...]:
    """The destinations that an entry may go to, most fitting first; none below the first mark."""
    if not looked_at(evidence):
        return ()
    sources = tuple(sources)
    found = []
    form = mechanical.read(text) if category in mechanical.CATEGORIES and not enforced else None
    if form and evidence >= THRESHOLDS["enforcement"]:
        why = f"{seen(evidence)}, in a mechanical form ({form.confidence}: {form.why})"
        found.append(Suggestion("enforcement", why, form))
    for destination in _BY_CATEGORY.get(category, ()):
        if destination in TIER_2:
            if several_tasks(sources) and _fits(destination, text):
                found.append(Suggestion(destination, f"{seen(evidence)}, in {told(sources)}"))
        elif evidence >= THRESHOLDS[destination]:
            found.append(Suggestion(destination, seen(evidence)))
    return tuple(found)


_BY_CATEGORY = {
    "lesson": ("principle",),
    "mistake": ("failure_pattern",),
    "pattern": ("skill", "thinking_path", "prompt_kernel"),
    "preference": ("project_rule",),
    "decision": ("project_rule",),
}
_WORDS = {
    "prompt_kernel": {"prompt", "prompts", "instruct", "instruction", "instructions", "reply"},
    "thinking_path": {"first", "then", "before", "after", "step", "steps", "only", "last"},
}
"""What a pattern speaks of that is more than a skill: a guess, which whoever judges may reject."""


def _fits(destination: str, text: str) -> bool:
    words = _WORDS.get(destination)
    return words is None or not words.isdisjoint(text.casefold().replace(",", " ").split())


def is_constitutional(sources: Iterable[Source], weighty: bool, projects: Iterable[str]) -> str:
    """Why a principle may be put before a person as an article; empty if it may not.

    ``weighty`` says that it is pinned or of high priority: ignoring it was costly. ``projects``
    are the rooms of all its evidence.
    """
    sources = tuple(sources)
    rooms = sorted({name for name in projects if name})
    if not weighty or not several_tasks(sources):
        return ""
    if 0 < len(rooms) < ROOMS_AT_LEAST:
        return ""
    where = f"from {', '.join(rooms)}" if rooms else "of no single project"
    return f"validated in {told(sources)}, costly when ignored, its evidence {where}"


def room_of(sources: Iterable[Source]) -> str:
    """The project that most sources speak for, by name where two are even; else the general."""
    counts = Counter(source.project for source in sources if source.project)
    return min(counts, key=lambda name: (-counts[name], name), default=GENERAL)


def seen(evidence: int) -> str:
    """The evidence in words."""
    return f"seen {evidence} times" if evidence != 1 else "seen once"


def told(sources: Iterable[Source]) -> str:
    """The sources in words: ``3 tasks on 2 days``."""
    found = {source.path: source.day for source in sources}
    days = len(set(found.values()))
    tasks = "1 task" if len(found) == 1 else f"{len(found)} tasks"
    return f"{tasks} on {days} day{'' if days == 1 else 's'}"
