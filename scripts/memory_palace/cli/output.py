"""Hits as text, as JSON lines, as file references."""

import json
import re
from typing import Any

import click

from memory_palace.core import dates, keywords
from memory_palace.core.chunk import without_headings
from memory_palace.core.problems import printable
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
        "score": round(hit.score, 6),
        "parts": {
            "semantic": round(parts.semantic, 6),
            "recency": round(parts.recency, 6),
            "importance": round(parts.importance, 6),
            "cosine": None if parts.cosine is None else round(parts.cosine, 6),
            "keyword": round(parts.keyword, 6),
        },
        "neighbors": [{"path": n.path, "title": n.title} for n in hit.neighbors],
        "text": hit.text,
    }


def as_json(hit: Hit) -> str:
    """A hit as one line of JSON."""
    return json.dumps(as_dict(hit), ensure_ascii=False)


def as_file(hit: Hit) -> str:
    """``#id score path:start-end "heading"``."""
    heading = printable(" > ".join(hit.heading))
    return f'#{hit.id} {hit.score:.3f} {_place(hit)} "{heading}"'


def as_text(number: int, hit: Hit, question: str, details: bool) -> str:
    """A hit for reading: where it stands, what it says, what is next to it."""
    facts = [hit.type, hit.priority, dates.local_day(hit.date) if hit.date else None]
    facts += ["archived"] if hit.archived else []
    heading = " > ".join(hit.heading) or hit.title
    lines = [
        f"{number}. {click.style(_place(hit), bold=True)}  {printable(heading)}  "
        f"({', '.join(printable(f) for f in facts if f)})  {hit.score:.3f}"
    ]
    said = snippet(hit.text, question)
    if said:
        lines.append(f"   {said}")
    if details:
        lines.append(f"   {_details(hit)}")
    lines += [f"   -> {printable(n.path)}  {printable(n.title)}" for n in hit.neighbors]
    return "\n".join(lines)


def _place(hit: Hit) -> str:
    return f"{printable(hit.path)}:{hit.start}-{hit.end}"


def _details(hit: Hit) -> str:
    parts = hit.parts
    cosine = "none" if parts.cosine is None else f"{parts.cosine:.3f}"
    return (
        f"semantic {parts.semantic:.3f} (cosine {cosine}, keyword {parts.keyword:.2f})  "
        f"recency {parts.recency:.3f}  importance {parts.importance:.2f}"
    )


def snippet(text: str, question: str) -> str:
    """The part of ``text`` around the first of the question's words, on one line."""
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
