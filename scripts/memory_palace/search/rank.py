"""Score every chunk that the filters let through, and put them in order.

Every chunk is scored by its vector and its words; the best of them are then looked at more
closely (see ``closer``). Nothing that could be among the best is cut before it is scored: of a
large index those chunks are scored that could (see ``narrow``).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from memory_palace.core import relevance, scoring
from memory_palace.core.relevance import Evidence, Scale
from memory_palace.core.scoring import Scores
from memory_palace.core.weights import Weights
from memory_palace.index.catalog import Catalog
from memory_palace.search import closer, narrow, superseded, table
from memory_palace.search.candidates import Wanted
from memory_palace.search.closer import Looked
from memory_palace.search.hits import Hit, Parts
from memory_palace.search.query import Query
from memory_palace.search.question import Question
from memory_palace.search.table import Flags, Ids, Table

_FIRST_SORTED = 256
"""So many of the best are put in order first; the rest only if they are asked for."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """The scores of every chunk of a :class:`Table`, and which of them are hits.

    ``matched``, shape (terms, n), says which of the question's terms a chunk has. ``best`` are
    the places that were looked at more closely, ascending, and ``looked`` what was seen there
    (None without token vectors). ``name``, shape (n,), is how well the question names what is
    defined there.
    """

    table: Table
    found: Evidence
    matched: Flags
    relevance: Scores
    recency: Scores
    importance: Scores
    superseded: Flags
    score: Scores
    first: Scores
    proven: Flags
    best: Ids
    name: Scores
    looked: Looked | None = None

    def in_order(self) -> Iterator[int]:
        """Places in the table of all hits, best first; equal scores by path, then line."""
        places = np.flatnonzero(self.proven)
        if len(places) > _FIRST_SORTED:
            values = self.first[places]
            least = np.partition(values, -_FIRST_SORTED)[-_FIRST_SORTED]
            yield from self._sorted(places[values >= least])
            places = places[values < least]
        yield from self._sorted(places)

    def _sorted(self, places: Ids) -> Iterator[int]:
        order = np.lexsort((places, -self.first[places]))
        return iter(places[order].tolist())

    def parts(self, n: int) -> Parts:
        """What the n-th chunk's score is made of."""
        found = self.found
        return Parts(
            relevance=float(self.relevance[n]),
            recency=float(self.recency[n]),
            importance=float(self.importance[n]),
            cosine=_or_none(found.cosine[n]),
            keyword=float(found.keyword[n]),
            note_keyword=float(found.note_keyword[n]),
            late=_or_none(found.late[n]),
            note_late=_or_none(found.note_late[n]),
            superseded=bool(self.superseded[n]),
            name=float(self.name[n]),
        )


def _or_none(value: float) -> float | None:
    return None if np.isnan(value) else float(value)


def rank(
    among: Table,
    catalog: Catalog,
    question: Question,
    query: Query,
    weights: Weights,
    scale: Scale,
    now: datetime,
) -> Ranked:
    """Score every chunk; a hit passes the filters and has evidence.

    The order is that of the compound score (``raw``: of the cosine). A query of filters alone
    takes every chunk that passes.
    """
    if query.as_of:
        among = replace(among, older=superseded.as_of(among.older, among.time, query.as_of))
    wanted = Wanted(closer.most(query.top_k), closer.most(query.top_k))
    among = narrow.narrowed(among, catalog, question, query, weights, scale, now, wanted)
    n = len(among.chunk)
    age_days = (now.timestamp() - among.time) / 86400.0
    recent = scoring.recency(age_days, weights.half_life_days)[among.file]
    important = among.importance[among.file]
    proven = table.passing(among, catalog, query)
    none = np.full(n, np.nan)
    cosine = none if "dense" in query.without else table.cosines(among, question)
    keyword, matched = np.zeros(n), np.zeros((0, n), dtype=bool)
    if "keyword" not in query.without:
        keyword, matched = table.keywords(among, question)
    note_keyword = none
    if not query.without & {"keyword", "context"} and not query.raw:
        note_keyword = table.note_keywords(among, question)[among.file]
    found = Evidence(cosine, keyword, note_keyword, none, none)
    if any((query.text, query.lex, query.vec, query.hyde)):
        proven = proven & relevance.evidence(cosine, keyword, scale.floor)
        proven = proven & ~table.excluded(among, question)
        close = relevance.relevance(found, scale)
    else:
        close = np.full(n, scoring.RELEVANCE_WITHOUT_WORDS)
    score = scoring.compound(close, recent, important, weights)
    older = np.isin(among.file, among.older[:, 0])
    first = np.nan_to_num(cosine, nan=-1.0) if query.raw else score
    best = closer.candidates(score, proven, among.file, query.top_k)
    name = np.zeros(n)
    if not query.raw and "keyword" not in query.without:
        name[best] = closer.names(catalog, question.asked, among.chunk[best])
        close = relevance.with_name(close, name)
        score = first = scoring.compound(close, recent, important, weights)
    ranked = Ranked(
        among, found, matched, close, recent, important, older, score, first, proven, best, name
    )
    if query.raw:  # marked and scored as ever, but ordered by the cosine
        return replace(_with_superseded(ranked, weights), first=first)
    if question.tokens is not None and "dense" not in query.without:
        ranked = _closer(ranked, catalog, question, query, weights, scale)
    return _with_superseded(ranked, weights)


def _closer(
    ranked: Ranked,
    catalog: Catalog,
    question: Question,
    query: Query,
    weights: Weights,
    scale: Scale,
) -> Ranked:
    """The same with the best looked at more closely; the others keep their order, behind them."""
    assert question.tokens is not None
    among, best = ranked.table, ranked.best
    looked = closer.look(catalog, question.tokens, best, among.vector[best], among.file[best])
    late, note_late = np.zeros(len(among.chunk)), np.zeros(len(among.chunk))
    late[best], note_late[best] = looked.late, looked.note_late
    if "context" in query.without:
        note_late[:] = np.nan
    found = replace(ranked.found, late=late, note_late=note_late)
    close = relevance.with_name(relevance.relevance(found, scale), ranked.name)
    score = scoring.compound(close, ranked.recency, ranked.importance, weights)
    unseen = np.ones(len(late), dtype=bool)
    unseen[best] = False
    others = ranked.proven & unseen
    if others.any():
        score[others] -= max(float(score[others].max() - score[best].min()) + 1e-9, 0.0)
    found = replace(  # what was not looked at has none, which counted 0
        found,
        late=np.where(unseen, np.nan, late),
        note_late=np.where(unseen, np.nan, note_late),
    )
    return replace(ranked, found=found, relevance=close, score=score, first=score, looked=looked)


def _with_superseded(ranked: Ranked, weights: Weights) -> Ranked:
    """The same with every superseded note behind its successor."""
    among = ranked.table
    if not len(among.older):
        return ranked
    older = ranked.superseded
    close = np.where(older, ranked.relevance * superseded.RELEVANCE, ranked.relevance)
    # Taken off, not made anew: what was not looked at stays behind what was.
    score = ranked.score - weights.semantic * (ranked.relevance - close)
    score = superseded.behind(score, among.file, ranked.proven, among.older)
    return replace(ranked, relevance=close, score=score, first=score)


def order_key(hit: Hit, raw: bool) -> float:
    """What hits are ordered by, largest first: the score, or for ``raw`` the cosine."""
    return hit.score if not raw else -1.0 if hit.parts.cosine is None else hit.parts.cosine
