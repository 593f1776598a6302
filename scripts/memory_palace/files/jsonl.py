"""JSONL files as people leave them: every line is kept, what does not parse is a problem."""

import io
import json
import re
from dataclasses import dataclass
from typing import Any

from memory_palace.core.problems import Problem
from memory_palace.core.text import split_lines

# Half a character, which only an escape in JSON can make. Those that stand for a stray byte of
# the file (U+DC80 to U+DCFF) are not among them: they go back as that byte.
_HALVES = re.compile("[\ud800-\udc7f\udd00-\udfff]")


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


def dump(data: dict[str, Any]) -> str:
    """One object as one line, keys in their order, without the line feed."""
    text = json.dumps(data, ensure_ascii=False)
    return _HALVES.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
