"""Has the queue drained behind the session's back: by a process that nobody waits for.

Light to import: a hook asks here whether there is anything to do.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterable
from pathlib import Path

from memory_palace.core.errors import PalaceError
from memory_palace.files import queue, roots
from memory_palace.session import clock
from memory_palace.session.events import GUARD, Event

STARTED = f"{queue.FOLDER}/started"
"""Its time says when a drain was started last."""

AGAIN_SECONDS = 30.0
SOON_BYTES = 8 << 10
"""At the end of a turn: not started within these of the last one, unless so much waits."""

LONG_BYTES = 1 << 20
"""In the middle of a long turn: started where so much waits."""

MOST_SECONDS = 1_800
"""A process that takes longer hangs: it is ended, what it has not done still waits, and nobody is
kept from doing it."""

_MOST_HANDLES = 1_024

_BOOT = """\
import sys
sys.path[0:0] = [p for p in sys.argv[1:2] if p not in sys.path]
from memory_palace.session import draining
draining.background(sys.argv[2], draining.MOST_SECONDS)
"""


def wanted(root: Path, event: Event) -> bool:
    """True if a drain is to be started at ``event``."""
    least = {"start": 1, "compact": 1, "end": 1, "stop": SOON_BYTES}.get(event.name, LONG_BYTES)
    waits = queue.waiting(root).bytes
    if not waits or (waits < least and (event.name != "stop" or _recently(root))):
        return False
    return not is_working(root)


def _recently(root: Path) -> bool:
    try:
        return abs(time.time() - os.stat(root / STARTED).st_mtime) < AGAIN_SECONDS
    except OSError:
        return False


def started(root: Path) -> None:
    """Note that a drain was started."""
    with contextlib.suppress(OSError, PalaceError):
        handle = os.open(roots.inside(root, STARTED), os.O_WRONLY | os.O_CREAT, 0o600)
        try:
            os.utime(handle if os.utime in os.supports_fd else root / STARTED)
        finally:
            os.close(handle)


def start(root: Path) -> None:
    """Start a process that drains the queue, and come back at once. Raises OSError.

    It has a session of its own and none of our handles, and no hook of a client that it may start
    does anything.
    """
    started(root)
    package = str(Path(__file__).resolve().parents[2])
    # -P: nothing is imported from the current folder, which may be a stranger's.
    words = [sys.executable, "-P", "-c", _BOOT, package, str(root)]
    environment = os.environ | {GUARD: "1"}
    if not sys.executable:
        raise FileNotFoundError(2, "this Python does not know its own program")
    if not hasattr(os, "fork"):
        import subprocess

        flags = getattr(subprocess, "DETACHED_PROCESS", 0)
        nothing = subprocess.DEVNULL
        subprocess.Popen(
            words, stdin=nothing, stdout=nothing, stderr=nothing, cwd=root, env=environment,
            creationflags=flags,
        )  # fmt: skip
        return
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        nowhere = os.open(os.devnull, os.O_RDWR)
        for handle in (0, 1, 2):
            os.dup2(nowhere, handle)
        os.closerange(3, _MOST_HANDLES)  # a client may have handed down more than three
        os.chdir(root)
        os.execve(sys.executable, words, environment)
    finally:
        os._exit(127)


def background(root: str, seconds: int = 0) -> None:
    """What :func:`start` runs; the process ends after so many ``seconds``, if there are any."""
    os.environ[GUARD] = "1"
    if seconds and hasattr(os, "fork"):
        import signal

        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.alarm(seconds)
    place = Path(root)
    if not (place / roots.MARKER).is_file():
        return  # it was removed meanwhile: nothing of it is made again
    try:
        work(place)
    except ModuleNotFoundError as error:
        why = f"the package `{error.name}` is not installed: run `make setup` in the toolkit"
        _noted(place, [f"captured turns wait: {why}"])
    except Exception as error:
        _noted(
            place,
            [f"captured turns wait: {type(error).__name__}: {error}: run `palace observe --auto`"],
        )


def is_working(root: Path) -> bool:
    """True if somebody works off the queue at this moment."""
    return queue.is_held(root, queue.WORK)


def work(root: Path) -> None:
    """Drain the queue and do what follows, until nothing waits; nothing where somebody else does.
    Faults go to the health file."""
    from memory_palace.session import settled

    while True:
        with queue.only_one(root, queue.WORK) as mine:
            if not mine:
                return
            done = settled.run(root)
        _noted(root, done.faults)
        # What came while this one held the lock, nobody else was started for.
        if done.faults or done.left or not queue.waiting(root).bytes:
            return


def _noted(root: Path, faults: Iterable[str]) -> None:
    from memory_palace.session import health

    told = tuple(faults)
    if told:
        health.add(root, told, clock.now())
