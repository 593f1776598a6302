"""The warm server: listens, answers, and ends when it is no longer of use."""

import contextlib
import hmac
import os
import secrets
import select
import socket
import sqlite3
import stat
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from memory_palace import __version__
from memory_palace.core import errors
from memory_palace.core.errors import Busy, Missing, PalaceError
from memory_palace.search.query import Query
from memory_palace.serve import codec, hooking, place, stamps, wire
from memory_palace.serve.client import Status
from memory_palace.serve.drainer import Drainer
from memory_palace.serve.finder import Late
from memory_palace.serve.warm import NotReady, Warm

TICK_SECONDS = 1.0
"""How often a server looks whether its root, its code and its socket are still there."""

MOST_CONNECTIONS = 64
QUIET_SECONDS = 60.0
"""A connection on which nothing is asked is closed after these."""

SEND_SECONDS = 10.0
GRACE_SECONDS = 3.0
"""What is being answered when the server ends may take these."""


class Server:
    """One server; :meth:`run` it once."""

    def __init__(self, root: Path, idle_seconds: float, say: Callable[[str], None]) -> None:
        self.root = root = root.resolve()
        self._idle_seconds = idle_seconds
        self._say = say
        self._like = wire.myself()
        self._root_mark = stamps.identity(root)
        self._code = stamps.code()
        self._warm = Warm(root)
        self._why = ""
        self._wake, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._started = datetime.now(UTC)
        self._last = time.monotonic()
        self._questions = 0
        self._working = 0
        self._connections = 0
        self._counts = threading.Lock()
        self._drainer = Drainer(root, say)
        self._address = place.Address()

    def stop(self, why: str) -> None:
        """End soon. Safe in a signal handler and from any thread."""
        self._why = self._why or why
        with contextlib.suppress(OSError):
            self._waker.send(b"\0")

    def run(self) -> None:
        """Serve until there is a reason to end.

        Raises :class:`Busy` if the root has a server, :class:`Missing` if there cannot be one.
        """
        with self._wake, self._waker:
            folder = place.make(self.root)
            with _held(self.root, folder):
                listener, self._address = listen(self.root, folder)
                with listener:
                    mark = self._published(folder)
                    try:
                        where = f"{self.root} at {self._address} (process {os.getpid()})"
                        self._say(f"serving {where}")
                        self._serve(listener, mark)
                        self._say(f"ended: {self._why}")
                    finally:
                        self._unpublish(folder, mark)
                        self._warm.close()

    def _published(self, folder: Path) -> tuple[Path, stamps.Stamp]:
        """Tell the world where it is: nothing is a socket's name before it listens."""
        record = {"pid": os.getpid(), "version": __version__, "started": str(self._started)}
        place.write(folder / place.RECORD, record)
        if self._address.path:
            (folder / place.ADDRESS).unlink(missing_ok=True)
            return self._address.path, stamps.of(self._address.path)
        (folder / place.SOCKET).unlink(missing_ok=True)
        token = {"port": self._address.port, "token": self._address.token}
        place.write(folder / place.ADDRESS, token)
        return folder / place.ADDRESS, stamps.of(folder / place.ADDRESS)

    def _unpublish(self, folder: Path, mark: tuple[Path, stamps.Stamp]) -> None:
        if stamps.of(mark[0]) == mark[1]:  # else they are another server's
            with contextlib.suppress(OSError):
                mark[0].unlink()
                (folder / place.RECORD).unlink()

    def _serve(self, listener: socket.socket, mark: tuple[Path, stamps.Stamp]) -> None:
        refreshing = threading.Thread(target=self._keep_fresh, daemon=True)
        refreshing.start()
        look = 0.0
        while not self._why:
            ready, _, _ = select.select([listener, self._wake], [], [], TICK_SECONDS)
            if listener in ready:
                self._accept(listener)
            if time.monotonic() > look:
                look = time.monotonic() + TICK_SECONDS
                reason = self._reason(mark)
                if reason:  # not assigned as it is: a signal may have set one meanwhile
                    self.stop(reason)
        end = time.monotonic() + GRACE_SECONDS
        while self._working and time.monotonic() < end:
            time.sleep(0.01)

    def _keep_fresh(self) -> None:
        while not self._why:
            try:
                self._warm.refresh()
            except Exception as fault:
                self._say(f"refresh: {type(fault).__name__}: {fault}")
            time.sleep(TICK_SECONDS)

    def _reason(self, mark: tuple[Path, stamps.Stamp]) -> str:
        """Why the server is to end; empty if it is not."""
        if not self._root_is_there():
            return "the palace is gone from its place"
        if stamps.of(mark[0]) != mark[1]:
            return f"{mark[0]} is gone"
        if stamps.code() != self._code:
            return "the toolkit has changed"
        busy = self._working or self._drainer.busy
        if not busy and time.monotonic() - self._last > self._idle_seconds:
            return "idle"
        return ""

    def _root_is_there(self) -> bool:
        return bool(self._root_mark) and stamps.identity(self.root) == self._root_mark

    # -- connections --------------------------------------------------------------------------

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
            place.hurry(connection)
        except OSError:
            return
        with self._counts:
            if self._connections >= MOST_CONNECTIONS:
                connection.close()
                return
            self._connections += 1
        threading.Thread(target=self._attend, args=(connection,), daemon=True).start()

    def _attend(self, connection: socket.socket) -> None:
        """Answer one connection's requests until it is closed."""
        lines = wire.Lines(connection, wire.MOST_REQUEST)
        try:
            while not self._why:
                request = lines.receive(QUIET_SECONDS)
                if request is None:
                    return
                self._answer(lines, request)
        except wire.Garbled as fault:
            with contextlib.suppress(OSError):
                lines.send({"declined": str(fault)}, SEND_SECONDS)
        except OSError:
            pass  # the asker has left
        finally:
            lines.close()
            with self._counts:
                self._connections -= 1

    def _answer(self, lines: wire.Lines, request: dict[str, Any]) -> None:
        """Work in a thread of its own while this one tells the asker that it goes on."""
        done: Future[bytes] = Future()
        with self._counts:
            self._working += 1
        try:
            # The sign of life first: for an asker who has left nothing is done, nor recorded.
            lines.send({"wait": True}, SEND_SECONDS)
            threading.Thread(target=self._work, args=(request, done), daemon=True).start()
            while True:
                with contextlib.suppress(TimeoutError):
                    line = done.result(wire.BEAT_SECONDS)
                    break
                lines.send({"wait": True}, SEND_SECONDS)
            lines.send_line(line, SEND_SECONDS)
        finally:
            with self._counts:
                self._working -= 1

    def _work(self, request: dict[str, Any], done: "Future[bytes]") -> None:
        try:
            line = wire.line_of(self._reply(request))
            if len(line) > wire.MOST_REPLY:
                line = wire.line_of({"declined": "the answer is too long to be sent"})
        except Exception as fault:
            self._say(f"{type(fault).__name__}: {fault}")
            line = wire.line_of({"declined": "a fault of the server"})
        done.set_result(line)

    def _reply(self, request: dict[str, Any]) -> dict[str, Any]:
        token = str(request.get("token", "")).encode("utf-8", "replace")
        if not hmac.compare_digest(token, self._address.token.encode()):
            return {"declined": "the token is not this server's"}
        op = request.get("op")
        if op == "status":
            return {"ok": codec.encode(self._status())}
        if op == "stop":
            self.stop("asked to")
            return {"ok": True}
        if op not in ("about", "ask", "drain", "hook"):
            return {"declined": f"no such op: {op!r:.40}"}
        return self._declined(request) or self._found(request)

    def _declined(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """Why this server's answer could be another one than the asker's own."""
        if request.get("root") != os.fsdecode(self.root) or not self._root_is_there():
            self.stop("the palace is gone from its place") if not self._root_is_there() else None
            return {"declined": "another root"}
        if stamps.code() != self._code:
            self.stop("the toolkit has changed")
            return {"declined": "the toolkit has changed"}
        like = request.get("like")
        name = wire.difference(self._like, like if isinstance(like, dict) else {})
        if not name:
            return None
        what = {"protocol": "version", "toolkit": "copy of the toolkit", "python": "Python"}
        note = f"the server has another {what.get(name, name)}, so this was found without it"
        return {"declined": f"another {name}", "note": f"{note}: `palace serve --stop` ends it"}

    def _found(self, request: dict[str, Any]) -> dict[str, Any]:
        self._last = time.monotonic()
        try:
            if request["op"] == "about":
                return {"ok": codec.encode(self._warm.about())}
            if request["op"] == "drain":
                self._drainer.start()
                return {"ok": True}
            if request["op"] == "hook":
                event, now, until = hooking.decoded(request)
                self._questions += 1
                reply = self._warm.hook(event, now, until)
                return {"ok": reply._asdict()}
            query = codec.decode(Query, request.get("query"))
            now = codec.decode(datetime, request.get("now"))
            configured = codec.decode(tuple[str, ...], request.get("configured", []))
            self._questions += 1
            return {"ok": codec.encode(self._warm.ask(query, now, configured))}
        except (NotReady, Late, hooking.Unfit, codec.Unfit) as fault:
            return {"declined": str(fault)}
        except PalaceError as fault:
            kind = next(k.__name__ for k in type(fault).__mro__ if k.__name__ in vars(errors))
            return {"error": {"kind": kind, "message": str(fault)}}
        except (OSError, sqlite3.Error) as fault:
            return {"declined": str(fault)}
        finally:
            self._last = time.monotonic()

    def _status(self) -> Status:
        embedder, generation = self._warm.described()
        return Status(
            pid=os.getpid(),
            root=os.fsdecode(self.root),
            version=__version__,
            protocol=wire.PROTOCOL,
            address=str(self._address),
            state=self._warm.state,
            embedder=embedder,
            generation=generation,
            questions=self._questions,
            started=self._started,
            idle_seconds=time.monotonic() - self._last,
            idle_limit_seconds=self._idle_seconds,
            like=self._like,
        )


@contextlib.contextmanager
def _held(root: Path, folder: Path) -> Iterator[None]:
    """The lock that makes this process the root's only server."""
    lock = FileLock(folder / place.LOCK, mode=0o600)
    try:
        lock.acquire(timeout=0.5)  # whoever looks for a server holds it for a moment
    except Timeout:
        raise Busy(f"{root} has a server: `palace serve --stop` ends it") from None
    except OSError as error:
        raise Missing(f"cannot lock {folder} ({error.strerror}): make it writable") from None
    try:
        yield
    finally:
        lock.release()


def listen(root: Path, folder: Path) -> tuple[socket.socket, place.Address]:
    """A listening socket: a unix one if there can be one, else on loopback with a token.

    Only for who holds the lock: what is there under the socket's name is stale, and replaced.
    """
    path = place.unix_path(root)
    if path is not None:
        with contextlib.suppress(OSError):  # a file system without sockets
            return _unix(path), place.Address(path)
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.bind((place.LOOPBACK, 0))
        made.listen(MOST_CONNECTIONS)
    except OSError as error:
        made.close()
        raise Missing(
            f"cannot listen in {folder} nor on {place.LOOPBACK} ({error.strerror}): "
            "commands answer by themselves"
        ) from None
    return made, place.Address(port=made.getsockname()[1], token=secrets.token_hex(32))


def _unix(path: Path) -> socket.socket:
    with contextlib.suppress(FileNotFoundError):
        path.unlink()
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        made.bind(str(path))  # its folder is private, so nobody comes before the mode does
        path.chmod(stat.S_IRUSR | stat.S_IWUSR)
        made.listen(MOST_CONNECTIONS)
    except BaseException:
        made.close()
        raise
    return made
