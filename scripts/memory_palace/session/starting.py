"""What an agent gets when its session starts: the wake-up, the situation report and what was done
last on the project, in one fence.

What is given is written into the session's record, so that no prompt brings it again. On a resume
the context still has it: only what has changed is given. After a compaction the titles of what had
been shown come back too.
"""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_palace.core import fence, layers, report_text
from memory_palace.core.errors import PalaceError
from memory_palace.core.memories import Memory
from memory_palace.core.report import BUDGET, Report
from memory_palace.files import chambers
from memory_palace.memory import state as states
from memory_palace.memory.state import State
from memory_palace.session import guard, mended, record, report, shown_before, wake, withheld
from memory_palace.session.events import Event, Reply
from memory_palace.session.finding import digest
from memory_palace.session.wake import Wake

if TYPE_CHECKING:
    from memory_palace.core.fold import Fold

KIND = "wake"
HEALTH = "health"
"""The key of a record's row that has the digest of the lines about failed hooks."""

LEAST_REPORT = 600
"""Tokens that the report has at least; the story is cut before it is."""

LEAST_WAKE = layers.LONGEST_IDENTITY
"""Characters that the wake-up has at least, whatever is pinned."""

ROOM = fence.MOST_CHARACTERS - 200
"""Characters inside the fence: the marks and the line that says what it is take the rest."""

GIT_SECONDS = 0.3
"""For each topic file: a slow git must not keep a session waiting."""

_JOINTS = 6


class _Given(NamedTuple):
    """What is given: the text, and {key: digest} of what is in it."""

    text: str
    shown: Mapping[str, str]


def reply(root: Path, event: Event, now: datetime) -> Reply:
    """The context for the start of a session, in one fence; empty where there is nothing to tell.

    What cannot be read or written is a fault of the reply.
    """
    session = record.key(event.client, event.session, event.agent)
    rows = record.read(root, session)
    known = record.shown(rows)
    faults: list[str] = []
    cwd = Path(event.cwd) if event.cwd else None
    found = wake.wake(root, now, cwd=cwd, faults=False)
    state = _state(root, now, faults)
    lines = [*wake.fault_lines(root, now), *guard.at_start(root)]
    if found.said:  # that the index is missing is told there
        lines = [line for line in lines if mended.INDEX not in line]
    if event.source == "resume" and _was_told(found, known):
        given = _changed(root, now, found, state, lines, known)
        fresh = False
    else:
        lost = rows if event.source == "compact" else []
        back = _folded(root, event, now, faults)
        recent = _recent(root, event, now, cwd)
        given = _whole(root, now, cwd, found, state, lines, lost, back, recent)
        # Everything but a resume starts with an empty context, whatever the record says.
        fresh = bool(known) and event.source != "resume"
    context = fence.fenced(given.text, KIND)
    new: list[dict[str, Any]] = [{"k": "compacted"}] if fresh else []
    new += [
        {"k": "shown", "key": key, "digest": says}
        for key, says in given.shown.items()
        if "/" in key or key == HEALTH or f"^{key}" in context
    ]
    faults += record.noted(root, session, new)
    record.prune(root, now)
    return Reply(context=context, faults=tuple(faults))


def _state(root: Path, now: datetime, faults: list[str]) -> State | None:
    try:
        return withheld.without_private(states.load(root, now, git_seconds=GIT_SECONDS))
    except PalaceError as error:
        faults.append(f"no situation report: {error}")
        return None


def _recent(root: Path, event: Event, now: datetime, cwd: Path | None) -> Callable[[int], str]:
    """What happened last, in so many characters as there are left. After a compaction the session
    has what it did itself, and a subagent has one task."""

    def fitted(room: int) -> str:
        if event.source == "compact" or event.agent or not chambers.have_ledgers(root):
            return ""
        from memory_palace.session import context

        return context.starting(root, now, cwd, event.session, room)

    return fitted


def _whole(
    root: Path,
    now: datetime,
    cwd: Path | None,
    found: Wake,
    state: State | None,
    lines: Sequence[str],
    lost: Sequence[Mapping[str, Any]],
    back: "Fold | None",
    recent: Callable[[int], str],
) -> _Given:
    """Wake-up and report, what a fold gives ``back``, titles of what ``lost`` rows showed, and
    what is ``recent`` if there is room for it; no longer than :data:`ROOM`."""
    health = wake.health_section(lines)
    said = "\n".join(f"[{line}]" for line in found.said)
    made = report.compose(root, now, state=state) if state else None
    if not (found.text or (made and made.text) or health or back):
        return _Given(recent(ROOM), {})
    here = _of_wake(found) | _of_memories(made.memories if made else ())
    rest = layers.joined((said, health, shown_before.lines(root, lost, state, here)))
    # Clients count some characters as two: measured, not guessed.
    room = ROOM - _JOINTS - fence.size(rest)
    if back:
        from memory_palace.session import folding

        taken = fence.size(found.text) + (fence.size(made.text) if made else 0)
        folded = folding.shown(back, max(room - taken, folding.LEAST))
        rest = layers.joined((folded, rest))
        room -= fence.size(folded) + _JOINTS
    if made and fence.size(found.text) + fence.size(made.text) > room:
        left = max(room - fence.size(found.text), LEAST_REPORT * layers.TOKEN)
        made = _fitted(root, now, state, made, left)
        left = max(room - fence.size(made.text), LEAST_WAKE)
        while found.text and fence.size(found.text) > left:
            tokens = (len(found.text) - fence.size(found.text) + left) // layers.TOKEN
            shorter = wake.wake(root, now, budget=max(tokens, 1), cwd=cwd, faults=False)
            found = shorter if len(shorter.text) < len(found.text) else shorter._replace(text="")
    left = room - fence.size(found.text) - (fence.size(made.text) if made else 0)
    text = layers.joined((found.text, made.text if made else "", recent(left - _JOINTS), rest))
    shown = _of_wake(found) | _of_memories(made.memories if made else ())
    return _Given(text, shown | ({HEALTH: digest(health)} if health else {}))


def _folded(root: Path, event: Event, now: datetime, faults: list[str]) -> "Fold | None":
    """After a compaction, what the session keeps of itself; what no hook did before is done."""
    if event.source != "compact":
        return None
    from memory_palace.session import folding

    faults += folding.caught_up(root, event, now)
    return folding.newest(root, event, now)


def _fitted(root: Path, now: datetime, state: State | None, made: Report, left: int) -> Report:
    """The report in at most ``left`` characters, as clients count them; pinned entries stay."""
    for _ in range(2):
        wide = fence.size(made.text) - len(made.text)
        pinned = sum(one.used for one in made.sections if not one.budget)
        room = (left - wide) // layers.TOKEN - pinned
        made = report.compose(root, now, state=state, room=min(max(room, 0), BUDGET))
        if fence.size(made.text) <= left:
            break
    return made


def _changed(
    root: Path,
    now: datetime,
    found: Wake,
    state: State | None,
    lines: Sequence[str],
    known: Mapping[str, str],
) -> _Given:
    """What a resumed session does not have yet: other notes, entries, faults; else nothing."""
    notes = [one for one in found.notes if known.get(one.path) != one.sha256]
    made = report.compose(root, now, state=state) if state else None
    memories = [m for m in (made.memories if made else ()) if known.get(m.id) != digest(m.text)]
    health = wake.health_section(lines)
    is_new = bool(health) and known.get(HEALTH) != digest(health)
    story = layers.compose(notes, layers.L1)
    entries = [report_text.line(memory, with_category=True) for memory in memories]
    parts = [story.text, "\n".join(["## Memories", *entries]) if entries else ""]
    if any(parts):
        parts.insert(0, "# New or changed since this session was last open")
    text = layers.joined([*parts, health if is_new else ""])
    shown = _of_memories(memories) | {one.path: one.sha256 for one in story.notes}
    return _Given(text, shown | ({HEALTH: digest(health)} if is_new else {}))


def _was_told(found: Wake, known: Mapping[str, str]) -> bool:
    """True if the context has this wake-up, in whatever state of its notes."""
    same = known.get(wake.IDENTITY, "") == found.identity
    return same and bool(known) and (bool(found.identity) or any("/" in key for key in known))


def _of_wake(found: Wake) -> dict[str, str]:
    if not found.text:
        return {}
    identity = {wake.IDENTITY: found.identity} if found.identity else {}
    return identity | {one.path: one.sha256 for one in found.notes}


def _of_memories(memories: Sequence[Memory]) -> dict[str, str]:
    return {memory.id: digest(memory.text) for memory in memories}
