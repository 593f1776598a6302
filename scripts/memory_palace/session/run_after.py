"""Runs a command that a rule asks for, if the user's own configuration allows exactly that text."""

import contextlib
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from typing import IO, NamedTuple

from memory_palace.session.events import GUARD

SECONDS = 60.0
"""For all commands after one tool call."""

MOST_OUTPUT = 4_000
"""Characters of a command's output that are shown: its beginning and its end."""

_GRACE_SECONDS = 0.3


class Done(NamedTuple):
    """How a command ended: its exit code (None: it was killed, or could not start) and output."""

    code: int | None
    output: str


def allowed(root: Path) -> tuple[tuple[str, ...], str]:
    """The commands that the user allows, and why they could not be read."""
    from memory_palace.core.errors import PalaceError
    from memory_palace.files import config

    try:
        return config.load(root).run_after, ""
    except (PalaceError, OSError) as error:
        return (), str(error)


def run(command: str, folder: str, seconds: float) -> Done:
    """Run ``command`` by the shell in ``folder``. What is late is killed with all it started."""
    try:
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {GUARD: "run_after"},
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Done(None, f"it could not start ({error})")
    ends = _Ends()
    assert process.stdout is not None
    reader = threading.Thread(target=ends.read, args=(process.stdout,), daemon=True)
    reader.start()
    code: int | None
    try:
        code = process.wait(max(seconds, 0.0))
    except subprocess.TimeoutExpired:
        code = None
        _kill(process)
    reader.join(_GRACE_SECONDS)  # what it left running may hold the pipe
    return Done(code, ends.text())


def _kill(process: "subprocess.Popen[bytes]") -> None:
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(5)


class _Ends:
    """The beginning and the end of an output of any length."""

    def __init__(self) -> None:
        self.head = b""
        self.tail = b""
        self.size = 0

    def read(self, stream: IO[bytes]) -> None:
        half = MOST_OUTPUT // 2
        with stream, contextlib.suppress(OSError, ValueError):
            while data := os.read(stream.fileno(), 1 << 16):
                self.size += len(data)
                taken = half - len(self.head)
                self.head += data[:taken]
                self.tail = (self.tail + data[taken:])[-half:]

    def text(self) -> str:
        left_out = self.size - len(self.head) - len(self.tail)
        gap = f"\n[… {left_out:,} bytes …]\n".encode() if left_out > 0 else b""
        return (self.head + gap + self.tail).decode("utf-8", "replace").strip()


def deadline() -> float:
    """When the commands of this call have to be done, on the clock of :func:`left`."""
    return time.monotonic() + SECONDS


def left(until: float) -> float:
    """Seconds until then."""
    return until - time.monotonic()
