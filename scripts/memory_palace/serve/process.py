"""The process that a server runs in, and how it is ended from outside."""

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from memory_palace.core.errors import PalaceError, Refused
from memory_palace.serve import client, place

STOP_SECONDS = 6.0


def serve(root: Path, idle_minutes: float, say: Callable[[str], None]) -> None:
    """Serve in this process until SIGTERM, SIGINT or another reason to end; main thread only.

    Raises what :meth:`Server.run` raises.
    """
    from memory_palace.serve.server import Server  # with index, model and numpy

    server = Server(root, idle_minutes * 60, say)
    before = {}
    for number in (signal.SIGTERM, signal.SIGINT):
        before[number] = signal.signal(number, lambda got, _: server.stop(signal.Signals(got).name))
    try:
        server.run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def background(root: str, idle_minutes: str) -> int:
    """What :func:`start.in_background` runs, with the log as stderr."""

    def say(line: str) -> None:
        stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        sys.stderr.write(f"{stamp} {line}\n")
        sys.stderr.flush()

    code = 0
    try:
        serve(Path(root), float(idle_minutes), say)
    except PalaceError as fault:
        say(str(fault))
        code = fault.exit_code
    # A model may be loading in a thread that nothing can end.
    os._exit(code)


def is_running(root: Path) -> bool:
    """True if the root has a server, whether it answers or not."""
    folder = place.folder(root)
    return place.private(folder) and place.held(folder)


def stop(root: Path) -> bool:
    """End the root's server, by force if it does not answer; False if there is none.

    Raises :class:`Refused` if it cannot be ended.
    """
    if not is_running(root):
        return False
    with contextlib.suppress(client.Gone), client.Client(root, _address(root)) as connection:
        connection.stop()
        if _ended(root):
            return True
    pid = place.read(place.folder(root) / place.RECORD).get("pid")
    if type(pid) is int and pid > 1:
        for number in (signal.SIGTERM, getattr(signal, "SIGKILL", signal.SIGTERM)):
            # Whose lock is held is alive, so the number is still its own.
            if is_running(root):
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
            if _ended(root):
                return True
    raise Refused(f"the server of {root} (process {pid or 'unknown'}) does not end: end it by hand")


def _address(root: Path) -> place.Address:
    where = place.address(root)
    if where is None:
        raise client.Gone("")
    return where


def _ended(root: Path) -> bool:
    end = time.monotonic() + STOP_SECONDS
    while time.monotonic() < end:
        if not is_running(root):
            return True
        time.sleep(0.02)
    return False
