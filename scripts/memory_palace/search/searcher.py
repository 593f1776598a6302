"""The read path: an open index answers questions, each answer checked against the files."""

from dataclasses import replace
from datetime import datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.fact import Fact
from memory_palace.core.relevance import Scale
from memory_palace.embed import registry
from memory_palace.embed.port import Embedder
from memory_palace.embed.registry import Choice
from memory_palace.embed.rerank import Reranker
from memory_palace.files import roots, tree
from memory_palace.files.config import Config
from memory_palace.index import catalog as catalogs
from memory_palace.index import fill, freshness, nearest
from memory_palace.index.catalog import Catalog
from memory_palace.index.freshness import Checker
from memory_palace.index.nearest import Nearest
from memory_palace.search import known, pick, quick, rank, rerank, table
from memory_palace.search import question as questions
from memory_palace.search.hits import Answer, Hit, Neighbor
from memory_palace.search.pick import Asking
from memory_palace.search.query import Query, as_asked, unknown, where
from memory_palace.search.question import Question
from memory_palace.search.table import Table

MOST_QUESTION_CHARACTERS = 100_000


class Searcher:
    """An open index and, once it is needed, its embedder.

    ``notes`` are lines about the index as a whole, for a person.
    """

    def __init__(self, root: Path, config: Config, choice: Choice) -> None:
        """Raises :class:`Missing` if there is no usable index."""
        self.root = root
        self.config = config
        self.notes: list[str] = []
        self._folder = roots.index_folder(root)
        self._embedder: Embedder | None = None
        self._reranker: Reranker | None = None
        self._asked: tuple[tuple[str, ...], Question] | None = None
        self._main, self._vectors = self._open()
        self._below: Catalog | None = None
        self._tables: dict[bool, Table] = {}
        self._excluded = tree.exclusion(config.exclude)
        self.choice = self._fitting(choice)

    def close(self) -> None:
        self._main.close()
        if self._below:
            self._below.close()

    def __enter__(self) -> "Searcher":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def successor_of(self, path: str) -> str:
        """The path of the note that supersedes the one at ``path``; empty if none does."""
        rows = self._main.db.execute("SELECT id FROM files WHERE path = ?", (path,))
        return next(iter(quick.successors_of(self._main.db, [row[0] for row in rows]).values()), "")

    def changed(self) -> int:
        """How many files the index does not know as they are now."""
        return freshness.changed_files(self.root, self.config, self._main)

    def ask(self, query: Query, now: datetime) -> Answer:
        """The answer to ``query``.

        Raises :class:`BadInput` for a question that says nothing, :class:`Missing` where
        ``raw`` is asked of an index without vectors, or the reranker is not there.
        """
        query = replace(query, text=query.text.strip())
        self._check(query)
        answer = Answer(facts=self._facts(query, now))
        now = as_asked(query, now)
        checker = Checker(self.root, self._main)
        reranker = registry.reranker(self.config) if query.rerank else None
        most = max(query.top_k, rerank.CANDIDATES) if reranker else query.top_k
        wider = replace(query, top_k=most)
        hits = self._hits(self._main, wider, now, checker, cold=False)
        if query.archived:
            hits += self._hits(self._basement(), wider, now, checker, cold=True)
        if query.archived or (checker.stale and not query.diverse):
            # Two catalogs, or a file read again; a stable sort keeps what is in order.
            hits.sort(key=lambda hit: rank.order_key(hit, query.raw), reverse=True)
        if reranker:
            hits = self._reranked(query, hits)
        answer.hits = self._with_neighbors(hits[: query.top_k], query)
        changed = checker.stale - checker.away - checker.closed
        answer.changed = len(changed)
        if checker.away:
            names = ", ".join(sorted({path.partition("/")[0] for path in checker.away}))
            answer.notes.append(f"{names}: not on this machine, its files are left out")
        if checker.closed:
            more = f" and {len(checker.closed) - 1} more" if len(checker.closed) > 1 else ""
            answer.notes.append(
                f"{min(checker.closed)}{more} may not be read, so left out: check the permissions"
            )
        if not answer.hits:
            why = self._why_nothing(query, bool(changed))
            answer.notes.append(why.replace("nothing", "no note", 1) if answer.facts else why)
        return answer

    def _facts(self, query: Query, now: datetime) -> list[Fact]:
        if not query.facts:
            return []
        asked = query.text or query.lex or query.vec or query.hyde
        return list(known.known(self.root, asked, now, query.as_of))

    def vector_of(self, text: str) -> NDArray[np.float32] | None:
        """The vector of a question, shape (d,), as :meth:`ask` makes it; None without one.

        It is kept for the next question, if that is the same.
        """
        return self._question(Query(text=text.strip()), cold=False).vector

    def _why_nothing(self, query: Query, stale: bool) -> str:
        asks = any((query.text, query.lex, query.vec, query.hyde))
        if asks and not questions.says_something(query):
            return "the question has no word: write some"
        why = unknown(query, [self._main, *([self._basement()] if query.archived else [])])
        if why is None and stale:
            why = "what matched has changed since: run `palace index` and ask again"
        return why or "nothing matched: try other words, fewer filters or --archived"

    def _reranked(self, query: Query, hits: list[Hit]) -> list[Hit]:
        """The best of ``hits`` in the order of the reranker, the others behind them."""
        if self._reranker is None:
            self._reranker = registry.reranker(self.config)()
        asked = query.text or query.vec or query.lex or query.hyde
        best = hits[: rerank.CANDIDATES]
        scores = self._reranker.scores(asked, [f"{hit.title}\n{hit.text}" for hit in best])
        return rerank.reordered(hits, scores)

    def _check(self, query: Query) -> None:
        given = (query.text, query.lex, query.vec, query.hyde)
        if not any(given) and not query.filtered:
            raise BadInput(
                "nothing is asked: give some words, or a filter such as --type or --since"
            )
        longest = max(map(len, given))
        if longest > MOST_QUESTION_CHARACTERS:
            raise BadInput(
                f"the question has {longest:,} characters, of {MOST_QUESTION_CHARACTERS:,} "
                "at most: shorten it"
            )
        if query.raw and self.choice.name == "none":
            raise Missing("--raw orders by cosine, and no embedder is in use: set one up first")
        if query.raw and (self._vectors is None or self.choice.load is None):
            raise Missing("--raw orders by cosine, and there are no vectors: run `palace index`")

    # -- opening ------------------------------------------------------------------------------

    def _open(self) -> tuple[Catalog, Nearest | None]:
        """Catalog and vectors of one generation, held by a read transaction."""
        problem = ""
        for _ in range(5):
            catalog = catalogs.open_to_read(self._folder / catalogs.MAIN)
            catalog.db.execute("BEGIN")
            if not catalog.count("vectors"):
                return catalog, None
            try:
                if not fill.whole(self._folder, catalog):
                    raise OSError("not the file that was saved")
                generation = int(catalog.meta("generation", "0"))
                return catalog, nearest.open_to_read(self._folder, generation)
            except OSError as error:
                problem = (error.strerror or str(error))[:120]
                catalog.close()  # a build may have moved on: look again
        self.notes.append(f"vectors cannot be read ({problem}); keywords only: run `palace index`")
        catalog = catalogs.open_to_read(self._folder / catalogs.MAIN)
        catalog.db.execute("BEGIN")
        return catalog, None

    def _basement(self) -> Catalog:
        if self._below is None:
            self._below = catalogs.open_to_read(self._folder / catalogs.BASEMENT)
            self._below.db.execute("BEGIN")  # one state, as long as its table is kept
            self._below.count("files")
        return self._below

    def _fitting(self, choice: Choice) -> Choice:
        """The embedder that the index was built with; keywords only if it is not here."""
        if choice.load is None:
            return choice
        built = self._main.meta("fingerprint")
        if self._vectors is None or built == str(choice.fingerprint):
            # A session adds observations all the time: those wait for the next run in silence.
            pending = fill.pending_count(
                self._folder, self._main, str(choice.fingerprint), notes_only=True
            )
            if pending and not self.notes:
                chunks = "1 text has" if pending == 1 else f"{pending} texts have"
                self.notes.append(f"{chunks} no vector yet: run `palace index`")
            return choice
        other = registry.named(self.config, built) if self.config.embedder == "auto" else None
        name = "/".join(built.split("/")[:2])
        if other:
            self.notes.append(
                f"the index was built with {name}; `palace index` rebuilds it with {choice.name}"
            )
            return other
        self.notes.append(
            f"the index was built with {name}, not {choice.name}; keywords only: run `palace index`"
        )
        self._vectors = None
        return replace(choice, load=None)

    # -- asking -------------------------------------------------------------------------------

    def _question(self, query: Query, cold: bool) -> Question:
        asked = questions.asked_by(query)
        if "keyword" in query.without:
            asked = replace(asked, terms=())
        if cold or self._vectors is None or self.choice.load is None:
            return Question(asked)
        if not questions.says_something(query):
            return Question(asked)
        if self._embedder is None:
            self._embedder = self.choice.load()
        key = (query.text, query.lex, query.vec, query.hyde)
        if self._asked is None or self._asked[0] != key:
            self._asked = key, questions.embedded(query, asked, self._embedder)
        return replace(self._asked[1], asked=asked)

    def _hits(
        self, catalog: Catalog, query: Query, now: datetime, checker: Checker, cold: bool
    ) -> list[Hit]:
        if cold not in self._tables:
            self._tables[cold] = table.read(catalog, None if cold else self._vectors)
        question = self._question(query, cold)
        ranked = rank.rank(
            self._tables[cold], catalog, question, query, self.config.weights, self._scale, now
        )
        return pick.hits(
            Asking(
                query=query,
                question=question,
                ranked=ranked,
                catalog=catalog,
                checker=checker,
                now=now,
                cold=cold,
                weights=self.config.weights,
                scale=self._scale,
                embedder=self._embedder,
                excluded=self._excluded,
            )
        )

    def _with_neighbors(self, hits: list[Hit], query: Query) -> list[Hit]:
        """Each hit with the notes it links to: in link order, none twice, none of the hits."""
        if not query.neighbors:
            return hits
        shown = {hit.path for hit in hits}
        condition, values = where(query)
        joined = []
        for hit in hits:
            rows: list[tuple[str, str]] = []
            if not hit.archived:
                rows = self._main.db.execute(
                    f"""SELECT path, title FROM (
                            SELECT t.*, min(l.ordinal) AS first FROM links l
                            JOIN files s ON s.id = l.file_id JOIN files t ON t.path = l.path
                            WHERE s.path = ? GROUP BY t.id)
                        WHERE {condition} ORDER BY first""",
                    (hit.path, *values),
                ).fetchall()
            near: list[Neighbor] = []
            for path, title in rows:
                if len(near) < query.neighbors and path not in shown and self._is_there(path):
                    shown.add(path)
                    near.append(Neighbor(path, title))
            joined.append(replace(hit, neighbors=tuple(near)))
        return joined

    @property
    def _scale(self) -> Scale:
        return Scale(self.choice.floor, self.choice.low, self.choice.high)

    def _is_there(self, path: str) -> bool:
        return (self.root / path).is_file()


def open_or_none(root: Path, config: Config, choice: Choice) -> tuple[Searcher | None, str]:
    """A searcher, or None and why there is none."""
    try:
        return Searcher(root, config, choice), ""
    except catalogs.Damaged as error:
        return None, str(error)
