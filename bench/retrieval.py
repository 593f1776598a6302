"""Does search find the evidence? Recall over the sessions of a LoCoMo-shaped file.

    python3 bench/retrieval.py DATASET [--pooled] [--embedder minilm]

Each session becomes a note, each turn a list item; every question is asked of the product's own
index and search, with recency and importance weighted 0, since the set says nothing of either.
Recall of a question at k is found evidence / all evidence; one without evidence counts 1.
``--pooled`` puts all conversations into one palace, which is harder and nearer to real use.
"""

import argparse
import json
import re
import sys
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(REPOSITORY / "scripts"))

from memory_palace.core.scoring import Weights  # noqa: E402
from memory_palace.embed import registry  # noqa: E402
from memory_palace.files import config  # noqa: E402
from memory_palace.index import run  # noqa: E402
from memory_palace.index.build import Options  # noqa: E402
from memory_palace.search.query import Query  # noqa: E402
from memory_palace.search.searcher import Searcher  # noqa: E402

DEPTHS = (5, 10)
_EVIDENCE = re.compile(r"D(\d+):")
_SESSION = re.compile(r"session_(\d+)\Z")


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the paths of the notes that hold its answer."""

    text: str
    notes: frozenset[str]


def write(talk: dict[str, Any], root: Path) -> list[Question]:
    """Write one conversation's sessions as notes below ``root``; its questions."""
    name = re.sub(r"\W+", "-", str(talk["sample_id"]))
    conversation = talk["conversation"]
    for key, turns in conversation.items():
        if not _SESSION.match(key):
            continue
        said = str(conversation.get(f"{key}_date_time", ""))
        lines = ["---", "type: session", *created(said), "---", f"# {said}", ""]
        lines += [f"- {turn['speaker']}: {turn_text(turn)}" for turn in turns]
        place = root / note_path(name, key)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("\n".join(lines) + "\n", "utf-8")
    (root / "palace.yaml").touch()
    return [
        Question(
            str(entry["question"]),
            frozenset(
                note_path(name, f"session_{session}")
                for item in entry.get("evidence", [])
                for session in _EVIDENCE.findall(str(item))
            ),
        )
        for entry in talk["qa"]
    ]


def note_path(name: str, session: str) -> str:
    return f"palace/project_rooms/{name}/sessions/{session}.md"


def turn_text(turn: dict[str, Any]) -> str:
    text = " ".join(str(turn["text"]).split())
    caption = turn.get("blip_caption")
    return f"{text} [image: {caption}]" if caption else text


def created(said: str) -> list[str]:
    """``created: …`` from a time such as ``1:56 pm on 8 May, 2023``; nothing for another form."""
    try:
        moment = datetime.strptime(said, "%I:%M %p on %d %B, %Y")
    except ValueError:
        return []
    return [f"created: {moment:%Y-%m-%dT%H:%M:00Z}"]


def recalls(root: Path, questions: list[Question], embedder: str) -> dict[int, list[float]]:
    """The recall of every question at each depth."""
    settings = config.Config(embedder=embedder, weights=Weights(1.0, 0.0, 0.0))
    choice = registry.choose(settings)
    run.index(root, settings, choice, Options())
    found: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    with Searcher(root, settings, choice) as searcher:
        for question in questions:
            asked = Query(text=question.text, top_k=max(DEPTHS), neighbors=0)
            paths = [hit.path for hit in searcher.ask(asked, datetime.now(UTC)).hits]
            for depth in DEPTHS:
                hit = len(question.notes.intersection(paths[:depth]))
                found[depth].append(hit / len(question.notes) if question.notes else 1.0)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--pooled", action="store_true")
    parser.add_argument("--embedder", default="auto", choices=config.EMBEDDERS)
    given = parser.parse_args()
    talks = json.loads(given.dataset.read_text("utf-8"))
    total: dict[int, list[float]] = {depth: [] for depth in DEPTHS}
    with tempfile.TemporaryDirectory() as folder:
        groups: dict[Path, list[Question]] = {}
        for number, talk in enumerate(talks):
            root = Path(folder) / ("pooled" if given.pooled else str(number))
            groups.setdefault(root, []).extend(write(talk, root))
        for root, questions in groups.items():
            for depth, values in recalls(root, questions, given.embedder).items():
                total[depth] += values
    print(
        json.dumps(
            {
                "questions": len(total[DEPTHS[0]]),
                "pooled": given.pooled,
                "embedder": given.embedder,
                **{f"R@{depth}": round(100 * sum(v) / len(v), 1) for depth, v in total.items()},
            }
        )
    )


if __name__ == "__main__":
    main()
