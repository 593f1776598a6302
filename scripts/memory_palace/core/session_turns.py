"""What of a transcript's turn a session's note keeps, and the id that the turn has there."""

import re
from typing import NamedTuple

from memory_palace.core import captured, cuts, places
from memory_palace.core.ledger import entry_uid
from memory_palace.core.text import sha256
from memory_palace.core.transcripts import About, Turn

MOST_SHOWN = 1_500
"""Characters of a tool call with its output: a chunk keeps such a block in one piece."""

LONGEST_NAME = 200

BLOCKED = "Blocked before it ran, by the rule"
"""How our own rules answer a tool call that did not run (:mod:`session.words`)."""

_REASON = 200
"""Characters in which that answer begins; further on it is what some file says."""

_MARK = re.compile(r"^\[… \d{1,12} characters …\]$", re.MULTILINE)


class Kept(NamedTuple):
    """What is kept of a turn; ``shortened`` is true where a mark stands for a part of it."""

    text: str
    shortened: bool


class Keeper:
    """Takes the turns of one transcript, in their order, each once. ``project`` is the folder that
    its paths are relative to, empty for none."""

    def __init__(self, about: About, session: str, project: str) -> None:
        self._about = about
        self._session = session
        self._project = places.posix(project)
        self._home = places.home(places.posix(about.cwd))
        self._used: set[int] = set()

    def id(self, turn: Turn) -> str:
        """12 hex digits that name ``turn``, whenever and wherever its transcript is read."""
        about, ref, again = self._about, named(turn.ref), 0
        while True:
            name = f"{ref}#{again}" if again else ref
            found = entry_uid(about.client, self._session, about.agent, turn.role, name)[:12]
            if int(found, 16) not in self._used:
                self._used.add(int(found, 16))
                return found
            again += 1

    def kept(self, turn: Turn) -> Kept | None:
        """What is kept of ``turn``; None if nothing is left of it."""
        text = self._tool(turn) if turn.role == "tool" else self._said(turn)
        return Kept(text, bool(_MARK.search(text))) if text else None

    def _said(self, turn: Turn) -> str:
        said = captured.said(turn.text)
        return said if turn.role == "user" else self._portable(said)

    def _tool(self, turn: Turn) -> str:
        if BLOCKED in turn.text[:_REASON]:
            return ""
        try:
            text = captured.of_tool(turn.tool, turn.command, turn.given, turn.text, turn.failed)
        except Exception:  # whatever a client wrote: the call itself is kept
            text = captured.said(f"{turn.tool} {turn.command}", captured.MOST_TOOL)
        return cuts.ends(self._portable(text), MOST_SHOWN)

    def _portable(self, text: str) -> str:
        return places.without(text, self._project, self._home)


def named(text: str) -> str:
    """A client's own id on one line, and not endless."""
    text = " ".join(text.split())
    if len(text) <= LONGEST_NAME:
        return text
    return f"{text[: LONGEST_NAME // 2]}-{sha256(text)[:16]}"
