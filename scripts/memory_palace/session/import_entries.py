"""What an entry of a ledger is made of, from a turn of a transcript: its text and its names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core import captured
from memory_palace.core.ledger import entry_uid
from memory_palace.core.transcripts import About, Turn
from memory_palace.session import capture, items
from memory_palace.session.words import BLOCKED

_REASON = 200
"""Characters in which the reason of a blocked call begins."""

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_HOME = re.compile(r"(/home/[^/]+|/Users/[^/]+|/root|/?[A-Za-z]:/Users/[^/]+)(?:/|\Z)")
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Made:
    """The text of an entry, empty if nothing is left of the turn, and its possible refs: the most
    general first, as hooks name it, then the one of the transcript alone."""

    text: str
    refs: tuple[str, ...]


class Maker:
    """Makes entries of one transcript's turns."""

    def __init__(self, about: About, session: str) -> None:
        self.about = about
        self.session = session
        self.cwd = _posix(about.cwd)
        self.project = items.project_of(self.cwd)
        home = _HOME.match(self.cwd)
        self._home = home[1] if home else None

    def made(self, turn: Turn) -> Made:
        """Text and refs of the entry that ``turn`` is."""
        own = capture.short_id(turn.ref)
        name = capture.short_id(turn.turn)
        if turn.role == "tool":
            return Made(self._tool(turn), (own,))
        said = captured.said(turn.text)
        named = captured.answer_ref(name, said)
        if turn.role == "user":
            return Made(said, tuple(ref for ref in (name, named, own) if ref))
        text = items.without_places(said, self.project, self._home) if said else ""
        return Made(text, tuple(ref for ref in (named, own) if ref))

    def _tool(self, turn: Turn) -> str:
        if BLOCKED in turn.text[:_REASON]:
            return ""  # it did not run, and hooks are not told of it
        try:
            text = captured.of_tool(turn.tool, turn.command, turn.given, turn.text, turn.failed)
        except Exception:  # whatever a client wrote: the call itself is kept
            text = captured.said(f"{turn.tool} {turn.command}", captured.MOST_TOOL)
        return items.without_places(text, self.project, self._home)

    def uid(self, role: str, ref: str) -> str:
        """The uid of the entry that is named ``ref``."""
        return entry_uid(self.about.client, self.session, self.about.agent, role, ref)

    def files(self, turn: Turn) -> tuple[str, ...]:
        """The files of a tool call, relative to the project."""
        found = (
            captured.name(_posix(file), captured.LONGEST_FILE)
            for file in turn.files[: items.MOST_FILES]
        )
        return tuple(dict.fromkeys(items.relative(file, self.cwd, self.project) for file in found))

    @property
    def wing(self) -> str:
        """The repository that the session ran in, where its folder is here; else the folder's
        name."""
        return items.wing(self.cwd) or captured.name(self.cwd.rstrip("/").rpartition("/")[2])


def session_of(about: About, file: Path, day: str) -> str:
    """The session's id, from the records or the file's name; one made of ``day`` where neither
    tells."""
    if about.session:
        return capture.short_id(about.session)
    named = list(_named(file.name))
    return named[-1] if named else f"unnamed-{day}"


def _named(name: str) -> Iterator[str]:
    return (found[0].lower() for found in _ID.finditer(name))


def _posix(path: str) -> str:
    """A path of Windows, as it would be spelled here."""
    return f"/{path}".replace("\\", "/") if _DRIVE.match(path) else path
