"""How long does a client wait for a hook?

    python3 bench/hooks.py [NOTES] [--rules 200] [--embedder minilm] [--times 40]
    python3 bench/hooks.py --capture [--times 40]

A palace of 10,000 notes and 600 entries by default, with 200 rules none of which the commands
break: whole processes, from `scripts/hook.sh` to their end, median and 95th percentile in
milliseconds, without and with the warm server, beside a plain `python -c pass` that is run in turn
with them; and the median of the processor time, which other work on the machine changes less. A
Markdown table. With `--capture` another one, in an empty palace: what keeping an event costs.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "scripts"), str(REPOSITORY / "bench")]

import corpus  # noqa: E402
import hooks_capture  # noqa: E402
import memory  # noqa: E402
from memory_palace.embed import registry  # noqa: E402
from memory_palace.files import config  # noqa: E402
from memory_palace.index import run  # noqa: E402
from memory_palace.index.build import Options  # noqa: E402
from memory_palace.serve import client  # noqa: E402

HOOK = str(REPOSITORY / "scripts/hook.sh")
ENTRIES = 600
ENTRIES_A_SECOND = 15
LIMITS = {
    "SessionStart": 500,
    "UserPromptSubmit": 250,
    "UserPromptSubmit, server": 80,
    "PreToolUse": 80,
}
"""Milliseconds that the 95th percentile may take."""

TRIGGERS = (
    "bash_contains {word} --force",
    "bash_contains {word}",
    "bash_regex ^{word}\\s+(push|pull) .*--[a-z]+",
    "file_modified src/{word}/**/*.py",
    "tool_name {word}",
)
COMMANDS = (
    "cd src && make -j4 2>&1 | tail -20",
    "sudo env A=1 git push origin main && echo 'done: git push --force'",
    'for f in *.py; do python3 -m py_compile "$f" || exit 1; done',
    "bash -c 'npm test -- --watch=false' | tee log.txt",
)


def rules(root: Path, count: int) -> None:
    """Write ``count`` rules of every trigger."""
    folder = root / "palace/reflection_wing/rules"
    folder.mkdir(parents=True)
    for number in range(count):
        trigger = TRIGGERS[number % len(TRIGGERS)].format(word=f"tool{number}")
        action = "block" if number % 2 else "warn"
        head = f"type: rule\ntrigger: '{trigger}'\naction: {action}\nreason: Number {number}."
        (folder / f"rule-{number}.md").write_text(f"---\n{head}\n---\n# Rule {number}\n")


def prompts(root: Path) -> list[str]:
    """What a person asks about a note of the palace: a sentence of it, half of it left out."""
    found = []
    for path in sorted((root / "palace/project_rooms").rglob("*.md"))[:200]:
        sentence = path.read_text("utf-8").split("\n\n")[1].split(".")[0]
        found.append(f"what do we know of {' '.join(sentence.split()[::2]).lower()}?")
    return found


def events(root: Path) -> dict[str, Callable[[int], dict[str, Any]]]:
    """{what is measured: its event by number}; each is of a session that was shown nothing."""
    asked = prompts(root)

    def shell(number: int) -> dict[str, Any]:
        return {"tool_name": "Bash", "tool_input": {"command": COMMANDS[number % len(COMMANDS)]}}

    edit = {"tool_name": "Edit", "tool_input": {"file_path": str(root / "src/index.py")}}
    fields: dict[str, Callable[[int], dict[str, Any]]] = {
        "SessionStart": lambda _: {"source": "startup"},
        "UserPromptSubmit": lambda n: {"prompt": asked[n % len(asked)]},
        "PreToolUse": shell,
        "PostToolUse": lambda n: shell(n) | {"tool_response": {"stdout": "x" * 2_000}},
        "PostToolUse, edited file": lambda _: edit | {"tool_response": {}},
        "PostToolUse, 5 MB": lambda n: shell(n) | {"tool_response": {"stdout": "x" * 5_000_000}},
        "Stop": lambda _: {"stop_hook_active": False},
        "PreCompact": lambda _: {"trigger": "auto"},
        "SessionEnd": lambda _: {"reason": "other"},
    }
    return {name: _event(name.partition(",")[0], root, made) for name, made in fields.items()}


def _event(
    host: str, root: Path, made: Callable[[int], dict[str, Any]]
) -> Callable[[int], dict[str, Any]]:
    return lambda number: {
        "hook_event_name": host,
        "session_id": f"{os.getpid()}-{time.monotonic_ns()}",
        "cwd": str(root),
        **made(number),
    }


class Timed(NamedTuple):
    """Milliseconds of the hooks, of their processor time, and of the baseline beside each; how
    often something was said."""

    taken: list[float]
    worked: list[float]
    bare: list[float]
    said: int


def timed(made: Callable[[int], dict[str, Any]], times: int) -> Timed:
    """``times`` hooks, after two to warm up."""
    taken, worked, bare, said = [], [], [], 0
    for number in range(times + 2):
        event = made(number)
        data = json.dumps(event).encode()
        before, started = _worked(), time.perf_counter()
        done = subprocess.run(
            [HOOK, event["hook_event_name"]], input=data, capture_output=True, check=True
        )
        between = time.perf_counter()
        worked.append(_worked() - before)
        subprocess.run([sys.executable, "-c", "pass"], capture_output=True, check=True)
        taken.append((between - started) * 1000)
        bare.append((time.perf_counter() - between) * 1000)
        said += number > 1 and bool(done.stdout)
    return Timed(taken[2:], worked[2:], bare[2:], said)


def _worked() -> float:
    """Milliseconds of processor time of all processes that ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (used.ru_utime + used.ru_stime) * 1000


def row(name: str, found: Timed) -> str:
    """A line of the table."""
    low, high = _percentiles(found.taken)
    base, base_high = _percentiles(found.bare)
    work, _ = _percentiles(found.worked)
    limit = LIMITS.get(name)
    kept = f"{limit} {'kept' if high <= limit else 'missed'}" if limit else ""
    times = f"{low:.0f} / {high:.0f} | {work:.0f} | {base:.0f} / {base_high:.0f}"
    return f"| {name} | {times} | {kept} | {found.said} of {len(found.taken)} |"


def _percentiles(taken: list[float]) -> tuple[float, float]:
    ordered = sorted(taken)
    return ordered[len(ordered) // 2], ordered[min(int(len(ordered) * 0.95), len(ordered) - 1)]


def measure(root: Path, notes: int, count: int, embedder: str, times: int) -> Iterator[str]:
    memory.make(root, ENTRIES, 10 * ENTRIES)
    corpus.make(root, notes)
    rules(root, count)
    os.environ["PALACE_EMBEDDER"] = embedder
    settings = config.load(root)
    run.index(root, settings, registry.choose(settings), Options())
    time.sleep(2.5)  # what was written just now is read again by each of them
    measured = events(root)
    subprocess.run([HOOK, "PreToolUse"], input=json.dumps(measured["PreToolUse"](0)).encode())
    yield "| event | hook p50 / p95 | processor | python p50 / p95 | goal | with context |"
    yield "| --- | --- | --- | --- | --- | --- |"
    for name, made in measured.items():
        yield row(name, timed(made, times))
    with _serving(root):
        timed(measured["UserPromptSubmit"], 1)
        if embedder != "none":  # the entries get their vectors behind the first event
            time.sleep(ENTRIES / ENTRIES_A_SECOND + 3)
        for name in ("UserPromptSubmit", "PostToolUse, edited file"):
            yield row(f"{name}, server", timed(measured[name], times))


class _serving:  # noqa: N801
    """The warm server of ``root``, while it is measured."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def __enter__(self) -> None:
        script = str(REPOSITORY / "scripts/palace.py")
        self.process = subprocess.Popen(
            [sys.executable, script, "serve", "--foreground", "--root", str(self.root)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        while not self._ready():
            assert self.process.poll() is None, "the server ended"
            time.sleep(0.1)

    def _ready(self) -> bool:
        try:
            connection = client.connect(self.root)
            if connection is None:
                return False
            with connection:
                return connection.status().state == "ready"
        except client.Gone:
            return False

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(30)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notes", nargs="?", type=int, default=10_000)
    parser.add_argument("--rules", type=int, default=200)
    parser.add_argument("--embedder", default="none", choices=config.EMBEDDERS)
    parser.add_argument("--times", type=int, default=40)
    parser.add_argument("--capture", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        lines = measure(root, given.notes, given.rules, given.embedder, given.times)
        if given.capture:
            (root / "palace").mkdir(parents=True)
            (root / "palace.yaml").write_text("")
            lines = hooks_capture.measure(root, HOOK, given.times)
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
