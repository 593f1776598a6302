"""Puts what waits in the queue into the sessions' ledgers.

An item names its entry, so one that is read again, after a kill between any two steps, is the same
entry. Nothing is taken from the queue before it stands in a ledger.
"""

import contextlib
import time
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core import ledger as core
from memory_palace.core.errors import PalaceError
from memory_palace.core.text import sha256
from memory_palace.files import identity, ledgers, queue
from memory_palace.session import items
from memory_palace.session.items import Item

BATCH = 100
"""Items that are in memory at a time."""

TWICE = timedelta(seconds=5)
"""Two hooks of one event come within these; a person who says the same again takes longer."""

_CHECK = "free disk space or mend that place, then run `palace observe --auto`"


class Drained(NamedTuple):
    """``entries`` are new; ``touched`` are the ledgers that they are in, ``ended`` those whose
    session is over (paths relative to the root); ``left`` are the bytes that still wait, ``faults``
    lines for the health file."""

    entries: int = 0
    touched: tuple[str, ...] = ()
    ended: tuple[str, ...] = ()
    left: int = 0
    faults: tuple[str, ...] = ()


def drain(root: Path, now: datetime, wait_seconds: float = 0.0) -> Drained:
    """Put all that waits into the ledgers. Where somebody else does so, or writes ledgers, it waits
    for him at most ``wait_seconds`` in all, then leaves.

    Raises nothing of the palace's and of the disk's: that is a fault, and what it hit still waits.
    """
    end = time.monotonic() + wait_seconds
    work = _Work(root, now, end)
    try:
        while True:
            with queue.only_one(root) as mine:
                if mine:
                    work.all()
                    break
            if time.monotonic() >= end:
                break
            time.sleep(0.02)
    except (OSError, PalaceError) as error:
        work.failed(error)
    return Drained(
        work.entries,
        tuple(work.touched),
        tuple(work.ended),
        queue.waiting(root).bytes,
        tuple(work.faults),
    )


class _Work:
    """One run over the queue."""

    def __init__(self, root: Path, now: datetime, end: float) -> None:
        self.root = root
        self.now = now
        self._end = end
        self.entries = 0
        self.touched: dict[str, None] = {}
        self.ended: dict[str, None] = {}
        self.faults: dict[str, None] = {}
        self._books: dict[str, _Book] = {}
        self._torn = 0

    def failed(self, error: Exception) -> None:
        what = str(error) if isinstance(error, PalaceError) else _said(error)
        self.faults[f"captured turns still wait: {what}"] = None

    def all(self) -> None:
        for name in queue.sessions(self.root):
            try:
                left = max(self._end - time.monotonic(), 0.0)
                with ledgers.locked(self.root, "palace: captured turns", left):
                    self._books.clear()  # others may have written meanwhile
                    self._session(name)
            except (OSError, PalaceError) as error:
                self.failed(error)
            except Exception as error:  # a fault of ours: no other session waits for that
                what = f"{type(error).__name__}: {error}: `palace observe --auto` tries it again"
                self.faults[f"captured turns of {name} still wait: {what}"] = None
        if self._torn:
            s = "s" * (self._torn > 1)
            self.faults[
                f"{self._torn} torn line{s} of {queue.FOLDER} passed over, no other (a hook was "
                "killed, or the disk was full): `palace doctor --clear` forgets this"
            ] = None

    def _session(self, name: str) -> None:
        number = 0
        for one in queue.taken(self.root, name):
            number = one.number  # the newest is the last
            self._file(one)
        if queue.take(self.root, name, number):
            for one in queue.taken(self.root, name):
                if one.number > number:
                    self._file(one)

    def _file(self, one: queue.Taken) -> None:
        done = one.done
        lines = queue.lines(self.root, one)
        with contextlib.closing(lines):
            while batch := list(islice(lines, BATCH)):
                self._batch([line for line, _ in batch])
                done = batch[-1][1]
        one = queue.mark(self.root, one, done)
        if queue.remove(self.root, one) and one.size > done:
            self._torn += 1  # its last line never got an end

    def _batch(self, lines: list[bytes]) -> None:
        rows: dict[str, list[dict[str, Any]]] = {}
        for line in lines:
            item = items.read(line, self.now)
            if item is None:
                self._torn += 1
                continue
            path = ledgers.path_of(self.root, item.client, item.ledger)
            book = self._book(path)
            if item.kind == "end":
                if book.tip:
                    self.ended[path] = None
                continue
            rows.setdefault(path, []).extend(book.rows(item))
        for path, made in rows.items():
            if made:
                ledgers.append(self.root, path, made)
                self.touched[path] = None
                self.entries += sum(row["event"] == "entry" for row in made)

    def _book(self, path: str) -> "_Book":
        if path not in self._books:
            self._books[path] = _Book(ledgers.load(self.root, path).ledger)
        return self._books[path]


class _Book:
    """What is known of a ledger while entries are added."""

    def __init__(self, ledger: core.Ledger) -> None:
        self.tip = core.newest_tip(ledger.entries.values())
        self._headed = bool(ledger.headers)
        self._texts = {one.id: one.text for one in ledger.entries.values()}
        self._said: dict[tuple[str, str], list[tuple[datetime, str]]] = {}
        for one in ledger.entries.values():
            self._note(one)

    def rows(self, item: Item) -> list[dict[str, Any]]:
        """The lines that an item adds: none where it is there already."""
        by = f"{item.client}@{identity.device()}"
        try:
            made = items.entry(item, self.tip, by)
        except Exception:  # whatever it is, what was said is kept
            made = items.plain(item, self.tip, by)
        uid = item.uid
        known = self._texts.get(made.id)
        if known is not None and made.role == "user" and _plain(known) != _plain(made.text):
            # Two prompts of one turn: a person added something while the agent worked.
            ref = f"{made.ref}:{sha256(made.text)[:8]}"
            uid = core.entry_uid(item.client, item.session, item.agent, made.role, ref)
            made = replace(made, id=uid[:12])
            known = self._texts.get(made.id)
        if known is not None or self._is_twice(made):
            return []
        found = [] if self._headed else [_header(item, by)]
        self._headed = True
        self.tip = made.id
        self._texts[made.id] = made.text
        self._note(made)
        return [*found, core.entry_line(made, uid)]

    def _is_twice(self, made: core.Entry) -> bool:
        """True for what a second hook saw of the same moment. What the client names apart is."""
        return any(
            abs(at - made.at) <= TWICE and not (ref and made.ref)
            for at, ref in self._said.get((made.role, made.text), ())
        )

    def _note(self, one: core.Entry) -> None:
        self._said.setdefault((one.role, one.text), []).append((one.at, one.ref))


def _plain(text: str) -> str:
    return " ".join(text.split())


def _header(item: Item, by: str) -> dict[str, Any]:
    uid = core.entry_uid(item.client, item.session, item.agent, "session", "")
    row = core.shared("session", uid, item.ledger, item.at, by)
    wing = items.wing(item.cwd)
    return row | {"client": item.client} | ({"wing": wing} if wing else {})


def _said(error: Exception) -> str:
    why = getattr(error, "strerror", "") or type(error).__name__
    return f"{queue.FOLDER}: {why}: {_CHECK}"
