"""What a hook does once its answer is known: keep the event, and have the queue drained."""

from typing import TYPE_CHECKING

from memory_palace.agents import hook_faults
from memory_palace.session import clock

if TYPE_CHECKING:
    from pathlib import Path

    from memory_palace.session.events import Event

_SERVED = ".palace/serve"
"""Where there never was a server none is looked for: that takes milliseconds."""


def capture(root: "Path", event: "Event", named: bool = True) -> None:
    """Keep what ``event`` tells of the session; not in a copy of the toolkit that nobody ``named``
    for it. Raises nothing: a fault is a line of the health
    file, and the client was told already what it is told."""
    if event.name == "before_tool":
        return
    faults: tuple[str, ...] = ()
    try:
        if not named and _is_borrowed(root, event):
            return
        from memory_palace.session import capture as captures

        faults = captures.enqueue(root, event, clock.now())
        _drained(root, event)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("memory_palace"):
            faults += (_broken(error),)  # else the answer has said what is not installed
    except Exception as error:
        faults += (_broken(error),)
    if faults:
        hook_faults.noted(root, faults)


def _is_borrowed(root: "Path", event: "Event") -> bool:
    from pathlib import Path

    from memory_palace.files import roots

    return roots.is_borrowed(root, Path(event.cwd) if event.cwd else Path.cwd())


def _broken(error: Exception) -> str:
    return f"capture: {type(error).__name__}: {error}: {hook_faults.DOCTOR}"


def _drained(root: "Path", event: "Event") -> None:
    """Have the queue drained, where it is time: by the warm server, else by a process. All hooks
    of a session's end share little time: a process at once."""
    from memory_palace.session import draining

    if not draining.wanted(root, event):
        return
    if event.name != "end" and (root / _SERVED).is_dir():
        from memory_palace.serve import draining as servers

        if servers.ask(root):
            draining.started(root)
            return
    draining.start(root)
