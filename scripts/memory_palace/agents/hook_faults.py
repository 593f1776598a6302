"""What a hook ran into: lines of the palace's health file. Their room is imported when needed."""

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from pathlib import Path

DOCTOR = "run `palace doctor`"


def now() -> "datetime":
    """The clock, or ``$PALACE_NOW`` where that is set."""
    from datetime import UTC, datetime

    given = os.environ.get("PALACE_NOW")
    if given:
        from memory_palace.core import dates

        return dates.parse(given) or datetime.now(UTC)
    return datetime.now(UTC)


def fault(root: "Path | None", host: str, what: str, do: str = f": {DOCTOR}") -> bool:
    """One line of the health file; False where that cannot be written."""
    return root is not None and noted(root, (line(host, what + do),))


def line(host: str, what: str) -> str:
    """What is wrong, with the event's name where it is known."""
    return f"hook {host}: {what}" if host else f"hook: {what}"


def noted(root: "Path", messages: tuple[str, ...]) -> bool:
    """Count lines of the health file; False where that cannot be written."""
    from memory_palace.session import health

    return health.add(root, messages, now())


def ignored(root: "Path", names: list[str]) -> None:
    """Count what a client sent and nobody reads."""
    from memory_palace.session import health

    health.ignore(root, names, now())
