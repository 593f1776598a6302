"""Conversations into notes: one note a session, only ever added to, but for a last turn that was
half written.

A transcript is read from its beginning each time, in bounded memory (some 100 bytes a turn); one
that is as long as the last time, and ends the same, is not read at all.
"""

from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import places, privacy, session_notes, transcript_text
from memory_palace.core.errors import BadInput, PalaceError
from memory_palace.core.session_turns import Keeper, named
from memory_palace.core.text import short_id
from memory_palace.core.transcripts import About, Turn
from memory_palace.files import conversations, identity, repository
from memory_palace.files.conversations import Conversation
from memory_palace.index.progress import Progress, Silent
from memory_palace.memory import session_room
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
            third = _other(one, about, session, notes)
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
        torn = _torn(one, about, session, notes)
        if torn and writing.drop(torn):
            notes.drop({int(own, 16) for _, _, own in torn})
        known = notes.ids | ({notes.last} - {0})
        after = 0 if notes.is_whole else _last_known(one, about, session, top, known)
        reading = _Reading(one, about, session, top, self._advance)
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
            elif int(own, 16) in known or _is_above(turn, after, notes):
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


class _Reading:
    """One pass over a conversation: every turn with its id. At the end ``passed`` and ``waiting``
    are complete."""

    def __init__(
        self,
        one: Conversation,
        about: About,
        session: str,
        top: str,
        advance: Callable[[int], None] = lambda _: None,
    ) -> None:
        self.passed: Counter[str] = Counter()
        self.waiting: list[int] = []
        self._one, self._advance = one, advance
        self._reader = conversations.reader(about.client)
        self.keeper = Keeper(about, session, top)
        self._minutes = array("q", [-1])

    @property
    def about(self) -> About:
        return self._reader.about

    def __iter__(self) -> Iterator[tuple[Turn, str]]:
        for turn in self._turns():
            self._note(turn)
            yield turn, self.keeper.id(turn)
        self.passed = self._reader.passed + self._one.passed
        known = len(self._minutes)
        self.waiting = [n for n in range(1, known) if self._minutes[n] == _UNSEEN]

    def _turns(self) -> Iterator[Turn]:
        for record in self._one.records(self._advance):
            yield from self._reader.read(record)
        yield from self._reader.rest()

    def _note(self, turn: Turn) -> None:
        more = turn.number + 1 - len(self._minutes)
        if more > 0:
            self._minutes.extend([_UNSEEN] * more)
        self._minutes[turn.number] = int(turn.at.timestamp()) // 60 if turn.at else -1

    def back(self, turn: Turn, day: str, leaps: bool = False) -> str:
        """When the turn was that a prompt, or one that ``leaps``, goes back to; empty where it
        follows the one before."""
        if not leaps and (turn.role != "user" or turn.parent >= turn.number - 1):
            return ""
        minutes = self._minutes[turn.parent] if turn.parent < len(self._minutes) else -1
        if turn.parent == 0:
            return "the beginning"
        from memory_palace.core import dates

        at = dates.from_seconds(minutes * 60) if minutes >= 0 else None
        return session_notes.clock(at, day)


_UNSEEN = -2
"""A turn that was not given: a tool call whose result is not there yet."""


def _is_above(turn: Turn, last: int, notes: Notes) -> bool:
    """True for a turn above the last one that stands in the notes, and that was not waited for."""
    return turn.number <= last and turn.number not in notes.waiting


def _last_known(one: Conversation, about: About, session: str, top: str, known: set[int]) -> int:
    """The number of the last turn that is in the note; 0 if none is."""
    last = 0
    for turn, own in _Reading(one, about, session, top):
        if int(own, 16) in known:
            last = turn.number
    return last


_MOST_TORN = 50
"""Turns that may come of one that was half written: lines in a fence that was still open."""


def _torn(
    one: Conversation, about: About, session: str, notes: Notes
) -> list[tuple[Turn, str, str]]:
    """The last turns of the notes, with what was kept of them and their ids, as far as the text
    ended in them when it was mined, and now goes on there: it has them no more."""
    earlier = conversations.before(one, notes.read)
    if earlier is None:
        return []
    torn: list[tuple[Turn, str, str]] = []
    then, now = _Reading(earlier, about, session, ""), iter(_Reading(one, about, session, ""))
    for turn, own in then:
        if not torn and next(now, (turn, ""))[1] == own:
            continue
        if len(torn) == _MOST_TORN:
            return []
        if kept := then.keeper.kept(turn):
            torn.append((turn, kept.text, own))
    return torn


def _other(one: Conversation, about: About, session: str, notes: Notes) -> str:
    """The id of a text's third turn, if the notes are of another conversation with the same first
    two: chats begin alike. Empty if it is the same one, grown or changed further on."""
    if conversations.has_grown(one, notes.read):
        return ""
    own_ids = [own for _, own in _Reading(one, about, session, "")]
    if len(own_ids) < 3 or int(own_ids[2], 16) in notes.ids:
        return ""
    # Where a person took the third turn out, the note has no turn that the text has not.
    return own_ids[2] if notes.ids - {int(own, 16) for own in own_ids} else ""


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
