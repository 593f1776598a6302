"""Asks a palace's warm server. Imports next to nothing: a command that is answered starts fast.

``ask(root, query, now)`` gives an answer, or None where the asker is to find it by itself;
:class:`serve.asking.Asker` does both.
"""

import contextlib
import os
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from memory_palace.core import errors
from memory_palace.core.errors import BadInput, PalaceError
from memory_palace.search.hits import Answer
from memory_palace.search.query import Query
from memory_palace.serve import codec, place, wire
from memory_palace.serve.place import POLICIES, policy

__all__ = [
    "POLICIES",
    "About",
    "Client",
    "Gone",
    "Status",
    "ask",
    "connect",
    "policy",
    "unlike",
]

CONNECT_SECONDS = 1.0
FIRST_SECONDS = 2.0
"""Within these a server that is alive says at least that it works on it."""

SILENT_SECONDS = 5.0
LONGEST_SECONDS = 120.0

_ERRORS = {
    name: kind
    for name, kind in vars(errors).items()
    if isinstance(kind, type) and issubclass(kind, PalaceError)
}


_T = TypeVar("_T")


class Gone(Exception):
    """The server gives no answer; the message is a line for a person, or empty, ``why`` what the
    server says of it."""

    def __init__(self, note: str, why: str = "") -> None:
        super().__init__(note)
        self.why = why


@dataclass(frozen=True, slots=True)
class About:
    """The open index: ``embedder`` is the line about it, ``changed`` counts files that it does
    not know as they are now, ``notes`` are lines for a person, ``name`` is the embedder's."""

    embedder: str
    name: str
    notes: tuple[str, ...] = ()
    changed: int = 0


@dataclass(frozen=True, slots=True)
class Status:
    """A running server. ``state`` is ``ready``, ``loading`` or why it cannot answer;
    ``generation`` is the index's; ``like`` is :func:`wire.myself` over there."""

    pid: int
    root: str
    version: str
    protocol: int
    address: str
    state: str
    embedder: str
    generation: str
    questions: int
    started: datetime
    idle_seconds: float
    idle_limit_seconds: float
    like: Mapping[str, str] = field(default_factory=dict)


class Client:
    """A connection to the server of one palace; not for several threads at once."""

    def __init__(self, root: Path, where: place.Address) -> None:
        """Raises :class:`Gone`."""
        self.root = root.resolve()
        self._token = where.token
        try:
            connection = place.connect(where, CONNECT_SECONDS)
        except OSError:
            raise Gone("") from None  # none is there, or what a dead one left
        self._lines = wire.Lines(connection, wire.MOST_REPLY)
        self._alive = False

    def close(self) -> None:
        self._lines.close()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def about(self) -> About:
        """Raises :class:`Gone`."""
        return self._decoded(About, self._call("about"))

    def ask(self, query: Query, now: datetime, configured: tuple[str, ...] = ()) -> Answer:
        """The answer, as :meth:`Searcher.ask` gives it; ``configured`` names fields of ``query``
        that the palace's settings decide. Raises what the searcher would, and :class:`Gone`."""
        fields = {"query": codec.encode(query), "now": codec.encode(now)}
        return self._decoded(Answer, self._call("ask", **fields, configured=list(configured)))

    def status(self) -> Status:
        """Raises :class:`Gone`."""
        return self._decoded(Status, self._call("status"))

    def stop(self) -> None:
        """Have the server end. Raises :class:`Gone`."""
        self._call("stop")

    def _decoded(self, kind: type[_T], data: Any) -> _T:
        try:
            return codec.decode(kind, data)
        except codec.Unfit:
            raise Gone(_FAULT) from None

    def _call(self, op: str, **fields: object) -> Any:
        request = {
            "op": op,
            "root": os.fsdecode(self.root),
            "token": self._token,
            "like": wire.myself(),
            **fields,
        }
        line = wire.line_of(request)
        if len(line) > wire.MOST_REQUEST:
            raise Gone("")
        self._alive = False
        try:
            self._lines.send_line(line, FIRST_SECONDS)
            reply = self._reply()
        except TimeoutError:
            raise Gone(f"{_FAULT}: `palace serve --stop` ends it") from None
        except OSError:
            raise Gone(_FAULT if self._alive else "") from None  # it may just be ending
        except wire.Garbled:
            raise Gone(_FAULT) from None
        if "error" in reply:
            fault = reply["error"] if isinstance(reply["error"], dict) else {}
            raise _ERRORS.get(str(fault.get("kind")), PalaceError)(str(fault.get("message")))
        if "declined" in reply:
            raise Gone(str(reply.get("note") or ""), str(reply["declined"]))
        if "ok" not in reply:
            raise Gone(_FAULT)
        return reply["ok"]

    def _reply(self) -> dict[str, Any]:
        """The reply, past all signs of life. Raises OSError and :class:`wire.Garbled`."""
        end = time.monotonic() + LONGEST_SECONDS
        patience = FIRST_SECONDS
        while time.monotonic() < end:
            reply = self._lines.receive(patience)
            if reply is None:
                raise ConnectionResetError
            if "wait" not in reply:
                return reply
            self._alive = True
            patience = SILENT_SECONDS
        raise TimeoutError


_FAULT = "the server gave no answer, so this was found without it"


def connect(root: Path) -> Client | None:
    """A connection to the server of ``root``; None if there is none or none is wanted.

    Raises :class:`BadInput` if ``$PALACE_SERVE`` is no policy.
    """
    if policy() == "off":
        return None
    with contextlib.suppress(Gone, BadInput):
        where = place.address(root)
        return Client(root, where) if where else None
    return None


def ask(root: Path, query: Query, now: datetime) -> Answer | None:
    """The server's answer; None if there is no server or it gives none.

    Raises what :meth:`Searcher.ask` raises of the question.
    """
    connection = connect(root)
    if connection is None:
        return None
    with connection:
        try:
            return connection.ask(query, now)
        except Gone:
            return None


def unlike(status: Status) -> str:
    """The first thing in which that server is not like this process; empty if there is none."""
    return wire.difference(status.like, wire.myself())
