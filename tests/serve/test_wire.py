"""Objects over a connection, a line each, bounded; and who is alike."""

import socket
from collections.abc import Iterator

import pytest

from memory_palace.serve import wire


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    """Two ends of a connection."""
    one, other = socket.socketpair()
    with one, other:
        yield one, other


Pair = tuple[socket.socket, socket.socket]


def test_objects_come_as_they_were_sent(pair: Pair) -> None:
    """In order, whatever text they hold and however the bytes are cut."""
    values = [{"a": "line\nfeed \u2028 \udc80 記憶"}, {}, {"b": [1, None, 0.1]}]
    for value in values:
        for byte in wire.line_of(value):
            pair[0].sendall(bytes([byte]))
    pair[0].shutdown(socket.SHUT_WR)
    lines = wire.Lines(pair[1], 1000)
    assert [lines.receive(5) for _ in values] == values
    assert lines.receive(5) is None


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"x" * 101 + b"\n", "more than 100 bytes"),
        (b"x" * 500, "more than 100 bytes"),
        (b'{"a": 1', "half a line"),
        (b"nonsense\n", "no JSON"),
        (b"[" * 99 + b"\n", "no JSON"),
        (b"\xff\n", "no JSON"),
        (b"\n", "no JSON"),
        (b"3\n", "no object"),
    ],
)
def test_what_is_no_line_of_the_protocol_is_named(pair: Pair, data: bytes, said: str) -> None:
    """Too long, cut short, no JSON, no object."""
    pair[0].sendall(data)
    pair[0].shutdown(socket.SHUT_WR)
    with pytest.raises(wire.Garbled, match=said):
        wire.Lines(pair[1], 100).receive(5)


def test_the_time_is_for_the_whole_line(pair: Pair) -> None:
    """A line that comes byte by byte and never ends is not waited for."""
    pair[0].sendall(b'{"a":')
    with pytest.raises(TimeoutError):
        wire.Lines(pair[1], 100).receive(0.05)
    with pytest.raises(TimeoutError):
        wire.Lines(pair[1], 100).receive(0)


def test_who_is_alike() -> None:
    """Settings and models count, the palace that is asked and the policy do not; folders are
    compared as places."""
    plain = {"HOME": "/h", "PALACE_EMBEDDER": "none", "LANG": "C"}
    same = {
        **plain,
        "PALACE_ROOT": "/a",
        "PALACE_SERVE": "on",
        "LANG": "de",
        "PALACE_QUESTION": "x",
    }
    assert wire.difference(wire.myself(plain), wire.myself(same)) == ""
    for name in (
        "PALACE_EMBEDDER",
        "PALACE_MINILM_DIR",
        "PALACE_NEW",
        "XDG_CONFIG_HOME",
        "HF_HOME",
    ):
        other = wire.myself({**plain, name: "/else"})
        assert wire.difference(wire.myself(plain), other) == name
        assert wire.difference(other, wire.myself(plain)) == name
    secret = wire.myself({"PALACE_MILVUS_TOKEN": "very secret"})
    assert "very secret" not in str(secret)
    here = wire.settings({"PALACE_MINILM_DIR": "models"})
    assert here["PALACE_MINILM_DIR"].endswith("/models")
    assert here["PALACE_MINILM_DIR"] != "models"
