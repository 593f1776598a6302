"""What do an embedder's cosines mean? The measurement behind its floor, and its low and high.

    python3 bench/floor.py QUESTIONS [--embedder NAME] [--talks N]

Floor: asks the questions of a LoCoMo-shaped file (everyday talk) of the shipped palace (technical
notes), where none has an answer, and questions about the palace itself, where each has one.

Low and high, for another embedder than MiniLM: takes the questions of N conversations with six-turn
windows of the same one, and the palace's own questions with its chunks; sorts the cosines of all
pairs, each model's for itself; and fits the line that brings the upper half of them to MiniLM's.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "scripts"))

import numpy as np  # noqa: E402

from memory_palace.embed import registry  # noqa: E402
from memory_palace.embed.port import Embedder  # noqa: E402
from memory_palace.files import config, roots  # noqa: E402
from memory_palace.index import catalog  # noqa: E402

WINDOW, STRIDE = 6, 4
RELATED = (
    "why FAISS and not a server?",
    "how are chunks cut",
    "what happens when a disk is unmounted",
    "how long is the half life of recency",
    "who may write to the constitution",
    "how to restore an archived note",
    "which embedder is the default",
    "what does the manifest hold",
    "how are links resolved",
    "what is a failure pattern",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("questions", type=Path)
    parser.add_argument("--embedder", choices=config.EMBEDDERS)
    parser.add_argument("--talks", type=int, default=2)
    given = parser.parse_args()
    settings = config.load(REPOSITORY)
    choice = registry.choose(
        config.Config(embedder=given.embedder or settings.embedder, models=settings.models)
    )
    assert choice.load is not None, "no embedder is installed"
    embedder = choice.load()
    with catalog.open_to_read(roots.index_folder(REPOSITORY) / catalog.MAIN) as index:
        chunks = [row[0] for row in index.db.execute("SELECT embedded FROM chunks")]
    talks = json.loads(given.questions.read_text("utf-8"))
    print(choice)
    floors(choice, embedder, chunks, [qa["question"] for talk in talks for qa in talk["qa"]])
    if choice.name != "minilm":
        scale(embedder, chunks, talks[: given.talks])


def floors(
    choice: registry.Choice, embedder: Embedder, chunks: list[str], questions: list[str]
) -> None:
    passages = embedder.embed_passages(chunks)
    pairs = embedder.embed_queries(questions) @ passages.T
    related = (embedder.embed_queries(RELATED) @ passages.T).max(axis=1)
    print(f"{len(questions)} unrelated questions, {len(chunks)} passages")
    step = round(0.05 * (choice.high - choice.low), 2)
    for floor in (choice.floor + step * n for n in (-2, -1, 0, 1, 2)):
        print(
            f"floor {floor:.2f}: {100 * (pairs >= floor).mean():.3f} % of unrelated pairs above, "
            f"{100 * (pairs.max(axis=1) >= floor).mean():.1f} % of unrelated questions with a hit, "
            f"{(related >= floor).sum()} of {len(RELATED)} related questions with one"
        )
    print(f"related: lowest best cosine {np.min(related):.3f}")


def scale(embedder: Embedder, chunks: list[str], talks: list[dict[str, Any]]) -> None:
    minilm = registry.choose(config.Config(embedder="minilm"))
    assert minilm.load is not None
    ranks = np.linspace(50, 99.9, 400)
    own, other = (
        np.percentile(cosines(one, chunks, talks), ranks) for one in (embedder, minilm.load())
    )
    slope, start = np.polyfit(own, other, 1)
    off = np.abs(slope * own + start - other).max()
    print(f"low {-start / slope:.3f}, high {(1 - start) / slope:.3f} (off by {off:.3f} at most)")


def cosines(embedder: Embedder, chunks: list[str], talks: list[dict[str, Any]]) -> Any:
    found = [embedder.embed_queries(RELATED) @ embedder.embed_passages(chunks).T]
    for talk in talks:
        questions = [qa["question"] for qa in talk["qa"]]
        texts = list(windows(talk["conversation"]))
        found.append(embedder.embed_queries(questions) @ embedder.embed_passages(texts).T)
    return np.concatenate([one.ravel() for one in found])


def windows(talk: dict[str, Any]) -> Iterator[str]:
    sessions = (name for name, turns in talk.items() if isinstance(turns, list))
    for name in sessions:
        lines = [f"{turn['speaker']}: {turn['text']}" for turn in talk[name]]
        for start in range(0, max(len(lines) - 2, 1), STRIDE):
            yield "\n".join([talk[f"{name}_date_time"], *lines[start : start + WINDOW]])


if __name__ == "__main__":
    main()
