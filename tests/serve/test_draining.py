"""The warm server drains the queue, for whoever asks."""

import threading
from pathlib import Path

import pytest

from memory_palace.files import queue
from memory_palace.serve import drainer
from memory_palace.serve import draining as servers
from memory_palace.session import draining
from serve.running import serving, until
from session.captured_turns import end, say, texts
from support.palaces import Palace


def test_without_a_server_nobody_is_asked(keyword_palace: Palace) -> None:
    """At once."""
    assert not servers.ask(keyword_palace.root)


def test_a_server_drains_when_it_is_asked(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It answers before it is done; where it is not like the asker it declines."""
    root = keyword_palace.root
    keyword_palace.command("index")
    with serving(root):
        say(root, "one")
        end(root)
        assert servers.ask(root, 10)
        until(lambda: not queue.waiting(root).bytes)
        assert texts(root) == ["one"]
        monkeypatch.setenv("PALACE_EMBEDDER", "minilm")
        assert not servers.ask(root, 10)


def test_a_server_that_is_switched_off_or_hangs_is_not_waited_for(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process is started then."""
    keyword_palace.command("index")
    with serving(keyword_palace.root):
        monkeypatch.setenv("PALACE_SERVE", "off")
        assert not servers.ask(keyword_palace.root, 10)
        monkeypatch.delenv("PALACE_SERVE")
        assert not servers.ask(keyword_palace.root, 1e-6)


def test_one_thread_drains_and_looks_again(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks while it works is not forgotten; a fault is said, and the next one served."""
    began, leave, done = threading.Event(), threading.Event(), []

    def work(root: Path) -> None:
        began.set()
        leave.wait(20)
        done.append(threading.current_thread())
        if len(done) == 1:
            raise ValueError("odd")

    monkeypatch.setattr(draining, "work", work)
    said: list[str] = []
    made = drainer.Drainer(keyword_palace.root, said.append)
    made.start()
    began.wait(20)
    for _ in range(5):
        made.start()
    assert made.busy
    leave.set()
    until(lambda: not made.busy)
    assert len(done) == 2
    assert len(set(done)) == 1
    assert said == ["captured turns: ValueError: odd"]
    made.start()
    until(lambda: not made.busy and len(done) == 3)
