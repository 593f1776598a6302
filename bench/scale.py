"""How do build, memory and questions grow with the size of a palace?

    python3 bench/scale.py [CHUNKS …] [--million] [--questions 100] [--keep FOLDER]

For each size (1,000, 10,000 and 100,000 chunks by default): notes, texts and vectors are made from
a seed (``generated.py``), the notes put into the catalog without parsing; then phase 2 as the
product does it (the vector file, trained where it is large), and questions to an open index, in a
process of its own: MiniLM embeds every question, though the vector that is searched with is the
generated one. ``recall`` compares the first ten notes with those of scoring everything, with the
vectors as they were made. One JSON line a size; times in milliseconds: wall clock, and processor
time (``cpu``), which a busy machine distorts less. ``numpy_all_cosines`` is the yardstick: the
matrix of all vectors, float32, times one question.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(REPOSITORY / "scripts"), str(REPOSITORY / "bench")]

import generated  # noqa: E402
from memory_palace.embed import registry  # noqa: E402
from memory_palace.embed.registry import Choice  # noqa: E402
from memory_palace.files import config  # noqa: E402
from memory_palace.index import catalog as catalogs  # noqa: E402
from memory_palace.index import fill, vectors  # noqa: E402
from memory_palace.index.nearest import Matrix  # noqa: E402
from memory_palace.index.progress import Silent  # noqa: E402
from memory_palace.search import candidates  # noqa: E402
from memory_palace.search.query import Query  # noqa: E402
from memory_palace.search.searcher import Searcher  # noqa: E402

DEPTH = 10
COLD_RUNS = 10
FILTERS: dict[str, dict[str, Any]] = {
    "all": {},
    "room": {"rooms": ("project_rooms/p3",)},  # one note in fifty
    "type": {"types": ("palace",)},  # every second note
    "since": {"since": generated.NOW - timedelta(days=90)},
}


class Given:
    """An embedder that hands out vectors which were made before, in their order."""

    dimension = generated.DIMENSION

    def __init__(self, corpus: generated.Corpus, questions: Sequence[generated.Question]) -> None:
        self._blocks = corpus.vectors()
        self._left = np.zeros((0, self.dimension), dtype=np.float32)
        self._questions = {question.text: question.vector for question in questions}
        self.real: Any = None

    def embed_passages(self, texts: Sequence[str]) -> np.ndarray:
        """The next vectors, whatever the texts."""
        while len(self._left) < len(texts):
            self._left = np.concatenate([self._left, next(self._blocks)])
        made, self._left = self._left[: len(texts)], self._left[len(texts) :]
        return made

    def embed_queries(self, texts: Sequence[str]) -> np.ndarray:
        """The vectors of known questions, after the time that a real model takes."""
        if self.real is not None:
            self.real.embed_queries(texts)
        return np.stack([self._questions[text] for text in texts])


class Times:
    """What some runs took, wall clock and processor."""

    def __init__(self) -> None:
        self.wall: list[float] = []
        self.cpu: list[float] = []

    def run(self, action: Callable[[], object]) -> None:
        """Run and measure once."""
        wall, cpu = time.perf_counter(), processor()
        action()
        self.wall.append((time.perf_counter() - wall) * 1000)
        self.cpu.append((processor() - cpu) * 1000)

    def summary(self) -> dict[str, float]:
        """Percentiles in milliseconds."""
        marks = (50, 95, 99)
        found = {f"p{m}": round(float(np.percentile(self.wall, m)), 1) for m in marks}
        cpu = {f"cpu_p{m}": round(float(np.percentile(self.cpu, m)), 1) for m in marks}
        return found | cpu


def processor() -> float:
    """Seconds of processor time that this process and its ended children have used."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def choice_of(given: Given) -> Choice:
    """MiniLM's name and floor, the given vectors."""
    choice = registry.choose(config.Config(embedder="minilm"))
    return replace(choice, load=lambda: given)


def build(root: Path, chunks: int) -> dict[str, object]:
    corpus = generated.Corpus(chunks)
    folder = root / ".palace/index"
    (root / "palace.yaml").write_text("embedder: minilm\n", "utf-8")
    started = time.perf_counter()
    with catalogs.create(folder / catalogs.MAIN) as catalog:
        generated.fill_catalog(catalog, corpus, root)
        made = time.perf_counter() - started
        with catalogs.create(folder / catalogs.BASEMENT) as basement:
            basement.set_meta("complete", "1")
        times = Times()
        choice = choice_of(Given(corpus, ()))
        times.run(lambda: fill.fill(folder, catalog, choice, Silent()))
        size = vectors.size(folder, int(catalog.meta("generation")))
    return {
        "chunks": chunks,
        "notes_made_s": round(made, 1),
        "vector_phase_s": round(times.wall[0] / 1000, 1),
        "vector_phase_cpu_s": round(times.cpu[0] / 1000, 1),
        "catalog_mb": round((folder / catalogs.MAIN).stat().st_size / 2**20),
        "vectors_mb": round(size / 2**20, 1),
    }


def ask(root: Path, chunks: int, questions: int) -> dict[str, object]:
    """Questions to an open index; memory; recall against scoring everything."""
    corpus = generated.Corpus(chunks)
    asked = corpus.questions(questions)
    given = Given(corpus, asked)
    given.real = registry.choose(config.Config(embedder="minilm")).load()  # type: ignore[misc]
    settings = config.load(root)
    choice = choice_of(given)
    found: dict[str, object] = {}
    before = memory()
    opening = Times()
    searchers: list[Searcher] = []

    def first() -> None:
        searchers.append(Searcher(root, settings, choice))
        searchers[0].ask(Query(text=asked[0].text), generated.NOW)

    opening.run(first)
    found["open_and_first"] = opening.summary()["p50"]
    searcher = searchers[0]
    answers = []
    for name, fields in FILTERS.items():
        times = Times()
        for question in asked:
            query = Query(text=question.text, top_k=DEPTH, neighbors=0, **fields)
            times.run(lambda query=query: answers.append(searcher.ask(query, generated.NOW)))
        found[name] = times.summary()
    found["memory_mb"] = memory()
    found["memory_before_mb"] = before
    matrix = np.concatenate(list(corpus.vectors()))
    times = Times()
    for question in asked[:20]:
        times.run(lambda question=question: matrix @ question.vector)
    found["numpy_all_cosines"] = times.summary()
    searcher.close()
    exact = everything(root, choice, matrix)
    same = []
    for number, answer in enumerate(answers):
        fields = list(FILTERS.values())[number // len(asked)]
        query = Query(text=asked[number % len(asked)].text, top_k=DEPTH, neighbors=0, **fields)
        best = [hit.path for hit in exact.ask(query, generated.NOW).hits]
        got = {hit.path for hit in answer.hits}
        same.append(len(got.intersection(best)) / len(best) if best else 1.0)
    exact.close()
    found["recall"] = {
        name: round(float(np.mean(same[n * len(asked) : (n + 1) * len(asked)])), 4)
        for n, name in enumerate(FILTERS)
    }
    return found


def everything(root: Path, choice: Choice, matrix: np.ndarray) -> Searcher:
    """A searcher that scores every chunk, with the vectors as they were made."""
    candidates.FEW = len(matrix)
    searcher = Searcher(root, config.load(root), choice)
    searcher._vectors = Matrix(np.arange(1, len(matrix) + 1), matrix)
    return searcher


def cold(root: Path, chunks: int) -> dict[str, object]:
    """Whole commands, each in a new process, beside an interpreter that imports NumPy."""
    script = str(REPOSITORY / "scripts" / "query_bge.py")
    command, python = Times(), Times()
    for question in generated.Corpus(chunks).questions(COLD_RUNS):
        command.run(lambda q=question: run(script, "--root", str(root), q.text))
        python.run(lambda: run("-c", "import numpy"))
    return {
        "cold_command": command.summary(),
        "python_with_numpy": python.summary(),
    }


def run(*arguments: str) -> None:
    subprocess.run([sys.executable, *arguments], capture_output=True, check=False)


def memory() -> dict[str, int]:
    """This process's memory in MB: its own, what is mapped from files, and the peak of both."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    names = {"own": "RssAnon", "mapped": "RssFile", "peak": "VmHWM"}
    return {name: int(status[key].split()[0]) // 1024 for name, key in names.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("chunks", nargs="*", type=int, default=[1_000, 10_000, 100_000])
    parser.add_argument("--million", action="store_true", help="1,000,000 too: some ten minutes")
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="a folder for the palaces, used again if there")
    parser.add_argument("--step", choices=["build", "ask", "cold"], help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.step:
        step = {"build": build, "cold": cold}.get(given.step)
        chunks = given.chunks[0]
        print(
            json.dumps(
                step(given.keep, chunks) if step else ask(given.keep, chunks, given.questions)
            )
        )
        return
    with tempfile.TemporaryDirectory() as folder:
        for chunks in [*given.chunks, *([1_000_000] if given.million else [])]:
            root = (given.keep or Path(folder)) / str(chunks)
            there = root.exists()
            root.mkdir(parents=True, exist_ok=True)
            found: dict[str, object] = {"cores": os.cpu_count(), "chunks": chunks}
            for step in ("build", "ask", "cold")[int(there) :]:  # a process each: its own memory
                words = [str(chunks), "--step", step, "--keep", str(root)]
                words += ["--questions", str(given.questions)]
                done = subprocess.run(
                    [sys.executable, __file__, *words], stdout=subprocess.PIPE, check=True
                )
                found |= json.loads(done.stdout)
            print(json.dumps(found), flush=True)


if __name__ == "__main__":
    main()
