"""What fits a prompt, put beside it: entries and lines of notes, on real evidence or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core import dates, excerpts, fence, private_spans, prompts
from memory_palace.core.fact import PATH, Fact
from memory_palace.core.links import TREE
from memory_palace.core.problems import printable
from memory_palace.search import known
from memory_palace.session import record
from memory_palace.session.events import Event, Reply
from memory_palace.session.finding import Cold, Finder, Piece, digest

MOST_CHARACTERS = 2_500
"""The whole of what one prompt gets, marks included."""

MOST_NOTES = 3
MOST_ENTRY = 300
"""Characters of an entry that are shown; of a note's lines as many."""

UNSAID = (f"{TREE}grand_hall/", f"{TREE}reflection_wing/proposals/")
"""The identity stands in the wake-up, and the room map answers nothing; what is proposed is not
decided."""

MOST_ASKED = 8
"""Notes that are asked for, as some may be of these rooms."""

LONGEST_HEADING = 120

_ENTRIES = "Entries that fit:"
_NOTES = "Notes that fit:"
_FACTS = "Facts that hold:"


class Composed(NamedTuple):
    """The text for the model, fenced, and the lines for the session's record."""

    context: str
    rows: tuple[dict[str, Any], ...]


def reply(root: Path, event: Event, now: datetime, finder: Finder | None = None) -> Reply:
    """What fits the prompt and was not shown in this session yet; the turn is recorded.

    Nothing for a prompt that no person wrote, for a social one, and where nothing fits.
    """
    session = record.key(event.client, event.session, event.agent)
    faults = record.noted(root, session, [{"k": "turn"}])
    if prompts.is_machine_made(event.prompt, event.source) or prompts.is_social(event.prompt):
        return Reply(faults=faults)
    question = prompts.question(event.prompt)
    if not question:
        return Reply(faults=faults)
    finder = finder or Cold(root, now)
    shown = record.shown(record.read(root, session))
    made = compose(question, finder, shown, known.beside_prompt(root, question, now))
    new, rows = once(finder.faults, shown)
    faults += record.noted(root, session, [*made.rows, *rows])
    return Reply(context=made.context, faults=tuple(dict.fromkeys((*faults, *new))))


def compose(
    question: str, finder: Finder, shown: Mapping[str, str], facts: Iterable[Fact] = ()
) -> Composed:
    """What fits a question, as much as has room, without what was ``shown`` ({key: digest}).

    The best are looked at, shown or not: the next best in their place would be noise. ``facts``
    come last.
    """
    from memory_palace.core import queries

    most = queries.query_class(question).vector_hits
    entries = list(fresh(islice(finder.entries(question, most), most), shown))
    found = (one for one in finder.notes(question, MOST_ASKED) if not one.path.startswith(UNSAID))
    notes = list(fresh(islice(found, MOST_NOTES), shown))
    # Notes are longer and at most three: they have their room first.
    room = MOST_CHARACTERS - fence.size(fence.fenced("x", "prompt")) + 1
    note_texts, note_pieces = fitted(map(note_text, notes), notes, room - len(_NOTES) - 1)
    room -= sum(fence.size(text) + 1 for text in note_texts) + len(_NOTES) + 2
    entry_texts, entry_pieces = fitted(map(entry_text, entries), entries, room - len(_ENTRIES) - 1)
    lines = [_ENTRIES, *entry_texts] if entry_texts else []
    lines += [*([""] if lines else []), _NOTES, *note_texts] if note_texts else []
    room -= sum(fence.size(text) + 1 for text in entry_texts) + len(_ENTRIES) + len(_FACTS) + 3
    held = list(fresh(map(_of_fact, facts), shown))
    fact_texts, fact_pieces = fitted((f"- {one.text}" for one in held), held, room)
    lines += [*([""] if lines else []), _FACTS, *fact_texts] if fact_texts else []
    context = fence.fenced("\n".join(lines), "prompt", MOST_CHARACTERS)
    rows = rows_of([*entry_pieces, *note_pieces, *fact_pieces])
    return Composed(context, rows if context else ())


def _of_fact(fact: Fact) -> Piece:
    """``subject predicate object, since 2026-11-20 (fact 3f9ac2d41b7e)`` as a piece."""
    since = f", since {dates.stamp(fact.valid_from)[:10]}" if fact.valid_from else ""
    said = excerpts.cut(_visible(private_spans.hidden(fact.sentence)), MOST_ENTRY)
    text = f"{said}{since} (fact {printable(fact.id)})"
    return Piece(fact.id, digest(text), PATH, fact.line, fact.line, text)


def fresh(pieces: Iterable[Piece], shown: Mapping[str, str]) -> Iterator[Piece]:
    """Those that the agent has not seen as they are."""
    return (piece for piece in pieces if shown.get(piece.key) != piece.digest)


def fitted(
    texts: Iterable[str], pieces: Iterable[Piece], room: int
) -> tuple[list[str], list[Piece]]:
    """The texts that have room, whole ones, and their pieces."""
    kept: list[str] = []
    of: list[Piece] = []
    for text, piece in zip(texts, pieces, strict=True):
        size = fence.size(text) + 1
        if size <= room:
            room -= size
            kept.append(text)
            of.append(piece)
    return kept, of


def rows_of(pieces: Iterable[Piece]) -> tuple[dict[str, Any], ...]:
    """What the record keeps of pieces that were shown."""
    return tuple({"k": "shown", "key": piece.key, "digest": piece.digest} for piece in pieces)


def entry_text(piece: Piece) -> str:
    """``- [lesson] what it says ^id (path:line)``."""
    pinned = " *(pinned)*" if piece.pinned else ""
    said = excerpts.cut(_visible(piece.text), MOST_ENTRY)
    place = f"{printable(piece.path)}:{piece.start}"
    return f"- [{piece.category}] {said}{pinned} ^{piece.key} ({place})"


def note_text(piece: Piece) -> str:
    """``- path:start-end "heading" date``, and the lines below."""
    parts = [f"- {piece.path}:{piece.start}-{piece.end}"]
    parts += [f'"{excerpts.cut(piece.heading, LONGEST_HEADING)}"'] if piece.heading else []
    parts += [piece.date] if piece.date else []
    parts += [f"(superseded by {piece.successor})"] if piece.successor else []
    text = excerpts.cut("\n".join(map(_visible, piece.text.split("\n"))))
    return "\n".join([printable(" ".join(parts)), *(f"  {line}" for line in text.split("\n"))])


def _visible(line: str) -> str:
    """A line with what would not be seen, or move the cursor, as escapes; blanks are blanks."""
    return printable("".join(" " if sign.isspace() else sign for sign in line.expandtabs(4)))


def once(
    faults: Iterable[str], shown: Mapping[str, str]
) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """The faults that this session has not told yet, and the lines that say it has now."""
    new = tuple(fault for fault in dict.fromkeys(faults) if f"!{fault}" not in shown)
    return new, [{"k": "shown", "key": f"!{fault}", "digest": ""} for fault in new]
