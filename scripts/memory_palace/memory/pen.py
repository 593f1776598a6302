"""The one guarded way to write to the palace: lock, compare, write, log, commit."""

import contextlib
import secrets
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from memory_palace.core import dates, events, privacy
from memory_palace.core.errors import BadInput, Changed, Missing, PalaceError, Refused
from memory_palace.core.events import Event
from memory_palace.core.links import TREE
from memory_palace.files import atomic, commit, identity, journal, locks, read, roots
from memory_palace.files import config as configs
from memory_palace.files.config import Config
from memory_palace.memory import usage

_WAIT_SECONDS = 60.0
_MOST_LISTED = 20


class Pen:
    """What a write command holds while it works.

    Notes are written first and events after, so that a kill in between leaves a note that reads
    as if a person had written it.
    """

    def __init__(
        self, root: Path, config: Config, now: datetime, command: str, by: str, reason: str
    ) -> None:
        self.root = root
        self.config = config
        self.now = now
        self.command = command
        self.by = by
        self.reason = reason
        self.touched: dict[str, None] = {}
        self.logged: list[Event] = []
        self._seen: dict[str, bytes | None] = {}

    def read(self, path: str) -> str | None:
        """The text of a file, None if there is none. What was read is what may be replaced.

        Raises :class:`BadInput` for what is no readable UTF-8 file inside the root.
        """
        place = roots.inside(self.root, path)
        if not place.exists():
            self._seen[path] = None
            return None
        got = read.read(self.root, path)
        if isinstance(got, read.Unreadable):
            raise BadInput(f"{path}: {got.problem.message}")
        self._seen[path] = got.text.encode("utf-8")
        return got.text

    def put(self, path: str, text: str) -> None:
        """Write a file: whole, or not at all. One that was never read must not be there.

        Raises :class:`Changed` if it is no longer what :meth:`read` gave.
        """
        place = roots.inside(self.root, path)
        data = text.encode("utf-8", "surrogateescape")
        if len(data) > read.MOST_BYTES:
            raise Refused(f"{path} would be over {read.MOST_BYTES >> 20} MB: split it first")
        expected = self._seen.get(path)
        if path in self._seen and expected == data:
            return
        try:
            atomic.tidy(place)
            atomic.write(place, data, expected=expected)
        except Changed:
            raise Changed(
                f"{path} changed underneath: nothing was written to it; run this again"
            ) from None
        except OSError as error:
            raise Missing(
                f"{path} cannot be written ({error.strerror}): free disk space or mend that "
                "place, and run this again"
            ) from None
        self._seen[path] = data
        self.touched[path] = None

    def move(self, source: str, target: str) -> None:
        """Move a file: by git where it is tracked there, else by renaming it.

        Raises :class:`Refused` if the target is there, naming both.
        """
        origin, place = roots.inside(self.root, source), roots.inside(self.root, target)
        if place.exists() or place.is_symlink():
            raise Refused(f"{target} is there already: {source} stays where it is; rename one")
        if not origin.is_file():
            raise Changed(f"{source} is gone: nothing was moved; run this again")
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
            tracked = commit.is_tracked(self.root, source)
            if not (tracked and commit.move(self.root, source, target)):
                origin.rename(place)
        except OSError as error:
            raise Missing(f"{source} cannot be moved ({error.strerror}): mend that place") from None
        self.touched[source] = self.touched[target] = None
        if source in self._seen:
            self._seen[target] = self._seen.pop(source)

    def log(
        self,
        event: str,
        about: str,
        *,
        uid: str | None = None,
        at: datetime | None = None,
        reason: str | None = None,
        **data: Any,
    ) -> Event:
        """Append one event on ``about``; at once, and on the disk.

        ``at`` and ``reason`` are those of the command where none is given.
        """
        moment = at or journal.follow(self.root, about, self.now)
        data = {key: _clean(key, value) for key, value in data.items() if value is not None}
        assert event in events.KINDS and not set(data) - set(events.KINDS[event]), (event, data)
        made = Event(
            moment.replace(microsecond=0),
            self.by,
            event,
            uid or secrets.token_hex(8),
            about,
            self.reason if reason is None else reason,
            data,
        )
        try:
            journal.append(self.root, made)
        except OSError as error:
            raise Missing(
                f"{events.PATH} cannot be written ({error.strerror}): free disk space or mend that "
                "place; the note is written and counts as written by hand"
            ) from None
        self.touched[events.PATH] = None
        self.logged.append(made)
        return made


def _clean(key: str, value: Any) -> Any:
    # A line that a person wrote may hold what must not be in a log that nothing is taken out of.
    told = key in ("text", "before", "detail") and isinstance(value, str)
    return privacy.redact(value).text if told else value


@contextlib.contextmanager
def begin(
    root: Path,
    now: datetime,
    command: str,
    reason: str = "",
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[Pen]:
    """Hold the pen of ``root``: one at a time on this machine.

    At the end, also after a fault, what was written is committed if ``git.commit`` is ``auto``;
    ``say`` is told why if it could not be. Raises :class:`Busy` if another writer does not end,
    :class:`Missing` without notes, :class:`BadInput` for a reason that no log can hold.
    """
    if any("\ud800" <= character <= "\udfff" for character in reason):
        raise BadInput("the reason is not UTF-8: write it as UTF-8")
    config = configs.load(root)
    by = identity.who(config.identity)
    if not (root / TREE).is_dir():
        raise Missing(f"{root} has no {TREE}: mount or restore it, or run `palace init`")
    folder = roots.inside(root, roots.MEMORY)
    with locks.writer(folder, command, _WAIT_SECONDS, say):
        pen = Pen(root, config, now, command, by, " ".join(privacy.redact(reason).text.split()))
        fault: PalaceError | None = None
        try:
            yield pen
            usage.fold(pen)
        except PalaceError as error:
            fault = error
        if pen.touched and config.git_commit == "auto":
            _commit(pen, say)
        if fault is not None:
            raise fault


def _commit(pen: Pen, say: Callable[[str], None]) -> None:
    why = commit.commit(pen.root, list(pen.touched), message(pen))
    if why:
        paths = list(pen.touched)
        listed = " ".join(paths[:_MOST_LISTED])
        if len(paths) > _MOST_LISTED:
            listed += f" and {len(paths) - _MOST_LISTED} more that `git status` lists"
        say(f"written, not committed: {why}; commit it yourself: {listed}")


def message(pen: Pen) -> str:
    """The commit message of what the pen wrote: the reason, and trailers for agent and events."""
    about = next((event.id for event in pen.logged), "")
    subject = pen.reason or f"{pen.command}: {about}".removesuffix(": ")
    trailers = [f"Agent: {pen.by}", *(f"Event: {event.uid}" for event in pen.logged)]
    return f"{subject}\n\n{pen.command} at {dates.stamp(pen.now)}\n\n" + "\n".join(trailers)
