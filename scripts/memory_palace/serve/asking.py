"""Answers from the warm server while it gives them, else from the palace's own index.

What makes the index's side is imported only when it is needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.search.hits import Answer
from memory_palace.search.query import Query
from memory_palace.serve import client
from memory_palace.serve.client import Client, Gone

if TYPE_CHECKING:
    from memory_palace.embed.registry import Choice
    from memory_palace.files.config import Config
    from memory_palace.search.searcher import Searcher

Opener = Callable[["Path", "Config", "Choice"], "Searcher"]


class Asker:
    """One palace to ask; close it.

    ``embedder`` is the line about the embedder, ``changed`` counts files that the index does not
    know as they are now, ``notes`` are lines for a person, ``name`` is the embedder's; all as the
    :class:`Searcher` has them, whoever answers.
    """

    def __init__(
        self, root: Path, configured: tuple[str, ...], words: bool, opener: Opener
    ) -> None:
        """``configured`` names the fields of queries that the palace's settings decide; with
        ``words`` the model is loaded ahead; ``opener`` opens the index (or makes one).

        Raises what configuration, embedder and index raise where no server answers.
        """
        self._root = root
        self._configured = configured
        self._words = words
        self._opener = opener
        self._config: Config | None = None
        self._searcher: Searcher | None = None
        self._apart: list[str] = []
        self._server: Client | None = client.connect(root)
        if self._server:
            try:
                about = self._server.about()
            except Gone as gone:
                self._by_myself(gone)
            else:
                self.embedder, self.name = about.embedder, about.name
                self._notes, self.changed = list(about.notes), about.changed
                return
        searcher = self._open()
        self.embedder, self.name = str(searcher.choice), searcher.choice.name
        self.changed = searcher.changed()  # meanwhile the model loads

    @property
    def served(self) -> bool:
        """True while a server answers."""
        return self._server is not None

    @property
    def notes(self) -> list[str]:
        """Lines for a person, about the index and about a server that gave up."""
        return [*(self._notes if self._server else self._open().notes), *self._apart]

    def ask(self, query: Query, now: datetime) -> Answer:
        """Like :meth:`Searcher.ask`."""
        if self._server:
            try:
                return self._server.ask(query, now, self._configured)
            except Gone as gone:
                self._by_myself(gone)
        searcher = self._open()
        assert self._config is not None
        decided = {name: getattr(self._config, name) for name in self._configured}
        return searcher.ask(replace(query, **decided), now)

    def close(self) -> None:
        for one in (self._server, self._searcher):
            if one is not None:
                one.close()

    def __enter__(self) -> Asker:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _by_myself(self, gone: Gone) -> None:
        if self._server:
            self._server.close()
        self._server = None
        self._apart += [str(gone)] if str(gone) else []

    def _open(self) -> Searcher:
        if self._searcher is None:
            from memory_palace.embed import registry
            from memory_palace.files import config as configs

            self._config = configs.load(self._root)
            choice = registry.choose(self._config)
            if self._words:
                choice = registry.ahead(choice)
            self._searcher = self._opener(self._root, self._config, choice)
        return self._searcher
