"""A conversation is read, and compared with the notes that it has."""

from array import array
from collections import Counter
from collections.abc import Callable, Iterator

from memory_palace.core import dates, session_notes
from memory_palace.core.session_turns import Keeper
from memory_palace.core.transcripts import About, Turn
from memory_palace.files import conversations
from memory_palace.files.conversations import Conversation
from memory_palace.memory.session_writing import Notes

_UNSEEN = -2
"""A turn that was not given: a tool call whose result is not there yet."""

_MOST_TORN = 50
"""Turns that may come of one that was half written: lines in a fence that was still open."""


class Reading:
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
        at = dates.from_seconds(minutes * 60) if minutes >= 0 else None
        return session_notes.clock(at, day)


def is_above(turn: Turn, last: int, notes: Notes) -> bool:
    """True for a turn above the last one that stands in the notes, and that was not waited for."""
    return turn.number <= last and turn.number not in notes.waiting


def last_known(one: Conversation, about: About, session: str, top: str, known: set[int]) -> int:
    """The number of the last turn that is in the note; 0 if none is."""
    last = 0
    for turn, own in Reading(one, about, session, top):
        if int(own, 16) in known:
            last = turn.number
    return last


def torn(
    one: Conversation, about: About, session: str, notes: Notes
) -> list[tuple[Turn, str, str]]:
    """The last turns of the notes, with what was kept of them and their ids, as far as the text
    ended in them when it was mined, and now goes on there: it has them no more."""
    earlier = conversations.before(one, notes.read)
    if earlier is None:
        return []
    found: list[tuple[Turn, str, str]] = []
    then, now = Reading(earlier, about, session, ""), iter(Reading(one, about, session, ""))
    for turn, own in then:
        if not found and next(now, (turn, ""))[1] == own:
            continue
        if len(found) == _MOST_TORN:
            return []
        if kept := then.keeper.kept(turn):
            found.append((turn, kept.text, own))
    return found


def other(one: Conversation, about: About, session: str, notes: Notes) -> str:
    """The id of a text's third turn, if the notes are of another conversation with the same first
    two: chats begin alike. Empty if it is the same one, grown or changed further on."""
    if conversations.has_grown(one, notes.read):
        return ""
    own_ids = [own for _, own in Reading(one, about, session, "")]
    if len(own_ids) < 3 or int(own_ids[2], 16) in notes.ids:
        return ""
    # Where a person took the third turn out, the note has no turn that the text has not.
    return own_ids[2] if notes.ids - {int(own, 16) for own in own_ids} else ""
