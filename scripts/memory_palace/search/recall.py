"""How much of what answers a question is among the first k hits: pure functions over ranks."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from memory_palace.search.hits import Hit
from memory_palace.search.questions import Place

Ranks = tuple[int | None, ...]
"""For each place that answers a question the rank of the first hit there, from 1; None if it was
not found. Empty for a question that has no answer, which counts as found."""

DEPTHS = (5, 10)


@dataclass(frozen=True, slots=True)
class Figures:
    """Means over questions: ``first`` and ``recall`` (at each depth) in percent, ``mrr`` 0 to 1.

    ``first`` is how often the first hit is one of those wanted, ``mrr`` the mean of one over the
    rank of the first that is.
    """

    questions: int
    first: float
    recall: dict[int, float]
    mrr: float


@dataclass(frozen=True, slots=True)
class Paired:
    """One way of asking beside another, question by question: recall at one depth.

    ``difference`` is in points of percent; ``better`` and ``worse`` are places in the sequence.
    """

    difference: float
    better: tuple[int, ...]
    worse: tuple[int, ...]


def of_notes(wanted: Collection[str], hits: Iterable[Hit]) -> Ranks:
    """The ranks of notes: each counts once, where its best hit stands."""
    found = {path: rank for rank, path in enumerate(dict.fromkeys(h.path for h in hits), start=1)}
    return tuple(found.get(path) for path in sorted(wanted))


def of_places(wanted: Collection[Place], hits: Iterable[Hit]) -> Ranks:
    """The ranks of places among hits that are lines: each line counts once, at its best."""
    lines = list({(hit.path, hit.start): hit for hit in reversed(list(hits))}.values())[::-1]
    return tuple(
        next((rank for rank, hit in enumerate(lines, start=1) if covers(hit, place)), None)
        for place in sorted(wanted, key=lambda p: (p.path, p.start))
    )


def covers(hit: Hit, place: Place) -> bool:
    """True if the hit, a line, has lines of the place, or stands below the heading that it is."""
    below = bool(place.heading) and place.heading in hit.heading
    return hit.path == place.path and (below or (hit.start <= place.end and place.start <= hit.end))


def at(ranks: Ranks, depth: int) -> float:
    """Found among the first ``depth`` / all; 1 for a question without an answer."""
    if not ranks:
        return 1.0
    return sum(rank is not None and rank <= depth for rank in ranks) / len(ranks)


def best(ranks: Ranks) -> int | None:
    """The rank of the first hit that was wanted; 1 for a question without an answer."""
    return min((rank for rank in ranks if rank is not None), default=None) if ranks else 1


def figures(asked: Sequence[Ranks]) -> Figures:
    """The means over all questions."""
    count = max(len(asked), 1)
    bests = [best(ranks) for ranks in asked]
    return Figures(
        questions=len(asked),
        first=_percent(sum(rank == 1 for rank in bests) / count),
        recall={depth: _percent(sum(at(r, depth) for r in asked) / count) for depth in DEPTHS},
        mrr=round(sum(1.0 / rank for rank in bests if rank) / count, 3),
    )


def paired(base: Sequence[Ranks], other: Sequence[Ranks], depth: int) -> Paired:
    """``other`` against ``base``, which answer the same questions in the same order."""
    changes = [at(b, depth) - at(a, depth) for a, b in zip(base, other, strict=True)]
    return Paired(
        difference=_percent(sum(changes) / max(len(changes), 1)),
        better=tuple(n for n, change in enumerate(changes) if change > 0),
        worse=tuple(n for n, change in enumerate(changes) if change < 0),
    )


def _percent(share: float) -> float:
    return round(100.0 * share, 1)
