"""A client's transcript into the session's ledger: what is missing there is added, nothing twice.

What hooks captured and what another import added is known by the client's ids, or, where a hook
had none, by who said what, each as often as it was said. A ledger is only appended to: what stands
in the transcript between entries that are there already comes after the last of them.
"""

from array import array
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import transcripts
from memory_palace.core.errors import BadInput
from memory_palace.core.transcripts import About, Reader, Turn
from memory_palace.files import ledgers
from memory_palace.files import transcripts as files
from memory_palace.files.transcripts import Source
from memory_palace.index.progress import Progress, Silent
from memory_palace.session.import_choice import Chooser, Placed
from memory_palace.session.import_entries import Maker, session_of
from memory_palace.session.import_known import empty
from memory_palace.session.import_writing import Writer

AUTO = "auto"
_FIRST_RECORDS = 200
_WAIT_SECONDS = 10.0
_MB = 1 << 20


class Imported(NamedTuple):
    """What came of a transcript: the ledger ``path``, the ``client``, how many entries were
    ``added`` and ``there`` already, and what was ``passed`` over, by reason."""

    path: str
    client: str
    added: int
    there: int
    passed: Mapping[str, int]


def import_transcript(
    root: Path,
    file: Path,
    now: datetime,
    client: str = AUTO,
    agent: str = "",
    *,
    dry_run: bool = False,
    progress: Progress | None = None,
) -> Imported:
    """Bring the transcript ``file`` into the ledger of its session.

    ``client`` is one of :data:`transcripts.CLIENTS` or ``auto``; ``agent`` the chamber, by default
    the client's. With ``dry_run`` nothing is written. Memory does not grow with what is said, but
    for some 600 bytes a turn. Raises :class:`BadInput` for a file that is no transcript,
    :class:`Busy` and :class:`Missing` where the ledger cannot be had or written.
    """
    if not dry_run:
        from memory_palace.session import drain

        drain.drain(root, now, _WAIT_SECONDS)
    progress = progress or Silent()
    with files.opened(file) as source:
        about = _about(source, file, client)
        day = (about.at or now).date().isoformat()
        maker = Maker(about, session_of(about, file, day))
        name = f"{maker.session}.{about.agent}" if about.agent else maker.session
        path = ledgers.path_of(root, agent or about.client, name)
        writer = Writer(root, path, name, maker, now, dry_run, progress)
        return _Import(source, writer, progress).run(not empty(root, path))


def _about(source: Source, file: Path, client: str) -> About:
    """Whose transcript it is, by its first records."""
    reader: Reader | None = None
    other = ""
    records = 0
    for record in islice(source.records(), _FIRST_RECORDS):
        records += 1
        told = transcripts.client_of(record)
        if reader is None and told:
            if client in (AUTO, told):
                reader = transcripts.reader(told)
            else:
                other = told
        if reader is not None:
            for _ in reader.read(record):
                pass
    if reader is not None:
        return reader.about
    if other:
        why = f"is no transcript of {client}, but of {other}"
    elif records:
        why = "is no transcript"
    else:
        why = "has no whole record" if source.size else "is empty"
    raise BadInput(f"{file} {why}: name {transcripts.EXPECTED}")


class _Import:
    """The passes over one transcript: what is there, what follows, what stands between."""

    def __init__(self, source: Source, writer: "Writer", progress: Progress) -> None:
        self.source = source
        self.writer = writer
        self.progress = progress
        self.passed: Counter[str] = Counter()
        self._ids = array("Q", [0])
        self._parents = array("Q", [0])
        self._there = bytearray(1)
        self._empty = bytearray(1)
        self._below = array("Q", [0])
        self._ends: dict[int, int] = {}

    def run(self, has_entries: bool) -> Imported:
        new, between = True, 0
        if has_entries:
            new = sum(not one.there for one in self._pass("looking")) > 0
            between = self._look_below()
        if new:
            for one in self._pass("importing"):
                if not one.there and not self._below_of(one.turn.number):
                    self.writer.add(one, self._parent(one.turn.parent))
            self.writer.flush()
        there = sum(self._there)
        if between:
            for one in self._pass("importing what is between"):
                below = self._below_of(one.turn.number)
                if below and not one.there:
                    self.writer.add_after(one, self._ids[below])
            self.writer.flush()
        self.writer.done()
        about = self.writer.maker.about
        return Imported(self.writer.path, about.client, self.writer.added, there, self.passed)

    def _pass(self, label: str) -> Iterator[Placed]:
        """Every turn that has something to keep, in its order; its place is noted."""
        chooser = Chooser(self.writer.known, self.writer.maker)
        reader = transcripts.reader(self.writer.maker.about.client)
        left_out: Counter[str] = Counter()
        for turn in self._turns(reader, label):
            one = chooser.placed(turn)
            self._note(turn, one)
            if one.uid:
                yield one
            else:
                left_out["empty"] += 1
        self.writer.maker.about.version = reader.about.version
        self.writer.maker.about.forked_from = reader.about.forked_from
        self.passed = reader.passed + self.source.passed + left_out

    def _turns(self, reader: Reader, label: str) -> Iterator[Turn]:
        self.progress.start(f"{label} (MB)", self.source.size // _MB)
        try:
            told = _Steps(self.progress)
            for record in self.source.records(0, told.bytes):
                yield from reader.read(record)
            yield from reader.rest()
        finally:
            self.progress.stop()

    def _note(self, turn: Turn, one: Placed) -> None:
        more = turn.number + 1 - len(self._ids)
        if more > 0:
            self._ids.extend([0] * more)
            self._parents.extend([0] * more)
            self._there.extend(bytes(more))
            self._empty.extend(bytes(more))
        self._ids[turn.number] = one.id
        self._parents[turn.number] = turn.parent
        self._there[turn.number] = one.there
        self._empty[turn.number] = not one.uid

    def _look_below(self) -> int:
        """For each turn that has one below it that is there: the last one below it that does not
        stand between such. How many that are not there stand between."""
        size = len(self._ids)
        last, above = array("Q", bytes(8 * size)), bytearray(size)
        between = 0
        for number in range(size - 1, 0, -1):
            parent, there = self._parents[number], self._there[number]
            comes_later = above[number] and not there
            between += bool(comes_later and not self._empty[number])
            above[parent] |= above[number] or there
            if not last[parent]:
                last[parent] = last[number] or (0 if comes_later or self._empty[number] else number)
        self._below = array("Q", (one if up else 0 for one, up in zip(last, above, strict=True)))
        return between

    def _below_of(self, number: int) -> int:
        return self._below[number] if number < len(self._below) else 0

    def _parent(self, number: int) -> int:
        """The entry that a new one follows, which stands at ``number`` or before."""
        while number and not self._there[number]:
            if not self._empty[number] and not self._below_of(number):
                return self._ids[number]
            number = self._parents[number]  # that one has no entry, or comes later
        found = self._ids[number]
        if self._below_of(number):
            return found
        # What hooks captured of the time after that, or an import brought later, comes before.
        if found not in self._ends:
            self._ends[found] = self.writer.known.end(found)
        return self._ends[found]


class _Steps:
    """Bytes that were read, told in megabytes."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._left = 0

    def bytes(self, number: int) -> None:
        steps, self._left = divmod(self._left + number, _MB)
        if steps:
            self._progress.advance(steps)
