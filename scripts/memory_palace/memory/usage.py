"""Retrievals are counted on this machine, a line an answer, and shared as daily totals.

``.palace/memory/retrieved.jsonl`` has the lines of one day. When another day begins, or it grows
large, it is put aside as ``retrieved.<day>.<hex>.jsonl``; a write command makes an event of each
day that is over (:func:`fold`) and removes the piece. Nothing is lost or counted twice in between.
"""

from __future__ import annotations

import json
import os
import secrets
import stat
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.core import dates
from memory_palace.core.text import is_mined
from memory_palace.files.roots import DERIVED

if TYPE_CHECKING:
    from memory_palace.core.usage import Retrieval
    from memory_palace.memory.pen import Pen

FOLDER = "memory"
NAME = "retrieved.jsonl"
MOST_BYTES = 4 * 1024 * 1024
"""A larger log is put aside, to be folded."""

_APPEND = os.O_RDWR | os.O_CREAT | os.O_APPEND
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _APPEND |= getattr(os, _flag, 0)
_DAY_AT = len('{"at": "')
_TRIES = 3
_MOST_READ = 1 << 30


def note_retrieved(root: Path, paths: Iterable[str], now: datetime) -> None:
    """Count ``paths`` (hits, best first) as retrieved at ``now``: one line, one write, no lock.
    Mined files are no notes.

    Never raises: where nothing can be written (a read-only disk, a ``.palace`` that is a symbolic
    link), nothing is.
    """
    listed = [path for path in dict.fromkeys(paths) if not is_mined(path)]
    if not listed:
        return
    stamp = dates.stamp(now)
    line = json.dumps({"at": stamp, "paths": listed}, ensure_ascii=False)
    try:
        data = line.encode("utf-8") + b"\n"
        folder = _folder(root, make=True)
        if folder is not None:
            _append(folder, data, stamp[:10])
    except (OSError, ValueError):
        return


def _folder(root: Path, make: bool = False) -> Path | None:
    """The folder of the local log; None if it is not there, or not a folder all the way."""
    folder = root
    for name in (DERIVED, FOLDER):
        folder = folder / name
        try:
            if not stat.S_ISDIR(folder.lstat().st_mode):
                return None
        except FileNotFoundError:
            if not make:
                return None
            folder.mkdir(exist_ok=True)
    return folder


def _append(folder: Path, data: bytes, day: str) -> None:
    place = folder / NAME
    for _ in range(_TRIES):
        handle = os.open(place, _APPEND, 0o666)
        try:
            info = os.fstat(handle)
            if not stat.S_ISREG(info.st_mode):
                return
            if info.st_size:
                os.lseek(handle, 0, os.SEEK_SET)
                begun = os.read(handle, _DAY_AT + len(day))[_DAY_AT:].decode("ascii", "replace")
                if begun != day or info.st_size > MOST_BYTES:
                    _put_aside(place, begun)
                    continue
                os.lseek(handle, -1, os.SEEK_END)
                if os.read(handle, 1) != b"\n":  # a line that was cut short stays by itself
                    data = b"\n" + data
            os.write(handle, data)
            if _is_still(place, info):
                return
            # Put aside under our hands, perhaps after it was folded: rather twice than not at all.
        finally:
            os.close(handle)


def _is_still(place: Path, info: os.stat_result) -> bool:
    try:
        return os.path.samestat(place.lstat(), info)
    except FileNotFoundError:
        return False


def _put_aside(place: Path, day: str) -> None:
    day = day if dates.parse(day) else "unknown"
    name = f"retrieved.{day}.{secrets.token_hex(6)}.jsonl"
    try:
        os.rename(place, place.with_name(name))
    except FileNotFoundError:
        return  # another did


def local(root: Path) -> list[Retrieval]:
    """The retrievals that no event has yet. Lines that cannot be read are left out."""
    folder = _folder(root)
    found: list[Retrieval] = []
    for place in _pieces(folder) if folder else []:
        found += [one for _, one in _lines(_bytes(root, place) or b"") if one]
    return found


def _pieces(folder: Path) -> list[Path]:
    """The log and what was put aside of it."""
    return sorted(folder.glob("retrieved*.jsonl"))


def _bytes(root: Path, place: Path) -> bytes | None:
    """What a piece holds; None if it is gone or cannot be read."""
    from memory_palace.files import read

    path = place.relative_to(root).as_posix()
    got = read.read_bytes(root, path, most=_MOST_READ, what="a log")
    return None if isinstance(got, read.Unreadable) else got[0]


def _lines(data: bytes) -> list[tuple[str, Retrieval | None]]:
    """The lines of a piece, each with what it says."""
    from memory_palace.core.usage import retrieval
    from memory_palace.files import jsonl

    lines, _ = jsonl.parse(NAME, data.decode("utf-8", "replace"))
    return [(line.raw, retrieval(line.data) if line.data else None) for line in lines]


def fold(p: Pen) -> int:
    """Log a ``retrieved`` event for each day (in UTC) that is over; how many were logged.

    Lines of a day that is not over stay. Killed anywhere, the next one goes on: the same total is
    the same event.
    """
    folder = _folder(p.root)
    if folder is None:
        return 0
    today = dates.stamp(p.now)[:10]
    live = folder / NAME
    begun = (_bytes(p.root, live) or b"")[_DAY_AT:][:10].decode("ascii", "replace")
    if begun and begun != today:
        _put_aside(live, begun)
    return sum(_fold_piece(p, place, today) for place in _pieces(folder) if place.name != NAME)


def _fold_piece(p: Pen, place: Path, today: str) -> int:
    from memory_palace.core.events import PATH
    from memory_palace.core.usage import total_uid, totals
    from memory_palace.files import atomic

    data = _bytes(p.root, place)
    if data is None:
        return 0
    lines = _lines(data)
    over = totals(one for _, one in lines if one and one.day < today)
    known = atomic.read_or_none(p.root / PATH) or b"" if over else b""
    logged = 0
    for day, counts in over.items():
        uid = total_uid(p.by, place.name, day, counts)
        # Logged by a run that was killed before it could clear the piece: once is enough.
        if uid.encode() not in known:
            p.log("retrieved", day, uid=uid, at=dates.end_of(day), counts=counts)
            logged += 1
    kept = "".join(f"{raw}\n" for raw, one in lines if one and one.day >= today).encode("utf-8")
    # What a query that had the piece open wrote to it meanwhile stays too.
    kept += (_bytes(p.root, place) or b"")[len(data) :]
    atomic.tidy(place)
    if kept != data:
        atomic.write(place, kept) if kept else place.unlink(missing_ok=True)
    return logged
