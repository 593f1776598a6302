"""What a query gives back."""

from dataclasses import dataclass, field
from datetime import datetime

from memory_palace.core.fact import Fact


@dataclass(frozen=True, slots=True)
class Parts:
    """The scores a hit is made of.

    ``relevance``, ``recency`` and ``importance`` make the score. The rest make the relevance:
    ``cosine`` and ``late`` (late interaction) are None without vectors; ``keyword`` is BM25;
    those of the whole note are called ``note_``; ``name`` is how well the question names a
    definition in code. ``terms`` are those of the question's that
    stand in the chunk. A ``superseded`` note's relevance is halved, and it comes behind its
    successor.
    """

    relevance: float
    recency: float
    importance: float
    cosine: float | None
    keyword: float
    note_keyword: float = 0.0
    late: float | None = None
    note_late: float | None = None
    superseded: bool = False
    terms: tuple[str, ...] = ()
    name: float = 0.0


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A note that a hit's links lead to."""

    path: str
    title: str


@dataclass(frozen=True, slots=True)
class Same:
    """Another place that says nearly the same as a hit. Lines as in :class:`Hit`."""

    path: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Hit:
    """One chunk of one note, or one line of it (a list item, a turn, a small section).

    Lines count from 1, inclusive; ``id`` is 12 hex digits. ``best`` are the lines of the chunk
    that answer best, where that can be told. ``same`` are hits that were folded into this one;
    ``row`` is the chunk's row in the catalog. A mined file's ``path`` is ``project:<name>/<path>``;
    it has a ``room``.
    """

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
    same: tuple[Same, ...] = ()
    best: tuple[int, int] | None = None
    row: int = 0
    room: str = ""


@dataclass(slots=True)
class Answer:
    """The hits, best first, and what a person should know about them.

    ``changed`` counts files that the index does not know as they are now; ``notes`` are single
    lines for stderr. ``facts`` are about entities that the question names, where it asked for them.
    """

    hits: list[Hit] = field(default_factory=list)
    changed: int = 0
    notes: list[str] = field(default_factory=list)
    facts: list[Fact] = field(default_factory=list)
