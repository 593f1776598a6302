"""An index and a model kept in memory, and kept in step with the files they were read from."""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from memory_palace.core.errors import PalaceError, Refused
from memory_palace.embed import registry
from memory_palace.embed.port import Embedder
from memory_palace.embed.registry import Choice
from memory_palace.files import config as configs
from memory_palace.files import locks, roots
from memory_palace.search.hits import Answer
from memory_palace.search.query import Query
from memory_palace.search.searcher import Searcher
from memory_palace.serve import stamps
from memory_palace.serve.client import About
from memory_palace.serve.finder import Finder, Known, Late
from memory_palace.serve.stamps import Commits, Stamp
from memory_palace.session import turn
from memory_palace.session.events import Event, Reply

CONFIGURABLE = ("top_k", "neighbors")
"""Fields of a query that the palace's settings may decide."""


class NotReady(Exception):
    """There is nothing to answer from now; the message says why, for the status."""


class Warm:
    """One palace, warm. Questions are answered one after the other, from any thread."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._turn = threading.RLock()
        self._marks: tuple[Stamp, ...] = ()
        self._choice: tuple[Stamp, Choice] | None = None
        self._commits: Commits | None = None
        self._searcher: Searcher | None = None
        self._model: tuple[str, Embedder] | None = None
        self._loading = ""
        self._unusable: dict[str, str] = {}
        self._known = Known(root)
        self.state = "starting"

    def about(self) -> About:
        """Raises :class:`NotReady`."""
        with self._turn:
            searcher = self._ready()
            choice = searcher.choice
            return About(str(choice), choice.name, tuple(searcher.notes), searcher.changed())

    def ask(self, query: Query, now: datetime, configured: tuple[str, ...]) -> Answer:
        """Like :meth:`Searcher.ask`; raises :class:`NotReady` too."""
        with self._turn:
            searcher = self._ready()
            if not set(configured) <= set(CONFIGURABLE):
                raise NotReady(f"settings decide {', '.join(CONFIGURABLE)} only")
            decided = {name: getattr(searcher.config, name) for name in configured}
            try:
                return searcher.ask(replace(query, **decided), now)
            except PalaceError:
                raise
            except Exception:
                self.close()  # whatever it was, the next question starts from the files
                raise

    def hook(self, event: Event, now: datetime, until: float) -> Reply:
        """What a client's hook is told of ``event``: the part that needs memory.

        Raises :class:`NotReady` too, and :class:`Late` after ``until`` (seconds, UTC): then
        nothing is recorded as shown.
        """
        with self._turn:
            if time.time() > until:
                raise Late("the asker has given up")
            searcher = self._ready()
            finder = Finder(self.root, searcher, self._known, now, until)
            try:
                return turn.served(self.root, event, now, finder)
            except (PalaceError, Late):
                raise
            except Exception:
                self.close()
                raise

    def described(self) -> tuple[str, str]:
        """The line about the embedder, and the index's generation; empty while none is open."""
        with self._turn:
            if self._searcher is None or self._commits is None:
                return "", ""
            return str(self._searcher.choice), self._commits.generation()

    def said(self) -> tuple[str, ...]:
        """Lines about the open index, for a person."""
        with self._turn:
            return tuple(self._searcher.notes) if self._searcher else ()

    @property
    def model(self) -> Embedder | None:
        """The model in memory; None until it is there."""
        return self._model[1] if self._model else None

    @property
    def is_loading(self) -> bool:
        """True while a model loads, which nothing can end."""
        return bool(self._loading)

    def refresh(self) -> None:
        """Let go of an index that the files have moved on from, and open the new one.

        While a build is at it nothing is opened, and nothing that is old is held: an open
        transaction keeps SQLite from folding its log.
        """
        with self._turn:
            if self._searcher is not None and self._stale():
                self.close()
            if self._searcher is not None or not self._is_written():
                with contextlib.suppress(NotReady):
                    self._known.embed_some(self._ready().choice)

    def close(self) -> None:
        with self._turn:
            for one in (self._searcher, self._commits):
                with contextlib.suppress(sqlite3.Error):
                    if one is not None:
                        one.close()
            self._searcher = self._commits = None

    # -- opening ------------------------------------------------------------------------------

    def _ready(self) -> Searcher:
        try:
            if self._searcher is None or self._stale():
                self.close()
                self._open()
        except (PalaceError, OSError, sqlite3.Error) as fault:
            self.close()
            self.state = str(fault)
            raise NotReady(self.state) from None
        assert self._searcher is not None
        choice = self._searcher.choice
        if choice.load is not None:
            self._fit(self._searcher, choice)
        self.state = "ready"
        return self._searcher

    def _seen(self) -> tuple[Stamp, ...]:
        """Marks of all that the open searcher was made from. Raises OSError without an index."""
        config = self._searcher.config if self._searcher else configs.load(self.root)
        return (
            stamps.settings(self.root),
            stamps.models(config),
            stamps.index(roots.index_folder(self.root)),
            self._commits.stamp() if self._commits else (),
        )

    def _stale(self) -> bool:
        try:
            return self._seen() != self._marks
        except (PalaceError, OSError, sqlite3.Error):
            return True

    def _open(self) -> None:
        """The marks are taken first: what changes while it is opened is seen at the next look."""
        self._commits = Commits(roots.index_folder(self.root))
        self._marks = self._seen()
        config = configs.load(self.root)
        if config.store == "milvus":
            raise Refused("the index is in Milvus: each command asks there by itself")
        settings, models = self._marks[:2]
        if self._choice is None or self._choice[0] != (settings, models):
            self._choice = ((settings, models), registry.choose(config))
            self._unusable.clear()
        self._searcher = Searcher(self.root, config, self._choice[1])

    def _is_written(self) -> bool:
        with contextlib.suppress(PalaceError, OSError):
            return locks.is_held(roots.index_folder(self.root))
        return False

    # -- the model ----------------------------------------------------------------------------

    def _fit(self, searcher: Searcher, choice: Choice) -> None:
        """Give the searcher the model in memory. Raises :class:`NotReady` until it is there."""
        name = f"{choice.fingerprint} {searcher.config.device}"
        if self._model and self._model[0] == name:
            model = self._model[1]
            searcher.choice = replace(choice, load=lambda: model)
            return
        if name in self._unusable:
            self.state = self._unusable[name]
            raise NotReady(self.state)
        self.state = "loading"
        if self._loading != name and choice.load is not None:
            self._loading = name
            load = choice.load
            threading.Thread(target=self._load, args=(name, load), daemon=True).start()
        raise NotReady(self.state)

    def _load(self, name: str, load: Callable[[], Embedder]) -> None:
        try:
            model = load()
        except Exception as fault:
            with self._turn:
                self._unusable[name] = self.state = str(fault) or type(fault).__name__
                self._loading = ""
            return
        with self._turn:
            if self._loading == name:  # else the settings have moved on meanwhile
                self._model, self._loading = (name, model), ""
        self.refresh()
