"""How much of the evidence is among the first k hits."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from memory_palace.search.datasets import Question
from memory_palace.search.hits import Hit


@dataclass(frozen=True, slots=True)
class Recall:
    """Mean recall over questions, in percent, at each k: over notes and over lines."""

    questions: int
    notes: dict[int, float]
    lines: dict[int, float]


def at(wanted: frozenset[object], found: Sequence[object], k: int) -> float:
    """Found evidence among the first ``k`` / all evidence; 1 for a question without evidence."""
    return len(wanted & set(found[:k])) / len(wanted) if wanted else 1.0


def distinct(places: Iterable[object]) -> list[object]:
    """Each once, at its best rank."""
    return list(dict.fromkeys(places))


def of_notes(question: Question, hits: Sequence[Hit], k: int) -> float:
    """Recall at ``k`` over notes (with a heading: over the sections named)."""
    if question.headings:
        found = distinct((hit.path, heading) for hit in hits for heading in hit.heading)
        return at(frozenset(question.headings), found, k)
    return at(frozenset(question.notes), distinct(hit.path for hit in hits), k)


def of_lines(question: Question, hits: Sequence[Hit], k: int) -> float:
    """Recall at ``k`` over single lines: a hit stands for the line it starts at."""
    return at(frozenset(question.lines), distinct((hit.path, hit.start) for hit in hits), k)


def mean(values: Sequence[float]) -> float:
    """The mean in percent, to one decimal."""
    return round(100.0 * sum(values) / len(values), 1) if values else 0.0
