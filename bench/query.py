"""How long does a question take?

    python3 bench/query.py [NOTES …] [--embedder minilm]

For each size (1,000 and 10,000 by default): whole commands from a cold start, and questions to an
open index, with and without a filter, median and 95th percentile in milliseconds, beside a plain
`python -c "import numpy"` in the same run. One JSON line a size.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "scripts"), str(REPOSITORY / "bench")]

import corpus  # noqa: E402
from memory_palace.embed import registry  # noqa: E402
from memory_palace.files import config  # noqa: E402
from memory_palace.index import run  # noqa: E402
from memory_palace.index.build import Options  # noqa: E402
from memory_palace.search.query import Query  # noqa: E402
from memory_palace.search.searcher import Searcher  # noqa: E402


def timed(action: Callable[[], object], times: int) -> dict[str, float]:
    """Median and 95th percentile of ``times`` runs, in milliseconds, after two to warm up."""
    taken = []
    for _ in range(times + 2):
        started = time.perf_counter()
        action()
        taken.append((time.perf_counter() - started) * 1000)
    ordered = sorted(taken[2:])
    return {
        "p50_ms": round(ordered[len(ordered) // 2], 1),
        "p95_ms": round(ordered[int(len(ordered) * 0.95)], 1),
    }


def command(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], capture_output=True, check=False)


def measure(root: Path, notes: int, embedder: str) -> dict[str, object]:
    corpus.make(root, notes)
    os.environ["PALACE_EMBEDDER"] = embedder
    settings = config.load(root)
    choice = registry.choose(settings)
    run.index(root, settings, choice, Options())
    asked = iter(corpus.questions(10_000))
    now = datetime.now(UTC)
    script = str(REPOSITORY / "scripts" / "query_bge.py")
    with Searcher(root, settings, choice) as searcher:

        def ask(**fields: object) -> None:
            searcher.ask(Query(text=next(asked), **fields), now)  # type: ignore[arg-type]

        found = {
            "notes": notes,
            "in_process": timed(ask, 100),
            "in_process_room": timed(lambda: ask(rooms=("topics",)), 100),
            "tree_check": timed(searcher.changed, 10),
        }
    found["peak_memory_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    found["cold_command"] = timed(lambda: command(script, "--root", str(root), next(asked)), 15)
    found["python_with_numpy"] = timed(lambda: command("-c", "import numpy"), 15)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notes", nargs="*", type=int, default=[1000, 10_000])
    parser.add_argument("--embedder", default="auto", choices=config.EMBEDDERS)
    given = parser.parse_args()
    for notes in given.notes:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(measure(Path(folder), notes, given.embedder)), flush=True)


if __name__ == "__main__":
    main()
