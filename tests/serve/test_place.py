"""Where a server is met, and what is not believed."""

import os
import stat
from pathlib import Path

import pytest
from filelock import FileLock

from memory_palace.core.errors import BadInput, Missing
from memory_palace.serve import place
from memory_palace.serve.place import Address
from support.palaces import Palace


def test_the_folder_is_made_for_its_user_alone(filled: Palace) -> None:
    """Whatever the umask; one that was open to others is closed."""
    before = os.umask(0)
    try:
        folder = place.make(filled.root)
    finally:
        os.umask(before)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    folder.chmod(0o777)
    assert not place.private(folder)
    assert place.make(filled.root) == folder
    assert place.private(folder)


def test_a_link_or_a_file_in_its_place_is_refused(filled: Palace, tmp_path: Path) -> None:
    """Nothing is written through a link of a stranger's."""
    folder = filled.root / ".palace/serve"
    folder.symlink_to(tmp_path)
    with pytest.raises(BadInput, match="symbolic link"):
        place.make(filled.root)
    folder.unlink()
    folder.write_text("")
    with pytest.raises(Missing, match="cannot write"):
        place.make(filled.root)


def test_what_came_with_a_clone_is_not_believed(filled: Palace) -> None:
    """Files that others may read, links and things of another kind are as good as not there."""
    folder = place.make(filled.root)
    path = folder / place.ADDRESS
    place.write(path, {"port": 4242, "token": "t"})
    lock = FileLock(folder / place.LOCK)
    lock.acquire()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert place.address(filled.root) == Address(port=4242, token="t")
    path.chmod(0o644)
    assert place.address(filled.root) is None
    path.chmod(0o600)
    path.rename(folder / "other")
    path.symlink_to(folder / "other")
    assert place.read(path) == {}
    path.unlink()
    (folder / place.SOCKET).write_text("no socket")
    (folder / place.SOCKET).chmod(0o600)
    assert place.address(filled.root) is None
    assert place.held(folder)
    lock.release()
    assert not place.held(folder)


def test_a_path_that_is_too_long_for_a_socket() -> None:
    """Counted in bytes, up to the last that every system takes."""
    room = place.LONGEST_SOCKET_PATH - len("//.palace/serve/socket")
    assert place.unix_path(Path("/" + "a" * room))
    assert place.unix_path(Path("/" + "a" * (room + 1))) is None
    assert place.unix_path(Path("/" + "é" * room)) is None


def test_an_address_in_words() -> None:
    """The socket's path, or host and port; never the token."""
    assert str(Address(Path("/a/socket"))) == "/a/socket"
    assert str(Address(port=4242, token="secret")) == "127.0.0.1:4242"
