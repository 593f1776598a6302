"""JSONL files that others write and that may be large: read line by line, in bounded memory."""

import contextlib
import json
import os
import stat
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

from memory_palace.core.errors import BadInput
from memory_palace.files.walk import walk

LONGEST_LINE = 10 * 1024 * 1024
"""Bytes of a line; a longer one is passed over and counted."""

_PIECE = 1 << 20


class Source:
    """An open transcript; ``size`` is how much of it is read, whatever is written meanwhile.

    After :meth:`records` has ended, ``passed`` says what was no record.
    """

    def __init__(self, file: BinaryIO, name: str) -> None:
        self.name = name
        self.size = os.fstat(file.fileno()).st_size
        self.passed: Counter[str] = Counter()
        self._file = file

    def records(
        self, start: int = 0, advance: Callable[[int], None] = lambda _: None
    ) -> Iterator[dict[str, Any]]:
        """Each object from the byte ``start`` on, which begins a line. ``advance`` is told the
        bytes that were read.

        Lines that are longer than :data:`LONGEST_LINE` and those that are no JSON object are
        counted. A last line without an end is left for the next time, unless it is whole.
        """
        self.passed.clear()
        for line, whole in self._lines(start, advance):
            if not line.strip():
                continue
            try:
                data = json.loads(line.decode("utf-8", "replace"))
            except (ValueError, RecursionError):
                data = None
            if isinstance(data, dict):
                yield data
            else:
                self.passed["broken" if whole else "half written"] += 1

    def _lines(self, start: int, advance: Callable[[int], None]) -> Iterator[tuple[bytes, bool]]:
        """Each line without its end, and whether it had one."""
        self._file.seek(start)
        left = self.size - start
        held = bytearray()
        skipping = False
        while left > 0 and (piece := self._file.read(min(_PIECE, left))):
            left -= len(piece)
            advance(len(piece))
            first, *others = piece.split(b"\n")
            if not skipping:
                held += first
            for line in others:
                if skipping or len(held) > LONGEST_LINE:
                    self._too_long()
                else:
                    yield bytes(held), True
                skipping = False
                held = bytearray(line)
            if len(held) > LONGEST_LINE:
                skipping = True
                held.clear()
        if skipping or len(held) > LONGEST_LINE:
            self._too_long()
        elif held:
            yield bytes(held), False

    def _too_long(self) -> None:
        self.passed[f"over {LONGEST_LINE >> 20} MB"] += 1


@contextlib.contextmanager
def opened(path: Path) -> Iterator[Source]:
    """The transcript at ``path``, open for reading; never waits on a pipe.

    Raises :class:`BadInput` if it is no regular file or cannot be read.
    """
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    what = "name a transcript's file"
    try:
        handle = os.open(path, flags)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise BadInput(f"{path} cannot be read ({reason}): {what}") from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise BadInput(f"{path} is no regular file: {what}")
    with os.fdopen(handle, "rb", buffering=0) as file:
        yield Source(file, str(path))


def found(path: Path) -> list[Path]:
    """``path`` itself, or all ``*.jsonl`` files in a folder and below it, sorted; links are not
    followed. Raises :class:`BadInput` if a folder has none."""
    if not path.is_dir():
        return [path]
    files = sorted(
        Path(folder) / name
        for folder, _, names in walk(path)
        for name in names
        if name.endswith(".jsonl") and not (Path(folder) / name).is_symlink()
    )
    if not files:
        raise BadInput(f"{path} has no *.jsonl file in it: name a transcript or their folder")
    return files
