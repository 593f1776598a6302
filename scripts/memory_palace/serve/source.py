"""Where a long-lived client gets its answers: the warm server, else an index of its own.

An MCP server lives long and may be the only way that its client has to the palace. So the index is
brought up to date before it is asked, and the model is loaded once.
"""

import contextlib
import sqlite3
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from memory_palace.core.errors import Missing, PalaceError, Refused
from memory_palace.core.links import TREE
from memory_palace.embed import registry
from memory_palace.embed.registry import Choice
from memory_palace.files import config as configs
from memory_palace.files import roots
from memory_palace.files.config import Config
from memory_palace.index import catalog as catalogs
from memory_palace.index import freshness, run
from memory_palace.index.build import Options
from memory_palace.search.hits import Answer
from memory_palace.search.query import Query
from memory_palace.search.searcher import Searcher
from memory_palace.serve import client, process, start
from memory_palace.serve.warm import NotReady, Warm

LOADING_SECONDS = 30.0
"""So long a question waits for a model that is being loaded; then keywords have to do."""

STARTING_SECONDS = 5.0
"""So long a server that was started may take until it holds its lock."""

LOOK_SECONDS = 2.0
"""Between two looks whether the files have moved on from the index."""

AGAIN_SECONDS = 60.0
"""After these a build that left changed files behind is tried again."""

_SHARED = next(iter(start.SLOW))
"""Any model counts like a slow one when it is to be shared: each client would hold its own, which
is 460 MB with MiniLM and 120 MB without (``VmRSS``)."""

_TICK_SECONDS = 1.0
_END_SECONDS = 0.5
_RACE_SECONDS = 1.0
_LOADING = frozenset({"loading", "starting"})


class Source:
    """Answers about one palace, from any thread. Close it."""

    def __init__(self, root: Path, say: Callable[[str], None] = lambda _: None) -> None:
        self.root = root
        self._say = say
        self._turn = threading.Lock()
        self._over = threading.Event()
        self._own: Warm | None = None
        self._looked = -LOOK_SECONDS
        self._left = (0, 0.0)
        self._late: list[str] = []
        self._begun = -STARTING_SECONDS
        self._told: tuple[float, tuple[str, ...]] = (-LOOK_SECONDS, ())
        self._idle: threading.Timer | None = None

    def prepare_soon(self, seconds: float) -> None:
        """:meth:`prepare` after so long, in a thread, once."""
        if self._idle is None:
            self._idle = threading.Timer(seconds, self.prepare)
            self._idle.daemon = True
            self._idle.start()

    def prepare(self) -> None:
        """Have a model loaded before the first question: by the shared server where there is one
        or one is wanted (``serve/start.py``), else in this process. Says what stands in its way."""
        try:
            if self._is_served():
                return
            config, choice = self._chosen()
            started = self._is_started(choice)
            if not started and start.wanted(_shared_name(choice)):
                self._over.wait(_RACE_SECONDS)  # another client may be starting one right now
                started = process.is_running(self.root)
            if not started and config.store == "faiss":
                self._mine().refresh()
        except (PalaceError, OSError, sqlite3.Error) as fault:
            if not self._over.is_set():
                self._say(str(fault))

    def ask(self, query: Query, configured: tuple[str, ...], now: datetime) -> Answer:
        """The answer, with every line for a person in its notes; ``configured`` names fields of
        ``query`` that the palace's settings decide. Raises what :meth:`Searcher.ask` raises."""
        self._look()
        notes = self.bring_up_to_date()
        answer = self._shared(query, configured, now, notes)
        if answer is None:
            answer = self._by_myself(query, configured, now, notes)
        answer.notes = [*notes, *answer.notes]
        return answer

    def choice(self) -> Choice:
        """The embedder to compare single lines with, its model the one in memory if it is there."""
        return self._with_model(self._chosen()[1])

    def wrote(self) -> None:
        """A note was written here: the next question looks at the files first."""
        self._looked = -LOOK_SECONDS

    def close(self) -> None:
        """Let go of the index."""
        self._over.set()
        if self._idle is not None:
            self._idle.cancel()
            self._idle.join(_END_SECONDS)
        if self._own is not None:
            self._own.close()

    @property
    def is_busy(self) -> bool:
        """True while a thread loads a model or its libraries, also after :meth:`close`: then the
        process can only be left without a clean end of the interpreter."""
        waiting = self._idle is not None and self._idle.is_alive()
        return waiting or (self._own is not None and self._own.is_loading)

    # -- the index ----------------------------------------------------------------------------

    def bring_up_to_date(self) -> list[str]:
        """Index what has changed, if anything has; lines about what could not be done."""
        with self._turn:
            if time.monotonic() - self._looked >= LOOK_SECONDS:
                config = configs.load(self.root)
                self._late = self._brought(config) if config.store == "faiss" else []
                self._looked = time.monotonic()
            return [*self._late]

    def _brought(self, config: Config) -> list[str]:
        try:
            changed = self._changed(config)
            count, at = self._left
            if changed == 0 or (changed == count and time.monotonic() - at < AGAIN_SECONDS):
                return []
            choice = self._filler(registry.choose(config))
            options = Options(
                sync_manifest=False, wait_seconds=1.0, max_vector_chunks=choice.quick_texts
            )
            run.index(self.root, config, choice, options)
            self._left = (self._changed(config) or 0, time.monotonic())
        except PalaceError as fault:
            if self._changed(config) is None:
                raise  # there is nothing to answer from
            return [f"the index could not be brought up to date: {fault}"]
        return []

    def _look(self) -> None:
        """Raises :class:`Missing` if the notes cannot be listed: every answer would be empty."""
        if (self.root / TREE).is_dir() or configs.load(self.root).store == "milvus":
            return
        raise Missing(f"cannot read {TREE} in {self.root}: mount or restore it")

    def _changed(self, config: Config) -> int | None:
        """How many files the index does not know as they are; None without an index."""
        try:
            folder = roots.index_folder(self.root)
            with catalogs.open_to_read(folder / catalogs.MAIN) as catalog:
                return freshness.changed_files(self.root, config, catalog)
        except catalogs.Damaged:
            return None

    def _filler(self, choice: Choice) -> Choice:
        """Who embeds new texts: the model in memory, or one that loads fast; else nobody now."""
        fitting = self._with_model(choice)
        slow = choice.name in start.SLOW and fitting is choice
        return replace(choice, load=None) if slow else fitting

    def _with_model(self, choice: Choice) -> Choice:
        model = self._own.model if self._own else None
        return replace(choice, load=lambda: model) if choice.load and model else choice

    # -- asking -------------------------------------------------------------------------------

    def _is_served(self) -> bool:
        connection = client.connect(self.root)
        if connection:
            connection.close()
        return connection is not None

    def _is_started(self, choice: Choice) -> bool:
        """Start a shared server where one is wanted; True if there is one, listening or not yet."""
        name = _shared_name(choice)
        if not start.wanted(name):
            return False
        if start.afterwards(self.root, name):
            self._begun = time.monotonic()
        soon = time.monotonic() - self._begun < STARTING_SECONDS
        return soon or process.is_running(self.root)

    def _shared(
        self, query: Query, configured: tuple[str, ...], now: datetime, notes: list[str]
    ) -> Answer | None:
        """The warm server's answer; None if there is none, or it gives none."""
        end = time.monotonic() + LOADING_SECONDS
        while True:
            connection = client.connect(self.root)
            if connection is None:
                if time.monotonic() > end or not self._is_started(self._chosen()[1]):
                    return None
                time.sleep(0.05)
                continue
            with connection:
                try:
                    if time.monotonic() - self._told[0] > LOOK_SECONDS:
                        about = connection.about()  # which looks at every file
                        self._told = (time.monotonic(), about.notes)
                    answer = connection.ask(query, now, configured)
                    notes += self._told[1]
                    return answer
                except client.Gone as gone:
                    if gone.why in _LOADING and time.monotonic() < end:
                        time.sleep(0.05)
                        continue
                    notes += [str(gone)] if str(gone) else []
                    return None

    def _by_myself(
        self, query: Query, configured: tuple[str, ...], now: datetime, notes: list[str]
    ) -> Answer:
        config, choice = self._chosen()
        decided = {name: getattr(config, name) for name in configured}
        if config.store == "milvus":
            from memory_palace.search.remote import RemoteSearcher

            with RemoteSearcher(self.root, config, choice) as remote:
                return remote.ask(replace(query, **decided), now)
        own = self._mine()
        end = time.monotonic() + LOADING_SECONDS
        while True:
            try:
                answer = own.ask(query, now, configured)
                notes += own.said()
                return answer
            except NotReady as why:
                if own.state in _LOADING and time.monotonic() < end:
                    time.sleep(0.02)
                    continue
                reason = "it is still loading" if own.state in _LOADING else str(why)
                notes.append(f"found by keywords alone, without the model: {reason}")
                break
        with Searcher(self.root, config, replace(choice, load=None)) as searcher:
            return searcher.ask(replace(query, **decided), now)

    def _chosen(self) -> tuple[Config, Choice]:
        config = configs.load(self.root)
        return config, registry.choose(config)

    def _mine(self) -> Warm:
        with self._turn:
            if self._over.is_set():
                raise Refused("the server is ending: nothing is answered any more")
            if self._own is None:
                self._own = Warm(self.root)
                threading.Thread(target=self._keep_fresh, daemon=True).start()
            return self._own

    def _keep_fresh(self) -> None:
        """Let go of an index that a build has replaced, so that the build can fold its log."""
        while not self._over.wait(_TICK_SECONDS):
            with contextlib.suppress(Exception):  # the next question says what it is
                if self._own is not None:
                    self._own.refresh()


def _shared_name(choice: Choice) -> str:
    """What ``choice`` counts as when it is asked whether a server is wanted."""
    return choice.name if choice.load is None else _SHARED
