"""The queue on disk: appended to by many, taken away by one, never waited for."""

import io
import os
import threading
import time
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput
from memory_palace.files import queue
from memory_palace.files.queue import Taken

S = "claude-code.s1"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder to stand for a palace."""
    return tmp_path


def texts(root: Path, one: Taken) -> list[bytes]:
    """The lines of a renamed file that are not stored."""
    return [line.strip() for line, _ in queue.lines(root, one)]


def end(root: Path, one: Taken) -> int:
    """Where the last whole line ends."""
    return max((at for _, at in queue.lines(root, one)), default=one.done)


def old(root: Path, one: Taken) -> None:
    """As if nobody had written there for long."""
    past = time.time() - 2 * queue.KEPT_SECONDS
    os.utime(root / queue.FOLDER / one.name, (past, past))


def test_lines_come_back_in_their_order(root: Path) -> None:
    """Put, renamed, read; private to its user."""
    for number in range(3):
        assert queue.put(root, S, b"line %d" % number) == ""
    place = root / queue.FOLDER / f"{S}.jsonl"
    assert place.stat().st_mode & 0o077 == 0
    assert place.parent.stat().st_mode & 0o077 == 0
    assert queue.take(root, S, 0)
    (one,) = queue.taken(root, S)
    assert texts(root, one) == [b"line 0", b"line 1", b"line 2"]
    assert not queue.take(root, S, 1)


def test_the_name_says_how_far_it_was_read(root: Path) -> None:
    """And what comes later into a renamed file is found."""
    queue.put(root, S, b"first")
    handle = os.open(root / queue.FOLDER / f"{S}.jsonl", os.O_WRONLY | os.O_APPEND)
    queue.take(root, S, 0)
    (one,) = queue.taken(root, S)
    one = queue.mark(root, one, end(root, one))
    assert queue.waiting(root) == queue.Waiting(0, 0)
    os.write(handle, b"\nlate\n")
    os.close(handle)
    (again,) = queue.taken(root, S)
    assert again.name == one.name
    assert texts(root, again) == [b"late"]
    assert queue.waiting(root) == queue.Waiting(1, 6)


def test_a_file_goes_when_nobody_can_be_writing(root: Path) -> None:
    """Not before, and not if something came meanwhile."""
    queue.put(root, S, b"first")
    queue.take(root, S, 0)
    (one,) = queue.taken(root, S)
    one = queue.mark(root, one, end(root, one))
    assert not queue.remove(root, one)
    with (root / queue.FOLDER / one.name).open("ab") as file:
        file.write(b"\nlate\n")
    old(root, one)
    assert not queue.remove(root, one)
    (one,) = queue.taken(root, S)
    one = queue.mark(root, one, end(root, one))
    old(root, one)
    assert queue.remove(root, one)
    assert queue.sessions(root) == []


def test_a_file_that_was_long_quiet_is_kept_from_its_renaming_on(root: Path) -> None:
    """A hook may have opened it just before."""
    queue.put(root, S, b"first")
    past = time.time() - 2 * queue.KEPT_SECONDS
    os.utime(root / queue.FOLDER / f"{S}.jsonl", (past, past))
    queue.take(root, S, 0)
    (one,) = queue.taken(root, S)
    assert not queue.remove(root, queue.mark(root, one, end(root, one)))


def test_a_line_into_a_file_that_was_removed_is_written_again(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The hook was stopped between opening and writing."""
    queue.put(root, S, b"first")
    real = os.write
    gone = []

    def write(handle: int, data: bytes) -> int:
        if not gone:
            gone.append(True)
            os.unlink(root / queue.FOLDER / f"{S}.jsonl")
        return real(handle, data)

    monkeypatch.setattr(os, "write", write)
    assert queue.put(root, S, b"second") == ""
    queue.take(root, S, 0)
    assert texts(root, *queue.taken(root, S)) == [b"second"]


def test_a_torn_line_spoils_no_other(root: Path) -> None:
    """What a killed hook left is a line of its own."""
    queue.put(root, S, b"first")
    with (root / queue.FOLDER / f"{S}.jsonl").open("ab") as file:
        file.write(b'\n{"kind": "ent')
    queue.put(root, S, b"second")
    queue.take(root, S, 0)
    assert texts(root, *queue.taken(root, S)) == [b"first", b'{"kind": "ent', b"second"]


def test_a_line_without_an_end_waits(root: Path) -> None:
    """Somebody may be writing it."""
    queue.put(root, S, b"first")
    with (root / queue.FOLDER / f"{S}.jsonl").open("ab") as file:
        file.write(b"\nhalf")
    queue.take(root, S, 0)
    (one,) = queue.taken(root, S)
    assert texts(root, one) == [b"first"]
    one = queue.mark(root, one, end(root, one))
    assert queue.waiting(root).bytes == len(b"\nhalf")
    old(root, one)
    assert queue.remove(root, one)


def test_a_line_whose_rest_comes_while_it_is_read_is_read_whole(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A long write becomes visible bit by bit: what was seen of it is no line that was torn."""
    queue.put(root, S, b"first")
    handle = os.open(root / queue.FOLDER / f"{S}.jsonl", os.O_WRONLY | os.O_APPEND)
    os.write(handle, b"\nsec")
    queue.take(root, S, 0)

    class Slow(io.BufferedReader):
        """A file that grows right after its end was read."""

        def readline(self, size: int | None = -1, /) -> bytes:
            line = super().readline(size)
            if line == b"sec":
                os.write(handle, b"ond\n")
            return line

    monkeypatch.setattr(queue, "open", lambda path, *_, **__: Slow(io.FileIO(path)), raising=False)
    (one,) = queue.taken(root, S)
    assert texts(root, one) == [b"first"]
    os.close(handle)
    monkeypatch.undo()
    (again,) = queue.taken(root, S)
    assert texts(root, queue.mark(root, again, len(b"\nfirst\n"))) == [b"second"]


def test_a_line_that_is_too_long_is_one_empty_one(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Bounded memory, whatever somebody put there."""
    monkeypatch.setattr(queue, "LONGEST", 64)
    queue.put(root, S, b"first")
    with (root / queue.FOLDER / f"{S}.jsonl").open("ab") as file:
        file.write(b"x" * 1_000 + b"\n")
    queue.put(root, S, b"second")
    queue.take(root, S, 0)
    (one,) = queue.taken(root, S)
    assert texts(root, one) == [b"first", b"", b"second"]
    assert end(root, one) == one.size


def test_a_full_session_is_said_and_not_waited_for(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other sessions go on."""
    monkeypatch.setattr(queue, "MOST_BYTES", 100)
    assert queue.put(root, S, b"x" * 90) == ""
    assert queue.put(root, S, b"x" * 90) == queue.FULL
    assert queue.put(root, "claude-code.s2", b"x" * 90) == ""
    assert queue.waiting(root) == queue.Waiting(2, 184)


@pytest.mark.parametrize("bound", ["MOST_ALL", "MOST_FILES"])
def test_a_full_folder_takes_no_new_session(
    root: Path, monkeypatch: pytest.MonkeyPatch, bound: str
) -> None:
    """Its size is looked at where a file begins, and now and then."""
    monkeypatch.setattr(queue, bound, 3 if bound == "MOST_FILES" else 250)
    kept = [queue.put(root, f"c.s{number}", b"x" * 90) for number in range(6)]
    assert kept[:3] == ["", "", ""]
    assert kept[-1] == queue.FULL
    assert queue.put(root, "c.s0", b"x") == ""


def test_a_session_that_grows_is_looked_at_now_and_then(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not only where it begins: a long one would fill the disk by itself."""
    monkeypatch.setattr(queue, "MOST_ALL", 500)
    monkeypatch.setattr(queue, "STEP", 256)
    kept = [queue.put(root, S, b"x" * 98) for _ in range(12)]
    assert kept == [""] * 7 + [queue.FULL] * 5


def test_a_line_that_could_not_be_read_is_not_put(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said at once, where somebody can be told."""
    monkeypatch.setattr(queue, "LONGEST", 64)
    assert queue.put(root, S, b"x" * 63) == queue.FULL
    assert queue.put(root, S, b"x" * 62) == ""
    queue.take(root, S, 0)
    assert texts(root, *queue.taken(root, S)) == [b"x" * 62]


def test_a_clock_that_was_set_back_keeps_no_file(root: Path) -> None:
    """Its last line is of the future then."""
    queue.put(root, S, b"first")
    queue.take(root, S, 0)
    (one,) = queue.taken(root, S)
    one = queue.mark(root, one, end(root, one))
    later = time.time() + 2 * queue.KEPT_SECONDS
    os.utime(root / queue.FOLDER / one.name, (later, later))
    assert queue.remove(root, one)


def test_names_of_sessions_are_files_names() -> None:
    """Plain ones as they are, any other by a digest; no two the same."""
    assert queue.name("pi", "a1-B", "") == "pi.a1-B"
    assert queue.name("pi", "a1-B", "sub") == "pi.a1-B.sub"
    odd = ["a/b", "..", "a\nb", "x" * 10_000, "\udcff", "a b", "é", "", "a.b"]
    names = {queue.name("pi", one, "") for one in odd}
    assert len(names) == len(odd)
    assert all(set(name) <= set("0123456789abcdefpi.") and len(name) <= 64 for name in names)


def test_a_link_in_the_folders_place_is_refused(root: Path, tmp_path: Path) -> None:
    """A clone could lead what is said anywhere."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (root / ".palace").mkdir()
    (root / queue.FOLDER).symlink_to(elsewhere)
    with pytest.raises(BadInput, match="symbolic link"):
        queue.put(root, S, b"line")
    assert "symbolic link" in queue.fault(root)
    assert queue.sessions(root) == []
    assert list(elsewhere.iterdir()) == []


def test_a_file_or_a_pipe_in_the_way_is_an_error(root: Path) -> None:
    """At once: nobody hangs."""
    (root / ".palace").mkdir()
    (root / queue.FOLDER).write_text("")
    with pytest.raises(OSError, match=r"ot a directory|xists"):
        queue.put(root, S, b"line")
    assert "no folder" in queue.fault(root)
    (root / queue.FOLDER).unlink()
    (root / queue.FOLDER).mkdir()
    os.mkfifo(root / queue.FOLDER / f"{S}.jsonl")
    with pytest.raises(OSError, match="o such device"):
        queue.put(root, S, b"line")
    assert queue.sessions(root) == []


def test_one_drains_at_a_time(root: Path) -> None:
    """A second one is told so at once, and who asks disturbs nobody."""
    assert not queue.is_held(root)
    with queue.only_one(root) as mine:
        assert mine
        assert queue.is_held(root)
        with queue.only_one(root) as other:
            assert not other
        with queue.only_one(root, queue.WORK) as another:
            assert another
    assert not queue.is_held(root)
    stop = threading.Event()

    def ask() -> None:
        while not stop.is_set():
            queue.is_held(root)

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        for _ in range(20):
            with queue.only_one(root) as mine:
                assert mine
    finally:
        stop.set()
        asking.join()


def test_strange_names_are_passed_over(root: Path) -> None:
    """What is none of ours is neither read nor touched."""
    folder = root / queue.FOLDER
    folder.mkdir(parents=True)
    for name in ("notes.txt", "a.b.old", "a.x.1.old", "a.1.x.old", "drain.lock"):
        (folder / name).write_text("text\n")
    (folder / "d.jsonl").mkdir()
    (folder / "l.jsonl").symlink_to(folder / "notes.txt")
    assert queue.sessions(root) == []
    assert queue.waiting(root) == queue.Waiting(0, 0)
    assert queue.counted(root) == queue.Waiting(0, 0, 0)


def test_items_are_counted(root: Path) -> None:
    """For whoever asks how many wait."""
    for number in range(5):
        queue.put(root, f"c.s{number % 2}", b"line")
    assert queue.counted(root) == queue.Waiting(2, 30, 5)
