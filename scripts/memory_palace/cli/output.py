"""Hits as text, as JSON lines, as file references."""

import json
import math
import re
from collections.abc import Sequence
from typing import Any

import click

from memory_palace.core import dates
from memory_palace.core.problems import printable
from memory_palace.core.text import MINED, is_mined, split_lines
from memory_palace.files import tree
from memory_palace.search.hits import Hit

SNIPPET = 160
"""Characters of a hit's text that are shown."""


def as_dict(hit: Hit) -> dict[str, Any]:
    """A hit with the keys that ``--format jsonl`` promises."""
    parts = hit.parts
    return {
        "path": hit.path,
        "id": hit.id,
        "heading": " > ".join(hit.heading),
        "start": hit.start,
        "end": hit.end,
        "date": dates.stamp(hit.date) if hit.date else None,
        "type": hit.type,
        "priority": hit.priority,
        "room": hit.room or None,
        "score": round(hit.score, 6),
        "parts": {
            "relevance": round(parts.relevance, 6),
            "recency": round(parts.recency, 6),
            "importance": round(parts.importance, 6),
            "cosine": _rounded(parts.cosine),
            "keyword": round(parts.keyword, 6),
            "note_keyword": _rounded(parts.note_keyword),
            "late": _rounded(parts.late),
            "note_late": _rounded(parts.note_late),
            "name": round(parts.name, 6),
            "superseded": parts.superseded,
            "terms": list(parts.terms),
        },
        "best": list(hit.best) if hit.best else None,
        "same": [{"path": s.path, "start": s.start, "end": s.end} for s in hit.same],
        "neighbors": [{"path": n.path, "title": n.title} for n in hit.neighbors],
        "text": hit.text,
    }


def _rounded(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 6)


def as_json(hit: Hit, more: dict[str, Any] | None = None) -> str:
    """A hit as one line of JSON, with ``more`` keys at its end."""
    return json.dumps(as_dict(hit) | (more or {}), ensure_ascii=False)


def as_file(hit: Hit) -> str:
    """``#id score path:start-end "heading"``."""
    heading = printable(" > ".join(hit.heading))
    return f'#{hit.id} {hit.score:.3f} {_place(hit)} "{heading}"'


def as_text(number: int, hit: Hit, question: str, details: bool, more: Sequence[str] = ()) -> str:
    """A hit for reading: where it stands, what it says, ``more`` lines, what is next to it."""
    facts = [hit.type, hit.priority, dates.local_day(hit.date) if hit.date else None]
    facts += ["archived"] if hit.archived else []
    facts += ["superseded"] if hit.parts.superseded else []
    heading = _named(hit) if is_mined(hit.path) else " > ".join(hit.heading) or hit.title
    if tree.is_ledger(hit.path):
        heading += f" #{hit.id}"  # what `palace recall` takes
    lines = [
        f"{number}. {click.style(_place(hit), bold=True)}  {printable(heading)}  "
        f"({', '.join(printable(f) for f in facts if f)})  {hit.score:.3f}"
    ]
    said = snippet(_best(hit), question)
    if said:
        lines.append(f"   {said}")
    if details:
        lines.append(f"   {_details(hit)}")
    lines += [f"   {line}" for line in more]
    lines += [f"   = {printable(s.path)}:{s.start}-{s.end}" for s in hit.same]
    lines += [f"   -> {printable(n.path)}  {printable(n.title)}" for n in hit.neighbors]
    return "\n".join(lines)


def _named(hit: Hit) -> str:
    """What a mined file's hit is called: project and symbol, or heading."""
    name = hit.path[len(MINED) :].partition("/")[0]
    parts = [name, *([".".join(hit.heading)] if hit.type == "code" else hit.heading)]
    return " › ".join(filter(None, parts))


def _best(hit: Hit) -> str:
    """The lines of a hit that answer best, where that is known; else all."""
    if not hit.best:
        return hit.text
    start, end = (line - hit.start for line in hit.best)
    return "\n".join(split_lines(hit.text)[start : end + 1])


def _place(hit: Hit) -> str:
    return f"{printable(hit.path)}:{hit.start}-{hit.end}"


def _details(hit: Hit) -> str:
    parts = hit.parts
    terms = ", ".join(map(printable, parts.terms)) or "none"
    made_of = [
        f"cosine {_shown(parts.cosine)}",
        f"keyword {parts.keyword:.2f}",
        f"note's {_shown(parts.note_keyword, 2)}",
        f"late {_shown(parts.late)}",
        f"note's {_shown(parts.note_late)}",
        *([f"name {parts.name:.3f}"] if parts.name else []),
        f"terms {terms}",
    ]
    superseded = "  superseded" if parts.superseded else ""
    return (
        f"relevance {parts.relevance:.3f} ({', '.join(made_of)})  "
        f"recency {parts.recency:.3f}  importance {parts.importance:.2f}{superseded}"
    )


def _shown(value: float | None, digits: int = 3) -> str:
    return "none" if value is None or math.isnan(value) else f"{value:.{digits}f}"


def snippet(text: str, question: str) -> str:
    """The part of ``text`` around the first of the question's words, on one line."""
    from memory_palace.core import keywords  # patterns that other forms of output do not need
    from memory_palace.core.chunk import without_headings

    flat = printable(" ".join(without_headings(text).split()))
    if len(flat) <= SNIPPET:
        return flat
    words = [re.escape(word) for word in keywords.terms(question)]
    found = re.search("|".join(words), flat, re.IGNORECASE) if words else None
    start = max(found.start() - SNIPPET // 3, 0) if found else 0
    start = min(start, len(flat) - SNIPPET)
    start = (
        flat.rfind(" ", 0, start) + 1 if start and flat.rfind(" ", 0, start) > start - 20 else start
    )
    end = start + SNIPPET
    return ("… " if start else "") + flat[start:end].rstrip() + (" …" if end < len(flat) else "")
