"""JSON that a command is given: in a file, or in stdin."""

import json
import sys
from typing import Any

from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable
from memory_palace.files import roots


def read(file: str, most_bytes: int) -> Any:
    """The JSON in ``file``, ``-`` for stdin, which never waits on a pipe of that name.

    Raises :class:`BadInput`, with the line where there is one.
    """
    shown = "stdin" if file == "-" else printable(file)
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
        return json.loads(data.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise BadInput(f"{shown} is not UTF-8: save it as UTF-8") from None
    except json.JSONDecodeError as error:
        raise BadInput(f"{shown}:{error.lineno}: no JSON ({error.msg}): mend it") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"{shown}: no JSON ({error}): mend it") from None
