"""The layers that an agent starts with: which notes, in which order, cut to how much.

L0 is the identity, L1 the essential story of a wing, L2 what ``palace recall`` shows of it.
Ties are broken by path, so that the same notes give the same text.
"""

from collections.abc import Iterable
from typing import NamedTuple

from memory_palace.core.problems import printable
from memory_palace.core.text import slug, stem

TOKEN = 4
"""Characters that count as one token."""


class Layer(NamedTuple):
    """How much a layer shows: notes, characters of each, characters in all (None: no bound)."""

    notes: int
    characters: int
    all: int | None = None


L1 = Layer(15, 200, 3_200)
L2 = Layer(10, 300)
LONGEST_IDENTITY = 2_000
"""Characters of the identity that are shown; what is over is cut at a line."""

PRIORITY = {"high": 8, "medium": 5, "low": 3}
HALL = {
    "hall_decisions": 8,
    "hall_bugs": 7,
    "hall_features": 7,
    "hall_discoveries": 6,
    "hall_refactors": 5,
    "hall_changes": 4,
    "hall_diary": 3,
}
TYPE = {
    "decision": 8,
    "conflict": 8,
    "bugfix": 7,
    "feature": 7,
    "principle": 7,
    "failure_pattern": 7,
    "discovery": 6,
    "prompt_kernel": 6,
    "thinking_path": 6,
    "refactor": 5,
    "card": 5,
    "change": 4,
    "session": 4,
    "conversation": 4,
    "mined_conversation": 4,
    "diary": 3,
    "code": 3,
    "mined_code": 3,
}
"""What a note counts where it names no priority: by its hall, else by its type."""

OTHER = 5
"""What any other note counts, as one of medium priority."""

MOST = max(PRIORITY["high"], *HALL.values(), *TYPE.values())


class Told(NamedTuple):
    """A note as a layer shows it. ``day`` is ``2026-11-24`` or empty; ``text`` is its body on one
    line, or as much of it as any layer shows; ``sha256`` names the bytes it was read from."""

    path: str
    title: str
    importance: int
    time: float | None
    day: str
    text: str
    sha256: str = ""


class Shown(NamedTuple):
    """A layer as text, the notes in it, and how many more there are."""

    text: str
    notes: tuple[Told, ...]
    more: int


def importance(priority: str | None, hall: str | None, kind: str) -> int:
    """How much a note counts, 3 to 8: by its priority, else its hall, else its type."""
    if priority in PRIORITY:
        return PRIORITY[priority]
    if hall in HALL:
        return HALL[hall]
    return TYPE.get(kind, OTHER)


def rank(weight: int, time: float | None, path: str) -> tuple[int, float, str]:
    """What notes are sorted by: importance, then recency, then path."""
    return -weight, -(time if time is not None else float("-inf")), path


def room(path: str) -> str:
    """The folder of a note."""
    return path.rpartition("/")[0]


def compose(
    notes: Iterable[Told], layer: Layer, others: int = 0, shared: Iterable[Told] = ()
) -> Shown:
    """The best of ``notes``, then of ``shared``, grouped by room, with how many are left out.

    A note is one line of at most ``layer.characters``; it is there whole or not at all, and no
    room stands without a note. ``others`` are notes that the caller knows of and did not give;
    ``shared`` ones are not counted as left out.
    """
    own = _ordered(notes)
    ordered = own + _ordered(shared)
    kept: list[Told] = []
    rooms: dict[str, list[str]] = {}
    used = 0
    for note in ordered[: layer.notes]:
        line = _line(note, layer.characters)
        head = 0 if room(note.path) in rooms else len(_heading(note.path)) + 1 + bool(rooms)
        size = head + len(line) + 1
        if layer.all is not None and used + size > layer.all:
            continue
        used += size
        kept.append(note)
        rooms.setdefault(room(note.path), [_heading(note.path)]).append(line)
    text = "\n\n".join("\n".join(lines) for lines in rooms.values())
    own_kept = len(set(own).intersection(kept))
    return Shown(text, tuple(kept), len(own) + others - own_kept)


def _ordered(notes: Iterable[Told]) -> list[Told]:
    return sorted(notes, key=lambda n: rank(n.importance, n.time, n.path))


def _heading(path: str) -> str:
    return f"## {printable(room(path))}"


def _line(note: Told, most: int) -> str:
    name = note.path.rpartition("/")[2]
    # The file's name says most titles already.
    title = "" if slug(note.title) == slug(stem(name)) else note.title
    day = f" ({note.day})" if note.day else ""
    said = ". ".join(part for part in (title.rstrip("."), note.text) if part)
    return clipped(printable(f"- {name}{day}" + (f": {said}" if said else "")), most)


def clipped(text: str, most: int) -> str:
    """``text`` of at most ``most`` characters, cut between words where that loses little."""
    if len(text) <= most:
        return text
    kept = text[: max(most - 2, 0)]
    space = kept.rfind(" ")
    return (kept[:space] if space > most * 3 // 4 else kept).rstrip() + " …"


def flat(body: str, most: int) -> str:
    """The first ``most`` characters or so of a note's body on one line, without its headings."""
    words: list[str] = []
    size = 0
    fence = ""
    for line in body.split("\n"):
        bare = line.strip()
        mark = bare[:3]
        if mark in ("```", "~~~"):
            fence = "" if mark == fence else fence or mark
            continue
        if not bare or (not fence and is_heading(bare)) or bare.startswith(("<!--", "|")):
            continue
        words.append(" ".join(bare.split()))
        size += len(words[-1]) + 1
        if size > most:
            break
    return " ".join(words)[: most + 1]


def is_heading(line: str) -> bool:
    """True for ``# Heading``."""
    marks = len(line) - len(line.lstrip("#"))
    return 1 <= marks <= 6 and line[marks : marks + 1] in ("", " ", "\t")


def first_heading(body: str) -> str | None:
    """What the first line says, where that is a top heading."""
    for line in body.split("\n"):
        if line.strip():
            return line[2:].strip(" \t\r#") or None if line.startswith("# ") else None
    return None


def identity(body: str, path: str, most: int = LONGEST_IDENTITY) -> str:
    """The identity trimmed; of a longer one whole lines, and where the rest is."""
    body = body.strip()
    if len(body) <= most:
        return body
    rest = f"[cut: `palace read {path}`]"
    kept: list[str] = []
    used = len(rest)
    for line in body.split("\n"):
        used += len(line) + 1
        if used > most:
            break
        kept.append(line.rstrip())
    text = "\n".join([*kept, rest])
    return text if len(text) <= most else ""


def joined(parts: Iterable[str]) -> str:
    """Parts with a blank line between; empty ones are left out."""
    return "\n\n".join(part for part in parts if part)
