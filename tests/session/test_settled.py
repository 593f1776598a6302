"""What follows when captured turns are in their ledgers, and who sees to it."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from faults.children import Child
from files.repository import Repository
from memory_palace.core.errors import Missing
from memory_palace.files import ledgers, queue
from memory_palace.session import (
    capture,
    drain,
    draining,
    health,
    marks,
    mem_index,
    observing,
    settled,
)
from memory_palace.session.drain import Drained
from memory_palace.session.observing import Ran
from session.captured_turns import end, event, path, say, texts
from support.palaces import NOW, SCRIPTS, Palace


@pytest.fixture
def observed(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """The ledgers that were observed, and whether to their end; the real thing is done too."""
    told: list[tuple[str, bool]] = []
    real = observing.run

    def run(root: Path, ledger: str, now: Any, *, flush: bool = False, **more: Any) -> Ran:
        told.append((ledger, flush))
        return real(root, ledger, now, flush=flush, **more)

    monkeypatch.setattr(observing, "run", run)
    monkeypatch.setenv("PALACE_NOW", NOW.isoformat())
    return told


def faults(root: Path) -> list[str]:
    """What the health file says, newest first."""
    return [fault.message for fault in health.read(root)]


def idle(root: Path, ledger: str, seconds: float = settled.IDLE_SECONDS + 60) -> None:
    """As if nothing had been added to a ledger for so long."""
    past = time.time() - seconds
    os.utime(root / ledger, (past, past))


def test_what_came_in_is_observed(keyword_palace: Palace, observed: list[tuple[str, bool]]) -> None:
    """As far as it is due; a session that is over to its end."""
    root = keyword_palace.root
    say(root, "We decided to use tabs from now on.")
    say(root, "Never deploy on Fridays.", "s2")
    end(root, "s2")
    draining.work(root)
    assert observed == [(path(root), False), (path(root, "s2"), True)]
    assert ledgers.load(root, path(root)).ledger.observations == ()
    assert ledgers.load(root, path(root, "s2")).ledger.observations
    assert (queue.waiting(root).bytes, faults(root)) == (0, [])


def test_a_session_that_never_ended_is_over_after_a_while(
    keyword_palace: Palace, observed: list[tuple[str, bool]]
) -> None:
    """At the next drain, once; not while it goes on, nor when it is long past."""
    root = keyword_palace.root
    for number, session in enumerate(("s1", "s2", "s3")):
        say(root, f"We decided to use {number} tabs from now on.", session)
    draining.work(root)
    observed.clear()
    idle(root, path(root))
    idle(root, path(root, "s3"), settled.OLD_SECONDS + 60)
    draining.work(root)
    assert observed == [(path(root), True)]
    assert ledgers.load(root, path(root)).ledger.observations
    idle(root, path(root))
    draining.work(root)
    assert observed == [(path(root), True)]


def test_the_index_catches_up_with_what_came_in(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once, and only where something did."""
    root = keyword_palace.root
    refreshed: list[Path] = []
    monkeypatch.setattr(mem_index, "refresh", refreshed.append)
    draining.work(root)
    assert refreshed == []
    say(root, "We decided to use tabs from now on.")
    draining.work(root)
    assert refreshed == [root]


def test_what_was_observed_to_its_end_is_not_read_again(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless something was added; or observing it failed, and then only after a while."""
    root = keyword_palace.root
    answers = [Ran(path(root), faults=("the observer: it hangs",)), Ran(path(root))]
    monkeypatch.setattr(observing, "run", lambda *_, **__: answers.pop(0))
    say(root, "We decided to use tabs from now on.")
    end(root)
    draining.work(root)
    idle(root, path(root))
    assert list(settled.idle(root)) == [path(root)]
    settled.after(root, (), [path(root)])
    assert answers == []
    idle(root, path(root))
    monkeypatch.setattr(ledgers, "load", lambda *_: pytest.fail("it was read"))
    assert list(settled.idle(root)) == []


def test_what_nobody_can_drain_is_not_tried_for_ever(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As the beginning of a line whose hook is gone."""
    asked: list[Path] = []

    def never(root: Path, *_: Any, **__: Any) -> Drained:
        asked.append(root)
        return Drained(left=9)

    monkeypatch.setattr(drain, "drain", never)
    draining.work(keyword_palace.root)
    assert len(asked) == 2


def test_another_machines_session_is_left_to_it(
    keyword_palace: Palace, observed: list[tuple[str, bool]]
) -> None:
    """It came with a pull, and goes on over there."""
    root = keyword_palace.root
    say(root, "We decided to use tabs from now on.")
    draining.work(root)
    place = root / path(root)
    place.write_text(place.read_text().replace("claude-code@", "claude-code@another-"))
    observed.clear()
    idle(root, path(root))
    draining.work(root)
    assert observed == []
    assert path(root) in marks.read(root, settled.FLUSHED)


def test_one_ledger_that_cannot_be_observed_stops_no_other(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said, with what to do."""
    root = keyword_palace.root
    seen = []

    def run(root: Path, ledger: str, now: Any, *, flush: bool = False) -> Ran:
        seen.append(ledger)
        if ledger == path(root):
            raise Missing("the disk is full: free some")
        return Ran(ledger, faults=("the observer: it hangs",))

    monkeypatch.setattr(observing, "run", run)
    for session in ("s1", "s2"):
        say(root, "one", session)
    draining.work(root)
    assert seen == [path(root), path(root, "s2")]
    assert len(faults(root)) == 2
    assert any("the disk is full: free some" in fault for fault in faults(root))
    assert texts(root) == texts(root, "s2") == ["one"]


def test_what_comes_meanwhile_is_taken_too(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else is started while one works: it looks again, also right after its last look."""
    root = keyword_palace.root
    said = iter(["during", "after"])

    def run(root: Path, ledger: str, now: Any, *, flush: bool = False) -> Ran:
        say(root, next(said, "")) if flush is False else None
        return Ran(ledger)

    real = settled.run

    def late(root: Path) -> settled.Settled:
        done = real(root)
        text = next(said, "")
        if text:
            say(root, text)
        return done

    monkeypatch.setattr(observing, "run", run)
    monkeypatch.setattr(settled, "run", late)
    say(root, "before")
    draining.work(root)
    assert sorted(texts(root)) == ["after", "before", "during"]


def test_a_second_one_leaves_at_once(
    keyword_palace: Palace, observed: list[tuple[str, bool]]
) -> None:
    """The first looks again before it ends."""
    root = keyword_palace.root
    say(root, "one")
    with queue.only_one(root, queue.WORK):
        assert draining.is_working(root)
        draining.work(root)
    assert observed == []
    assert not draining.is_working(root)


def test_a_palace_that_commits_by_itself_has_sessions_committed_once(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When they are over, and nothing else with them."""
    root = keyword_palace.root
    keyword_palace.write("palace.yaml", "git:\n  commit: auto\n")
    repository = Repository(root)
    for name, value in (("user.name", "a"), ("user.email", "a@example.org")):
        repository.git("config", name, value)
    keyword_palace.write(".gitignore", ".palace/\n")
    repository.git("add", "-A")
    repository.git("commit", "-qm", "first")
    keyword_palace.notes(topics__a="# A")
    say(root, "We decided to use tabs.")
    draining.work(root)
    assert repository.git("log", "--format=%s") == "first"
    end(root)
    draining.work(root)
    assert repository.git("log", "-1", "--format=%s") == "Captured sessions: claude-code/s1"
    changed = repository.git("show", "--name-only", "--format=", "HEAD").split()
    assert changed == [path(root)]
    assert "palace/topics/" in repository.git("status", "--porcelain")
    (root / ".git/MERGE_HEAD").write_text(repository.git("rev-parse", "HEAD") + "\n")
    say(root, "more")
    end(root)
    draining.work(root)
    assert any("not committed: a merge is in progress" in fault for fault in faults(root))


def asked(root: Path, name: str, **fields: Any) -> bool:
    """Whether a drain is to be started at an event."""
    return draining.wanted(root, event(name, **fields))


def test_a_drain_is_started_where_something_waits(keyword_palace: Palace) -> None:
    """At the end of turns and sessions, and not twice in a row for a few words."""
    root = keyword_palace.root
    assert not any(asked(root, name) for name in ("start", "stop", "compact", "end", "prompt"))
    say(root, "one")
    assert all(asked(root, name) for name in ("start", "stop", "compact", "end"))
    assert not any(asked(root, name) for name in ("prompt", "after_tool", "subagent_stop"))
    draining.started(root)
    assert not asked(root, "stop")
    assert asked(root, "end")
    say(root, "word " * 2_000)
    assert asked(root, "stop")
    assert not asked(root, "after_tool")
    for number in range(60):
        say(root, "word " * 4_000, turn=f"t{number}")
    assert asked(root, "after_tool")
    with queue.only_one(root, queue.WORK):
        assert not asked(root, "stop")
        assert not asked(root, "end")


def until_drained(root: Path) -> None:
    """Wait until nothing waits and nobody works."""
    end = time.monotonic() + 60
    while queue.waiting(root).bytes or draining.is_working(root):
        assert time.monotonic() < end, faults(root)
        time.sleep(0.02)


def run_alone(
    program: str, root: Path, *words: str, pass_fds: Sequence[int] = ()
) -> subprocess.CompletedProcess[bytes]:
    """Run it in a process of its own: libraries that other tests load have threads, which a fork
    does not survive."""
    return subprocess.run(
        [sys.executable, "-P", "-c", program, str(root), *words],
        capture_output=True,
        cwd=root,
        env=os.environ | {"PYTHONPATH": f"{SCRIPTS}:{root / 'a-stranger-s'}"},
        pass_fds=pass_fds,
        timeout=60,
        check=True,
    )


_START = """\
import sys
from pathlib import Path
from memory_palace.session import draining
draining.start(Path(sys.argv[1]))
"""


def test_a_process_drains_behind_ones_back(keyword_palace: Palace) -> None:
    """It has a session of its own, says nothing, and knows that it is inside a hook."""
    root = keyword_palace.root
    (root / "memory_palace").mkdir()
    (root / "memory_palace/__init__.py").write_text("raise SystemExit(3)")
    say(root, "one")
    end(root)
    started = run_alone(_START, root)
    until_drained(root)
    assert texts(root) == ["one"]
    assert faults(root) == []
    assert (started.stdout, started.stderr) == (b"", b"")


_START_WITH_HANDLE = """\
import os, sys
from pathlib import Path
from memory_palace.session import draining
draining._BOOT = sys.argv[2]
os.dup2(int(sys.argv[3]), 77)
draining.start(Path(sys.argv[1]))
"""

_SEEN = """\
import json, os, sys
got = [os.getsid(0), os.getcwd(), os.environ["PALACE_HOOK"],
       [os.readlink(f"/proc/self/fd/{n}") for n in (0, 1, 2)], os.path.exists("/proc/self/fd/77")]
with open(sys.argv[2] + "/half", "w") as file:
    json.dump(got, file)
os.rename(sys.argv[2] + "/half", sys.argv[2] + "/seen")
"""


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="handles are looked at in /proc")
def test_a_process_has_nothing_of_its_starters(keyword_palace: Palace) -> None:
    """Neither its session, nor its folder, nor a handle: a client waits until all are closed."""
    root = keyword_palace.root
    ours, theirs = os.pipe()
    try:
        run_alone(_START_WITH_HANDLE, root, _SEEN, str(theirs), pass_fds=[theirs])
    finally:
        for handle in (ours, theirs):
            os.close(handle)
    until = time.monotonic() + 60
    while not (root / "seen").exists():
        assert time.monotonic() < until
        time.sleep(0.02)
    session, folder, guard, handles, more = json.loads((root / "seen").read_text())
    assert session != os.getsid(0)
    assert (Path(folder).resolve(), guard, handles) == (root.resolve(), "1", [os.devnull] * 3)
    assert not more


def test_a_process_that_hangs_is_ended(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And another one may do the work."""
    root = keyword_palace.root
    say(root, "one")

    def hang() -> int:
        monkeypatch.setattr(settled, "run", lambda _: time.sleep(60))
        draining.background(str(root), 1)
        return 0

    assert Child(hang).wait() == -signal.SIGALRM
    assert not draining.is_working(root)
    draining.work(root)
    assert texts(root) == ["one"]


def test_without_a_program_of_its_own_nothing_is_started(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An embedded Python does not know one: a fault, not a hang."""
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(OSError, match="own program"):
        draining.start(keyword_palace.root)


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ModuleNotFoundError("No module", name="filelock"), "the package `filelock`"),
        (ValueError("odd"), "ValueError: odd: run `palace observe --auto`"),
    ],
)
def test_a_process_that_fails_says_why(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    """There is nobody who would see its stderr."""

    def work(root: Path) -> None:
        raise error

    monkeypatch.setattr(draining, "work", work)
    monkeypatch.setenv("PALACE_HOOK", "")
    draining.background(str(keyword_palace.root))
    assert said in faults(keyword_palace.root)[0]


def test_capture_off_still_drains_what_waits(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was said before it was switched off is kept."""
    root = keyword_palace.root
    say(root, "one")
    monkeypatch.setenv(capture.VARIABLE, "off")
    draining.work(root)
    assert texts(root) == ["one"]
