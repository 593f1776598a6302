"""``palace bench``: measure this toolkit on data with known answers."""

import json
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from memory_palace import __version__
from memory_palace.cli.common import Terminal, count, now, say
from memory_palace.core import dates
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable
from memory_palace.embed import registry
from memory_palace.embed.registry import Choice
from memory_palace.files import config as configs
from memory_palace.files import git
from memory_palace.files.config import Config
from memory_palace.search import measure, recall
from memory_palace.search.datasets import load
from memory_palace.search.measure import FULL, Asked, Measured
from memory_palace.search.questions import Dataset
from memory_palace.search.recall import Ranks

PAIRED_AT = recall.DEPTHS[0]
"""The depth at which ways of asking are compared question by question."""

_TOOLKIT = Path(__file__).resolve().parents[3]


@click.group(epilog="Example: palace bench retrieval tests/fixtures/retrieval/palace.json")
def bench() -> None:
    """Measure on data with known answers. Touches no palace."""


@bench.command(
    epilog="""\b
Examples:
  palace bench retrieval questions.json
  palace bench retrieval locomo.json --pooled --embedder minilm -o result.json
  palace bench retrieval locomo.json --against raw --against keyword --limit 100"""
)
@click.argument("dataset", type=click.Path(path_type=Path))
@click.option("--pooled", is_flag=True, help="All conversations in one palace: harder.")
@click.option(
    "--embedder", type=click.Choice(configs.EMBEDDERS), help="Which one [as configured, or auto]."
)
@click.option(
    "--against",
    multiple=True,
    type=click.Choice(list(measure.ABLATIONS)),
    help="Ask again with a part left out, and compare; may be repeated.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N questions.")
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="FILE", help="Result as JSON."
)
def retrieval(
    dataset: Path,
    pooled: bool,
    embedder: str | None,
    against: tuple[str, ...],
    limit: int | None,
    output: Path | None,
) -> int:
    """How much of what answers a question is among the first hits.

    DATASET is a JSON file of questions with the notes that answer them, or conversations in the
    form of LoCoMo. Notes are indexed in a temporary folder, with the product's own index and
    search, and removed.
    """
    if output and (output.is_dir() or not output.absolute().parent.is_dir()):
        raise BadInput(f"{output} cannot be a file: name one in a folder that is there")
    ways = tuple(dict.fromkeys(against))
    with tempfile.TemporaryDirectory(prefix="palace-bench-") as folder:
        work = Path(folder).resolve()
        config = _settings(work, embedder)
        choice = registry.choose(config)
        say(str(choice))
        questions = load(dataset, work / "palaces", pooled)
        questions = questions.first(limit) if limit else questions
        done = measure.measure(questions, config, choice, ways, now(), Terminal())
    weights = asdict(questions.weights or config.weights)
    settings = {
        "pooled": pooled,
        "limit": limit,
        "weights": weights,
        "now": dates.stamp(questions.now) if questions.now else None,
    }
    if output:
        result = as_dict(questions, choice, settings, done)
        output.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", "utf-8")
    for line in as_text(questions, weights, done):
        click.echo(line)
    return 0


def _settings(work: Path, embedder: str | None) -> Config:
    """The product's own settings; of the user's only which models there are, and where."""
    (work / "palace.yaml").touch()
    own = configs.load(work)
    return Config(embedder=embedder or own.embedder, models=own.models, device=own.device)


# -- as JSON ------------------------------------------------------------------------------------


def as_dict(
    dataset: Dataset, choice: Choice, settings: dict[str, Any], done: Measured
) -> dict[str, Any]:
    """The result: what is the same on every machine first, durations last."""
    return {
        "dataset": {
            "name": dataset.name,
            "sha256": dataset.sha256,
            "questions": len(dataset.questions),
            "palaces": len(dataset.groups),
            dataset.note: done.notes,
            "chunks": done.chunks,
        },
        "settings": settings,
        "embedder": {
            "name": choice.name,
            "fingerprint": str(choice.fingerprint) if choice.fingerprint else None,
        },
        "results": {way: _way(dataset, done, way) for way in done.asked},
        "toolkit": {"version": __version__, **_checkout()},
        "seconds": {
            "index": round(done.index_seconds, 2),
            "questions": {way: round(s, 2) for way, s in done.question_seconds.items()},
        },
    }


def _way(dataset: Dataset, done: Measured, way: str) -> dict[str, Any]:
    result: dict[str, Any] = {}
    for level, ranks in _levels(dataset, done.asked[way]):
        result[level] = _figures(ranks)
        if way != FULL:
            result[level]["against_full"] = _against(dataset, done, way, level)
    for kind, asked in _kinds(done.asked[way]):
        by_kind = {level: _figures(ranks) for level, ranks in _levels(dataset, asked)}
        result.setdefault("kinds", {})[kind] = by_kind
    return result


def _figures(ranks: Sequence[Ranks]) -> dict[str, Any]:
    found = recall.figures(ranks)
    at = {f"R@{depth}": value for depth, value in found.recall.items()}
    return {"questions": found.questions, "first": found.first, **at, "MRR": found.mrr}


def _against(dataset: Dataset, done: Measured, way: str, level: str) -> dict[str, Any]:
    """The questions are named by their place in the data set, from 1."""
    asked = [one for one in done.asked[FULL] if level == dataset.note or one.lines is not None]
    numbers = [one.question.number for one in asked]
    base, other = (dict(_levels(dataset, done.asked[w]))[level] for w in (FULL, way))
    pair = recall.paired(base, other, PAIRED_AT)
    return {
        f"R@{PAIRED_AT}": pair.difference,
        "better": [numbers[n] for n in pair.better],
        "worse": [numbers[n] for n in pair.worse],
    }


def _levels(dataset: Dataset, asked: Sequence[Asked]) -> Iterator[tuple[str, list[Ranks]]]:
    yield dataset.note, [one.notes for one in asked]
    lines = [one.lines for one in asked if one.lines is not None]
    if lines:
        yield dataset.line, lines


def _kinds(asked: Sequence[Asked]) -> list[tuple[str, list[Asked]]]:
    kinds = sorted({one.question.kind for one in asked})
    if kinds == [""]:
        return []
    return [(kind, [one for one in asked if one.question.kind == kind]) for kind in kinds]


def _checkout() -> dict[str, Any]:
    """The toolkit's commit, where it is a checkout of its own, and whether files differ from it."""
    if not (_TOOLKIT / ".git").exists():
        return {"commit": None, "changed": None}
    status = git.run(_TOOLKIT, "status", "--porcelain", "--", "scripts")
    return {
        "commit": git.head(_TOOLKIT) or None,
        "changed": None if status is None else bool(status),
    }


# -- for people ---------------------------------------------------------------------------------


def as_text(dataset: Dataset, weights: dict[str, float], done: Measured) -> Iterator[str]:
    """The result as a table: a line a figure, a column a way of asking."""
    ways = list(done.asked)
    notes = count(done.notes, dataset.note.removesuffix("s"))
    size = f"{count(len(dataset.questions), 'question')}, {notes}"
    yield f"{printable(dataset.name)}: {size} in {count(len(dataset.groups), 'palace')}"
    named = ", ".join(f"{name} {value:g}" for name, value in weights.items() if "days" not in name)
    yield f"weights: {named}"
    rows: list[tuple[str, list[str]]] = [("", ways)]
    results = {way: _way(dataset, done, way) for way in ways}
    for level, _ in _levels(dataset, done.asked[FULL]):
        for name in ("first", *(f"R@{depth}" for depth in recall.DEPTHS), "MRR"):
            rows.append((f"{level} {name}", [_shown(name, results[way][level]) for way in ways]))
        for label, value in (("", _difference), (" better", _better), (" worse", _worse)):
            if len(ways) > 1:
                cells = [value(results[way][level].get("against_full")) for way in ways]
                rows.append((f"{level} R@{PAIRED_AT} against full{label}", cells))
    for kind, found in results[FULL].get("kinds", {}).items():
        for level, figures in found.items():
            label = f"{printable(kind) or 'other'} ({figures['questions']}) {level} R@{PAIRED_AT}"
            every = [results[way]["kinds"][kind][level] for way in ways]
            rows.append((label, [_shown(f"R@{PAIRED_AT}", one) for one in every]))
    left = max(len(label) for label, _ in rows)
    widths = [max(len(cells[n]) for _, cells in rows) for n in range(len(ways))]
    for label, cells in rows:
        right = "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
        yield f"{label.ljust(left)}  {right}".rstrip()


def _shown(name: str, figures: dict[str, Any]) -> str:
    return f"{figures[name]:.3f}" if name == "MRR" else f"{figures[name]:.1f}"


def _difference(pair: dict[str, Any] | None) -> str:
    return f"{pair[f'R@{PAIRED_AT}']:+.1f}" if pair else ""


def _better(pair: dict[str, Any] | None) -> str:
    return str(len(pair["better"])) if pair else ""


def _worse(pair: dict[str, Any] | None) -> str:
    return str(len(pair["worse"])) if pair else ""
