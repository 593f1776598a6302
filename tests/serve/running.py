"""Servers in processes of their own, and what is asked of them."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from memory_palace.serve import client, place
from support.palaces import SCRIPTS

SECONDS = 60.0
"""What a step may take on a busy machine; none is waited for longer than it needs."""


def until(true: Callable[[], object], what: str = "it") -> None:
    """Wait until something is so."""
    end = time.monotonic() + SECONDS
    while not true():
        assert time.monotonic() < end, f"{what} never came to be"
        time.sleep(0.01)


def begin(
    root: Path, *flags: str, scripts: Path = SCRIPTS, **environment: str
) -> subprocess.Popen[str]:
    """`palace serve --foreground` of ``root``, not waited for."""
    words = ["serve", "--foreground", f"--root={root}", *flags]
    return subprocess.Popen(
        [sys.executable, str(scripts / "palace.py"), *words],
        env=os.environ | environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextlib.contextmanager
def serving(
    root: Path, *flags: str, state: str = "ready", scripts: Path = SCRIPTS, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """A server of ``root`` in that state; killed at the end if it still runs."""
    process = begin(root, *flags, scripts=scripts, **environment)
    try:
        until(lambda: state in state_of(root) or process.poll() is not None, state)
        assert process.poll() is None, process.stderr and process.stderr.read()
        yield process
    finally:
        end(process)


def end(process: subprocess.Popen[str]) -> None:
    """Kill it, stopped or not, and close its pipe."""
    with contextlib.suppress(OSError):
        os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=SECONDS)


def status(root: Path) -> client.Status | None:
    """What the server of ``root`` says of itself; None if there is none that answers."""
    where = place.address(root)
    if where is None:
        return None
    try:
        with client.Client(root, where) as connection:
            return connection.status()
    except client.Gone:
        return None


def state_of(root: Path) -> str:
    """Its state; empty if there is none."""
    found = status(root)
    return found.state if found else ""


def questions(root: Path) -> int:
    """How many questions it has answered."""
    found = status(root)
    assert found
    return found.questions
