"""Appends an import's entries to a ledger."""

from datetime import datetime
from pathlib import Path
from typing import Any

from memory_palace.core import captured
from memory_palace.core.errors import Missing
from memory_palace.core.ledger import Entry, entry_line, shared
from memory_palace.files import identity, ledgers
from memory_palace.index.progress import Progress
from memory_palace.session.import_choice import Placed
from memory_palace.session.import_entries import Maker
from memory_palace.session.import_known import Known

BATCH = 500
"""Entries that are written at a time."""

BATCH_CHARACTERS = 2_000_000
"""Characters of them, at most, but for the last one."""


class Writer:
    """Appends entries in batches; nothing that another process wrote meanwhile is written twice."""

    def __init__(
        self,
        root: Path,
        path: str,
        name: str,
        maker: Maker,
        now: datetime,
        dry_run: bool,
        progress: Progress,
    ) -> None:
        self.path = path
        self.maker = maker
        self.known = Known(root, path)
        self.added = 0
        self._root = root
        self._name = name
        self._at = maker.about.at or now
        self._dry_run = dry_run
        self._progress = progress
        self._by = f"{maker.about.client}@{identity.device()}"
        self._rows: list[dict[str, Any]] = []
        self._characters = 0
        self._ends: dict[int, int] = {}

    def add(self, one: Placed, parent: int) -> None:
        """An entry that follows the entry ``parent`` (0: none)."""
        turn = one.turn
        self._at = turn.at or self._at
        uid = f"{one.uid:016x}"
        entry = Entry(
            id=uid[:12],
            parent=f"{parent:012x}" if parent else "",
            role=turn.role,
            text=one.made.text,
            at=self._at,
            tool=captured.name(turn.tool),
            files=self.maker.files(turn),
            failed=turn.failed,
            ref=one.ref,
            by=self._by,
        )
        self._rows.append(entry_line(entry, uid))
        self._characters += len(entry.text)
        if len(self._rows) >= BATCH or self._characters >= BATCH_CHARACTERS:
            self.flush()

    def add_after(self, one: Placed, below: int) -> None:
        """An entry that comes after the last of those that follow the entry ``below``."""
        end = self._ends.get(below) or self.known.end(below)
        self.add(one, end)
        self._ends[below] = one.id

    def flush(self) -> None:
        """Write what waits."""
        rows, self._rows = self._rows, []
        self._characters = 0
        if not rows:
            return
        if self._dry_run:
            self.added += len(rows)
            return
        with ledgers.locked(self._root, "palace ledger import", say=self._progress.say):
            self.known.refresh()
            new = [row for row in rows if int(row["uid"], 16) not in self.known.texts]
            ledgers.append(self._root, self.path, [*self._header(), *new])
            self.known.refresh()
        if any(int(row["uid"], 16) not in self.known.texts for row in new):
            raise Missing(f"{self.path} does not hold what was written: check the disk")
        self.added += len(new)

    def done(self) -> None:
        """At the end the version is known that the client had last."""
        if self.added and not self._dry_run and (rows := self._header()):
            with ledgers.locked(self._root, "palace ledger import", say=self._progress.say):
                ledgers.append(self._root, self.path, rows)

    def _header(self) -> list[dict[str, Any]]:
        about = self.maker.about
        said = (about.client, self.maker.wing, about.version, about.forked_from)
        if said in self.known.headers:
            return []
        keys = ("client", "wing", "version", "forked_from")
        uid = self.maker.uid("session", "\x1f".join(said))
        row = shared("session", uid, self._name, about.at or self._at, self._by)
        return [row | {key: value for key, value in zip(keys, said, strict=True) if value}]
