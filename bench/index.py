"""How fast does a palace get its index?

    python3 bench/index.py [NOTES …] [--embedder minilm]

For each size (1,000 and 10,000 by default): phase 1 in notes a second, phase 2 in chunks a second
beside the bare model on the same texts in the same run, a run with nothing to do, a run after one
edit, and peak memory. One JSON line a size.
"""

import argparse
import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "scripts"), str(REPOSITORY / "bench")]

import corpus  # noqa: E402
from memory_palace.embed import registry  # noqa: E402
from memory_palace.files import config  # noqa: E402
from memory_palace.index import catalog, run  # noqa: E402
from memory_palace.index.build import Options  # noqa: E402

SAMPLE = 400
"""Texts that the bare model gets: the middle of what phase 2 embedded."""


def measure(root: Path, notes: int, choice: registry.Choice) -> dict[str, object]:
    corpus.make(root, notes)
    settings = config.load(root, {})
    first = run.index(root, settings, choice, Options())
    time.sleep(2.1)  # past the time in which a file counts as fresh
    run.index(root, settings, choice, Options())
    idle = []
    for _ in range(5):
        started = time.perf_counter()
        run.index(root, settings, choice, Options())
        idle.append(time.perf_counter() - started)
    edited = next((root / "palace").rglob("n7.md"))
    edited.write_text(edited.read_text("utf-8") + "\nOne more line.\n", "utf-8")
    started = time.perf_counter()
    again = run.index(root, settings, choice, Options())
    one_note = time.perf_counter() - started
    product = first.vectors / first.vector_seconds if first.vectors else None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss  # before the bare model comes in
    bare = bare_rate(root, choice)
    return {
        "notes": notes,
        "chunks": first.chunks,
        "phase_1_notes_per_s": round(notes / first.keyword_seconds),
        "phase_2_chunks_per_s": product and round(product, 1),
        "bare_model_chunks_per_s": bare and round(bare, 1),
        "ratio": product and bare and round(product / bare, 2),
        "unchanged_s": round(statistics.median(idle), 3),
        "one_note_s": round(one_note, 3),
        "one_note_vectors": again.vectors,
        "peak_memory_mb": round(peak / 1024),
        "index_mb": round(sum(f.stat().st_size for f in root.glob(".palace/**/*")) / 2**20, 1),
    }


def bare_rate(root: Path, choice: registry.Choice) -> float | None:
    """Chunks a second of the model alone, with the texts in the order of the notes."""
    if choice.load is None:
        return None
    with catalog.open_to_read(root / ".palace/index" / catalog.MAIN) as index:
        texts = [row[0] for row in index.db.execute("SELECT embedded FROM chunks ORDER BY id")]
    middle = len(texts) // 2
    sample = texts[max(middle - SAMPLE // 2, 0) : middle + SAMPLE // 2]
    model = choice.load()
    model.embed_passages(sample[:8])
    started = time.perf_counter()
    model.embed_passages(sample)
    return len(sample) / (time.perf_counter() - started)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("notes", nargs="*", type=int, default=[1000, 10_000])
    parser.add_argument("--embedder", default="auto", choices=config.EMBEDDERS)
    given = parser.parse_args()
    if len(given.notes) > 1:  # a process a size, so that peak memory is of that size alone
        for notes in given.notes:
            command = [sys.executable, __file__, str(notes), "--embedder", given.embedder]
            subprocess.run(command, check=True)
        return
    with tempfile.TemporaryDirectory() as folder:
        choice = registry.choose(config.Config(embedder=given.embedder))
        found = measure(Path(folder), given.notes[0], choice)
    machine = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count()}
    print(json.dumps(machine | found), flush=True)


if __name__ == "__main__":
    main()
