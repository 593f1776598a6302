"""Asks a palace's warm server to drain the queue: it does so behind the asker's back."""

import time
from pathlib import Path

from memory_palace.core.errors import PalaceError
from memory_palace.serve import place, wire

SECONDS = 0.05
"""For all of it: a process of one's own is started where that is too short."""


def ask(root: Path, seconds: float = SECONDS) -> bool:
    """True if a server says that it drains the queue of ``root``."""
    root = root.resolve()
    end = time.monotonic() + seconds
    try:
        if place.policy() == "off":
            return False
        where = place.address(root)
        if where is None:
            return False
        lines = wire.Lines(place.connect(where, seconds), wire.MOST_REPLY)
    except (OSError, PalaceError):
        return False
    try:
        request = {"op": "drain", "root": str(root), "token": where.token, "like": wire.myself()}
        lines.send(request, max(end - time.monotonic(), 0.001))
        while (left := end - time.monotonic()) > 0:
            said = lines.receive(left)
            if said is None or "wait" not in said:
                return said is not None and said.get("ok") is True
    except (OSError, wire.Garbled):
        return False
    finally:
        lines.close()
    return False
