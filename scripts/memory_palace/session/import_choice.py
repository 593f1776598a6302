"""Which entry of a ledger a turn of a transcript is: one that is there, or a new one."""

from collections import Counter
from dataclasses import dataclass

from memory_palace.core import dates
from memory_palace.core.transcripts import Turn
from memory_palace.session.import_entries import Made, Maker
from memory_palace.session.import_known import Known, said_number, text_number


@dataclass(frozen=True, slots=True)
class Placed:
    """A turn, what its entry is made of, and the entry's uid as a number. ``there`` is true for
    one that the ledger has; of one that is left out, ``uid`` is 0."""

    turn: Turn
    made: Made
    uid: int
    ref: str
    there: bool

    @property
    def id(self) -> int:
        return self.uid >> 16


class Chooser:
    """Which entry a turn is: one that is there, or a new one. Each is chosen once."""

    def __init__(self, known: Known, maker: Maker) -> None:
        self._known = known
        self._maker = maker
        self._used: set[int] = set()
        self._taken: Counter[int] = Counter()
        self._moments: set[int] = set()

    def placed(self, turn: Turn) -> Placed:
        made = self._maker.made(turn)
        if not made.text:
            return Placed(turn, made, 0, "", False)
        named = [(ref, int(self._maker.uid(turn.role, ref), 16)) for ref in made.refs]
        free = [(ref, uid) for ref, uid in named if uid not in self._used]
        for ref, uid in reversed(free):
            if self._is_there(turn, made, uid):
                self._used.add(uid)
                return Placed(turn, made, uid, ref, True)
        found = self._loose(turn.role, made.text) or self._same_moment(turn, made.text)
        if found:
            return Placed(turn, made, found << 16, "", True)
        for ref, uid in free:
            if uid not in self._known.texts:
                self._used.add(uid)
                return Placed(turn, made, uid, ref, False)
        return Placed(turn, made, named[-1][1], named[-1][0], True)

    def _is_there(self, turn: Turn, made: Made, uid: int) -> bool:
        text = self._known.texts.get(uid)
        if text is None or turn.role != "user" or not self._maker.about.forked_from:
            return text is not None
        # A fork calls all prompts that it copied as its own first one: the text tells.
        return text == text_number(made.text)

    def _same_moment(self, turn: Turn, text: str) -> int:
        """An answer whose prompt is not in the transcript, which begins after it."""
        if turn.role != "assistant" or turn.turn or turn.at is None:
            return 0
        found = self._known.moments.get(said_number(dates.stamp(turn.at), text), 0)
        if found in self._moments:
            return 0
        self._moments.add(found)
        return found

    def _loose(self, role: str, text: str) -> int:
        if not self._known.loose:
            return 0
        number = said_number(role, text)
        ids = self._known.loose.get(number, [])
        if self._taken[number] >= len(ids):
            return 0
        self._taken[number] += 1
        return ids[self._taken[number] - 1]
