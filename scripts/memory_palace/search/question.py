"""A question made ready: its terms, its vector, the vectors of its words."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import keywords
from memory_palace.core.keywords import Asked
from memory_palace.embed.port import Embedder, TokenEmbedder, Vectors, unit
from memory_palace.search.query import Query

MOST_TOKENS = 128
"""A question's tokens that take part in late interaction: the first ones of a longer one."""


_ANY = "palace"  # a word, for exclusions to stand beside


@dataclass(frozen=True, slots=True)
class Question:
    """``vector`` has shape (d,), None for keywords only; ``tokens``, shape (q, d), is None if the
    embedder gives none."""

    asked: Asked
    vector: NDArray[np.float32] | None = None
    tokens: Vectors | None = None


def asked_by(query: Query) -> Asked:
    """The terms of a query: of the caller's keyword form, if there is one; without any question,
    those of the text to embed, or of the made-up answer."""
    asked = keywords.parse(query.text)
    if not query.lex:
        # What is to be embedded excludes nothing, and is no question to be embedded once more.
        instead = () if asked.terms else keywords.parse(query.vec or query.hyde).terms
        return Asked(asked.terms or instead, asked.excluded, asked.text)
    given = keywords.parse(query.lex)
    beside = keywords.parse(f"{_ANY} {query.lex}")
    if asked.terms and beside.excluded and len(beside.terms) == 1:
        given = replace(beside, terms=asked.terms)  # beside a question, `-word` alone leaves out
    excluded = tuple(dict.fromkeys([*asked.excluded, *given.excluded]))
    return Asked(given.terms, excluded, asked.text or given.text)


def says_something(query: Query) -> bool:
    """True if there is a word to look for or to embed."""
    return any(keywords.parse(t).terms for t in (query.text, query.lex, query.vec, query.hyde) if t)


def embedded(query: Query, asked: Asked, embedder: Embedder) -> Question:
    """The question with its vectors: the mean of its own and that of the made-up answer."""
    text = query.vec or asked.text
    tokens: Vectors | None = None
    made = []
    if keywords.parse(text).terms:
        if isinstance(embedder, TokenEmbedder):
            rows, found = embedder.queries_and_tokens([text])
            tokens = found[0].vectors[:MOST_TOKENS]
        else:
            rows = embedder.embed_queries([text])
        made.append(rows)
    if query.hyde:
        made.append(embedder.embed_passages([query.hyde]))
    if not made:
        return Question(asked)
    return Question(asked, unit(np.concatenate(made).mean(axis=0, keepdims=True))[0], tokens)
