"""One event of a session, handled: who looks at it, and what the client is told.

What an event needs is imported when it comes: before a tool runs there are milliseconds.
"""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.session.events import Event, Reply

if TYPE_CHECKING:
    from memory_palace.session.finding import Finder

SERVED = ("prompt", "after_tool")
"""Events of which the warm server does the part that needs memory: see :func:`served`."""


def handle(root: Path, event: Event, now: datetime, finder: Finder | None = None) -> Reply:
    """What the client is told of ``event`` in the palace ``root``; nothing of a name unknown.

    ``finder`` finds the memories; without one they are found by keywords. Raises what the parts
    raise.
    """
    if event.name == "start":
        from memory_palace.session import starting

        return starting.reply(root, event, now)
    if event.name == "before_tool":
        from memory_palace.session import guard

        return guard.before(root, event)
    if event.name in ("after_tool", "tool_failed"):
        return after(root, event, served(root, event, now, finder))
    if event.name in ("stop", "subagent_stop"):
        from memory_palace.session import guard

        return guard.at_stop(root, event)
    if event.name == "compact":
        from memory_palace.session import folding

        return folding.checkpoint(root, event, now)
    return served(root, event, now, finder)


def served(root: Path, event: Event, now: datetime, finder: Finder | None = None) -> Reply:
    """The part of ``event`` that needs memory: what fits a prompt, or the files of a tool.

    It runs no command, so it may be asked of a server and, if that stays silent, done again.
    """
    if event.name == "prompt":
        from memory_palace.session import prompting

        return prompting.reply(root, event, now, finder)
    if event.name == "after_tool" and event.files:
        from memory_palace.session import reminders

        return reminders.reply(root, event, now, finder)
    return Reply()


def after(root: Path, event: Event, reminded: Reply) -> Reply:
    """What the rules say after a tool, with what memory ``reminded`` of."""
    from memory_palace.session import guard

    ruled = guard.after(root, event)
    context = "\n\n".join(part for part in (ruled.context, reminded.context) if part)
    return ruled._replace(context=context, faults=(*ruled.faults, *reminded.faults))
