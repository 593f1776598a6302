"""Processes to be killed, and what must hold afterwards."""

import importlib
import json
import os
import shutil
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from memory_palace.embed.registry import Choice
from support.palaces import SCRIPTS, Palace, Ran

KILLED = 9
WORDS = "amber birch cedar delta ember fjord grove heath islet jetty knoll ledge".split()
LIBRARY = str(SCRIPTS / "memory_palace")


def text(number: int, link: str = "") -> str:
    """A note's text; every one has the word `amber`."""
    words = " ".join(WORDS[(number * 5 + k * k) % 12] for k in range(12))
    day = f"2026-11-{number % 28 + 1:02}"
    return f"---\ncreated: {day}\n---\n# Note {number}\n\namber {words} {link}\n"


def fill(palace: Palace, many: int) -> None:
    """Notes that link to each other, and two in the archive."""
    for number in range(many):
        palace.write(f"palace/topics/n{number}.md", text(number, f"[[n{(number * 7) % many}]]"))
    for number in range(2):
        palace.write(f"palace/archive_basement/old{number}.md", text(number))


class Child:
    """A forked process that runs ``work`` and ends with the code it gives."""

    def __init__(self, work: Callable[[], int]) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self.pid = os.fork()
        if self.pid == 0:
            code = 70
            try:
                code = work()
            finally:
                os._exit(code)

    def kill(self, number: int = signal.SIGKILL) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        """The exit code; minus the signal's number if one ended it."""
        _, status = os.waitpid(self.pid, 0)
        return os.waitstatus_to_exitcode(status)


def commands(palace: Palace, *arguments: str, told: Path | None = None) -> Callable[[], int]:
    """Work for a child: one command; what it prints goes to the file ``told`` as JSON."""

    def work() -> int:
        ran = palace.command(*arguments)
        if told:
            told.write_text(json.dumps([ran.code, ran.out, ran.err]))
        return ran.code

    return work


def said(told: Path) -> Ran:
    """What a child wrote to ``told``."""
    return Ran(*json.loads(told.read_text()))


def dying(work: Callable[[], int], at: int, count_to: Path | None = None) -> Callable[[], int]:
    """``work``, dead as by `kill -9` at the ``at``-th call or return of the library's functions
    that touch files, or at the ``at``-th touch itself; with ``count_to`` only counted."""
    seen = 0

    def step() -> None:
        nonlocal seen
        seen += 1
        if seen == at and not count_to:
            os._exit(KILLED)

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        name = frame.f_code.co_filename
        if event in ("call", "return") and name.startswith(LIBRARY) and "/core/" not in name:
            step()

    def audit(event: str, arguments: tuple[Any, ...]) -> None:
        touches = ("os.rename", "os.remove", "os.mkdir", "sqlite3.connect", "tempfile.mkstemp")
        if event in touches or (event == "open" and arguments[1] not in ("r", "rb")):
            step()

    def counted() -> int:
        sys.addaudithook(audit)
        sys.setprofile(profile)
        code = work()
        sys.setprofile(None)
        if count_to:
            count_to.write_text(str(seen))
        return code

    return counted


def deadly(work: Callable[[], int], point: str, after: bool) -> Callable[[], int]:
    """``work``, dead as by `kill -9` right before (or after) ``module:function`` is called."""
    module, _, name = point.partition(":")
    *owners, last = name.split(".")

    def patched() -> int:
        owner: Any = importlib.import_module(module)
        for part in owners:
            owner = getattr(owner, part)
        real = getattr(owner, last)

        def fatal(*arguments: Any, **options: Any) -> Any:
            if after:
                real(*arguments, **options)
            os._exit(KILLED)

        setattr(owner, last, fatal)
        return work()

    return patched


def snapshot(palace: Palace) -> dict[str, bytes]:
    """Every note's bytes."""
    return {str(p): p.read_bytes() for p in sorted((palace.root / "palace").rglob("*.md"))}


ASKED = {
    "words": ("query", "--format", "jsonl", "-k", "100", "--neighbors", "0", "ember fjord"),
    "filter": ("query", "--format", "jsonl", "-k", "100", "--neighbors", "0", "--room", "topics"),
    "archive": (
        "query",
        "--format",
        "jsonl",
        "--neighbors",
        "0",
        "--archived",
        "-k",
        "100",
        "amber",
    ),
}


def answers(palace: Palace) -> dict[str, str]:
    """What the palace says to a few questions, scores included."""
    return {name: palace.command(*asked).out for name, asked in ASKED.items()}


def fresh_answers(palace: Palace, choice: Choice | None = None) -> dict[str, str]:
    """What a palace with the same files says that was indexed once, in peace."""
    other = palace.root.parent / "fresh"
    shutil.rmtree(other, ignore_errors=True)
    shutil.copytree(palace.root, other, ignore=shutil.ignore_patterns(".palace", ".*.tmp"))
    copy = Palace(other)
    assert copy.command("index").code == 0
    return answers(copy)


def until(true: Callable[[], bool], seconds: float = 20.0) -> None:
    """Wait until something is so."""
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.005)
