"""What a query gives back."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, slots=True)
class Parts:
    """The scores a hit is made of. ``cosine`` is None without a vector, ``keyword`` is BM25."""

    semantic: float
    recency: float
    importance: float
    cosine: float | None
    keyword: float


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A note that a hit's links lead to."""

    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk of one note. Lines count from 1, inclusive; ``id`` is 12 hex digits."""

    path: str
    id: str
    title: str
    heading: tuple[str, ...]
    start: int
    end: int
    date: datetime | None
    type: str
    priority: str | None
    score: float
    parts: Parts
    text: str
    archived: bool = False
    neighbors: tuple[Neighbor, ...] = ()


@dataclass(slots=True)
class Answer:
    """The hits, best first, and what a person should know about them.

    ``changed`` counts files that the index does not know as they are now; ``notes`` are single
    lines for stderr.
    """

    hits: list[Hit] = field(default_factory=list)
    changed: int = 0
    notes: list[str] = field(default_factory=list)
