"""Regular expressions of rules, in bounded time: one that may backtrack runs in a process of its
own, which ends itself when it is late.

Few calls need any of it, so what takes milliseconds to import is imported when it is needed.
"""

import json
import re
import sys
import time
import warnings
from collections.abc import Sequence

MOST_STEPS = 8_000_000
"""What may be searched in this process, all patterns together: about 20 ms at worst."""

SECONDS = 0.2
"""How long one pattern may take in the other process."""

ALL_SECONDS = 0.6
"""How long all patterns of one call may take there; what is left then is given up."""

MOST_LATE = 3
"""After so many late patterns the rest of a call's risky ones are given up too."""

# The watchdog of faulthandler needs no help of the interpreter, which a search keeps to itself.
_CHILD = """
import faulthandler, json, os, re, sys, time
patterns, text, seconds, left = json.load(sys.stdin)
until = time.monotonic() + left
nowhere = open(os.devnull, "w")
for pattern in patterns:
    left = max(until - time.monotonic(), 0.001)
    faulthandler.dump_traceback_later(min(seconds, left), file=nowhere, exit=True)
    print(int(bool(re.search(pattern, text))), flush=True)
"""
_START_SECONDS = 0.5


def search(patterns: Sequence[str], text: str) -> dict[str, bool | None]:
    """{pattern: whether it is found in ``text``}; None for one that was given up."""
    from memory_palace.core import rules_regex

    found: dict[str, bool | None] = {}
    risky = []
    left = float(MOST_STEPS)
    for pattern in dict.fromkeys(patterns):
        steps = rules_regex.steps(pattern, len(text))
        if steps > left:
            risky.append(pattern)
            continue
        left -= steps
        found[pattern] = _here(pattern, text)
    return found | _aside(risky, text)


def _here(pattern: str, text: str) -> bool | None:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return bool(re.search(pattern, text))
    except (re.error, RecursionError, OverflowError):
        return None


def _aside(patterns: list[str], text: str) -> dict[str, bool | None]:
    found: dict[str, bool | None] = {}
    late = 0
    until = time.monotonic() + ALL_SECONDS
    while patterns and late < MOST_LATE and (left := until - time.monotonic()) > 0:
        said = _child(patterns, text, left)
        found |= dict(zip(patterns, said, strict=False))
        patterns = patterns[len(said) :]
        if patterns:
            found[patterns.pop(0)] = None
            late += 1
    return found | dict.fromkeys(patterns)


def _child(patterns: list[str], text: str, left: float) -> list[bool]:
    """What is known of the first of ``patterns``, up to the one that took too long."""
    import subprocess

    command = [sys.executable, "-I", "-S", "-c", _CHILD]
    try:
        done = subprocess.run(
            command,
            input=json.dumps([patterns, text, SECONDS, left]).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=left + _START_SECONDS,
            check=False,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired):
        return []
    return [line == b"1" for line in done.stdout.split()]
