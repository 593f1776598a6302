"""What ledgers say was observed, read without their session entries.

Most of a ledger is what was said and done. Whoever searches or lists what was found needs only
the other lines: they are looked up by their event, and nothing else is parsed.
"""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core import ledger_read
from memory_palace.core.ledger import Ledger
from memory_palace.core.text import digest
from memory_palace.files import read

MOST_BYTES = 256 * 1024 * 1024
"""A larger ledger is reported and not indexed."""

HEAD = 4_096
"""Bytes at the start of a ledger that are read besides its end: whose session it is."""

_WANTED = "session|observed|reflected|dropped|summarized"
_EVENT = re.compile(rf'"event"[ \t]*:[ \t]*"(?:{_WANTED})"')  # on one line

_UTF_16 = ("\udcff\udcfe", "\udcfe\udcff")


class Observed(NamedTuple):
    """The records of the ledger at ``path``. ``refused`` says what was left out of them, as
    (line, why); line numbers count from where the text began."""

    path: str
    ledger: Ledger
    refused: tuple[tuple[int, str], ...]


def read_text(root: Path, path: str) -> read.Text | read.Unreadable:
    """The text of a ledger; a stray byte is half a character, and spoils its own line only."""
    got = read.read_bytes(root, path, MOST_BYTES, "a ledger")
    if isinstance(got, read.Unreadable):
        return got
    data, info = got
    return read.Text(data.decode("utf-8", "surrogateescape"), digest(data), info)


def parse(path: str, text: str) -> Observed:
    """The records in ``text``. A last line that was cut off says nothing yet."""
    refused: list[tuple[int, str]] = []
    if text.startswith(_UTF_16):
        refused.append((1, "UTF-16, save it as UTF-8"))
    found = ledger_read.read(_objects(text, refused))
    return Observed(path, found, tuple(sorted([*refused, *found.refused])))


def _objects(text: str, refused: list[tuple[int, str]]) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line number, object) of the lines that may have a record."""
    at, number = 0, 1
    while (event := _EVENT.search(text, at)) is not None:
        start = text.rfind("\n", at, event.start()) + 1 or at
        number += text.count("\n", at, start)
        end = text.find("\n", event.end())
        is_last = end < 0
        end = len(text) if is_last else end
        try:
            data = json.loads(text[start:end].lstrip("\ufeff"))
        except (ValueError, RecursionError):
            data = None
        if isinstance(data, dict):
            if data.get("event") != "entry":
                yield number, data
        elif not is_last:
            refused.append((number, "not a JSON object"))
        if is_last:
            return
        at, number = end + 1, number + 1


def recent(root: Path, path: str, most_bytes: int) -> Observed | None:
    """The records in the last ``most_bytes`` of a ledger, with what its start says of the
    session; None if it cannot be read. Line numbers are those of the part that was read."""
    try:
        with (root / path).open("rb") as file:
            size = file.seek(0, 2)
            file.seek(0)
            if size <= most_bytes + HEAD:
                data = file.read(most_bytes + HEAD)
            else:
                head = file.read(HEAD)
                file.seek(size - most_bytes)
                tail = file.read(most_bytes)
                # Only whole lines on either side of the gap.
                data = head[: head.rfind(b"\n") + 1] + tail[tail.find(b"\n") + 1 :]
    except OSError:
        return None
    return parse(path, data.decode("utf-8", "surrogateescape"))
