"""Waiting no longer than a client does: for its event, and for the work on it.

The work is done in a child process. Whatever hangs or breaks it (a disk, a lock, a library, a
pattern that backtracks), the parent answers in time.
"""

import os
import select
import signal
import time
from collections.abc import Callable
from typing import NamedTuple

MOST_BYTES = 16 << 20
"""A longer event is not read."""

SILENCE_SECONDS = 1.0
"""A client that sends nothing for so long has said what it has to say."""

_BLOCK = 1 << 20
_WAITS = os.name != "nt"  # there `select` takes sockets only


class Received(NamedTuple):
    """What came on stdin; ``fault`` says why nothing more was read."""

    data: bytes
    fault: str = ""


def received(handle: int, seconds: float, silence: float = SILENCE_SECONDS) -> Received:
    """All that comes, up to the end, a silence, or the deadline. A closed handle gives nothing.

    Where only sockets can be waited for, it is read up to its end, without a deadline.
    """
    blocks: list[bytes] = []
    size = 0
    end = time.monotonic() + seconds
    while size <= MOST_BYTES:
        patience = min(silence, end - time.monotonic())
        if patience <= 0:
            return Received(b"".join(blocks), f"the event did not end within {seconds:.1f} s")
        try:
            if _WAITS and not select.select([handle], [], [], patience)[0]:
                if blocks and patience < silence:
                    continue  # the deadline, not a silence
                break  # a client need not close it: what came may be whole
            block = os.read(handle, _BLOCK)
        except (OSError, ValueError):
            break
        if not block:
            break
        blocks.append(block)
        size += len(block)
    if size > MOST_BYTES:
        return Received(b"", f"the event is longer than {MOST_BYTES >> 20} MB")
    return Received(b"".join(blocks))


class Done(NamedTuple):
    """What the child wrote; ``fault`` says why it did not come to its end."""

    data: bytes
    fault: str = ""


def in_child(
    work: Callable[[Callable[[bytes], None]], None], seconds: float, grace: float = 0.0
) -> Done:
    """Run ``work(write)`` in a child process; what it wrote within ``seconds``. Then it is killed,
    or has ``grace`` seconds more in which nobody waits for it.

    Where there is no ``fork`` it runs in this process, without a deadline.
    """
    if not hasattr(os, "fork"):
        written: list[bytes] = []
        work(written.append)
        return Done(b"".join(written))
    ours, theirs = os.pipe()
    child = os.fork()
    if not child:
        handles = (0, 1, 2) if grace else (0, 1)
        _run(work, ours, theirs, handles, seconds + (grace or 1.0))
    os.close(theirs)
    try:
        data, late = _drained(ours, seconds)
    finally:
        os.close(ours)
    if late:
        if not grace:
            os.kill(child, signal.SIGKILL)
        return Done(data, f"no answer within {seconds:.1f} s")  # init takes what is left of it
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return Done(data, f"ended by {signal.Signals(os.WTERMSIG(status)).name}")
    return Done(data, "" if status == 0 else "ended early")


def _run(
    work: Callable[[Callable[[bytes], None]], None],
    ours: int,
    theirs: int,
    handles: tuple[int, ...],
    seconds: float,
) -> None:
    """The child's whole life."""
    code = 1
    try:
        os.close(ours)
        # The client waits until nobody holds its pipes any more.
        nowhere = os.open(os.devnull, os.O_RDWR)
        for handle in handles:
            os.dup2(nowhere, handle)
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds)  # if the parent does not end it
        work(lambda data: _write(theirs, data))
        code = 0
    finally:
        os._exit(code)


def _write(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _drained(handle: int, seconds: float) -> tuple[bytes, bool]:
    """What comes until the other end is closed; True if that took too long."""
    blocks: list[bytes] = []
    end = time.monotonic() + seconds
    while True:
        patience = end - time.monotonic()
        if patience <= 0 or not select.select([handle], [], [], patience)[0]:
            return b"".join(blocks), True
        block = os.read(handle, _BLOCK)
        if not block:
            return b"".join(blocks), False
        blocks.append(block)
