"""Notes that a run makes or changes, written together: one lock and one commit for many."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from memory_palace.core.errors import BadInput, Changed, Missing, Refused
from memory_palace.core.text import sha256
from memory_palace.memory import notes_checks, pen
from memory_palace.memory.pen import Pen

MOST_CHARACTERS = 8_000_000
"""Characters of notes that wait, but for the last one."""


class Waiting(NamedTuple):
    """A note to be written; ``before`` is the text that it had, None for a new one."""

    path: str
    text: str
    before: str | None


class Batch:
    """Notes that wait to be written. ``faults`` has a line for each that could not be, by its path.
    Of one that does not ``write`` nothing is kept."""

    def __init__(
        self,
        root: Path,
        now: datetime,
        command: str,
        reason: str = "",
        say: Callable[[str], None] = lambda _: None,
        *,
        write: bool = True,
    ) -> None:
        self.faults: dict[str, str] = {}
        self.changed = False
        self._root, self._now, self._command, self._reason = root, now, command, reason
        self._say, self._write = say, write
        self._waiting: dict[str, Waiting] = {}
        self._characters = 0

    def text(self, path: str) -> str | None:
        """The text that waits for ``path``; None if none does."""
        one = self._waiting.get(path)
        return one.text if one else None

    def add(self, path: str, text: str, before: str | None) -> None:
        """A note to be written; ``before`` is the text that it has now, None for a new one."""
        if not self._write:
            return
        earlier = self._waiting.pop(path, None)
        if earlier is not None:  # written twice in one batch: the text of the disk still counts
            before = earlier.before
        self._waiting[path] = Waiting(path, text, before)
        self._characters += len(text)
        if self._characters >= MOST_CHARACTERS:
            self.flush()

    def flush(self) -> None:
        """Write what waits: each note whole or not at all, the others all the same."""
        waiting, self._waiting = list(self._waiting.values()), {}
        self._characters = 0
        if not waiting:
            return
        with pen.begin(self._root, self._now, self._command, self._reason, self._say) as held:
            for one in waiting:
                try:
                    _put(held, one)
                except Changed as error:
                    self.changed = True
                    self.faults[one.path] = str(error)
                except (BadInput, Refused) as error:
                    self.faults[one.path] = str(error)
                except PermissionError as error:  # of a folder that may not be looked into
                    self.faults[one.path] = (
                        f"{one.path} cannot be read ({error.strerror}): mend its permissions"
                    )


def _put(held: Pen, one: Waiting) -> None:
    there = held.read(one.path)
    if there == one.text:  # another run was faster
        return
    if there != one.before:
        raise Changed(f"{one.path} changed underneath: nothing was written to it; run this again")
    if there is None:
        notes_checks.check_new(held.root, one.path, held.config.exclude)
    notes_checks.check_place(one.path, one.before or "")
    notes_checks.check_text(one.path, one.text)
    try:
        held.put(one.path, one.text)
    except Missing as error:  # a closed folder is one note's fault, a full disk is that of all
        if isinstance(error.__context__, PermissionError):
            raise Refused(str(error)) from None
        raise
    if held.read(one.path) != one.text:
        raise Missing(f"{one.path} did not read back as it was written: check the disk")
    base = None if there is None else sha256(there)
    held.log("noted", one.path, path=one.path, digest=sha256(one.text), base=base)
