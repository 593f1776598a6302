"""One writer at a time. The system releases the lock when its owner dies, so none goes stale;
the owner's name beside it is for people."""

import contextlib
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from memory_palace.core.errors import Busy, Missing

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextlib.contextmanager
def writer(
    folder: Path,
    purpose: str,
    wait_seconds: float = 60.0,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[None]:
    """Hold the writer lock of ``folder``, made if it is not there.

    Waits at most ``wait_seconds`` for another writer (``say`` is told whom for), then raises
    :class:`Busy`; raises :class:`Missing` if the folder cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "writer.lock")
        try:
            lock.acquire(timeout=0)
        except Timeout:
            say(f"waiting for {owner(folder)}")
            lock.acquire(timeout=wait_seconds)
    except Timeout:
        raise Busy(f"{owner(folder)} is still at it: run this again when it is done") from None
    except OSError as error:
        raise Missing(f"cannot write {folder} ({error.strerror}): make it writable") from None
    try:
        _note_owner(folder, purpose)
        yield
    finally:
        with contextlib.suppress(OSError):
            (folder / "writer.json").unlink()
        lock.release()


def is_held(folder: Path) -> bool:
    """True if a writer holds the lock of ``folder`` now. Makes and changes nothing."""
    return is_locked(folder / "writer.lock")


def is_locked(path: Path) -> bool:
    """True if a process holds the lock file ``path`` now. Makes and changes nothing."""
    if fcntl is None:
        if not path.exists():
            return False
        lock = FileLock(path)
        try:
            lock.acquire(timeout=0)
        except (Timeout, OSError):
            return True
        lock.release()
        return False
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        # A shared lock is refused only while another process has its own; closing gives it back.
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError as error:
        return isinstance(error, BlockingIOError)
    finally:
        os.close(handle)
    return False


def owner(folder: Path) -> str:
    """Who holds the lock, in words."""
    try:
        record = json.loads((folder / "writer.json").read_text("utf-8"))
        return f"{record['purpose']} (process {record['pid']}, since {record['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return "another writer"


def _note_owner(folder: Path, purpose: str) -> None:
    since = time.strftime("%H:%M:%S", time.localtime())
    with contextlib.suppress(OSError):
        record = {"pid": os.getpid(), "purpose": purpose, "since": since}
        (folder / "writer.json").write_text(json.dumps(record), "utf-8")
