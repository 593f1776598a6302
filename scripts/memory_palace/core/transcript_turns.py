"""What a client's transcript tells, as values: who said what, which tools ran, what followed what.

A reader takes records one by one and gives turns; it holds a number for each record, no text but
that of tool calls whose result is not there yet.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from memory_palace.core import dates
from memory_palace.core.text import sha256
from memory_palace.core.tool_calls import clean

Record = Mapping[str, Any]

MOST_WAITING = 200
"""Turns that wait for the result of a tool call before them; then it is given up."""

MOST_UNKNOWN = 20
"""Unknown types that are told by name."""


@dataclass(frozen=True, slots=True)
class Turn:
    """Something that was said, or a tool call with its result.

    ``number`` counts from 1 as the transcript has them; ``parent`` is the number of the turn that
    it follows, 0 for a first one. ``ref`` is the client's own id: of the tool call, else of the
    record; ``turn`` names the prompt that it is, or that it answers. ``text`` is what was said, or
    the tool's output, as the client has it: nothing is taken out. ``command`` is the shell command
    of a tool call, ``given`` its arguments, ``files`` those that it changes, as they were named.
    ``at`` is None where the record has no time.
    """

    number: int
    parent: int
    ref: str
    role: str
    text: str
    at: datetime | None
    turn: str = ""
    tool: str = ""
    command: str = ""
    given: Mapping[str, Any] = field(default_factory=dict)
    files: tuple[str, ...] = ()
    failed: bool = False


@dataclass(slots=True)
class About:
    """Whose transcript it is, as far as its records have told; what they do not tell is empty.

    ``agent`` names the subagent that the whole transcript is of; ``at`` is its first time.
    """

    client: str
    session: str = ""
    agent: str = ""
    cwd: str = ""
    version: str = ""
    forked_from: str = ""
    at: datetime | None = None


class Reader:
    """Reads the records of one transcript, in their order. ``passed`` counts what is no turn."""

    client = ""

    def __init__(self) -> None:
        self.about = About(self.client)
        self.passed: Counter[str] = Counter()
        self._count = 0
        self._waiting: dict[int, Turn] = {}
        self._calls: dict[str, int] = {}
        self._places: dict[int, int] = {}

    def read(self, record: Record) -> Iterator[Turn]:
        """The turns that are whole with this record, in the order of their numbers."""
        at = dates.parse(text_of(record, "timestamp"))
        if self.about.at is None:
            self.about.at = at
        try:
            self._take(record, at)
        except RecursionError:  # what could just be parsed can be too deep to be walked
            self.passed["nested too deep"] += 1
        return self._ready()

    def rest(self) -> Iterator[Turn]:
        """At the end: the turns after a tool call that is still without a result. The call itself
        is left for the next time."""
        before: dict[int, int] = {}
        for number, turn in sorted(self._waiting.items()):
            parent = before.get(turn.parent, turn.parent)
            if number in self._calls.values():
                before[number] = parent
                self.passed["without a result yet"] += 1
            else:
                yield replace(turn, parent=parent)

    def _take(self, record: Record, at: datetime | None) -> None:
        raise NotImplementedError

    def _ready(self) -> Iterator[Turn]:
        """What waits for no result any more."""
        open_ones = set(self._calls.values())
        for number in sorted(self._waiting):
            if number in open_ones:
                return
            yield self._waiting.pop(number)

    def _add(
        self, role: str, ref: str, text: str, at: datetime | None, parent: int, **more: Any
    ) -> int:
        """A turn; its number."""
        self._count += 1
        made = Turn(self._count, parent, ref, role, clean(text), at, **more)
        self._waiting[made.number] = made
        if len(self._waiting) > MOST_WAITING:
            self._give_up()
        return made.number

    def _call(self, ref: str, at: datetime | None, parent: int, **more: Any) -> int:
        """A tool call, which waits for its result; its number."""
        number = self._add("tool", ref, "", at, parent, **more)
        self._calls[ref] = number
        return number

    def _result(self, ref: str, text: str, failed: bool) -> None:
        """The result of the tool call ``ref``."""
        number = self._calls.pop(ref, 0)
        turn = self._waiting.get(number)
        if turn is None:
            self.passed["without its tool call"] += 1
            return
        self._waiting[number] = replace(turn, text=clean(text), failed=failed)

    def _give_up(self) -> None:
        """No result comes any more: the session went on without."""
        self._calls.clear()

    def _unknown(self, kind: str) -> None:
        """Count a type that this reader does not know."""
        said = " ".join(clean(kind[:1_000]).split())[:40]
        name = f'unknown type "{said}"'
        known = sum(1 for one in self.passed if one.startswith("unknown type "))
        if name not in self.passed and known >= MOST_UNKNOWN:
            name = "other unknown types"
        self.passed[name] += 1

    def _attached(self, block: Record) -> None:
        """Count what a person gave besides words: a picture, a document."""
        kind = kind_of(block)
        if kind.removeprefix("input_") in ("image", "document", "file", "audio"):
            self.passed["attached file"] += 1
        else:
            self._unknown(kind)

    def _at(self, name: object) -> int:
        """The turn that stands at, or last before, the record ``name``; 0 without a name. A record
        that is not there, or was not read, is taken for the one before."""
        if not isinstance(name, str) or not name:
            return 0
        return self._places.get(_key(name), self._count)

    def _place(self, name: str, number: int) -> None:
        self._places[_key(name)] = number

    def _is_placed(self, name: str) -> bool:
        return _key(name) in self._places


def _key(name: str) -> int:
    """A record's name as a number: a transcript has hundreds of thousands."""
    return int(sha256(name)[:15], 16)


def text_of(record: Record, key: str) -> str:
    """A text of a record, empty where it has none."""
    value = record.get(key)
    return clean(value) if isinstance(value, str) else ""


def kind_of(record: Record) -> str:
    """The type of a record or a block; where that is no text, what it is instead."""
    kind = record.get("type")
    return kind if isinstance(kind, str) else type(kind).__name__


def object_of(record: Record, key: str) -> Record:
    """An object of a record, empty where it has none."""
    value = record.get(key)
    return value if isinstance(value, Mapping) else {}


def blocks(content: object) -> list[Record]:
    """The blocks of a message's content; a bare text is one block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [one for one in content if isinstance(one, Mapping)] if isinstance(content, list) else []
