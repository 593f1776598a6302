"""One writer at a time."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from memory_palace.core.errors import Missing, Refused
from memory_palace.files import locks
from support.palaces import SCRIPTS

HOLDER = """
import sys
from pathlib import Path
from memory_palace.files import locks
with locks.writer(Path(sys.argv[1]), "palace index"):
    print("held", flush=True)
    sys.stdin.read()
"""


@contextmanager
def another_process(folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A process that holds the lock until its input ends."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(SCRIPTS)},
    ) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"held\n"
            yield holder
        finally:
            holder.kill()


def test_a_second_writer_waits_and_is_refused(tmp_path: Path) -> None:
    """While another process writes, a writer says whom it waits for, then is refused by name."""
    said: list[str] = []
    with another_process(tmp_path) as holder:
        who = rf"palace index \(process {holder.pid}, since \d\d:\d\d:\d\d\)"
        before = time.monotonic()
        with (
            pytest.raises(Refused, match=f"^{who} is still at it: run this again when it is done$"),
            locks.writer(tmp_path, "other", wait_seconds=0.3, say=said.append),
        ):
            pytest.fail("two writers at once")
        assert time.monotonic() - before >= 0.3
        assert locks.owner(tmp_path) in said[0]
    assert len(said) == 1


def test_a_second_writer_goes_on_when_the_first_is_done(tmp_path: Path) -> None:
    """Waiting ends as soon as the lock is free."""
    said: list[str] = []
    with another_process(tmp_path) as holder:
        assert holder.stdin is not None
        timer = threading.Timer(0.3, holder.stdin.close)
        timer.start()
        with locks.writer(tmp_path, "other", wait_seconds=30, say=said.append):
            assert locks.owner(tmp_path).startswith(f"other (process {os.getpid()}, since ")
        timer.join()
    assert len(said) == 1


def test_a_killed_owner_leaves_no_lock(tmp_path: Path) -> None:
    """After ``kill -9`` the next writer has the lock at once, and its own name on it."""
    said: list[str] = []
    with another_process(tmp_path) as holder:
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert locks.owner(tmp_path).startswith("palace index"), "the name stays, the lock does not"
        with locks.writer(tmp_path, "other", wait_seconds=0, say=said.append):
            assert locks.owner(tmp_path).startswith("other")
    assert not said


@pytest.mark.parametrize("fault", [None, ValueError("x"), KeyboardInterrupt()])
def test_the_lock_is_released_however_the_work_ends(
    tmp_path: Path, fault: BaseException | None
) -> None:
    """After work done, failed or interrupted nobody owns the lock."""
    try:
        with locks.writer(tmp_path, "one"):
            if fault:
                raise fault
    except BaseException as raised:
        assert raised is fault
    assert locks.owner(tmp_path) == "another writer"
    with locks.writer(tmp_path, "two", wait_seconds=0):
        pass


def test_threads_of_one_process_take_turns(tmp_path: Path) -> None:
    """The lock holds between threads too."""
    inside: list[int] = []
    most: list[int] = []

    def work(number: int) -> None:
        with locks.writer(tmp_path, "thread", wait_seconds=30):
            inside.append(number)
            most.append(len(inside))
            time.sleep(0.01)
            inside.remove(number)

    threads = [threading.Thread(target=work, args=(n,)) for n in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] * 5


def test_the_folder_is_made(tmp_path: Path) -> None:
    """A writer makes the folder that it locks."""
    with locks.writer(tmp_path / "a" / "b", "one"):
        assert (tmp_path / "a" / "b").is_dir()


@pytest.mark.parametrize("place", ["a file", "below a file", "a file system that takes none"])
def test_a_folder_that_cannot_be_written_is_missing(tmp_path: Path, place: str) -> None:
    """Where no lock can be, the fault names the folder and says what to do."""
    (tmp_path / "file").touch()
    folder = {
        "a file": tmp_path / "file",
        "below a file": tmp_path / "file" / "index",
        "a file system that takes none": Path("/proc/index"),
    }[place]
    if folder.parts[1] == "proc" and not Path("/proc/self").exists():
        pytest.skip("no /proc on this system")
    with (
        pytest.raises(Missing, match=rf"^cannot write {folder} \(.+\): make it writable$"),
        locks.writer(folder, "one"),
    ):
        pytest.fail("locked nothing")


@pytest.mark.parametrize("content", [None, "", "{", "[]", '"x"', '{"pid": 1}', "\0"])
def test_an_owner_without_a_name_is_another_writer(tmp_path: Path, content: str | None) -> None:
    """A missing or damaged name says no more than it knows."""
    if content is not None:
        (tmp_path / "writer.json").write_text(content)
    assert locks.owner(tmp_path) == "another writer"


def test_whether_the_lock_is_held_can_be_asked(tmp_path: Path) -> None:
    """Only while a writer is at it; asking makes and changes nothing."""
    assert not locks.is_held(tmp_path / "none")
    assert not locks.is_held(tmp_path)
    assert not list(tmp_path.iterdir())
    with another_process(tmp_path) as holder:
        assert locks.is_held(tmp_path)
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        assert not locks.is_held(tmp_path)
    lock = tmp_path / "writer.lock"
    lock.touch()
    before = lock.stat()
    assert not locks.is_held(tmp_path)
    after = lock.stat()
    assert (after.st_mtime_ns, after.st_ctime_ns) == (before.st_mtime_ns, before.st_ctime_ns)
    with locks.writer(tmp_path, "one", wait_seconds=0):
        assert locks.is_held(tmp_path)
    assert not locks.is_held(tmp_path)


@pytest.mark.parametrize("kind", ["a pipe", "a link", "a folder"])
def test_an_odd_lock_is_held_by_nobody(tmp_path: Path, kind: str) -> None:
    """Asking never blocks and follows no link."""
    lock = tmp_path / "writer.lock"
    if kind == "a pipe":
        os.mkfifo(lock)
    elif kind == "a link":
        lock.symlink_to(tmp_path / "other")
    else:
        lock.mkdir()
    assert not locks.is_held(tmp_path)


@pytest.mark.parametrize("way", ["fcntl", "filelock"])
def test_without_fcntl_the_lock_itself_is_tried(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    """Windows has another kind of lock, with the same answer."""
    if way == "filelock":
        monkeypatch.setattr(locks, "fcntl", None)
    assert not locks.is_held(tmp_path)
    assert not list(tmp_path.iterdir())
    with another_process(tmp_path):
        assert locks.is_held(tmp_path)
    (tmp_path / "writer.lock").touch()
    assert not locks.is_held(tmp_path)
