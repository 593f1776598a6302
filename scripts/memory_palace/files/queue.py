"""What hooks saw and nobody has put away yet: ``.palace/queue/``, a file for each session.

A hook appends a line with one write and waits for nobody. The drainer renames the file away, reads
it, and removes it once all of it is stored. A hook that still holds the file then writes into the
renamed one, so that is kept a while. The name says how far it was read: nothing else is written.
"""

import contextlib
import os
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import NamedTuple

from memory_palace.core.errors import PalaceError
from memory_palace.files import roots

FOLDER = f"{roots.DERIVED}/queue"
LOCK = "drain.lock"
WORK = "work.lock"
"""Held while what came in is observed as well, which takes longer."""

MOST_BYTES = 8 << 20
"""Of one session's lines that wait."""

MOST_ALL = 64 << 20
MOST_FILES = 400
"""Of all sessions together. Looked at when a file begins, and each time it has grown by
:data:`STEP`."""

STEP = 256 << 10
LONGEST = 4 << 20
"""Bytes of one line; a longer one is no item."""

KEPT_SECONDS = 120.0
"""A file that was read whole stays so long after its last line: hooks live for less."""

FULL = "the queue is full"
_LONGEST_NAME = 120
_PROBE_SECONDS = 0.1  # who only asks whether it is held has it for a moment

_APPENDING = (
    os.O_WRONLY
    | os.O_CREAT
    | os.O_APPEND
    | getattr(os, "O_BINARY", 0)
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)
)


class Taken(NamedTuple):
    """A file that was renamed away: whose it is, its number there, and how many bytes of it are
    stored; ``size`` is what it has now."""

    name: str
    of: str
    number: int
    done: int
    size: int


class Waiting(NamedTuple):
    """What nobody has stored yet; ``items`` are counted where that is asked for."""

    sessions: int
    bytes: int
    items: int = 0


def name(*parts: str) -> str:
    """The name of a session's file, of the client's name and the session's: as they are where they
    are plain."""
    plain = ".".join(part for part in parts if part)
    bare = "".join(parts).replace("-", "").replace("_", "")
    if bare.isascii() and bare.isalnum() and len(plain) <= _LONGEST_NAME:
        return plain
    from memory_palace.core.text import sha256  # takes milliseconds to import

    return sha256("\x1f".join(parts))


def put(root: Path, of: str, line: bytes) -> str:
    """Append one line (without its line feed) to the file of the session ``of``.

    Empty if it is kept, :data:`FULL` if there is no room; nobody waits. Raises OSError and
    :class:`BadInput` where the place cannot be used.
    """
    place = roots.inside(root, f"{FOLDER}/{of}.jsonl")
    # A blank line before each: it ends what a writer that was killed left.
    data = b"\n" + line + b"\n"
    for _ in range(3):
        try:
            handle = os.open(place, _APPENDING, 0o600)
        except FileNotFoundError:
            os.makedirs(place.parent, 0o700, exist_ok=True)
            handle = os.open(place, _APPENDING, 0o600)
        try:
            size = os.fstat(handle).st_size
            grown = size + len(data)
            if len(data) > LONGEST or grown > MOST_BYTES:
                return FULL
            if (not size or size // STEP != grown // STEP) and _is_full(place.parent):
                return FULL
            written = os.write(handle, data)
            if written != len(data):
                raise OSError(28, "No space left on device")
            if os.fstat(handle).st_nlink:
                return ""
            # It was read and removed between the opening and the write: once more.
        finally:
            os.close(handle)
    return ""


def _is_full(folder: Path) -> bool:
    files = size = 0
    with os.scandir(folder) as entries:
        for entry in entries:
            files += 1
            with contextlib.suppress(OSError):
                size += entry.stat(follow_symlinks=False).st_size
            if size > MOST_ALL or files > MOST_FILES:
                return True
    return False


def waiting(root: Path) -> Waiting:
    """How much is there that nobody has stored; nothing where there is no queue."""
    left = [one for one in _files(root) if one.size > one.done]
    return Waiting(len({one.of for one in left}), sum(one.size - one.done for one in left))


def counted(root: Path) -> Waiting:
    """As :func:`waiting`, with the number of items, for which all is read."""
    items = 0
    for one in _files(root):
        with contextlib.suppress(OSError, PalaceError), contextlib.closing(lines(root, one)) as of:
            items += sum(1 for _ in of)
    return waiting(root)._replace(items=items)


def fault(root: Path) -> str:
    """What is wrong with the folder; empty where it can be written, or made."""
    place = root / FOLDER
    if place.is_symlink():
        return f"{FOLDER} is a symbolic link, so no turn is captured: replace it by a folder"
    if place.exists() and not place.is_dir():
        return f"{FOLDER} is no folder, so no turn is captured: move it away"
    if place.exists() and not os.access(place, os.W_OK | os.X_OK):
        return f"{FOLDER} cannot be written, so no turn is captured: make it writable"
    return ""


def sessions(root: Path) -> list[str]:
    """The names of all sessions that have a file, sorted."""
    return sorted({one.of for one in _files(root)})


def taken(root: Path, of: str) -> list[Taken]:
    """The renamed files of a session, the oldest first."""
    found = (one for one in _files(root) if one.of == of and one.number)
    return sorted(found, key=lambda one: one.number)


def _files(root: Path) -> Iterator[Taken]:
    """All files with lines; the number of one that was not renamed is 0."""
    for entry in _entries(root):
        with contextlib.suppress(OSError):
            if entry.name.endswith(".jsonl"):
                of, number, done = entry.name.removesuffix(".jsonl"), "0", "0"
            elif entry.name.endswith(".old") and entry.name.count(".") >= 3:
                of, number, done, _ = entry.name.rsplit(".", 3)
            else:
                continue
            if number.isdecimal() and done.isdecimal() and len(number + done) < 30:
                size = entry.stat(follow_symlinks=False).st_size
                yield Taken(entry.name, of, int(number), int(done), size)


def take(root: Path, of: str, after: int) -> bool:
    """Rename the session's file away, as the number after ``after``; False if there is none.

    Raises OSError. For whoever holds :func:`only_one`.
    """
    place = roots.inside(root, f"{FOLDER}/{of}.jsonl")
    try:
        os.utime(place)  # who opened it just before may still write: it is kept from now on
        os.rename(place, place.with_name(f"{of}.{after + 1}.0.old"))
    except FileNotFoundError:
        return False
    return True


def lines(root: Path, one: Taken) -> Generator[tuple[bytes, int], None, None]:
    """Each line of a renamed file that is not stored yet, and the byte after it. A last line that
    has no end is left out: somebody may be writing it. Of one that is too long only its end is
    told, as an empty line. Raises OSError."""
    place = roots.inside(root, f"{FOLDER}/{one.name}")
    with open(place, "rb", opener=roots.unhindered) as file:
        file.seek(one.done)
        at = one.done
        too_long = False
        while line := file.readline(LONGEST):
            ended = line.endswith(b"\n")
            if not ended and len(line) < LONGEST:
                return  # also if the rest of it comes right now
            at += len(line)
            if ended and (too_long or line.strip()):
                yield (b"" if too_long else line), at
            too_long = not ended


def mark(root: Path, one: Taken, done: int) -> Taken:
    """Note that all of a renamed file up to the byte ``done`` is stored. Raises OSError."""
    if done == one.done:
        return one
    new = f"{one.of}.{one.number}.{done}.old"
    os.rename(roots.inside(root, f"{FOLDER}/{one.name}"), roots.inside(root, f"{FOLDER}/{new}"))
    return one._replace(name=new, done=done)


def remove(root: Path, one: Taken) -> bool:
    """Remove a renamed file if all of it is stored and nobody has written into it for
    :data:`KEPT_SECONDS`; True if it is gone. What has no end by then is torn. Raises OSError."""
    place = roots.inside(root, f"{FOLDER}/{one.name}")
    info = os.lstat(place)
    if info.st_size > max(one.done, one.size) or abs(time.time() - info.st_mtime) < KEPT_SECONDS:
        return False
    os.unlink(place)
    return True


@contextlib.contextmanager
def only_one(root: Path, lock_name: str = LOCK) -> Iterator[bool]:
    """True if nobody else drains the queue, until this ends; False at once if somebody does.
    Raises OSError and :class:`BadInput` where the folder cannot be used."""
    place = roots.inside(root, f"{FOLDER}/{lock_name}")
    os.makedirs(place.parent, 0o700, exist_ok=True)
    from filelock import FileLock, Timeout

    lock = FileLock(place, mode=0o600)
    try:
        lock.acquire(timeout=_PROBE_SECONDS, poll_interval=0.01)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()


def is_held(root: Path, lock_name: str = LOCK) -> bool:
    """True if somebody holds :func:`only_one` at this moment. Makes and changes nothing."""
    place = root / FOLDER / lock_name
    try:
        import fcntl  # what ``locks.is_locked`` does too, whose import takes milliseconds
    except ImportError:  # Windows
        from memory_palace.files import locks

        return locks.is_locked(place)
    try:
        handle = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    finally:
        os.close(handle)
    return False


def _entries(root: Path) -> list["os.DirEntry[str]"]:
    if os.path.islink(root / FOLDER) or os.path.islink(root / roots.DERIVED):
        return []
    try:
        with os.scandir(root / FOLDER) as entries:
            return [entry for entry in entries if entry.is_file(follow_symlinks=False)]
    except OSError:
        return []
