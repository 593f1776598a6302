"""Conversations into notes: one note a session, only ever added to, but for a last turn that was
half written.

A transcript is read from its beginning each time, in bounded memory (some 100 bytes a turn); one
that is as long as the last time, and ends the same, is not read at all.
"""

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import places, privacy, session_notes, transcript_text
from memory_palace.core.errors import BadInput, PalaceError
from memory_palace.core.session_turns import named
from memory_palace.core.text import short_id
from memory_palace.core.transcripts import About
from memory_palace.files import conversations, identity, repository
from memory_palace.files.conversations import Conversation
from memory_palace.index.progress import Progress, Silent
from memory_palace.memory import session_reading, session_room
from memory_palace.memory.note_batch import Batch
from memory_palace.memory.session_room import Rooms
from memory_palace.memory.session_writing import Notes, Writing

COMMAND = "palace mine-sessions"
_MB = 1 << 20


class Mined(NamedTuple):
    """What came of a conversation: ``what`` is ``filed`` (a new note), ``grown``, ``unchanged``,
    ``empty`` (nobody says anything), ``archived`` (its note is, and stays) or ``failed``.

    ``paths`` are the notes that are new or changed, else the session's; ``added`` counts turns,
    ``shortened`` those of them that a mark stands in, ``passed`` what was passed over, by reason.
    ``why`` is the fault of a failed one.
    """

    what: str
    source: str
    client: str
    session: str
    paths: tuple[str, ...]
    added: int = 0
    shortened: int = 0
    passed: Mapping[str, int] = {}
    why: str = ""


class Ran(NamedTuple):
    """What came of a run: the conversations, other files by reason, faults, and whether a note
    changed underneath."""

    mined: tuple[Mined, ...]
    others: Mapping[str, int]
    faults: tuple[str, ...]
    changed: bool


def run(
    root: Path,
    now: datetime,
    paths: Iterable[Path],
    client: str = conversations.AUTO,
    project: str = "",
    *,
    dry_run: bool = False,
    reason: str = "",
    say: Callable[[str], None] = lambda _: None,
    progress: Progress | None = None,
) -> Ran:
    """File all conversations of ``paths`` (files, or folders with all below them).

    ``client`` is one of :data:`conversations.CLIENTS` or ``auto``; ``project`` the room of new
    notes, by default the repository that a session ran in. With ``dry_run`` nothing is written.
    Raises :class:`BadInput` for a path that is none, if it is the only one.
    """
    found = conversations.find(paths, client)
    miner = _Miner(root, now, project, dry_run, reason, say, progress or Silent())
    total = sum(one.size for one in found.conversations)
    miner.progress.start("mining (MB)", total // _MB)
    try:
        done = [miner.mine(one) for one in found.conversations]
        miner.flush()
    finally:
        miner.progress.stop()
    done = [_written(one, miner.batch.faults) for one in done]
    faults = (*found.faults, *(one.why for one in done if one.why))
    others = {why: number for why, number in found.others.items() if number}
    return Ran(tuple(done), others, faults, miner.batch.changed)


def _written(one: Mined, faults: Mapping[str, str]) -> Mined:
    """What came of a conversation, now that all is written but what ``faults`` name by its path."""
    why = next((faults[path] for path in one.paths if path in faults), "")
    if not why or one.what not in ("filed", "grown"):
        return one
    return one._replace(what="failed", added=0, shortened=0, why=why)


class _Miner:
    """Mines one conversation after the other; what is written waits in a batch."""

    def __init__(
        self,
        root: Path,
        now: datetime,
        project: str,
        dry_run: bool,
        reason: str,
        say: Callable[[str], None],
        progress: Progress,
    ) -> None:
        self.progress = progress
        self.batch = Batch(root, now, COMMAND, reason, say, write=not dry_run)
        self._root, self._project, self._dry_run = root, project, dry_run
        self._rooms = Rooms(root)
        self._pending: set[str] = set()
        self._left = 0

    def flush(self) -> None:
        """Write what waits."""
        self._pending.clear()
        self.batch.flush()

    def mine(self, one: Conversation) -> Mined:
        """File one conversation. A fault of its own is told, and the others go on."""
        try:
            return self._mine(one)
        except _Empty as empty:
            return Mined("empty", one.path.name, one.client, one.session, (), passed=empty.passed)
        except (BadInput, UnicodeError) as error:
            why = str(error) if isinstance(error, PalaceError) else f"{one.path}: {error}"
            return Mined("failed", one.path.name, one.client, one.session, (), why=why)
        except OSError as error:
            why = f"{one.path} cannot be read ({error.strerror}): check it and run this again"
            return Mined("failed", one.path.name, one.client, one.session, (), why=why)

    def _mine(self, one: Conversation, apart: str = "") -> Mined:
        """``apart`` names a text that only begins as another conversation does."""
        about = _about(one)
        session = named(apart or about.session)
        key = session_notes.session_id(about.client, session, about.agent)
        if not apart and not self._rooms.parts(key):
            earlier = self._earlier(one, about)
            if earlier:
                return self._mine(one, earlier)
        there = tuple(part.path for part in self._rooms.parts(key))
        shown = f"{session}.{about.agent}" if about.agent else session
        told = Mined("unchanged", one.path.name, about.client, shown, there)
        if key in self._pending:
            if self._dry_run:  # its note is not there to be compared with
                self._skip(one)
                return told
            self.flush()
        self._pending.add(key)
        notes = Notes(self._root, self._rooms, self.batch, key)
        if one.client == transcript_text.CLIENT and not apart and notes.read not in ("", one.mark):
            third = session_reading.other(one, about, session, notes)
            if third:
                return self._mine(one, short_id(session, third))
        if any(part.cold for part in notes.parts):
            self._skip(one)
            return told._replace(what="archived")
        if notes.parts and notes.read == one.mark:
            self._skip(one)
            return told
        return self._read(one, about, session, notes, told)

    def _earlier(self, one: Conversation, about: About) -> str:
        """The name of a text's session in its note, if it was mined before the first line of its
        second turn, which names it, was whole; else empty."""
        for name in conversations.earlier_sessions(one):
            key = session_notes.session_id(about.client, name, about.agent)
            if key in self._pending:
                self.flush()
            if self._rooms.parts(key):
                mark = Notes(self._root, self._rooms, self.batch, key).read
                if mark == one.mark or conversations.has_grown(one, mark):
                    return name
        return ""

    def _read(
        self, one: Conversation, about: About, session: str, notes: Notes, told: Mined
    ) -> Mined:
        day = (about.at or one.day).date().isoformat()
        project = privacy.redact(self._project or _project(about.cwd)).text
        by = f"{about.client}@{identity.device()}"
        writing = Writing(
            notes, self._rooms, self.batch, about, session, self._rooms.folder(project), by, day
        )
        top = repository.top_of(about.cwd) or about.cwd
        torn = session_reading.torn(one, about, session, notes)
        if torn and writing.drop(torn):
            notes.drop({int(own, 16) for _, _, own in torn})
        known = notes.ids | ({notes.last} - {0})
        after = 0
        if not notes.is_whole:
            after = session_reading.last_known(one, about, session, top, known)
        reading = session_reading.Reading(one, about, session, top, self._advance)
        shortened = taken_out = emptied = 0
        last = ""
        above, end = 0, notes.last  # the turn above in the transcript; the last that was added
        for turn, own in reading:
            last = own
            follows, above = above == end, int(own, 16)
            if int(own, 16) in notes.ids:
                if writing.is_bare:
                    kept = reading.keeper.kept(turn)
                    writing.found(turn, kept.text if kept else "", int(own, 16))
                continue
            end = above if follows else end
            kept = reading.keeper.kept(turn)
            if kept is None:
                emptied += 1
            elif int(own, 16) in known or session_reading.is_above(turn, after, notes):
                taken_out += 1
                if writing.is_bare:
                    writing.found(turn, kept.text, int(own, 16))
            else:
                leaps = not follows and notes.is_back(turn)
                writing.add(turn, kept.text, own, reading.back(turn, writing.day, leaps))
                end = above
                shortened += kept.shortened
        passed = reading.passed
        if emptied:
            passed["left empty"] += emptied
        if taken_out:
            passed["taken out of the note by hand"] += taken_out
        if not writing.added and not writing.dropped:
            if not notes.parts:
                raise _Empty(passed)
            return told._replace(passed=passed)
        about.version = reading.about.version or about.version
        writing.end(one.mark, last, reading.waiting)
        what = "grown" if notes.parts else "filed"
        paths = tuple(part.path for part in self._rooms.parts(notes.key))
        new = paths[max(len(told.paths) - 1, 0) :]
        return told._replace(
            what=what, paths=new, added=writing.added, shortened=shortened, passed=passed
        )

    def _skip(self, one: Conversation) -> None:
        self._advance(one.size)

    def _advance(self, number: int) -> None:
        steps, self._left = divmod(self._left + number, _MB)
        if steps:
            self.progress.advance(steps)


class _Empty(Exception):
    """Nobody says anything in it."""

    def __init__(self, passed: Mapping[str, int]) -> None:
        super().__init__()
        self.passed = passed


def _about(one: Conversation) -> About:
    """Whose conversation it is, by its first records."""
    reader = conversations.reader(one.client)
    for record in islice(one.records(), conversations.FIRST_RECORDS):
        for _ in reader.read(record):
            pass
    about = reader.about
    if not about.session and one.client == "text":
        raise _Empty({"fewer than two turns": 1})
    about.session = about.session or one.session or one.path.stem
    return about


def _project(cwd: str) -> str:
    return session_room.project_of(cwd, places.last(cwd))
