"""Ask the questions of a data set of the product's own index and search, in several ways."""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory_palace.core.errors import Missing
from memory_palace.embed.port import Embedder
from memory_palace.embed.registry import Choice
from memory_palace.files.config import Config
from memory_palace.index import run
from memory_palace.index.build import Options
from memory_palace.index.progress import Progress, Silent
from memory_palace.search import recall
from memory_palace.search.query import Query
from memory_palace.search.questions import Dataset, Group, Question
from memory_palace.search.recall import Ranks
from memory_palace.search.searcher import Searcher

FULL = "full"
ABLATIONS: Mapping[str, Mapping[str, Any]] = {
    "raw": {"raw": True},
    "dense": {"without": frozenset({"keyword", "context"})},
    "keyword": {"without": frozenset({"dense"})},
    "no-context": {"without": frozenset({"context"})},
}
"""Ways to ask with a part left out, by name: what they change in a query."""

NEED_VECTORS = frozenset({"raw", "dense"})


@dataclass(frozen=True, slots=True)
class Asked:
    """One question asked in one way: the ranks of its notes, and of its lines where known."""

    question: Question
    notes: Ranks
    lines: Ranks | None


@dataclass(slots=True)
class Measured:
    """The questions by way of asking, each in the order of the data set; sizes and seconds."""

    asked: dict[str, list[Asked]] = field(default_factory=dict)
    notes: int = 0
    chunks: int = 0
    index_seconds: float = 0.0
    question_seconds: dict[str, float] = field(default_factory=dict)


def measure(
    dataset: Dataset,
    config: Config,
    choice: Choice,
    against: Sequence[str],
    now: datetime,
    progress: Progress | None = None,
) -> Measured:
    """Index every palace of ``dataset`` and ask its questions, as they are and ``against`` each
    of :data:`ABLATIONS` that is named.

    The weights of the data set come before those of ``config``, its moment before ``now``.
    Raises :class:`Missing` where a way needs vectors and there is no embedder.
    """
    progress = progress or Silent()
    for name in against:
        if name in NEED_VECTORS and choice.load is None:
            raise Missing(f"{name} needs vectors, and no embedder is in use: set one up first")
    ways = {FULL: Query(), **{name: replace(Query(), **ABLATIONS[name]) for name in against}}
    config = replace(config, weights=dataset.weights or config.weights)
    choice = _once(choice)
    done = Measured({way: [] for way in ways}, question_seconds=dict.fromkeys(ways, 0.0))
    for group in dataset.groups:
        started = time.perf_counter()
        indexed = run.index(group.root, config, choice, Options(), progress)
        done.index_seconds += time.perf_counter() - started
        done.notes += indexed.files
        done.chunks += indexed.chunks
        for problem in indexed.errors:
            progress.say(str(problem))
        _ask(group, config, choice, ways, dataset.now or now, progress, done)
    return done


def _ask(
    group: Group,
    config: Config,
    choice: Choice,
    ways: Mapping[str, Query],
    now: datetime,
    progress: Progress,
    done: Measured,
) -> None:
    with Searcher(group.root, config, choice) as searcher:
        for line in searcher.notes:
            progress.say(line)
        progress.start("questions", len(group.questions))
        try:
            for question in group.questions:
                for way, query in ways.items():
                    started = time.perf_counter()
                    done.asked[way].append(_answer(searcher, question, query, now))
                    done.question_seconds[way] += time.perf_counter() - started
                progress.advance(1)
        finally:
            progress.stop()


def _answer(searcher: Searcher, question: Question, query: Query, now: datetime) -> Asked:
    asked = replace(query, text=question.text, top_k=max(recall.DEPTHS), neighbors=0)
    notes = recall.of_notes(question.notes, searcher.ask(asked, now).hits)
    if question.places is None:
        return Asked(question, notes, None)
    lines = searcher.ask(replace(asked, lines=True), now).hits
    return Asked(question, notes, recall.of_places(question.places, lines))


def _once(choice: Choice) -> Choice:
    """The same choice, its model loaded once for all palaces."""
    if choice.load is None:
        return choice
    load, loaded = choice.load, list[Embedder]()

    def first() -> Embedder:
        if not loaded:
            loaded.append(load())
        return loaded[0]

    return replace(choice, load=first)
