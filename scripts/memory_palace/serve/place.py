"""Where a palace's server is met: a folder that only its user may enter.

In ``.palace/serve/`` lie the socket, or ``address.json`` with a loopback port and a token where
there can be no socket, the lock that the server holds, ``server.json`` about it, and its log.
"""

import json
import os
import socket
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from memory_palace.core.errors import BadInput, Missing
from memory_palace.files import roots

FOLDER = f"{roots.DERIVED}/serve"
SOCKET = "socket"
ADDRESS = "address.json"
RECORD = "server.json"
LOCK = "lock"
LOG = "log"
LONGEST_SOCKET_PATH = 103
"""Bytes; some systems take four more."""

LOOPBACK = "127.0.0.1"

POLICIES = ("auto", "on", "off")
"""``$PALACE_SERVE``: ``off`` never asks a server nor starts one; see ``serve/start.py``."""


def policy(environment: Mapping[str, str] | None = None) -> str:
    """``auto``, ``on`` or ``off``. Raises :class:`BadInput` for another word."""
    given = (os.environ if environment is None else environment).get("PALACE_SERVE") or "auto"
    if given not in POLICIES:
        raise BadInput(f"$PALACE_SERVE is {given!r}: use auto, on or off")
    return given


class Address(NamedTuple):
    """``path`` of a unix socket, else a loopback ``port`` and the ``token`` it asks for."""

    path: Path | None = None
    port: int = 0
    token: str = ""

    def __str__(self) -> str:
        return str(self.path) if self.path else f"{LOOPBACK}:{self.port}"


def folder(root: Path) -> Path:
    """Raises :class:`BadInput` if a symbolic link leads it elsewhere."""
    return roots.inside(root, FOLDER)


def make(root: Path) -> Path:
    """The folder, there and private. Raises :class:`Missing` if it cannot be."""
    place = folder(root)
    try:
        place.parent.mkdir(exist_ok=True)
        place.mkdir(mode=0o700, exist_ok=True)
        if not private(place):
            place.chmod(0o700)
    except OSError as error:
        raise Missing(f"cannot write {place} ({error.strerror}): make it writable") from None
    if not private(place):
        raise Missing(f"{place} is not yours alone: remove it and run this again")
    return place


def private(path: Path, kind: int = stat.S_IFDIR) -> bool:
    """True if ``path`` is of this kind (no link), this user's, and nobody else may use it.

    So nothing that came with a clone counts: git gives folders and files to everyone.
    """
    try:
        info = path.lstat()
    except OSError:
        return False
    if stat.S_IFMT(info.st_mode) != kind:
        return False
    return os.name == "nt" or (info.st_uid == os.geteuid() and not info.st_mode & 0o077)


def unix_path(root: Path) -> Path | None:
    """Where the unix socket is, if there can be one."""
    path = folder(root) / SOCKET
    if not hasattr(socket, "AF_UNIX") or len(os.fsencode(path)) > LONGEST_SOCKET_PATH:
        return None
    return path


def address(root: Path) -> Address | None:
    """Where the server of ``root`` would be met; None if there is none.

    A dead server's port may be somebody else's by now, so it counts only while the lock is held.
    """
    place = folder(root)
    if not private(place):
        return None
    written = read(place / ADDRESS)
    port, token = written.get("port"), written.get("token")
    if type(port) is int and 0 < port < 65536 and isinstance(token, str) and token:
        return Address(port=port, token=token) if held(place) else None
    path = unix_path(root)
    return Address(path) if path and private(path, stat.S_IFSOCK) else None


def held(place: Path) -> bool:
    """True if a process holds the lock in the server's folder, whether it answers or not."""
    from memory_palace.files import locks  # filelock takes its time to import

    return locks.is_locked(place / LOCK)


def read(path: Path) -> dict[str, object]:
    """The object in a private file; empty if it is not there or not ours."""
    try:
        if not private(path, stat.S_IFREG):
            return {}
        found = json.loads(path.read_bytes()[:65536])
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write(path: Path, value: dict[str, object]) -> None:
    """Put an object into a private file, whole. Raises OSError."""
    other = path.with_name(f".{path.name}.{os.getpid()}")
    other.unlink(missing_ok=True)
    handle = os.open(other, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "wb") as file:
        file.write(json.dumps(value).encode())
    other.replace(path)


def connect(where: Address, timeout: float) -> socket.socket:
    """A connection within ``timeout`` seconds. Raises OSError."""
    family = socket.AF_UNIX if where.path else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.settimeout(timeout)
        made.connect(str(where.path) if where.path else (LOOPBACK, where.port))
        hurry(made)
    except BaseException:
        made.close()
        raise
    return made


def hurry(connection: socket.socket) -> None:
    """Have short lines leave at once: over TCP the second one would wait for a receipt."""
    if connection.family == socket.AF_INET:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
