"""How high a cosine does unrelated text reach? The measurement behind the embedders' floors.

    python3 bench/floor.py QUESTIONS

Asks the questions of a LoCoMo-shaped file (everyday talk) of the shipped palace (technical
notes), where none has an answer, and questions about the palace itself, where each has one.
"""

import json
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "scripts"))

import numpy as np  # noqa: E402

from memory_palace.embed import registry  # noqa: E402
from memory_palace.files import config, roots  # noqa: E402
from memory_palace.index import catalog  # noqa: E402

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


def main(path: str) -> None:
    choice = registry.choose(config.load(REPOSITORY))
    assert choice.load is not None, "no embedder is installed"
    embedder = choice.load()
    with catalog.open_to_read(roots.index_folder(REPOSITORY) / catalog.MAIN) as index:
        texts = [row[0] for row in index.db.execute("SELECT embedded FROM chunks")]
    passages = embedder.embed_passages(texts)
    conversations = json.loads(Path(path).read_text("utf-8"))
    questions = [qa["question"] for talk in conversations for qa in talk["qa"]]
    pairs = embedder.embed_queries(questions) @ passages.T
    related = (embedder.embed_queries(RELATED) @ passages.T).max(axis=1)
    print(choice)
    print(f"{len(questions)} unrelated questions, {len(texts)} passages")
    for floor in (0.20, 0.25, 0.30, 0.35, 0.40):
        print(
            f"floor {floor:.2f}: {100 * (pairs >= floor).mean():.3f} % of unrelated pairs above, "
            f"{100 * (pairs.max(axis=1) >= floor).mean():.1f} % of unrelated questions with a hit, "
            f"{(related >= floor).sum()} of {len(RELATED)} related questions with one"
        )
    print(f"related: lowest best cosine {np.min(related):.3f}")


if __name__ == "__main__":
    main(sys.argv[1])
