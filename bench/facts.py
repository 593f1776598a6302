"""How fast are facts in time?

    python3 bench/facts.py [FACTS]

A palace with 100,000 facts by default, of 20,000 subjects, each tenth ended: whole commands in
milliseconds (medians of 3), beside parsing the same lines of JSON with Python alone in the same
run. One JSON line.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "scripts")]

from memory_palace.core import dates, facts  # noqa: E402
from memory_palace.files import facts as logs  # noqa: E402

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ONE_VALUED = "facts: {one_valued: [owner]}\n"


def make(root: Path, many: int, seed: int = 7) -> None:
    """Write a log of ``many`` facts in no order; owners follow each other without overlap."""
    dice = random.Random(seed)
    (root / "palace").mkdir(parents=True)
    (root / "palace.yaml").write_text(ONE_VALUED)
    (root / "manifests").mkdir()
    lines = []
    for number in range(many):
        start = NOW - timedelta(days=dice.randrange(1, 3000), seconds=dice.randrange(86400))
        subject = f"Service {dice.randrange(many // 5 + 1)}"
        predicate, object_ = dice.choice(["depends on", "runs in", "uses"]), f"Node {number % 5000}"
        key = facts.fact_id(subject, predicate, object_, start, start)
        names = {"subject": subject, "predicate": predicate, "object": object_}
        shared = {"at": dates.stamp(start), "by": "pi@laptop"}
        uid = {"uid": f"{dice.getrandbits(64):016x}", "id": key}
        more = {"valid_from": dates.stamp(start)[:10], "source": "a scan"}
        lines.append(shared | {"event": "added"} | uid | names | more)
        if number % 10 == 0:
            end = {"valid_to": dates.stamp(start + timedelta(days=1))}
            uid = {"uid": f"{dice.getrandbits(64):016x}", "id": key}
            lines.append(shared | {"event": "invalidated"} | uid | names | end)
    dice.shuffle(lines)
    (root / facts.PATH).write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")


def timed(action: Callable[[], object], times: int = 3) -> int:
    """Median of ``times`` runs, in milliseconds."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        taken.append((time.perf_counter() - started) * 1000)
    return round(sorted(taken)[len(taken) // 2])


def bare(root: Path) -> None:
    """What any program has to do: read the file, parse the lines."""
    for line in (root / facts.PATH).read_text("utf-8").splitlines():
        json.loads(line)


def measure(root: Path, many: int) -> dict[str, int]:
    make(root, many)
    os.environ["PALACE_EMBEDDER"] = "none"
    script = str(REPOSITORY / "scripts" / "palace.py")
    fresh = iter(range(1_000_000))

    def command(*arguments: str) -> int:
        whole = [sys.executable, script, "kg", *arguments, "--root", str(root)]
        return timed(lambda: subprocess.run(whole, capture_output=True, check=False))

    def add() -> None:
        words = ["add", "Service 7", "owner", f"team {next(fresh)}", "--root", str(root)]
        subprocess.run([sys.executable, script, "kg", *words], capture_output=True, check=False)

    def processor(*arguments: str) -> int:
        """Of one command, user and system time: other load on the machine matters less."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        whole = [sys.executable, script, "kg", *arguments, "--root", str(root)]
        subprocess.run(whole, capture_output=True, check=False)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return round((after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime) * 1000)

    return {
        "facts": many,
        "bare_python_ms": timed(lambda: bare(root)),
        "load_all_ms": timed(lambda: logs.load(root)),
        "query_ms": command("query", "Service 7"),
        "query_processor_ms": processor("query", "Service 7"),
        "as_of_ms": command("query", "Service 7", "--as-of", "2024-01-01"),
        "timeline_ms": command("timeline", "Node 7"),
        "add_ms": timed(add),
        "stats_ms": command("stats"),
        "check_ms": command("check"),
        "peak_memory_mb": round(
            resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
        ),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("facts", type=int, nargs="?", default=100_000)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "palace"
        root.mkdir()
        print(json.dumps(measure(root, given.facts)))


if __name__ == "__main__":
    main()
