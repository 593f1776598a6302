"""A hit whose file has changed since the index was built, scored by what stands there now."""

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from memory_palace.core import late, relevance, scoring
from memory_palace.core.kinds import DEFAULT_TYPE
from memory_palace.core.relevance import Evidence, Scale
from memory_palace.embed.port import Embedder, TokenEmbedder
from memory_palace.index import freshness, scratch
from memory_palace.index.catalog import ChunkRow
from memory_palace.search import superseded
from memory_palace.search.hits import Hit, Parts
from memory_palace.search.query import passes
from memory_palace.search.question import Question

if TYPE_CHECKING:
    from memory_palace.index.reading import Parsed
    from memory_palace.search.pick import Asking


def reread(hit: Hit, parsed: "Parsed", asking: "Asking") -> Hit | None:
    """``hit`` as its changed file has it now, by its text or else by its place in the note;
    None if what stands there is no answer any more."""
    query, question, weights, scale = asking.query, asking.question, asking.weights, asking.scale
    row = freshness.find(parsed, hit.id, hit.heading, hit.text)
    if row is None:
        return None
    kind, priority = hit.type, hit.priority
    if parsed.said.block:
        kind, priority = parsed.said.type or DEFAULT_TYPE, parsed.said.priority
    date = parsed.note.updated or parsed.note.created or hit.date
    time = date.timestamp() if date else None
    if not passes(query, hit.path, kind, priority, parsed.note.tags, time, hit.room):
        return None
    parts = hit.parts
    if row.text != hit.text:
        parts = _evidence(parts, row, question, asking.embedder, scale)
        asks = bool(question.asked.terms) or question.vector is not None
        if asks and not _proven(parts, scale):
            return None
    if scratch.matching([" ".join(row.words)], _excluded(question)).any():
        return None
    age = np.array([np.nan if time is None else (asking.now.timestamp() - time) / 86400.0])
    recent = float(scoring.recency(age, weights.half_life_days)[0])
    parts = replace(parts, recency=recent, importance=scoring.importance(priority))
    close, fresh, high = (
        np.array([part]) for part in (parts.relevance, parts.recency, parts.importance)
    )
    score = float(scoring.compound(close, fresh, high, weights)[0])
    return replace(
        hit,
        title=parsed.title,
        heading=row.heading,
        start=row.start,
        end=row.end,
        date=date,
        type=kind,
        priority=priority,
        # A superseded note stays behind its successor, where the index put it.
        score=min(score, hit.score) if parts.superseded else score,
        parts=parts,
        text=row.text,
    )


def _excluded(question: Question) -> list[str]:
    return [term.expression for term in question.asked.excluded]


def _evidence(
    parts: Parts, row: ChunkRow, question: Question, embedder: Embedder | None, scale: Scale
) -> Parts:
    """What speaks for a text that the index does not know; its note's evidence stays."""
    terms = question.asked.terms
    has = scratch.matching([" ".join(row.words)], [term.expression for term in terms])
    kept = tuple(term.text for term, there in zip(terms, has[:, :1], strict=True) if there.any())
    # How rare its words are is known for the old text: they count by their number.
    keyword = parts.keyword * min(len(kept) / max(len(parts.terms), 1), 1.0)
    cosine, own = None, None
    if embedder is not None and question.vector is not None:
        if isinstance(embedder, TokenEmbedder) and question.tokens is not None:
            vectors, (tokens,) = embedder.passages_and_tokens([row.embedded])
            found = late.matches(question.tokens, late.pack(tokens.vectors))
            own = float(found.max(axis=1).mean())
        else:
            vectors = embedder.embed_passages([row.embedded])
        cosine = float(vectors[0] @ question.vector)
    made = replace(parts, keyword=keyword, cosine=cosine, late=own, terms=kept)
    evidence = Evidence(
        *(
            np.array([np.nan if value is None else value])
            for value in (cosine, keyword, made.note_keyword, own, made.note_late)
        )
    )
    name = np.array([parts.name])
    close = float(relevance.with_name(relevance.relevance(evidence, scale), name)[0])
    return replace(made, relevance=close * (superseded.RELEVANCE if made.superseded else 1.0))


def _proven(parts: Parts, scale: Scale) -> bool:
    cosine = np.array([np.nan if parts.cosine is None else parts.cosine])
    return bool(relevance.evidence(cosine, np.array([parts.keyword]), scale.floor)[0])
