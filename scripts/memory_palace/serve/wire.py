"""What goes over the wire: one JSON object a line, each way, and who is talking.

A request has ``op`` (``about``, ``ask``, ``drain``, ``hook``, ``status``,
``stop``) and ``like``, the asker as
:func:`myself` has it; ``token`` where the address asks for one. While the server works it sends
``{"wait": true}``; then one of ``{"ok": …}``, ``{"error": {"kind", "message"}}`` for what is wrong
with the question, and ``{"declined": …, "note": …}``: the asker is to do it by itself.
"""

import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from memory_palace import __version__
from memory_palace.core.text import sha256

PROTOCOL = 1
MOST_REQUEST = 4 << 20
"""Bytes of a request's line. The longest question that is answered has 100,000 characters."""

MOST_REPLY = 64 << 20
BEAT_SECONDS = 0.5
"""How often a working server says that it is."""

_PACKAGE = Path(__file__).resolve().parents[1]
_PREFIX = "PALACE_"
_NO_SETTINGS = {"ROOT", "SERVE", "QUESTION", "STARTED_IN", "NOW", "HOOK", "IDENTITY", "CAPTURE"}
_SETTINGS = ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "HF_HOME", "HF_HUB_CACHE")


class Garbled(Exception):
    """What came is not a line of the protocol."""


class Lines:
    """Objects over a connection, a line each, bounded in length and in time."""

    def __init__(self, connection: socket.socket, most: int) -> None:
        self._connection = connection
        self._most = most
        self._rest = bytearray()

    def send(self, value: Mapping[str, Any], seconds: float) -> None:
        """Raises OSError."""
        self.send_line(line_of(value), seconds)

    def send_line(self, line: bytes, seconds: float) -> None:
        """What :func:`line_of` gave. Raises OSError."""
        self._connection.settimeout(seconds)
        self._connection.sendall(line)

    def receive(self, seconds: float) -> dict[str, Any] | None:
        """The next object; None at the end of the connection.

        Raises OSError (TimeoutError after ``seconds`` without a whole line) and :class:`Garbled`.
        """
        end = time.monotonic() + seconds
        seen = 0
        while (at := self._rest.find(b"\n", seen)) < 0:
            seen = len(self._rest)
            if seen > self._most:
                raise Garbled(f"a line of more than {self._most} bytes")
            left = end - time.monotonic()
            if left <= 0:
                raise TimeoutError("no whole line in time")
            self._connection.settimeout(left)
            part = self._connection.recv(1 << 16)
            if not part:
                if self._rest:
                    raise Garbled("half a line")
                return None
            self._rest += part
        line = bytes(self._rest[:at])
        del self._rest[: at + 1]
        if len(line) > self._most:
            raise Garbled(f"a line of more than {self._most} bytes")
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            raise Garbled("a line that is no JSON") from None
        if not isinstance(value, dict):
            raise Garbled("a line that is no object")
        return value

    def close(self) -> None:
        self._connection.close()


def line_of(value: Mapping[str, Any]) -> bytes:
    """An object as a line; escaped, so that any text keeps to it."""
    return json.dumps(value).encode("ascii") + b"\n"


def settings(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables that settings and models are found by, folders absolute."""
    environment = os.environ if environment is None else environment
    found = {}
    for name, value in sorted(environment.items()):
        ours = name.startswith(_PREFIX) and name.removeprefix(_PREFIX) not in _NO_SETTINGS
        if ours or name in _SETTINGS:
            # A relative folder would be another place in every process.
            folder = value and name.endswith(("_DIR", "_HOME", "_CACHE"))
            found[name] = str(Path(os.path.expanduser(value)).absolute()) if folder else value
    return found


def myself(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """All in which two processes must be alike to give the same answers: protocol, toolkit,
    Python environment, and digests of :func:`settings`, which may hold secrets."""
    return {
        "protocol": str(PROTOCOL),
        "version": __version__,
        "toolkit": str(_PACKAGE),
        "python": sys.prefix,
        **{name: sha256(f"{name}={value}") for name, value in settings(environment).items()},
    }


def difference(one: Mapping[str, object], other: Mapping[str, object]) -> str:
    """The first thing in which two are not alike; empty if there is none."""
    for name in (*one, *other):
        if one.get(name) != other.get(name):
            return name
    return ""
