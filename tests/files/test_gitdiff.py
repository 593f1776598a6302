"""What differs between two commits, or a commit and the disk."""

import os
from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.core.errors import BadInput, Missing
from memory_palace.files import git, gitdiff, gitkeep
from memory_palace.files.gitdiff import Blob, Compared
from support.palaces import NOW

T = 1_700_000_000
NAMES = [
    "palace/two words.md",
    "palace/宮殿.md",
    "palace/line\nfeed.md",
    'palace/"q"\\.md',
    "palace/*.md",
]


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with two notes at one commit."""
    repository = Repository(tmp_path / "repository")
    repository.commit("palace/a.md", "palace/b.md", "other.md", at=T)
    return repository


def told(root: Path, said: str | None = None) -> dict[str, tuple[bytes | None, bytes | None]]:
    """{path: (before, after)} of what differs."""
    found = gitdiff.differences(root, gitdiff.compared(root, said))
    assert not any(one.fault for one in found)
    return {one.path: (one.before, one.after) for one in found}


def test_nothing_differs_at_first(repository: Repository) -> None:
    """Also where a file was touched, or written anew with the same text."""
    assert told(repository.folder) == {}
    text = (repository.folder / "palace/a.md").read_text()
    repository.write("palace/a.md", text)
    assert told(repository.folder) == {}


def test_every_way_in_which_a_file_can_differ(repository: Repository) -> None:
    """Edited, staged, deleted, added to the index, untracked; only what belongs to the memory."""
    old = (repository.folder / "palace/a.md").read_bytes()
    repository.write("palace/a.md", "edited\n")
    repository.write("palace/staged.md", "staged\n")
    repository.git("add", "palace/staged.md")
    repository.write("palace/deep/new.md", "new\n")
    repository.write("manifests/facts.jsonl", "{}\n")
    repository.write("palace.yaml", "\n")
    repository.write("other.md", "not of the memory\n")
    gone = (repository.folder / "palace/b.md").read_bytes()
    (repository.folder / "palace/b.md").unlink()
    assert told(repository.folder) == {
        "palace/a.md": (old, b"edited\n"),
        "palace/b.md": (gone, None),
        "palace/deep/new.md": (None, b"new\n"),
        "palace/staged.md": (None, b"staged\n"),
        "palace.yaml": (None, b"\n"),
        "manifests/facts.jsonl": (None, b"{}\n"),
    }


def test_a_file_that_left_the_index_and_stayed_is_the_same(repository: Repository) -> None:
    """The disk counts: git calls it deleted and untracked at once."""
    repository.git("rm", "--cached", "--quiet", "palace/a.md")
    assert told(repository.folder) == {}


def test_what_git_ignores_is_not_seen(repository: Repository) -> None:
    """Untracked files that .gitignore names are nobody's change."""
    repository.write(".gitignore", "*.tmp\n")
    repository.write("palace/x.tmp")
    assert told(repository.folder) == {}


@pytest.mark.parametrize("name", NAMES)
def test_any_name_is_found(repository: Repository, name: str) -> None:
    """On the disk and in a commit."""
    repository.write(name, "text\n")
    assert told(repository.folder) == {name: (None, b"text\n")}
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "x")
    assert told(repository.folder, "HEAD~1..") == {name: (None, b"text\n")}


def test_a_palace_below_the_top_has_paths_of_its_own(repository: Repository) -> None:
    """Relative to its root; what lies outside is not its change."""
    repository.commit("sub/palace/a.md", at=T + 1)
    repository.write("sub/palace/a.md", "x\n")
    repository.write("palace/a.md", "y\n")
    root = repository.folder / "sub"
    assert list(told(root)) == ["palace/a.md"]
    assert list(gitdiff.files(root, git.head(root))) == ["palace/a.md"]


def test_without_a_commit_everything_is_new(tmp_path: Path) -> None:
    """Staged or not."""
    fresh = Repository(tmp_path / "fresh")
    fresh.write("palace/a.md", "a\n")
    fresh.write("palace/b.md", "b\n")
    fresh.git("add", "palace/a.md")
    assert gitdiff.compared(fresh.folder, None) == Compared("")
    assert told(fresh.folder) == {"palace/a.md": (None, b"a\n"), "palace/b.md": (None, b"b\n")}


def test_two_commits_and_where_they_parted(repository: Repository) -> None:
    """``A..B`` is one against the other; ``A...B`` leaves out what A did since."""
    first = repository.git("rev-parse", "HEAD")
    repository.git("checkout", "--quiet", "-b", "work")
    repository.commit("palace/mine.md", at=T + 1)
    repository.git("checkout", "--quiet", "main")
    repository.commit("palace/theirs.md", at=T + 2)
    repository.write("palace/unsaved.md")
    root = repository.folder
    assert set(told(root, f"{first}..work")) == {"palace/mine.md"}
    assert set(told(root, "main..work")) == {"palace/mine.md", "palace/theirs.md"}
    assert set(told(root, "main...work")) == {"palace/mine.md"}
    assert set(told(root, f"{first}..")) == {"palace/theirs.md"}
    assert set(told(root, first)) == {"palace/theirs.md", "palace/unsaved.md"}


@pytest.mark.parametrize(
    "name",
    ["nowhere", "HEAD~9", "-rf", "HEAD:palace/a.md", "", "a b", "nowhere..", "..nowhere", "x\0y"],
)
def test_what_names_no_commit_is_bad_input(repository: Repository, name: str) -> None:
    """Nothing is guessed, and nothing passes for an option."""
    if not name:
        assert gitdiff.compared(repository.folder, name).head is None
        return
    with pytest.raises(BadInput, match="no commit"):
        gitdiff.compared(repository.folder, name)


def test_branches_without_a_common_commit(repository: Repository) -> None:
    """There is no place where they parted."""
    repository.git("checkout", "--quiet", "--orphan", "alone")
    repository.commit("palace/a.md", at=T + 1)
    with pytest.raises(BadInput, match="in common"):
        gitdiff.compared(repository.folder, "main...alone")


def test_without_git_it_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No repository, or no git at all."""
    with pytest.raises(Missing, match="git init"):
        gitdiff.compared(tmp_path, None)
    Repository(tmp_path / "r")
    monkeypatch.setenv("PATH", "")
    with pytest.raises(Missing, match="git is not there"):
        gitdiff.compared(tmp_path / "r", None)


def test_a_link_is_a_fault(repository: Repository, tmp_path: Path) -> None:
    """What it leads to is not read."""
    secret = tmp_path / "secret"
    secret.write_text("x")
    os.symlink(secret, repository.folder / "palace/link.md")
    (found,) = gitdiff.differences(repository.folder, gitdiff.compared(repository.folder, None))
    assert found.after is None and "symbolic link" in found.fault


def test_blobs_of_any_bytes_are_read_at_once(repository: Repository) -> None:
    """Also empty ones, and ones that look like an answer of git; unknown ids are left out."""
    texts = [b"", b"\0\n\n", b"0" * 40 + b" blob 3\n"]
    for number, data in enumerate(texts):
        (repository.folder / f"palace/{number}.md").write_bytes(data)
    repository.git("add", "--all")
    repository.git("commit", "--quiet", "-m", "x")
    files = gitdiff.files(repository.folder, "HEAD")
    ids = [files[f"palace/{number}.md"].id for number in range(3)]
    assert gitdiff.blobs(repository.folder, [*ids, "f" * 40]) == dict(zip(ids, texts, strict=True))
    assert files["palace/0.md"] == Blob(ids[0], "100644")


def test_kept_files_touch_nothing_and_stay(repository: Repository) -> None:
    """A commit of its own beside HEAD: neither index nor files change, and no ref is reused."""
    root = repository.folder
    repository.write("palace/new.md", "staged\n")
    repository.git("add", "palace/new.md")
    before = (git.head(root), repository.git("status", "--porcelain"))
    made = gitkeep.keep(
        root, {"palace/a.md": (b"kept\r\n\0", "100644")}, [git.head(root)], "why", NOW
    )
    refs = [gitkeep.name(root, made, NOW) for _ in range(2)]
    assert refs == [f"refs/palace/rejected/20261129T120000Z-{n}" for n in (1, 2)]
    assert (git.head(root), repository.git("status", "--porcelain")) == before
    repository.git("gc", "--quiet", "--prune=now")
    assert git.run(root, "cat-file", "blob", f"{refs[0]}:palace/a.md") == b"kept\r\n\0"
    assert repository.git("show", f"{refs[0]}:palace/b.md") == "palace/b.md at 1700000000"
    assert repository.git("log", "-1", "--format=%an %aI %s", refs[0]) == (
        "palace 2026-11-29T12:00:00+00:00 why"
    )
