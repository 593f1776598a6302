"""Faults of hooks: kept in ``.palace/health.json``, shown at the next start and by the doctor.

A fault never reaches the agent's session; here it is counted by what it says. So is what clients
send that we do not know, which is no fault.
"""

import contextlib
import json
import os
import time
from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core.errors import PalaceError
from memory_palace.files import roots

PATH = f"{roots.DERIVED}/health.json"
_LOCK = f"{roots.DERIVED}/health.lock"
_LOCK_SECONDS = 0.2
MOST = 20
"""Different faults that are kept, the newest; and as many ignored things."""

LONGEST = 300
"""Characters of a fault's line."""

_MOST_BYTES = 1 << 20


class Fault(NamedTuple):
    """One kind of fault: what it says (ending with what to run), how often, and when last."""

    message: str
    times: int
    last: str


def read(root: Path) -> tuple[Fault, ...]:
    """The kept faults, newest first; none where there is no file or it is damaged."""
    return _rows(_load(root), "faults")


def ignored(root: Path) -> tuple[Fault, ...]:
    """What clients sent and nobody reads, newest first, counted like faults."""
    return _rows(_load(root), "ignored")


def add(root: Path, messages: Iterable[str], now: datetime) -> bool:
    """Count faults; False where that could not be written."""
    return _count(root, "faults", messages, now)


def ignore(root: Path, names: Iterable[str], now: datetime) -> bool:
    """Count what was ignored; False where that could not be written."""
    return _count(root, "ignored", names, now)


def clear(root: Path) -> bool:
    """Forget them: they were seen to. False where the file cannot be removed."""
    try:
        with _locked(root):
            roots.inside(root, PATH).unlink(missing_ok=True)
    except (OSError, PalaceError):
        return False
    return True


def _count(root: Path, part: str, messages: Iterable[str], now: datetime) -> bool:
    stamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    other = None
    try:
        path = roots.inside(root, PATH)
        path.parent.mkdir(exist_ok=True)
        with _locked(root):
            data = _load(root)
            kept = {fault.message: fault for fault in reversed(_rows(data, part))}
            for message in messages:
                message = " ".join(message.split())
                if len(message) > LONGEST:
                    # Its end says what to do.
                    message = f"{message[: LONGEST - 62]} … {message[-59:]}"
                before = kept.pop(message, None)
                kept[message] = Fault(message, before.times + 1 if before else 1, stamp)
            rows = [fault._asdict() for fault in reversed(list(kept.values())[-MOST:])]
            other = path.with_name(f".health.{os.getpid()}.tmp")
            other.write_text(json.dumps({**_known(data), part: rows}, indent=1), "ascii")
            other.replace(path)
    except (OSError, PalaceError):
        if other is not None:
            with contextlib.suppress(OSError):
                other.unlink(missing_ok=True)
        return False
    return True


def _load(root: Path) -> dict[str, Any]:
    try:
        with open(roots.inside(root, PATH), "rb", opener=roots.unhindered) as file:
            data = json.loads(file.read(_MOST_BYTES))
    except (OSError, ValueError, RecursionError, PalaceError):
        return {}
    return data if isinstance(data, dict) else {}


def _known(data: dict[str, Any]) -> dict[str, Any]:
    return {part: data[part] for part in ("faults", "ignored") if part in data}


def _rows(data: dict[str, Any], part: str) -> tuple[Fault, ...]:
    found = []
    rows = data.get(part)
    for row in rows[:MOST] if isinstance(rows, list) else ():
        try:
            found.append(Fault(str(row["message"]), int(row["times"]), str(row["last"])))
        except (KeyError, TypeError, ValueError):
            continue
    return tuple(found)


@contextlib.contextmanager
def _locked(root: Path) -> Iterator[None]:
    """One at a time, so that no count is lost; after a short wait, all the same."""
    try:
        import fcntl
    except ImportError:  # not on Windows: of two at once one may be lost
        yield
        return
    handle = os.open(roots.inside(root, _LOCK), os.O_RDWR | os.O_CREAT, 0o600)
    try:
        end = time.monotonic() + _LOCK_SECONDS
        while time.monotonic() < end:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except OSError:
                time.sleep(0.005)
        yield
    finally:
        os.close(handle)
