"""A worker's command, run: JSON in, JSON out, bounded in time and output, gone when it is done.

Only the user's own configuration names one. It runs without a shell, in a process group of its
own, which is killed with all that it started.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from memory_palace.core.problems import printable
from memory_palace.session.events import GUARD

MOST_BYTES = 1 << 20
"""Bytes of an answer: a longer one is refused, and the command killed."""

MEND = "mend `observe.command` in your configuration, or remove it"

_LONGEST_WHY = 100
_GRACE_SECONDS = 2.0
_SECRETS = ("PALACE_MILVUS_TOKEN",)


class WorkerFault(Exception):
    """A worker gave nothing that can be used. The message says why and what to do."""


def ask(words: Sequence[str], given: Mapping[str, Any], root: Path, seconds: float) -> Any:
    """The JSON object that the command ``words`` prints when it is given ``given`` on stdin.

    Raises :class:`WorkerFault` for a command that cannot start, is late, prints too much or no
    JSON object, or does not end with 0.
    """
    data = json.dumps(given, ensure_ascii=False).encode("utf-8", "replace")
    printed = _run([_program(words[0]), *words[1:]], data, root, seconds)
    try:
        answer = json.loads(printed.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise WorkerFault(f"its answer is not UTF-8: {MEND}") from None
    except (ValueError, RecursionError):
        what = "printed nothing" if not printed.strip() else "printed no JSON"
        raise WorkerFault(f"it {what}: {MEND}") from None
    if not isinstance(answer, dict):
        raise WorkerFault(f"it printed no JSON object: {MEND}")
    return answer


def _program(word: str) -> str:
    """The program's path. One that is found from the current folder would be the palace's."""
    named = os.path.expanduser(word)
    if os.path.isabs(named):
        return named
    if os.sep in named or "/" in named:
        raise WorkerFault(f"{printable(word)} is no full path: {MEND}")
    found = shutil.which(named)
    if found is None or not os.path.isabs(found):
        raise WorkerFault(f"there is no program {printable(word)}: {MEND}")
    return found


def _run(words: Sequence[str], given: bytes, root: Path, seconds: float) -> bytes:
    try:
        process = subprocess.Popen(
            words,
            cwd=root,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(root),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise WorkerFault(f"it could not start ({printable(why)}): {MEND}") from None
    assert process.stdin and process.stdout and process.stderr
    printed, said = _Stream(process, MOST_BYTES), _Stream(process, None)
    threads = [
        threading.Thread(target=_write, args=(process.stdin, given), daemon=True),
        threading.Thread(target=printed.read, args=(process.stdout,), daemon=True),
        threading.Thread(target=said.read, args=(process.stderr,), daemon=True),
    ]
    for thread in threads:
        thread.start()
    late = False
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        late = True
    finally:
        _kill(process)
    for thread in threads[1:]:
        thread.join(_GRACE_SECONDS)  # what left the group may hold the pipe
    if printed.over:
        raise WorkerFault(f"it printed more than {MOST_BYTES >> 20} MB: {MEND}")
    if late:
        raise WorkerFault(f"it did not end within {seconds:g} s: {MEND}")
    if process.returncode:
        why = f" ({said.last_line()})" if said.last_line() else ""
        raise WorkerFault(f"it ended with {process.returncode}{why}: {MEND}")
    return bytes(printed.data)


def environment(root: Path) -> dict[str, str]:
    """What the command finds in its environment: no secret of the palace, and the mark by which
    hooks of a client that it starts do nothing."""
    kept = {name: value for name, value in os.environ.items() if name not in _SECRETS}
    return kept | {GUARD: "observe", "PALACE_CAPTURE": "off", "PALACE_ROOT": str(root)}


def _write(stream: IO[bytes], data: bytes) -> None:
    with contextlib.suppress(OSError, ValueError), stream:  # it need not read what it is given
        stream.write(data)


def _kill(process: "subprocess.Popen[bytes]") -> None:
    """End the command and what it left running."""
    with contextlib.suppress(OSError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(OSError):
        process.kill()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_GRACE_SECONDS)


class _Stream:
    """What comes out of a command: up to ``most`` bytes, else its end only."""

    def __init__(self, process: "subprocess.Popen[bytes]", most: int | None) -> None:
        self.process = process
        self.most = most
        self.data = bytearray()
        self.over = False

    def read(self, stream: IO[bytes]) -> None:
        with contextlib.suppress(OSError, ValueError), stream:
            while block := os.read(stream.fileno(), 1 << 16):
                self.data += block
                if self.most is None:
                    del self.data[:-2000]
                elif len(self.data) > self.most:
                    self.over = True
                    _kill(self.process)
                    return

    def last_line(self) -> str:
        lines = self.data.decode("utf-8", "replace").strip().splitlines()
        return printable(lines[-1].strip())[:_LONGEST_WHY] if lines else ""
