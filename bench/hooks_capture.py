"""What capture costs inside a hook: a part of ``bench/hooks.py``.

Each figure is of processes of their own, as clients start them: what capture imports counts. With
and without it are run in turn, so that other work on the machine changes both alike.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_palace.files import queue

GOAL = 5.0
"""Milliseconds that the 95th percentile of keeping an event may take."""

_KEEPING = """\
import gc, os, sys, time
gc.disable()  # as `hook.run` does
sys.path.insert(0, sys.argv[1])
from memory_palace.agents import hook, hook_capture
from memory_palace.agents.waiting import Received
keep = hook_capture.capture
def timed(root, event, named=True):
    work, start = time.process_time(), time.perf_counter()
    keep(root, event, named)
    print((time.perf_counter() - start) * 1000, (time.process_time() - work) * 1000)
hook_capture.capture = timed
hook.answer(hook.parsed(sys.argv[2:3]), Received(sys.stdin.buffer.read()))
"""


def _log(characters: int) -> str:
    line = "2026-11-29T20:15:03Z INFO worker.{} key={} path=/home/u/p/src/mod{}.py took {} ms\n"
    made = "".join(line.format(n % 7, n, n % 50, n * 7 % 900) for n in range(400))
    return made[:characters]


def events(root: Path) -> dict[str, dict[str, Any]]:
    """{what is measured: its event}; two of an event are not the same."""
    stamp = str(time.monotonic_ns())
    shared = {"session_id": f"b{os.getpid()}", "cwd": str(root), "prompt_id": stamp}
    log = _log(20_000)
    shell = {"tool_name": "Bash", "tool_input": {"command": "make test"}, "tool_use_id": stamp}
    given = {"file_path": f"{root}/a.py", "old_string": log, "new_string": log}
    edit = {"tool_name": "Edit", "tool_input": given, "tool_response": {}, "tool_use_id": stamp}
    made = {
        "UserPromptSubmit": {"prompt": "why does the parser fail on an empty line?"},
        "PostToolUse, 20,000 characters": shell | {"tool_response": {"stdout": log}},
        "PostToolUse, edit of 40,000": edit,
        "Stop": {"last_assistant_message": "It fails since the line is read twice. " * 40},
        "SessionEnd": {"reason": "other"},
    }
    return {
        name: {"hook_event_name": name.partition(",")[0], **shared, **fields}
        for name, fields in made.items()
    }


def measure(root: Path, hook: str, times: int) -> Iterator[str]:
    """The lines of the table."""
    yield "| event | keeping it p50 / p95 | processor p50 / p95 | goal | hook with / without |"
    yield "| --- | --- | --- | --- | --- |"
    scripts = str(Path(hook).parent)
    for name in events(root):
        host = name.partition(",")[0]
        whole: list[float] = []
        bare: list[float] = []
        with queue.only_one(root, queue.WORK):  # so no drain is started: nobody waits for one
            kept = [_kept(root, scripts, host, events(root)[name]) for _ in range(times)]
            for _ in range(times):
                for into, capture in ((whole, "on"), (bare, "off")):
                    into.append(_timed(hook, events(root)[name], capture))
        took, work = ([one[at] for one in kept] for at in (0, 1))
        ratio = _at(whole, 0.5) / _at(bare, 0.5)
        goal = f"{GOAL:.0f} {'kept' if _at(took, 0.95) <= GOAL else 'missed'}"
        yield (
            f"| {name} | {_at(took, 0.5):.1f} / {_at(took, 0.95):.1f} "
            f"| {_at(work, 0.5):.1f} / {_at(work, 0.95):.1f} | {goal} "
            f"| {_at(whole, 0.5):.0f} / {_at(bare, 0.5):.0f} ms, {ratio:.2f} |"
        )


def _kept(root: Path, scripts: str, host: str, event: dict[str, Any]) -> tuple[float, float]:
    words = [sys.executable, "-I", "-c", _KEEPING, scripts, host]
    environment = os.environ | {"PALACE_ROOT": str(root)}
    data = json.dumps(event).encode()
    done = subprocess.run(words, input=data, capture_output=True, check=True, env=environment)
    took, work = map(float, done.stdout.split())
    return took, work


def _timed(hook: str, event: dict[str, Any], capture: str) -> float:
    """Milliseconds of a whole hook."""
    environment = os.environ | {"PALACE_CAPTURE": capture, "PALACE_ROOT": event["cwd"]}
    data = json.dumps(event).encode()
    start = time.perf_counter()
    subprocess.run([hook, event["hook_event_name"]], input=data, check=True, env=environment)
    return (time.perf_counter() - start) * 1000


def _at(values: list[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(int(len(ordered) * share), len(ordered) - 1)]
