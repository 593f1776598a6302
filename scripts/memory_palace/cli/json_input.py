"""JSON that a command is given: in a file, or in stdin."""

import json
import sys
from typing import Any

from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable
from memory_palace.files import roots


def read(file: str, most_bytes: int) -> Any:
    """The JSON in ``file``. Raises :class:`BadInput` as :func:`text` does, and with the line where
    it is none."""
    shown = _shown(file)
    try:
        return json.loads(text(file, most_bytes))
    except json.JSONDecodeError as error:
        raise BadInput(f"{shown}:{error.lineno}: no JSON ({error.msg}): mend it") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{shown}: no JSON ({error}): mend it") from None


def text(file: str, most_bytes: int) -> str:
    """The text of ``file``, ``-`` for stdin, which never waits on a pipe of that name.

    Raises :class:`BadInput` for what cannot be read, is longer, or is not UTF-8.
    """
    shown = _shown(file)
    try:
        if file == "-":
            if sys.stdin is None:
                raise BadInput("stdin is closed: name a file")
            data = sys.stdin.buffer.read(most_bytes + 1)
        else:
            with open(file, "rb", opener=roots.unhindered) as opened:
                data = opened.read(most_bytes + 1)
    except OSError as error:
        raise BadInput(f"{shown} cannot be read ({error.strerror}): name a JSON file") from None
    if len(data) > most_bytes:
        raise BadInput(f"{shown} is over {most_bytes >> 20} MB: give it in parts")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BadInput(f"{shown} is not UTF-8: save it as UTF-8") from None


def _shown(file: str) -> str:
    return "stdin" if file == "-" else printable(file)
