"""One text file, safely."""

import os
import socket
from pathlib import Path

import pytest

from memory_palace.core.diff import FileStat
from memory_palace.files import read


def faulty(root: Path, path: str = "note.md") -> read.Unreadable:
    """What is wrong with a file that gives no text."""
    got = read.read(root, path)
    assert isinstance(got, read.Unreadable)
    assert got.problem.path == path
    assert got.problem.grade == "error"
    return got


@pytest.mark.parametrize(
    "data",
    [b"", b"one\r\n", b"\xef\xbb\xbfone", "宮殿 \N{CASTLE} e\u0301".encode(), b"a\rb\x7f\x1b"],
)
def test_the_text_is_what_the_file_holds(tmp_path: Path, data: bytes) -> None:
    """Text, hash and stat are those of the bytes, nothing is translated."""
    path = tmp_path / "note.md"
    path.write_bytes(data)
    got = read.read(tmp_path, "note.md")
    assert isinstance(got, read.Text)
    assert got.text.encode() == data
    info = path.stat()
    assert got.stat == FileStat("note.md", len(data), info.st_mtime_ns, info.st_ino)
    (tmp_path / "other.md").write_bytes(data + b"!")
    other = read.read(tmp_path, "other.md")
    assert isinstance(other, read.Text)
    assert got.sha256 != other.sha256


@pytest.mark.parametrize(
    ("data", "line", "message"),
    [
        (b"\0", 1, "binary (a NUL byte): keep it outside the palace, or without .md"),
        (b"one\ntwo\nth\0ree\0", 3, "binary (a NUL byte): keep it outside the palace"),
        (b"one\r\n\xff", 2, "not UTF-8 (byte 0xff): save it as UTF-8"),
        (b"caf\xe9\nx", 1, "not UTF-8 (byte 0xe9): save it as UTF-8"),
        (b"one\ntwo\n\xed\xa0\x80", 3, "not UTF-8 (byte 0xed): save it as UTF-8"),
        (b"cut \xf0\x9f\x8f", 1, "not UTF-8 (byte 0xf0): save it as UTF-8"),
    ],
)
def test_what_is_no_text_is_reported_with_its_line(
    tmp_path: Path, data: bytes, line: int, message: str
) -> None:
    """Bytes that are no UTF-8 text are the content's fault, at the line where they stand."""
    (tmp_path / "note.md").write_bytes(data)
    got = faulty(tmp_path)
    assert got.content
    assert got.problem.line == line
    assert got.problem.message.startswith(message)


def test_ten_megabytes_are_the_most(tmp_path: Path) -> None:
    """A note of exactly the limit is read whole, one byte more is reported with its size."""
    (tmp_path / "note.md").write_bytes(b"x" * read.MOST_BYTES)
    got = read.read(tmp_path, "note.md")
    assert isinstance(got, read.Text)
    assert len(got.text) == 10 * 1024 * 1024
    with (tmp_path / "note.md").open("ab") as file:
        file.truncate(25 * 2**20)
    large = faulty(tmp_path)
    assert large.content
    assert large.problem.message == "25 MB, a note may have 10: split it"


def test_what_is_not_there_cannot_be_reached(tmp_path: Path) -> None:
    """A missing file is no fault of its content, so what was known of it still stands."""
    got = faulty(tmp_path)
    assert not got.content
    assert "No such file" in got.problem.message
    assert got.problem.message.endswith("check it and its permissions")


@pytest.mark.parametrize("path", ["a\0b.md", "\ud800.md", "x" * 300 + ".md", "file/note.md"])
def test_a_path_that_cannot_be_is_reported(tmp_path: Path, path: str) -> None:
    """A path that no disk can hold is a value like any other fault."""
    (tmp_path / "file").touch()
    got = faulty(tmp_path, path)
    assert not got.content
    assert "None" not in got.problem.message


def test_a_last_link_is_not_followed(tmp_path: Path) -> None:
    """A symbolic link gives no text, whatever it leads to."""
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "note.md").symlink_to("secret")
    assert not faulty(tmp_path).content
    (tmp_path / "loop.md").symlink_to("loop.md")
    assert not faulty(tmp_path, "loop.md").content


def test_a_pipe_does_not_block(tmp_path: Path) -> None:
    """A named pipe with no writer is reported at once."""
    os.mkfifo(tmp_path / "note.md")
    assert faulty(tmp_path).problem.message == "not a regular file: move it away"


def test_a_socket_gives_no_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A socket is reported, not read."""
    monkeypatch.chdir(tmp_path)  # a socket's path may have 107 bytes only
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("note.md")
        faulty(tmp_path)


def test_a_folder_is_no_file_and_costs_no_handle(tmp_path: Path) -> None:
    """A folder named like a note is reported, and leaves no open file behind."""
    (tmp_path / "note.md").mkdir()
    assert faulty(tmp_path).problem.message == "not a regular file: move it away"
    handles = Path("/proc/self/fd")
    if not handles.exists():
        pytest.skip("no /proc on this system to count open files")
    before = len(list(handles.iterdir()))
    for _ in range(20):
        faulty(tmp_path)
    assert len(list(handles.iterdir())) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_file_without_permission_is_kept_as_it_was(tmp_path: Path) -> None:
    """A file that may not be read is out of reach, not at fault."""
    (tmp_path / "note.md").write_text("text")
    (tmp_path / "note.md").chmod(0)
    assert not faulty(tmp_path).content


def test_bytes_come_as_they_are(tmp_path: Path) -> None:
    """The bytes of a file that is no text can still be had, to compare them."""
    (tmp_path / "note.md").write_bytes(b"\0\xff")
    got = read.read_bytes(tmp_path, "note.md")
    assert not isinstance(got, read.Unreadable)
    assert got[0] == b"\0\xff"


def test_another_limit_is_named(tmp_path: Path) -> None:
    """Whoever reads something larger says how large, and of what."""
    (tmp_path / "list").write_bytes(b"x" * (2 * 2**20 + 1))
    got = read.read_bytes(tmp_path, "list", 2 * 2**20, "a list")
    assert isinstance(got, read.Unreadable)
    assert got.problem.message == "2 MB, a list may have 2: split it"
    got = read.read_bytes(tmp_path, "list", 256 * 2**10, "a list")
    assert isinstance(got, read.Unreadable)
    assert got.problem.message == "2048 KB, a list may have 256: split it"


def test_windows_knows_no_inode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It tells one of an open file and none of a listed one: neither counts."""
    info = tmp_path.stat()
    assert read.file_stat("a", info).inode == info.st_ino
    monkeypatch.setattr(read.os, "name", "nt")
    assert read.file_stat("a", info) == FileStat("a", info.st_size, info.st_mtime_ns, 0)


def test_a_time_that_no_database_holds_is_bounded(tmp_path: Path) -> None:
    """A clock that was far off must not end an index run."""
    path = tmp_path / "note.md"
    path.write_text("One.")
    os.utime(path, ns=(0, 2**63 + 10**9))
    assert read.file_stat("note.md", path.stat()).mtime_ns <= 2**63 - 1
