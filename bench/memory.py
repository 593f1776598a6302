"""How fast are memories of one line?

    python3 bench/memory.py [ENTRIES] [EVENTS] [--embedder minilm]

A palace with 10,000 entries (live topic files full, the others archived) and 100,000 events by
default: the state from cold files, one `remember`, one `reinforce`, one plan of what to archive;
in process and as whole commands, in milliseconds, beside reading the same files and parsing the
same lines of JSON with Python alone in the same run. One JSON line.
"""

import argparse
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "scripts"), str(REPOSITORY / "bench")]

import corpus  # noqa: E402
from memory_palace.core import dates, topics  # noqa: E402
from memory_palace.core.events import PATH  # noqa: E402
from memory_palace.core.topics import CATEGORIES, CUES, Entry  # noqa: E402
from memory_palace.embed import registry  # noqa: E402
from memory_palace.files import config  # noqa: E402
from memory_palace.memory import alike, archive, pen, state  # noqa: E402
from memory_palace.memory.entries import Book, Said  # noqa: E402

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
ROOM = 600
"""Characters that stay free in each live topic file."""


def make(root: Path, entries: int, events: int, seed: int = 7) -> None:
    """Write topic files with ``entries`` lines and a log of ``events`` about them."""
    dice = random.Random(seed)
    words = corpus.vocabulary()
    (root / "palace").mkdir(parents=True)
    (root / "palace.yaml").touch()
    (root / "manifests").mkdir()
    files: dict[str, str] = {}
    listed: list[Entry] = []
    names = list(CATEGORIES)
    for number in range(entries):
        category = CATEGORIES[names[number % len(names)]]
        text = f"{' '.join(dice.choices(words, k=dice.randint(6, 14)))} {number}"
        path = category.path
        block = topics.entry_id(category.name, text)
        entry = Entry(path, 1, category.name, text, pinned=dice.random() < 0.01, block=block)
        whole = files.get(path, topics.new_file(category))
        if len(whole) + len(topics.render(entry)) > topics.MOST_CHARACTERS - ROOM:
            path = topics.ARCHIVED + category.file
            whole = files.get(path, topics.new_file(category))
        files[path] = topics.with_line(whole, topics.render(entry))
        listed.append(entry)
    for path, text in files.items():
        place = root / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
    lines = [event(dice, entry, "remembered", 400) for entry in listed]
    lines += [
        event(dice, dice.choice(listed), "reinforced", 300)
        for _ in range(max(events - len(listed), 0))
    ]
    dice.shuffle(lines)
    (root / PATH).write_text("".join(line + "\n" for line in lines), "utf-8")


def event(dice: random.Random, entry: Entry, kind: str, days: int) -> str:
    moment = NOW - timedelta(days=dice.uniform(0, days))
    data: dict[str, object] = {
        "at": dates.stamp(moment),
        "by": "pi@laptop",
        "event": kind,
        "uid": f"{dice.getrandbits(64):016x}",
        "id": entry.block,
    }
    if kind == "remembered":
        data |= {"category": entry.category, "text": entry.text, "path": entry.path}
    return json.dumps(data | {"cue": dice.choice(list(CUES))}, ensure_ascii=False)


def timed(action: Callable[[], object], times: int = 5) -> float:
    """Median of ``times`` runs, in milliseconds."""
    taken = []
    for _ in range(times):
        started = time.perf_counter()
        action()
        taken.append((time.perf_counter() - started) * 1000)
    return round(sorted(taken)[len(taken) // 2], 1)


def bare(root: Path) -> None:
    """What any program has to do: read the files, parse the lines."""
    for path in state.topic_files(root):
        (root / path).read_text("utf-8").splitlines()
    for line in (root / PATH).read_text("utf-8").splitlines():
        json.loads(line)


def anew(root: Path) -> None:
    """The state where nothing is kept of the log: a fresh clone, or after a merge."""
    shutil.rmtree(root / ".palace/memory", ignore_errors=True)
    state.load(root, NOW)


def measure(root: Path, entries: int, events: int, embedder: str) -> dict[str, object]:
    make(root, entries, events)
    os.environ["PALACE_EMBEDDER"] = embedder
    choice = registry.choose(config.load(root))
    numbers = iter(range(1_000_000))

    def remember(vectors: alike.Entries) -> None:
        text = f"a memory that is new, number {next(numbers)}"
        with pen.begin(root, NOW, "palace remember") as held:
            Book(held).remember(Said(text, "lesson"), vectors)

    def reinforce() -> None:
        with pen.begin(root, NOW, "palace reinforce") as held:
            book = Book(held)
            book.reinforce(book.now.live[0].id)

    vectors = alike.Entries(root, choice)
    found: dict[str, object] = {
        "entries": entries,
        "events": events,
        "bare_python_ms": timed(lambda: bare(root)),
        "state_counted_anew_ms": timed(lambda: anew(root), 3),
        "state_ms": timed(lambda: state.load(root, NOW)),
        "first_remember_ms": timed(lambda: remember(vectors), 1),
        "remember_ms": timed(lambda: remember(vectors)),
        "reinforce_ms": timed(reinforce),
        "archive_plan_ms": timed(lambda: archive.plan(root, state.load(root, NOW), NOW)),
    }
    script = str(REPOSITORY / "scripts" / "palace.py")

    def command(*arguments: str) -> float:
        whole = [sys.executable, script, *arguments, "--root", str(root)]
        return timed(lambda: subprocess.run(whole, capture_output=True, check=False), 5)

    found["command_topics_ms"] = command("topics", "--format", "jsonl")
    found["command_remember_ms"] = command("remember", "one more", "--category", "decision")
    found["command_archive_ms"] = command("archive", "--dry-run")
    found["peak_memory_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("entries", type=int, nargs="?", default=10_000)
    parser.add_argument("events", type=int, nargs="?", default=100_000)
    parser.add_argument("--embedder", default="minilm")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "palace"
        root.mkdir()
        print(json.dumps(measure(root, given.entries, given.events, given.embedder)))


if __name__ == "__main__":
    main()
