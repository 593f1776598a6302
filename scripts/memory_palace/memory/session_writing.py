"""The notes of one session while it is mined: parts that are there are added to, after a last turn
that was half written is taken off; new ones are begun."""

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_palace.core import dates, frontmatter, note, session_notes
from memory_palace.core.errors import BadInput
from memory_palace.core.text import stem
from memory_palace.core.transcripts import About, Turn
from memory_palace.files import read
from memory_palace.memory import notes_text
from memory_palace.memory.note_batch import Batch
from memory_palace.memory.session_room import Part, Rooms

COUNTS = {"user": "prompts", "assistant": "answers", "tool": "tool_calls"}
"""{role: the key that counts its turns in a note's metadata}."""


class Notes:
    """The parts of one session. ``ids`` are those of all turns in them, ``read`` how far the
    transcript was read, ``last`` the last turn that was, ``waiting`` the numbers of tool calls
    that had no result then, ``updated`` the time of the latest turn, ``created`` that of the first
    in the last part. ``is_whole`` is true if no turn was taken out by hand, and no part: as many
    turns stand there as the metadata count. ``keys`` are those of the last part; ``is_bare`` is
    true if they count no turns: a person deleted them.

    Raises :class:`BadInput` for a part that cannot be read, or whose metadata is broken.
    """

    def __init__(self, root: Path, rooms: Rooms, batch: Batch, key: str) -> None:
        self.key = key
        self.parts = rooms.parts(key)
        self.ids: set[int] = set()
        self.read, self.last, self.title = "", 0, ""
        self.waiting: set[int] = set()
        self.updated: datetime | None = None
        self.created: datetime | None = None
        self.keys, self.is_bare = frozenset[str](), False
        self._before: str | None = None
        self._text = ""
        numbers = [part.part for part in self.parts]
        self.is_whole = numbers == list(range(1, len(numbers) + 1))
        for part in self.parts:
            self._text = batch.text(part.path) or _text(root, part.path)
            self.ids |= session_notes.ids(self._text)
            self._learn(part.path)
            if self.is_bare or session_notes.standing(self._text) < sum(self.counts.values()):
                self.is_whole = False
        if self.parts:
            self._before = self._text

    def _learn(self, path: str) -> None:
        """What the metadata of one part say, of the last one in the end."""
        found = note.parse(path, self._text)
        if found.broken:
            raise BadInput(f"{path}: its metadata is broken: mend the YAML; nothing was added")
        said = found.metadata
        self.read = str(said.get("read") or "")
        self.title = str(said.get("title") or "")
        try:
            self.last = int(str(said.get("last")), 16)
        except ValueError:
            self.last = 0
        waiting = said.get("waiting")
        numbers = waiting if isinstance(waiting, list) else []
        self.waiting = {one for one in numbers if isinstance(one, int)}
        self.updated = dates.parse(str(said.get("updated") or ""))
        self.created = dates.parse(str(said.get("created") or ""))
        self.day = str(said.get("date") or said.get("created") or "")[:10]
        self.keys = frozenset(said)
        self.is_bare = not self.keys.intersection(COUNTS.values())
        self.counts = Counter({key: _number(said.get(key)) for key in COUNTS.values()})

    def drop(self, ids: set[int]) -> None:
        """These turns stand in the notes no more."""
        self.ids -= ids
        self.last = 0 if self.last in ids else self.last

    def is_back(self, turn: Turn) -> bool:
        """True for a turn that was before the latest one that stands here."""
        waited = turn.number in self.waiting
        return bool(turn.at and self.updated and turn.at < self.updated and not waited)

    @property
    def text(self) -> str:
        """The text of the last part."""
        return self._text

    @property
    def before(self) -> str | None:
        """The same; None if there is no part yet."""
        return self._before


class Writing:
    """Adds turns to a session's notes; ``added`` counts them, ``dropped`` those that went.
    ``is_bare`` is true if the metadata of the part at hand are to be made again."""

    def __init__(
        self,
        notes: Notes,
        rooms: Rooms,
        batch: Batch,
        about: About,
        session: str,
        folder: str,
        by: str,
        day: str,
    ) -> None:
        self.added = self.dropped = 0
        self._notes, self._rooms, self._batch = notes, rooms, batch
        self._about, self._session, self._by = about, session, by
        self._folder = notes.parts[-1].path.rsplit("/", 1)[0] if notes.parts else folder
        self._title = notes.title
        self._part = notes.parts[-1].part if notes.parts else 1
        self._path = notes.parts[-1].path if notes.parts else ""
        self._text, self._before = notes.text, notes.before
        self._day = notes.day if notes.parts and notes.day else day
        self._first_day = self._day
        self._counts = notes.counts if notes.parts else Counter[str]()
        self._continues = f"[[{stem(notes.parts[-2].path)}]]" if len(notes.parts) > 1 else ""
        self.is_bare = notes.is_bare
        self._own = session_notes.ids(notes.text) if notes.is_bare else set[int]()
        self._pieces: list[str] = []
        self._size, self._lines, self._turns = _measure(self._text)
        self._role = session_notes.last_role(self._text)
        self._latest = notes.updated  # what another machine went on with can be earlier
        self._earliest: datetime | None = None

    def drop(self, turns: list[tuple[Turn, str, str]]) -> bool:
        """Take these turns (with their texts and ids) off the end of the notes, if just they stand
        there, as they were written; they come again as they are now. False if nothing was done."""
        tail = "\n".join(
            session_notes.turn(turn, text, own, self._day, "") for turn, text, own in turns
        )
        if "\r\n" in self._text:
            tail = tail.replace("\n", "\r\n")
        if not self._text.endswith(f"\n{tail}"):
            return False
        self._text = self._text.removesuffix(tail)
        self._size, self._lines, self._turns = _measure(self._text)
        self._role = session_notes.last_role(self._text)
        self._counts.subtract(COUNTS[turn.role] for turn, _, _ in turns)
        self.dropped += len(turns)
        return True

    @property
    def day(self) -> str:
        """The day of the part at hand: its headings have only the others."""
        return self._day

    def found(self, turn: Turn, text: str, key: int) -> None:
        """A turn that stands in the notes, or did: the metadata of its part are made of it again,
        where they are bare."""
        if key in self._own or len(self._notes.parts) == 1:
            self._count(turn, text)

    def add(self, turn: Turn, text: str, key: str, back: str) -> None:
        """One more turn."""
        if self._is_full(text):
            self._finish(continued=True)
        made = session_notes.turn(turn, text, key, self._day, self._role, back)
        self._pieces.append(made)
        self._size += len(made.encode("utf-8", "replace")) + 1
        self._lines += made.count("\n") + 1
        self._turns += 1
        self._role = turn.role
        self._count(turn, text)
        self.added += 1

    def _count(self, turn: Turn, text: str) -> None:
        if not self._title and turn.role == "user":
            self._title = session_notes.title(text)
        self._counts[COUNTS[turn.role]] += 1
        if turn.at:
            self._latest = max(self._latest or turn.at, turn.at)
            self._earliest = min(self._earliest or turn.at, turn.at)

    def _is_full(self, text: str) -> bool:
        return bool(self._turns) and (
            self._size + len(text.encode("utf-8", "replace")) > session_notes.PART_BYTES
            or self._lines + text.count("\n") > session_notes.PART_LINES
            or self._turns >= session_notes.PART_TURNS
        )

    def end(self, mark: str, last: str, waiting: list[int]) -> None:
        """All turns were added: the last part says how far the transcript was read."""
        if self.added or self.dropped:
            self._finish(more={"last": last, "waiting": waiting or None, "read": mark})

    def _finish(self, continued: bool = False, more: dict[str, Any] | None = None) -> None:
        """Hand the part that is at hand to the batch; with ``continued`` begin the next one."""
        keys: dict[str, Any] = {"last": None, "waiting": None, "read": None} | (more or {})
        next_path = ""
        body = "\n".join(self._pieces)
        if continued:
            next_path = f"{self._folder}/{self._name(self._part + 1)}"
            keys["continued_in"] = f"[[{stem(next_path)}]]"
        if self._before is None:
            self._path = self._path or f"{self._folder}/{self._name(self._part)}"
            text = session_notes.head(self._head() | keys) + "\n" + self._text + body
        else:
            text = self._changed(body, keys)
        if text != self._before:
            self._batch.add(self._path, text, self._before)
        self._rooms.add(self._notes.key, Part(self._path, self._part, False))
        if continued:
            self._continues, self._path = f"[[{stem(self._path)}]]", next_path
            self._text, self._before = "", None
            self._part += 1
            self.is_bare = False
            self._pieces, self._counts = [], Counter()
            self._size, self._lines, self._turns = _measure(self._text)
            self._role, self._earliest, self._latest = "", None, None

    def _changed(self, body: str, keys: dict[str, Any]) -> str:
        """The existing part with what is new."""
        assert self._before is not None
        values: dict[str, Any] = {}
        if self.is_bare:  # what a person has put there instead stays
            head = self._head().items()
            values = {k: v for k, v in head if k not in self._notes.keys and v not in ("", [])}
        values |= keys
        if self._latest:
            values["updated"] = dates.stamp(self._latest)
        if self._earliest and self._notes.created and self._earliest < self._notes.created:
            values["created"] = dates.stamp(self._earliest)
        if self._about.version:
            values["version"] = self._about.version
        values |= {key: number for key, number in self._counts.items() if number or self.dropped}
        text = session_notes.appended(self._text, body) if body else self._text
        try:
            return notes_text.like(self._before, frontmatter.change(text, values))
        except BadInput as error:
            raise BadInput(f"{self._path}: {error}; nothing was added") from None

    def _name(self, part: int) -> str:
        if part > 1 and self._path:  # as the first part is called, also where a person renamed it
            whole = stem(self._path).removesuffix(f"-part-{part - 1}")
            if session_notes.named(f"{whole}.md"):
                return f"{whole}-part-{part}.md"
        return session_notes.name(self._first_day, self._title, self._notes.key, part)

    def _head(self) -> dict[str, Any]:
        begun = self._earliest
        title = self._title or f"Session of {self._about.client}, {self._first_day}"
        return {
            "title": session_notes.title_of_part(title, self._part),
            "type": session_notes.TYPE,
            "date": self._day,
            "created": dates.stamp(begun) if begun else self._day,
            "updated": dates.stamp(self._latest) if self._latest else None,
            "agent": self._by,
            **session_notes.about_keys(self._about, self._session),
            **({"part": self._part} if self._part > 1 else {}),
            "continues": self._continues,
            **{key: self._counts[key] for key in COUNTS.values()},
        }


def _measure(text: str) -> tuple[int, int, int]:
    return len(text.encode("utf-8", "replace")), text.count("\n"), len(session_notes.ids(text))


def _number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _text(root: Path, path: str) -> str:
    got = read.read(root, path)
    if isinstance(got, read.Unreadable):
        raise BadInput(f"{path}: {got.problem.message}; nothing was added to it")
    return got.text
