"""What a hook ran into: lines of the palace's health file. Their room is imported when needed."""

from typing import TYPE_CHECKING

from memory_palace.session import clock

if TYPE_CHECKING:
    from pathlib import Path

DOCTOR = "run `palace doctor`"


def fault(root: "Path | None", host: str, what: str, do: str = f": {DOCTOR}") -> bool:
    """One line of the health file; False where that cannot be written."""
    return root is not None and noted(root, (line(host, what + do),))


def line(host: str, what: str) -> str:
    """What is wrong, with the event's name where it is known."""
    return f"hook {host}: {what}" if host else f"hook: {what}"


def noted(root: "Path", messages: tuple[str, ...]) -> bool:
    """Count lines of the health file; False where that cannot be written."""
    from memory_palace.session import health

    return health.add(root, messages, clock.now())


def ignored(root: "Path", names: list[str]) -> None:
    """Count what a client sent and nobody reads."""
    from memory_palace.session import health

    health.ignore(root, names, clock.now())
