"""Ledgers on disk: ``palace/chambers/<agent>/ledger/<session>.jsonl``, only ever appended to."""

import contextlib
import os
import re
import secrets
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core import dates, ledger_read
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.ledger import Ledger, shared
from memory_palace.core.problems import Problem
from memory_palace.core.text import is_cold, sha256, slug
from memory_palace.files import chambers, jsonl, read, roots

ENDING = ".jsonl"
LOCK = f"{roots.DERIVED}/ledger"
"""The folder of the lock: one writer of ledgers at a time on this machine."""

MOST_BYTES = 1 << 30
_WAIT_SECONDS = 60.0
_GLANCE = 64 * 1024
_BLOCK = 1 << 20
_AT = re.compile(rb'\{"at": ?"([^"]{10,40})"')
_PATH = re.compile(rf"{re.escape(chambers.FOLDER)}([^/]+)/ledger/([^/]+){re.escape(ENDING)}\Z")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9-]{0,79}\Z")


Stamp = tuple[int, int, int] | None
"""Inode, bytes and time of a file; None: there is none. Another one says that it has changed."""


class Loaded(NamedTuple):
    """A ledger, its file (relative to the root), and what is wrong with lines of it."""

    path: str
    ledger: Ledger
    problems: tuple[Problem, ...]

    @property
    def session(self) -> str:
        """The client's id of the session, else the file's name."""
        return session_of(self.path, self.ledger)


class Glance(NamedTuple):
    """A ledger's file without reading it all: the agent's folder, the file's name, the session and
    its project where a line at either end says so, and the newest time at either end."""

    path: str
    agent: str
    name: str
    session: str
    wing: str
    at: datetime | None


def is_ledger(path: str) -> bool:
    """True if ``path`` is where a ledger stands."""
    return bool(_PATH.match(path)) and not is_cold(path)


def names(path: str) -> tuple[str, str]:
    """(agent, session) as a ledger's path has them. Raises ValueError for any other path."""
    found = _PATH.match(path)
    if not found:
        raise ValueError(path)
    return found[1], found[2]


def session_of(path: str, ledger: Ledger) -> str:
    """The client's id of the session whose ``ledger`` stands in ``path``, else the file's name."""
    return ledger.header.session if ledger.header else names(path)[1]


def row(path: str, ledger: Ledger, event: str, now: datetime, by: str) -> dict[str, Any]:
    """The shared keys of a new line about the session whose ``ledger`` stands in ``path``."""
    return shared(event, secrets.token_hex(8), session_of(path, ledger), now, by)


def path_of(root: Path, agent: str, session: str) -> str:
    """Where the ledger of a client's ``session`` stands, relative to the root.

    A session's id of lower-case letters, digits and hyphens is the file's name; any other is made
    one that no other id shares, whatever the disk thinks of upper case.
    """
    file = (
        session
        if _PLAIN.match(session) and slug(session) == session
        else f"{slug(session)[:40]}-{sha256(session)[:12]}"
    )
    return f"{chambers.folder(root, agent)}ledger/{file}{ENDING}"


def every(root: Path) -> list[str]:
    """The paths of all ledgers, sorted; nothing is followed that is a symbolic link."""
    found: list[str] = []
    for agent in chambers.agents(root):
        folder = f"{chambers.FOLDER}{agent}/ledger"
        if (root / folder).is_symlink():
            continue
        with contextlib.suppress(OSError), os.scandir(root / folder) as entries:
            found += [
                f"{folder}/{entry.name}"
                for entry in entries
                if is_ledger(f"{folder}/{entry.name}") and entry.is_file(follow_symlinks=False)
            ]
    return sorted(found)


def stamp(root: Path, path: str) -> Stamp:
    """The state of the file ``path``; taken before :func:`load`, it tells of what came since."""
    try:
        info = os.lstat(root / path)
    except OSError:
        return None
    return info.st_ino, info.st_size, info.st_mtime_ns


def load(root: Path, path: str) -> Loaded:
    """The ledger in the file ``path``; an empty one where there is no file.

    Raises :class:`BadInput` if it is no regular file or too large, :class:`Missing` if it cannot
    be read.
    """
    place = roots.inside(root, path)
    if not os.path.lexists(place):
        return Loaded(path, Ledger(), ())
    got = read.read_bytes(root, path, MOST_BYTES, "a ledger")
    if isinstance(got, read.Unreadable):
        raise (BadInput if got.content else Missing)(f"{path}: {got.problem.message}")
    return parse(path, got[0].decode("utf-8", "surrogateescape"))


def parse(path: str, text: str) -> Loaded:
    """The ledger in ``text``, read from ``path``. A last line that was cut off is a warning."""
    lines, problems = jsonl.parse_log(path, text)
    found = ledger_read.read((one.number, one.data) for one in lines if one.data is not None)
    problems += [Problem(path, line, f"{why}; left out") for line, why in found.refused]
    return Loaded(path, found, tuple(problems))


def glance(root: Path, path: str) -> Glance:
    """What the first and the last lines of a ledger say; nothing where it cannot be read."""
    agent, name = names(path)
    lines: list[bytes] = []
    with contextlib.suppress(OSError), (root / path).open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        for start in {0, max(0, size - _GLANCE)}:
            file.seek(start)
            lines += file.read(_GLANCE).split(b"\n")[1 if start else 0 :]
    stamps = [found[1].decode("ascii", "replace") for one in lines if (found := _AT.match(one))]
    times = [at for stamp in stamps if (at := dates.parse(stamp))]
    text = b"\n".join(one for one in lines if b'"session"' in one).decode("utf-8", "replace")
    rows = [one.data for one in jsonl.parse_log(path, text)[0] if one.data is not None]
    header = ledger_read.read((0, one) for one in rows if one.get("event") == "session").header
    session, wing = (header.session, header.wing) if header else ("", "")
    return Glance(path, agent, name, session, wing, max(times, default=None))


def mentions(root: Path, path: str, id: str) -> bool:
    """True if ``id`` stands in the file, as a whole text of JSON; the file is not parsed."""
    wanted = f'"{id}"'.encode("utf-8", "surrogatepass")
    with contextlib.suppress(OSError), (root / path).open("rb") as file:
        before = b""
        while block := file.read(_BLOCK):
            if wanted in before + block:
                return True
            before = (before + block)[-len(wanted) :]
    return False


def append(root: Path, path: str, rows: Iterable[dict[str, Any]]) -> None:
    """Add lines, on the disk before this returns. For whoever holds :func:`locked`.

    Raises :class:`Missing` where that fails; the ledger then ends as it did.
    """
    try:
        jsonl.append(roots.inside(root, path), rows)
    except OSError as error:
        raise Missing(
            f"{path} cannot be written ({error.strerror}): free disk space or mend that place, "
            "and run this again"
        ) from None


@contextlib.contextmanager
def locked(
    root: Path,
    purpose: str,
    wait_seconds: float = _WAIT_SECONDS,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[None]:
    """Hold the lock of all ledgers of ``root``. Raises :class:`Busy` and :class:`Missing` as
    :func:`locks.writer` does."""
    from memory_palace.files import locks  # its library takes its time to import

    with locks.writer(roots.inside(root, LOCK), purpose, wait_seconds, say):
        yield
