"""The read path over Milvus: the same questions and the same order as over the local index.

Milvus brings the units that can be among the best (see ``likely``); the ordinary search ranks
them. No local index is needed. Where the notes are here, answers are checked against them; on a
machine without notes, hits come as they were stored.
"""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np

from memory_palace.core.errors import Missing
from memory_palace.core.links import TREE
from memory_palace.embed import registry
from memory_palace.embed.port import Embedder
from memory_palace.embed.registry import Choice
from memory_palace.embed.rerank import Reranker
from memory_palace.files import tree
from memory_palace.files.config import Config
from memory_palace.index import catalog as catalogs
from memory_palace.index import milvus
from memory_palace.index import milvus_texts as texts
from memory_palace.index.catalog import Catalog
from memory_palace.index.freshness import Checker
from memory_palace.index.milvus import COLD, Stamp
from memory_palace.index.milvus_words import LEVELS
from memory_palace.index.nearest import Matrix
from memory_palace.search import gathered
from memory_palace.search.bounds import Sought
from memory_palace.search.gathered import Gathered
from memory_palace.search.hits import Answer, Hit
from memory_palace.search.likely import Likely
from memory_palace.search.query import Query, as_asked
from memory_palace.search.question import Question
from memory_palace.search.rarity import Pages, Rarity, phrases, summed
from memory_palace.search.searcher import Searcher

MOST_LEFT_OUT = 1000
"""So many units that a question excludes may stand before the first hit."""


def opened(root: Path, config: Config, choice: Choice) -> Searcher:
    """What answers questions where the user's configuration keeps the index."""
    if config.store == "milvus":
        return RemoteSearcher(root, config, choice)
    return Searcher(root, config, choice)


class RemoteSearcher(Searcher):
    """A palace in Milvus, asked like any other."""

    def __init__(self, root: Path, config: Config, choice: Choice) -> None:
        """Raises :class:`Missing` if Milvus cannot be asked or has nothing of this palace."""
        self.root = root
        self.config = config
        self.notes: list[str] = []
        self._embedder: Embedder | None = None
        self._reranker: Reranker | None = None
        self._asked: tuple[tuple[str, ...], Question] | None = None
        self._palace = milvus.palace_id(root, config)
        self._client = milvus.connect(config)
        try:
            stamp = self._stamp(self._palace)
            if stamp is None:
                raise Missing(
                    f"palace {self._palace} is not in Milvus at {config.milvus_uri}: run `palace "
                    "index` where its notes are, or name the palace in index.palaces of your own "
                    "configuration"
                )
        except BaseException:
            self.close()
            raise
        self._vectors = None
        if stamp.dimension:  # stands for those in Milvus
            none = np.zeros((0, stamp.dimension), dtype=np.float32)
            self._vectors = Matrix(np.zeros(0, dtype=np.int64), none)
        if not stamp.state:
            self.notes.append("the index in Milvus is not complete: run `palace index`")
        self.choice = self._choice(choice, stamp)

    def close(self) -> None:
        self._client.close()

    def __enter__(self) -> "RemoteSearcher":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def changed(self) -> int:
        """0: only the files of hits are looked at."""
        return 0

    def ask(self, query: Query, now: datetime) -> Answer:
        """As :meth:`Searcher.ask`; raises :class:`Missing` too where Milvus fails."""
        query = replace(query, text=query.text.strip())
        self._check(query)
        then = as_asked(query, now)
        away: frozenset[str] = frozenset()
        again = 0
        while True:
            main = self._gathered(self._palace, query, then, again, away)
            below = None
            if query.archived:
                below = self._gathered(self._palace + COLD, query, then, again)
            ranking = _Ranking(self, main, below)
            with ranking:
                answer = ranking.ask(query, now)
                self._reranker = ranking._reranker
            # Much of what came may be alike, gone, or of projects that are not on this machine.
            short = len(answer.hits) < query.top_k and (main.cut or bool(below and below.cut))
            new = (short or query.rerank or query.diverse) and not ranking.away <= away
            if not (new or (short and not again)):
                return answer
            away, again = away | ranking.away, MOST_LEFT_OUT

    def _stamp(self, palace: str) -> Stamp | None:
        stamp = milvus.read_stamp(self._client, palace)
        if stamp and stamp.format != catalogs.FORMAT:
            raise Missing(
                f"palace {palace} was brought to Milvus by a toolkit of another version (format "
                f"{stamp.format}, not {catalogs.FORMAT}): use the same version here and there"
            )
        return stamp

    def _choice(self, choice: Choice, stamp: Stamp) -> Choice:
        """The embedder that made the vectors; keywords only if it is not here."""
        if choice.load is None or not stamp.dimension:
            return replace(choice, load=None)
        if stamp.fingerprint == str(choice.fingerprint):
            return choice
        built = stamp.fingerprint
        other = registry.named(self.config, built) if self.config.embedder == "auto" else None
        if other:
            return other
        name = "/".join(built.split("/")[:2])
        self.notes.append(
            f"the vectors in Milvus were made by {name}, not {choice.name}: keywords only"
        )
        return replace(choice, load=None)

    def _gathered(
        self,
        palace: str,
        query: Query,
        now: datetime,
        more: int,
        away: frozenset[str] = frozenset(),
    ) -> Gathered:
        """What can be among the first hits, and ``more`` units; of these projects ``away``, what
        would be among them if they were here."""
        cold = palace != self._palace
        stamp = self._stamp(palace) or Stamp(format=catalogs.FORMAT)
        pages = Pages(self._client, palace, stamp.statistics.pages)
        rarities = [Rarity(self._client, palace, stamp, pages, level) for level in LEVELS]
        if not stamp.notes:
            return Gathered(rarities)
        question = self._question(query, cold or not stamp.dimension)
        terms = [term.expression for term in question.asked.terms]
        excluded = [term.expression for term in question.asked.excluded]
        sought_in = [level for level in LEVELS if not (level.mined and query.notes_only)]
        of_units = [rarities[level.number] for level in sought_in if level.of_units]
        of_files = [rarities[level.number] for level in sought_in if not level.of_units]
        for rarity in of_units:
            rarity.look_up([*terms, *excluded])
        dense = "dense" not in query.without
        out = phrases(excluded)
        sought = Sought(
            query,
            question if dense else replace(question, vector=None),
            self._scale,
            summed(rarity.weights(terms) for rarity in of_units),
            {}
            if query.without & {"keyword", "context"}
            else summed(rarity.weights(terms) for rarity in of_files),
            plain=all(t.kind == "word" and "(" not in t.expression for t in question.asked.terms),
            left_out=min(
                sum(r.having(phrase) for r in of_units for phrase in out) + more, MOST_LEFT_OUT
            ),
        )
        count = stamp.statistics.units
        likely = Likely(self._client, palace, stamp.dimension, count, self.config.weights)
        units = likely.units(sought, now)
        if away:
            units = list(dict.fromkeys([*units, *likely.units(sought, now, away)]))
        with texts.readable():
            found = gathered.fetch(self._client, palace, stamp.dimension, units, rarities)
        found.cut = likely.cut
        if not units:
            found.add_facets(stamp)
        return found

    def linked(self, found: Gathered, paths: list[str]) -> None:
        """Add to what was found the notes that these link to."""
        gathered.add_linked(self._client, self._palace, found, paths)


class _Ranking(Searcher):
    """The ordinary search over what was gathered for one question. ``away`` are the projects
    (``project:NAME``) that it met and that are not on this machine."""

    def __init__(self, remote: RemoteSearcher, main: Gathered, below: Gathered | None) -> None:
        self.root = remote.root
        self.config = remote.config
        self.notes = []
        self.choice = remote.choice
        self._remote = remote
        self._embedder = remote._embedder
        self._reranker = remote._reranker
        self._asked = remote._asked
        self._main: Gathered = main
        self._vectors = main.vectors() or remote._vectors
        self._below = below
        self._tables = {}
        self.away: frozenset[str] = frozenset()
        self._excluded = tree.exclusion(remote.config.exclude)

    def _hits(
        self, catalog: Catalog, query: Query, now: datetime, checker: Checker, cold: bool
    ) -> list[Hit]:
        if not (self.root / TREE).is_dir():
            checker = _Trusting(self.root, catalog)
        hits = super()._hits(catalog, query, now, checker, cold)
        self.away |= {path.partition("/")[0] for path in checker.away}
        return hits

    def _basement(self) -> Catalog:
        assert self._below is not None
        return self._below

    def _check(self, query: Query) -> None:
        """Done before anything was gathered."""

    def _with_neighbors(self, hits: list[Hit], query: Query) -> list[Hit]:
        if query.neighbors:
            self._remote.linked(self._main, [hit.path for hit in hits if not hit.archived])
        return super()._with_neighbors(hits, query)

    def _is_there(self, path: str) -> bool:
        return not (self.root / TREE).is_dir() or super()._is_there(path)


class _Trusting(Checker):
    """For a machine without notes: what is stored is all there is."""

    def unchanged(self, path: str, sha256: str) -> bool:
        return True
