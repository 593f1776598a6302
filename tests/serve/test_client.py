"""The client and a server that is no good."""

import json
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from filelock import FileLock

from memory_palace.core.errors import BadInput, Missing
from memory_palace.search.hits import Answer
from memory_palace.search.query import Query
from memory_palace.serve import client, codec, place, wire
from support.palaces import NOW, Palace

Behaviour = Callable[[socket.socket], None]


class Bad:
    """A server at the palace's address that does to each connection what it is told."""

    def __init__(self, root: Path) -> None:
        self.listener = socket.create_server((place.LOOPBACK, 0))
        folder = place.make(root)
        self.lock = FileLock(folder / place.LOCK)
        self.lock.acquire()
        port = self.listener.getsockname()[1]
        place.write(folder / place.ADDRESS, {"port": port, "token": "t"})
        self.does: Behaviour = lambda _: None
        self.seen: list[dict[str, object]] = []
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            with connection:
                request = wire.Lines(connection, 1 << 20).receive(10)
                if request:
                    self.seen.append(request)
                    self.does(connection)


@pytest.fixture
def bad(filled: Palace, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bad]:
    """A server of the filled palace, whose client is in a hurry."""
    monkeypatch.setattr(client, "FIRST_SECONDS", 0.3)
    monkeypatch.setattr(client, "SILENT_SECONDS", 0.3)
    made = Bad(filled.root)
    yield made
    made.listener.shutdown(socket.SHUT_RDWR)
    made.listener.close()
    made.lock.release()
    made.thread.join(10)


def says(*lines: bytes) -> Behaviour:
    """It sends this and closes."""
    return lambda connection: connection.sendall(b"".join(lines))


def silent(*lines: bytes) -> Behaviour:
    """It sends this and says no more until the client leaves."""

    def behave(connection: socket.socket) -> None:
        connection.sendall(b"".join(lines))
        connection.settimeout(10)
        while connection.recv(1000):
            pass

    return behave


WAIT = wire.line_of({"wait": True})
ABOUT = {"embedder": "embedder: x", "name": "x", "notes": [], "changed": 0}
OK = wire.line_of({"ok": codec.encode(Answer(notes=["from the server"]))})
QUIET = {
    "it closes at once": says(),
    "it declines": says(wire.line_of({"declined": "loading"})),
}
FAULTY = {
    "it ends in mid-answer": says(WAIT, OK[:-20]),
    "it ends after a sign of life": says(WAIT),
    "it talks nonsense": says(b"HTTP/1.1 400 Bad Request\r\n\r\n"),
    "it is silent": silent(),
    "it falls silent": silent(WAIT, OK[:10]),
    "its answer has another shape": says(wire.line_of({"ok": {"hits": 3}})),
    "its answer has a field of its own": says(wire.line_of({"ok": {"colour": 3}})),
    "its answer is none": says(wire.line_of({"hello": 1})),
}


@pytest.mark.parametrize("does", [*QUIET.values(), *FAULTY.values()], ids=[*QUIET, *FAULTY])
def test_no_answer_is_none(filled: Palace, bad: Bad, does: Behaviour) -> None:
    """`ask` gives None, and the question was asked once."""
    bad.does = does
    assert client.ask(filled.root, Query(text="amber"), NOW) is None
    assert [request["op"] for request in bad.seen] == ["ask"]
    assert bad.seen[0]["token"] == "t"


@pytest.mark.parametrize("name", [*QUIET, *FAULTY])
def test_the_command_answers_by_itself(
    name: str, filled: Palace, bad: Bad, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same output; with one note where the server is at fault."""
    bad.does = {**QUIET, **FAULTY}[name]
    with_it = filled.command("query", "--format", "jsonl", "amber")
    monkeypatch.setenv("PALACE_SERVE", "off")
    without = filled.command("query", "--format", "jsonl", "amber")
    assert (with_it.code, with_it.out) == (without.code, without.out)
    more = [line for line in with_it.err.splitlines() if line not in without.err.splitlines()]
    assert len(more) == (name in FAULTY)
    assert all(line.startswith("the server gave no answer, so this was found") for line in more)


def test_it_may_fall_over_between_two_questions(
    filled: Palace, bad: Bad, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch goes on by itself with the question at which the server was lost."""

    def first_only(connection: socket.socket) -> None:
        lines = wire.Lines(connection, 1 << 20)
        lines.send({"ok": ABOUT}, 5)
        assert (lines.receive(5) or {})["op"] == "ask"
        connection.sendall(OK)
        assert (lines.receive(5) or {})["op"] == "ask"
        connection.sendall(WAIT + OK[:-9])

    bad.does = first_only
    ran = filled.command("query", "--batch", "-", "-k", "1", stdin="amber\ncedar\nbirch\n")
    hits = [json.loads(line)["hits"] for line in ran.out.strip().split("\n")]
    assert [len(one) for one in hits] == [0, 1, 1]
    assert ran.err.splitlines() == [
        "embedder: x",
        "the server gave no answer, so this was found without it",
    ]


def test_signs_of_life_are_waited_for(filled: Palace, bad: Bad) -> None:
    """A server that says it works may take many times the silence that is borne."""

    def slow(connection: socket.socket) -> None:
        stop = threading.Event()
        for _ in range(8):
            stop.wait(0.1)
            connection.sendall(WAIT)
        connection.sendall(OK)

    bad.does = slow
    answer = client.ask(filled.root, Query(text="amber"), NOW)
    assert answer
    assert answer.notes == ["from the server"]


def test_but_not_for_ever(filled: Palace, bad: Bad, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that always says it works and never answers is given up."""
    monkeypatch.setattr(client, "LONGEST_SECONDS", 0.2)
    stop = threading.Event()

    def busy(connection: socket.socket) -> None:
        while not stop.wait(0.02):
            connection.sendall(WAIT)

    bad.does = busy
    assert client.ask(filled.root, Query(text="amber"), NOW) is None
    stop.set()


@pytest.mark.parametrize("kind", [BadInput, Missing])
def test_what_is_wrong_with_the_question_is_raised(
    filled: Palace, bad: Bad, kind: type[Exception]
) -> None:
    """As the searcher raises it, with its words and its exit code."""
    bad.does = says(wire.line_of({"error": {"kind": kind.__name__, "message": "shorten it"}}))
    with pytest.raises(kind, match="shorten it"):
        client.ask(filled.root, Query(text="amber"), NOW)


def test_a_question_that_is_too_long_is_not_sent(filled: Palace, bad: Bad) -> None:
    """It is answered at home, where it is refused with its limit."""
    assert client.ask(filled.root, Query(text="x" * (5 << 20)), NOW) is None
    assert not bad.seen


def test_off_asks_nobody(filled: Palace, bad: Bad, monkeypatch: pytest.MonkeyPatch) -> None:
    """`PALACE_SERVE=off`: as if there were no server; another word is refused in a line."""
    monkeypatch.setenv("PALACE_SERVE", "off")
    assert client.ask(filled.root, Query(text="amber"), NOW) is None
    assert filled.command("query", "amber").code == 0
    assert not bad.seen
    for word in ("of", "bogus"):
        monkeypatch.setenv("PALACE_SERVE", word)
        ran = filled.command("query", "amber")
        assert (ran.code, ran.out) == (2, "")
        assert ran.err == f"error: $PALACE_SERVE is '{word}': use auto, on or off\n"


def test_a_port_that_a_dead_server_left_is_not_asked(filled: Palace, bad: Bad) -> None:
    """Somebody else may listen there by now: nothing is sent to him."""
    bad.does = says(OK)
    assert client.ask(filled.root, Query(text="amber"), NOW)
    bad.lock.release()
    assert client.ask(filled.root, Query(text="amber"), NOW) is None
    assert len(bad.seen) == 1


def test_where_there_is_none_there_is_none(filled: Palace) -> None:
    """No folder, a folder with nothing, and one that only looks like it."""
    assert client.connect(filled.root) is None
    folder = place.make(filled.root)
    assert client.connect(filled.root) is None
    for text in ("", "[]", "{}", '{"port": "x", "token": "t"}', '{"port": 1, "token": ""}', "{"):
        (folder / place.ADDRESS).write_text(text)
        (folder / place.ADDRESS).chmod(0o600)
        assert client.connect(filled.root) is None
    place.write(folder / place.ADDRESS, {"port": 1, "token": "t"})
    assert client.connect(filled.root) is None
