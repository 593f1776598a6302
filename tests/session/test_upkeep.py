"""All ledgers of this machine at once: one that cannot be read is in no other's way."""

import os
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput, Busy
from memory_palace.files import ledgers
from memory_palace.session import health, observing, upkeep
from session.ledgered import Ledgered
from support.palaces import NOW

SAID = "Decided: the port of {} is 8443, because it needs no root."


@pytest.fixture
def talks(tmp_path: Path) -> list[Ledgered]:
    """Three sessions with something to observe."""
    made = [Ledgered(tmp_path / "root", name) for name in ("a", "b", "c")]
    for talk in made:
        talk.say(SAID.format(talk.session))
    return made


def test_a_ledger_that_cannot_be_read(talks: list[Ledgered]) -> None:
    """It is passed over; the others are observed."""
    first = talks[0]
    place = first.root / first.path
    place.unlink()
    os.mkfifo(place)
    done = upkeep.run(first.root, NOW, flush=True)
    assert [ran.path for ran in done.ran] == [talk.path for talk in talks[1:]]
    assert done.faults == () and not any(talk.pending for talk in talks[1:])
    with pytest.raises(BadInput, match="regular file"):
        upkeep.run(first.root, NOW, path=first.path)


def test_a_ledger_that_cannot_be_written(
    talks: list[Ledgered], monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told and counted; the others are observed."""
    real = observing.run

    def run(root: Path, path: str, *given: object, **options: object) -> observing.Ran:
        if path == talks[1].path:
            raise Busy("somebody is at it: run this again")
        return real(root, path, *given, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(observing, "run", run)
    done = upkeep.run(talks[0].root, NOW, flush=True)
    assert done.faults == (f"{talks[1].path}: somebody is at it: run this again",)
    assert [bool(talk.pending) for talk in talks] == [False, True, False]
    assert [fault.message for fault in health.read(talks[0].root)] == list(done.faults)


def test_one_only(talks: list[Ledgered]) -> None:
    """The others wait."""
    upkeep.run(talks[0].root, NOW, path=talks[1].path, flush=True)
    assert [bool(talk.pending) for talk in talks] == [True, False, True]


def test_what_was_read_to_its_end_is_not_read_again(
    talks: list[Ledgered], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until something is added to it."""
    root = talks[0].root
    for talk in talks:
        old = (root / talk.path).stat().st_mtime - 3_600
        os.utime(root / talk.path, (old, old))
    assert len(upkeep.run(root, NOW).ran) == 3
    read: list[str] = []
    real = ledgers.load

    def load(root: Path, path: str) -> ledgers.Loaded:
        read.append(path)
        return real(root, path)

    monkeypatch.setattr(ledgers, "load", load)
    assert upkeep.run(root, NOW).ran == () and read == []
    talks[1].say("And it is open.")
    assert [ran.path for ran in upkeep.run(root, NOW).ran] == [talks[1].path]


def test_another_machine_observes_its_own(talks: list[Ledgered]) -> None:
    """Unless it is asked for by name."""
    talks[1].by = "claude-code@elsewhere"
    talks[1].say(SAID.format("now"))
    done = upkeep.run(talks[0].root, NOW, flush=True)
    assert [ran.path for ran in done.ran] == [talks[0].path, talks[2].path]
    upkeep.run(talks[0].root, NOW, path=talks[1].path, flush=True)
    assert talks[1].pending == ()


def test_what_is_over_is_read_to_its_end(talks: list[Ledgered]) -> None:
    """Those that nothing was added to for half an hour; others only where that is due."""
    root = talks[0].root
    old = (root / talks[1].path).stat().st_mtime - 3_600
    os.utime(root / talks[1].path, (old, old))
    done = upkeep.run(root, NOW)
    assert [ran.path for ran in done.ran if ran.observations] == [talks[1].path]
    assert [bool(talk.pending) for talk in talks] == [True, False, True]
