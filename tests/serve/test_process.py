"""A server's process seen from outside."""

import os
import signal

import pytest

from memory_palace.core.errors import Refused
from memory_palace.serve import place, process
from serve.running import serving
from support.palaces import Palace


def test_looking_makes_nothing(filled: Palace) -> None:
    """Without a server there is none, and no folder of it either."""
    assert not process.is_running(filled.root)
    assert not process.stop(filled.root)
    assert not place.folder(filled.root).exists()


def test_it_runs_as_long_as_it_holds_the_lock(filled: Palace) -> None:
    """Alive or stopped; not when it is dead, whatever it left."""
    with serving(filled.root) as server:
        assert process.is_running(filled.root)
        server.send_signal(signal.SIGSTOP)
        assert process.is_running(filled.root)
        server.kill()
        server.wait()
        assert (place.folder(filled.root) / place.RECORD).is_file()
        assert not process.is_running(filled.root)
        assert not process.stop(filled.root)


def test_stop_ends_it(filled: Palace) -> None:
    """By asking, and it ends as by a signal."""
    with serving(filled.root) as server:
        assert process.stop(filled.root)
        _, said = server.communicate(timeout=60)
        assert (server.returncode, said.splitlines()[-1]) == (0, "ended: asked to")


def test_no_other_process_is_ended(filled: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the record is lost, nobody is killed on suspicion."""
    monkeypatch.setattr(process, "STOP_SECONDS", 0.2)
    killed: list[int] = []
    with serving(filled.root) as server:
        server.send_signal(signal.SIGSTOP)
        monkeypatch.setattr("memory_palace.serve.client.FIRST_SECONDS", 0.2)
        monkeypatch.setattr(os, "kill", lambda pid, _: killed.append(pid))
        (place.folder(filled.root) / place.RECORD).write_text('{"pid": 1}')
        with pytest.raises(Refused, match="does not end: end it by hand"):
            process.stop(filled.root)
        monkeypatch.undo()
    assert not killed
