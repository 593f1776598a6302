"""Wings, and the one that is at hand."""

import subprocess
from pathlib import Path

import pytest

from memory_palace.core.errors import Refused
from memory_palace.session import wings
from support.palaces import Palace


@pytest.fixture
def root(keyword_palace: Palace) -> Path:
    """A project, an agent, and one name for both."""
    keyword_palace.notes(
        project_rooms__demo__a="x", chambers__pi__a="x", chambers__demo__a="x", topics__a="x"
    )
    return keyword_palace.root


def git(folder: Path, *words: str) -> None:
    """Run git in ``folder``."""
    who = ("-c", "user.name=a", "-c", "user.email=a@b")
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


def test_every_wing(root: Path) -> None:
    """Projects first; a name that both have is one wing of two folders. Dot folders are none."""
    (root / "palace/project_rooms/.hidden").mkdir()
    (root / "palace/project_rooms/link").symlink_to(root)
    assert wings.every(root) == (
        ("demo", ("palace/project_rooms/demo", "palace/chambers/demo")),
        ("pi", ("palace/chambers/pi",)),
    )
    assert wings.every(root / "nowhere") == ()


def test_by_name(root: Path) -> None:
    """As written, else without case; else the nearest is named."""
    assert wings.named(root, "Demo").name == "demo"
    assert wings.find(root, "demi") is None
    with pytest.raises(Refused, match="no wing `demi`: did you mean `demo`"):
        wings.named(root, "demi")


def test_of_the_repository_at_hand(root: Path, tmp_path: Path) -> None:
    """Also from a folder in it, and from a linked worktree of another name."""
    repository = tmp_path / "demo"
    (repository / "src").mkdir(parents=True)
    git(repository, "init", "-q")
    git(repository, "commit", "-q", "--allow-empty", "-m", "x")
    git(repository, "worktree", "add", "-q", str(tmp_path / "other"))
    for place in (repository, repository / "src", tmp_path / "other"):
        found = wings.at(root, place)
        assert found is not None and found.name == "demo"
    stranger = tmp_path / "stranger"
    stranger.mkdir()
    git(stranger, "init", "-q")
    assert wings.at(root, stranger) is None
    assert wings.at(root, None) is None
