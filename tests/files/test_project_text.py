"""Files of mined projects, read where they are."""

import os
from pathlib import Path

import pytest

from memory_palace.core.diff import Known
from memory_palace.core.text import sha256
from memory_palace.files import local, project_text, read
from memory_palace.files.read import Text, Unreadable


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A palace that knows the project ``demo`` in ``source``."""
    (tmp_path / "source/src").mkdir(parents=True)
    (tmp_path / "source/src/a.py").write_bytes(b"a = '\xff'\0\n")
    place = tmp_path / "root"
    place.mkdir()
    local.put(place, "demo", tmp_path / "source")
    return place


def test_its_text_is_read_under_its_long_path(root: Path, tmp_path: Path) -> None:
    """The hash is of the bytes; what is no text in them is replaced."""
    got = read.read(root, "project:demo/src/a.py")
    assert isinstance(got, Text)
    assert got.text == "a = '\ufffd'\ufffd\n"
    assert got.stat.path == "project:demo/src/a.py"
    assert got.sha256 != sha256(got.text)


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("project:other/a.py", "its project is not on this machine"),
        ("project:demo/gone.py", "No such file or directory"),
        ("project:demo", "its project is not on this machine"),
    ],
)
def test_what_cannot_be_reached_may_still_be_there(root: Path, path: str, why: str) -> None:
    """So what is known of it stands."""
    got = read.read(root, path)
    assert isinstance(got, Unreadable)
    assert not got.content
    assert why in got.problem.message


def test_no_link_is_followed(root: Path, tmp_path: Path) -> None:
    """Neither the file nor a folder above it."""
    (tmp_path / "source/b.py").symlink_to(tmp_path / "source/src/a.py")
    (tmp_path / "source/way").symlink_to(tmp_path / "source/src")
    for path in ("b.py", "way/a.py"):
        assert isinstance(read.read(root, f"project:demo/{path}"), Unreadable)


def test_a_file_that_has_grown_too_large_is_a_warning(root: Path, tmp_path: Path) -> None:
    """It is of its content: its old text is not kept."""
    os.truncate(tmp_path / "source/src/a.py", 600 * 1024)
    got = read.read(root, "project:demo/src/a.py")
    assert isinstance(got, Unreadable)
    assert (got.content, got.problem.grade) == (True, "warning")
    assert "over 512 KB" in got.problem.message


def test_a_changed_local_yaml_counts_at_once(root: Path, tmp_path: Path) -> None:
    """Where projects are is kept only as long as the file stays as it is."""
    assert project_text.folders(root) == {"demo": tmp_path / "source"}
    (tmp_path / "other/src").mkdir(parents=True)
    local.put(root, "demo", tmp_path / "other")
    assert project_text.folders(root) == {"demo": tmp_path / "other"}
    (tmp_path / "other/src").rmdir()
    assert project_text.folders(root) == {}  # with nothing in it, its disk may only be away


def test_a_file_as_large_as_may_be_is_read(root: Path, tmp_path: Path) -> None:
    """One byte more is too many, as where it is collected."""
    os.truncate(tmp_path / "source/src/a.py", 512 * 1024)
    assert isinstance(read.read(root, "project:demo/src/a.py"), Text)
    os.truncate(tmp_path / "source/src/a.py", 512 * 1024 + 1)
    assert isinstance(read.read(root, "project:demo/src/a.py"), Unreadable)


def test_a_closed_folder_is_here(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That it cannot be listed does not make it another, nor empty."""

    def closed(place: object, **more: object) -> None:
        raise PermissionError(13, "Permission denied", str(place))

    known = [Known(f"project:demo/{n}.py", 1, 0, 0, "") for n in range(20)]
    folder = tmp_path / "source"
    assert project_text.is_another(folder, known)
    assert not project_text.is_another(folder, [])
    monkeypatch.setattr(os, "scandir", closed)
    assert project_text.folders(root) == {"demo": folder}
    monkeypatch.setattr(Path, "lstat", closed)
    assert not project_text.is_another(folder, known)
