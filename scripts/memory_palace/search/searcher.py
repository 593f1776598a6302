"""The read path: an open index answers questions, each answer checked against the files."""

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from memory_palace.core import dates, keywords
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.kinds import DEFAULT_TYPE
from memory_palace.embed import registry
from memory_palace.embed.port import Embedder
from memory_palace.embed.registry import Choice
from memory_palace.files import roots, tree
from memory_palace.files.config import Config
from memory_palace.index import catalog as catalogs
from memory_palace.index import fill, freshness
from memory_palace.index.catalog import Catalog
from memory_palace.index.freshness import Checker
from memory_palace.index.vectors import VectorFile
from memory_palace.search import rank
from memory_palace.search.hits import Answer, Hit, Neighbor, Parts
from memory_palace.search.query import Query, passes, unknown, where
from memory_palace.search.rank import Ranked, Table

if TYPE_CHECKING:
    from memory_palace.index.reading import Parsed

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

    def changed(self) -> int:
        """How many files the index does not know as they are now."""
        return freshness.changed_files(self.root, self.config, self._main)

    def ask(self, query: Query, now: datetime) -> Answer:
        """The answer to ``query``.

        Raises :class:`BadInput` for a question that says nothing, :class:`Missing` where
        ``raw`` is asked of an index without vectors.
        """
        query = replace(query, text=query.text.strip())
        self._check(query)
        answer = Answer()
        checker = Checker(self.root)
        hits = list(self._hits(self._main, query, now, checker, cold=False))
        if query.archived:
            hits += self._hits(self._basement(), query, now, checker, cold=True)
        # Two catalogs, or a file read again: what is already in order stays in order.
        hits.sort(key=lambda hit: rank.order_key(hit, query.raw), reverse=True)
        hits = hits[: query.top_k]
        answer.hits = self._with_neighbors(hits, query)
        answer.changed = len(checker.stale)
        if not answer.hits:
            below = [self._basement()] if query.archived else []
            why = unknown(query, [self._main, *below])
            if query.text and not keywords.terms(query.text):
                why = "the question has no word: write some"
            elif checker.stale and why is None:
                why = "what matched has changed since: run `palace index` and ask again"
            answer.notes.append(
                why or "nothing matched: try other words, fewer filters or --archived"
            )
        return answer

    def _check(self, query: Query) -> None:
        if not query.text and not query.filtered:
            raise BadInput(
                "nothing is asked: give some words, or a filter such as --type or --since"
            )
        if len(query.text) > MOST_QUESTION_CHARACTERS:
            raise BadInput(
                f"the question has {len(query.text):,} characters, of {MOST_QUESTION_CHARACTERS:,} "
                "at most: shorten it"
            )
        if query.raw and self.choice.name == "none":
            raise Missing("--raw orders by cosine, and no embedder is in use: set one up first")
        if query.raw and (self._vectors is None or self.choice.load is None):
            raise Missing("--raw orders by cosine, and there are no vectors: run `palace index`")

    # -- opening ------------------------------------------------------------------------------

    def _open(self) -> tuple[Catalog, VectorFile | None]:
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
                return catalog, VectorFile.open(self._folder, int(catalog.meta("generation", "0")))
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
            pending = fill.pending_count(self._folder, self._main, str(choice.fingerprint))
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

    def _question(self, text: str) -> NDArray[np.float32] | None:
        if self._vectors is None or self.choice.load is None or not keywords.terms(text):
            return None
        if self._embedder is None:
            self._embedder = self.choice.load()
        vector: NDArray[np.float32] = self._embedder.embed_queries([text])[0]
        return vector

    def _hits(
        self, catalog: Catalog, query: Query, now: datetime, checker: Checker, cold: bool
    ) -> Iterator[Hit]:
        if cold not in self._tables:
            self._tables[cold] = rank.table(catalog, None if cold else self._vectors)
        among = self._tables[cold]
        question = None if cold else self._question(query.text)
        weights = self.config.weights
        ranked = rank.rank(among, catalog, question, query, weights, self.choice.floor, now)
        seen: set[int] = set()
        found = 0
        for n in ranked.in_order():
            if found == query.top_k:
                return
            file = int(among.file[n])
            if file in seen and not query.all_chunks:
                continue
            hit = self._hit(catalog, ranked, n, checker, query, now, cold)
            if hit is not None:
                seen.add(file)
                found += 1
                yield hit

    def _hit(
        self,
        catalog: Catalog,
        ranked: Ranked,
        n: int,
        checker: Checker,
        query: Query,
        now: datetime,
        cold: bool,
    ) -> Hit | None:
        """The table's n-th chunk as it stands in its file now; None if its text is gone."""
        row = catalog.db.execute(
            """SELECT f.path, f.sha256, f.title, f.time, f.type, f.priority,
                      c.chunk_id, c.heading, c.start, c."end", c.text
               FROM chunks c JOIN files f ON f.id = c.file_id WHERE c.id = ?""",
            (int(ranked.table.chunk[n]),),
        ).fetchone()
        path, sha256, title, at, kind, priority, chunk_id, heading, start, end, text = row
        cosine = float(ranked.cosine[n])
        parts = Parts(
            semantic=float(ranked.semantic[n]),
            recency=float(ranked.recency[n]),
            importance=float(ranked.importance[n]),
            cosine=None if np.isnan(cosine) else cosine,
            keyword=float(ranked.keyword[n]),
        )
        hit = Hit(
            path=path,
            id=chunk_id,
            title=title,
            heading=tuple(json.loads(heading)),
            start=start,
            end=end,
            date=None if at is None else dates.from_seconds(at),
            type=kind,
            priority=priority,
            score=float(ranked.score[n]),
            parts=parts,
            text=text,
            archived=cold,
        )
        if self._excluded and self._excluded.match_file(path):
            return None  # palace.yaml changed since the index
        if checker.unchanged(path, sha256):
            return hit
        parsed = checker.as_it_is(path)
        return self._read_again(hit, parsed, query, now) if parsed else None

    def _read_again(self, hit: Hit, parsed: "Parsed", query: Query, now: datetime) -> Hit | None:
        """``hit`` as its changed file has it now, by its text or else by its place in the note;
        None if what stands there is no answer any more."""
        row = freshness.find(parsed, hit.id, hit.heading, hit.text)
        if row is None:
            return None
        kind, priority = hit.type, hit.priority
        if parsed.said.block:
            kind, priority = parsed.said.type or DEFAULT_TYPE, parsed.said.priority
        date = parsed.note.updated or parsed.note.created or hit.date
        time = date.timestamp() if date else None
        if not passes(query, hit.path, kind, priority, parsed.note.tags, time):
            return None
        cosine, keyword = hit.parts.cosine, hit.parts.keyword
        if row.text != hit.text:
            cosine = self._cosine(row.embedded, query.text)
            said = keywords.indexable(" ".join(row.words)).lower()
            keyword = keyword if any(word in said for word in keywords.terms(query.text)) else 0.0
        one = rank.score_one(cosine, keyword, time, priority, query, self.config.weights, now)
        if query.text and not one.proven(self.choice.floor):
            return None
        return replace(
            hit,
            title=parsed.title,
            heading=row.heading,
            start=row.start,
            end=row.end,
            date=date,
            type=kind,
            priority=priority,
            score=one.score,
            parts=one.parts,
            text=row.text,
        )

    def _cosine(self, embedded: str, text: str) -> float | None:
        """The cosine of a text that has no vector yet with the question."""
        question = self._question(text)
        if question is None or self._embedder is None:
            return None
        return float(self._embedder.embed_passages([embedded])[0] @ question)

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

    def _is_there(self, path: str) -> bool:
        return (self.root / path).is_file()


def open_or_none(root: Path, config: Config, choice: Choice) -> tuple[Searcher | None, str]:
    """A searcher, or None and why there is none."""
    try:
        return Searcher(root, config, choice), ""
    except catalogs.Damaged as error:
        return None, str(error)
