"""JSONL files as people leave them: every line is kept, what does not parse is a problem."""

import errno
import io
import json
import os
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from memory_palace.core.problems import Problem
from memory_palace.core.text import split_lines

# Half a character, which only an escape in JSON can make. Those that stand for a stray byte of
# the file (U+DC80 to U+DCFF) are not among them: they go back as that byte.
_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")
_BEGINNING = '{"at": "'


@dataclass(frozen=True, slots=True)
class Line:
    """One line: its number from 1, its text, and its object (None if it does not parse)."""

    number: int
    raw: str
    data: dict[str, Any] | None


def parse(path: str, text: str) -> tuple[list[Line], list[Problem]]:
    """The lines of ``text`` that are not blank, and what is wrong with any of them."""
    lines, problems = [], []
    for number, raw in enumerate(split_lines(text.removeprefix("\ufeff")), start=1):
        if not raw.strip():
            continue
        data = _quick(raw)
        if data is None:
            data, what = _careful(raw)
            if data is None:
                what = f"not a JSON object ({what}): mend or remove it"
                problems.append(Problem(path, number, what))
        lines.append(Line(number, raw.rstrip("\r"), data))
    return lines, problems


def parse_log(path: str, text: str) -> tuple[list[Line], list[Problem]]:
    """As :func:`parse`, of a log of ours, whose lines begin with their time. A line that a kill has
    cut off, at the end or ended by the next write, is only a warning."""
    lines, problems = parse(path, text)
    for line in (one for one in lines if one.data is None):
        if line is lines[-1] and not text.endswith("\n"):
            what = "cut off in the middle: left out; the next write ends the line"
        elif _is_torn(line.raw):
            what = "cut off in the middle: left out; remove the line"
        else:
            continue
        problems = [problem for problem in problems if problem.line != line.number]
        problems.append(Problem(path, line.number, what, "warning"))
    return lines, problems


def _is_torn(raw: str) -> bool:
    """True for the beginning of a line of ours."""
    return (raw.startswith(_BEGINNING) or _BEGINNING.startswith(raw)) and not raw.endswith("}")


def _quick(raw: str) -> dict[str, Any] | None:
    """The object of a line that has nothing wrong with it: a log has a hundred thousand."""
    try:
        data = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _careful(raw: str) -> tuple[dict[str, Any] | None, str]:
    """The object of a line, or what is wrong with it."""
    import jsonlines  # most logs have nothing wrong with them

    try:
        reader = jsonlines.Reader(io.StringIO(raw), loads=json.loads)
        return reader.read(type=dict), ""
    except (jsonlines.Error, RecursionError, ValueError) as error:
        return None, str(error).split(" (line", 1)[0].splitlines()[0]


def append(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """Add lines to a log, on the disk before this returns. A cut-off last line is ended first.

    For whoever holds the log's lock. Raises OSError; the log then ends as it did, also where git
    put another file into its place meanwhile.
    """
    text = "".join(dump(row) + "\n" for row in rows)
    if not text:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    data = text.encode("utf-8", "surrogateescape")
    flags = os.O_RDWR | os.O_CREAT | os.O_APPEND | getattr(os, "O_BINARY", 0)
    with os.fdopen(os.open(path, flags, 0o666), "r+b", buffering=0) as file:
        size = file.seek(0, os.SEEK_END)
        if size:
            file.seek(size - 1)
            data = data if file.read(1) == b"\n" else b"\n" + data
        try:
            written = file.write(data)
        except OSError:
            os.ftruncate(file.fileno(), size)
            raise
        if written != len(data):
            # A full disk took a part of it: take it back.
            os.ftruncate(file.fileno(), size)
            raise OSError(errno.ENOSPC, "no space left on the disk", str(path))
        os.fsync(file.fileno())
        if not os.path.samestat(os.fstat(file.fileno()), os.stat(path)):
            raise OSError(errno.ESTALE, "it was replaced meanwhile", str(path))


def dump(data: dict[str, Any]) -> str:
    """One object as one line, keys in their order, without the line feed."""
    text = json.dumps(data, ensure_ascii=False)
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
