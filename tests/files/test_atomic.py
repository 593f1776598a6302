"""Whole-file writes."""

import errno
import os
import stat
import threading
from pathlib import Path

import pytest

from memory_palace.core.errors import BadInput, Changed
from memory_palace.files import atomic


def names(folder: Path) -> list[str]:
    """Everything in a folder, dot-files too."""
    return sorted(os.listdir(folder))


@pytest.mark.parametrize("data", [b"", b"one\r\ntwo", b"\0\xff" * 1000, b"x" * 3_000_000])
def test_the_content_is_written_whole(tmp_path: Path, data: bytes) -> None:
    """Any bytes come back as they were given, in folders made for it; nothing else is left."""
    path = tmp_path / "deep" / "er" / "note.md"
    atomic.write(path, data)
    assert path.read_bytes() == data
    assert names(path.parent) == ["note.md"]


@pytest.mark.parametrize(
    ("on_disk", "read"), [(b"theirs", b"mine"), (None, b"mine"), (b"theirs", None), (b"", None)]
)
def test_a_file_that_moved_on_is_not_overwritten(
    tmp_path: Path, on_disk: bytes | None, read: bytes | None
) -> None:
    """A write is refused, and changes nothing, if the file is no longer what the caller read."""
    path = tmp_path / "note.md"
    if on_disk is not None:
        path.write_bytes(on_disk)
    before = names(tmp_path)
    with pytest.raises(Changed, match=r"note\.md changed underneath: nothing was written; run"):
        atomic.write(path, b"new", expected=read)
    assert atomic.read_or_none(path) == on_disk
    assert names(tmp_path) == before


@pytest.mark.parametrize("on_disk", [b"as read", b"", None])
def test_a_file_that_is_as_it_was_read_is_replaced(tmp_path: Path, on_disk: bytes | None) -> None:
    """The guarded write goes through if the file, or its absence, is what the caller read."""
    path = tmp_path / "note.md"
    if on_disk is not None:
        path.write_bytes(on_disk)
    atomic.write(path, b"new", expected=atomic.read_or_none(path))
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o755, 0o440])
def test_the_mode_of_a_file_is_kept(tmp_path: Path, mode: int) -> None:
    """Replacing a file leaves its permissions as they were."""
    path = tmp_path / "note.md"
    path.write_bytes(b"old")
    path.chmod(mode)
    atomic.write(path, b"new")
    assert stat.S_IMODE(path.stat().st_mode) == mode


@pytest.mark.parametrize(("umask", "mode"), [(0o022, 0o644), (0o027, 0o640), (0o077, 0o600)])
def test_a_new_file_has_the_mode_that_the_umask_gives(
    tmp_path: Path, umask: int, mode: int
) -> None:
    """A new file is as readable as any that the user makes, and the umask is left alone."""
    before = os.umask(umask)
    try:
        atomic.write(tmp_path / "note.md", b"new")
    finally:
        assert os.umask(before) == umask
    assert stat.S_IMODE((tmp_path / "note.md").stat().st_mode) == mode


@pytest.mark.parametrize("call", ["fsync", "chmod", "replace"])
@pytest.mark.parametrize("fault", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str, fault: BaseException
) -> None:
    """A full disk or an interrupt at any step leaves the old file, and no temporary one."""

    def fail(*_: object) -> None:
        raise fault

    path = tmp_path / "note.md"
    path.write_bytes(b"old")
    monkeypatch.setattr(os, call, fail)
    with pytest.raises(type(fault)):
        atomic.write(path, b"new")
    assert path.read_bytes() == b"old"
    assert names(tmp_path) == ["note.md"]


def test_the_data_is_on_disk_before_the_name_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The temporary file is synced, then renamed, then the folder is synced."""
    steps: list[str] = []
    fsync, replace = os.fsync, os.replace

    def record_fsync(handle: int) -> None:
        is_folder = stat.S_ISDIR(os.fstat(handle).st_mode)
        steps.append("sync folder" if is_folder else "sync file")
        fsync(handle)

    def record_replace(source: str, target: Path) -> None:
        assert Path(source).parent == target.parent
        assert Path(source).name.startswith(".note.md."), "the tree skips dot-files"
        assert Path(source).read_bytes() == b"new"
        steps.append("rename")
        replace(source, target)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(os, "replace", record_replace)
    atomic.write(tmp_path / "note.md", b"new")
    assert steps == ["sync file", "rename", "sync folder"]


def test_a_disk_that_cannot_sync_folders_will_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where a folder cannot be synced, the write is done all the same."""
    fsync = os.fsync

    def files_only(handle: int) -> None:
        if stat.S_ISDIR(os.fstat(handle).st_mode):
            raise OSError(errno.EINVAL, "Invalid argument")
        fsync(handle)

    monkeypatch.setattr(os, "fsync", files_only)
    atomic.write(tmp_path / "note.md", b"new")
    assert (tmp_path / "note.md").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["a" * 255, "\N{CASTLE}" * 60 + ".md", " -rf\n.md", ".hidden"])
def test_any_name_that_the_disk_takes_can_be_written(tmp_path: Path, name: str) -> None:
    """The temporary file's name fits where the file's own does."""
    atomic.write(tmp_path / name, b"new")
    assert names(tmp_path) == [name]


def test_readers_see_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    """No reader ever sees a part of a write, nor a moment without a file."""
    path = tmp_path / "note.md"
    texts = [letter * 500_000 for letter in (b"a", b"b")]
    atomic.write(path, texts[0])
    done = threading.Event()
    seen: set[bytes | None] = set()

    def read() -> None:
        while not done.is_set():
            seen.add(atomic.read_or_none(path))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(40):
        atomic.write(path, texts[turn % 2])
    done.set()
    reader.join()
    assert seen <= set(texts)


def test_writers_at_once_do_not_share_a_temporary_file(tmp_path: Path) -> None:
    """Of several writers one wins whole, whoever it is."""
    path = tmp_path / "note.md"
    texts = [str(n).encode() * 200_000 for n in range(8)]
    threads = [threading.Thread(target=atomic.write, args=(path, text)) for text in texts]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_bytes() in texts
    assert names(tmp_path) == ["note.md"]


def test_no_file_reads_as_none(tmp_path: Path) -> None:
    """A missing file and a missing folder read as None, an empty file as no bytes."""
    (tmp_path / "empty").touch()
    assert atomic.read_or_none(tmp_path / "none") is None
    assert atomic.read_or_none(tmp_path / "no" / "folder") is None
    assert atomic.read_or_none(tmp_path / "empty") == b""


def test_what_a_killed_write_left_is_tidied_away(tmp_path: Path) -> None:
    """Temporary files of this file go, those of others stay."""
    (tmp_path / ".a.jsonl.x1y2.tmp").touch()
    (tmp_path / ".b.jsonl.x1y2.tmp").touch()
    atomic.tidy(tmp_path / "a.jsonl")
    assert [p.name for p in tmp_path.iterdir()] == [".b.jsonl.x1y2.tmp"]


def test_a_link_is_not_written_through_nor_replaced(tmp_path: Path) -> None:
    """A symbolic link, wherever it leads, is refused and left as it is."""
    (tmp_path / "real").write_bytes(b"old")
    for target in ("real", "nowhere", "."):
        link = tmp_path / "note.md"
        link.symlink_to(target)
        with pytest.raises(BadInput, match=r"note\.md is a symbolic link: replace it by the file"):
            atomic.write(link, b"new")
        assert os.readlink(link) == target
        link.unlink()
    assert names(tmp_path) == ["real"]
    assert (tmp_path / "real").read_bytes() == b"old"


@pytest.mark.parametrize("kind", ["pipe", "folder"])
def test_what_is_no_file_is_not_replaced(tmp_path: Path, kind: str) -> None:
    """A pipe would hang whoever compares its content; it stays, as a folder does."""
    path = tmp_path / "note.md"
    os.mkfifo(path) if kind == "pipe" else path.mkdir()
    with pytest.raises(BadInput, match=r"is not a regular file: move it away$"):
        atomic.write(path, b"new", expected=None)
    assert names(tmp_path) == ["note.md"]


def test_a_write_leaves_the_umask_of_other_threads_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The umask is the whole process's: asking for it would set it for a moment."""
    monkeypatch.setattr(os, "umask", lambda _: pytest.fail("umask set"))
    atomic.write(tmp_path / "note.md", b"new")
    atomic.write(tmp_path / "note.md", b"newer")


def test_a_private_file_is_private_while_it_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The temporary file of a private one is never open to others."""
    path = tmp_path / "note.md"
    path.write_bytes(b"old")
    path.chmod(0o600)
    modes: list[int] = []
    monkeypatch.setattr(
        os, "fsync", lambda handle: modes.append(stat.S_IMODE(os.fstat(handle).st_mode))
    )
    atomic.write(path, b"new")
    assert modes[0] == 0o600
