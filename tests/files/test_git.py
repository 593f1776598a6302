"""What git knows."""

import os
import stat
import time
from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.core.errors import Missing
from memory_palace.files import git

T = 1_700_000_000


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """An empty repository."""
    return Repository(tmp_path / "repository")


NAMES = [
    "palace/a.md",
    "palace/two words.md",
    "palace/宮殿/\N{CASTLE}.md",
    "palace/e\u0301.md",
    "palace/line\nfeed.md",
    'palace/"quoted"\\.md',
    "palace/-rf.md",
    " leading.md",
]


@pytest.mark.parametrize("name", NAMES)
def test_any_name_has_the_time_of_its_last_commit(repository: Repository, name: str) -> None:
    """Spaces, line feeds, quotes and letters of any script are no hindrance."""
    repository.commit(name, "palace/other.md", at=T)
    repository.commit(name, at=T + 100)
    repository.commit(at=T + 200)
    wanted = {name, "palace/other.md"}
    assert git.commit_times(repository.folder, wanted) == {name: T + 100, "palace/other.md": T}


def test_only_wanted_and_committed_files_have_a_time(repository: Repository) -> None:
    """A file that git does not know, or that nobody asks for, is not in the answer."""
    repository.commit("palace/a.md", "palace/b.md", at=T)
    repository.write("palace/new.md")
    assert git.commit_times(repository.folder, {"palace/a.md", "palace/new.md", "gone"}) == {
        "palace/a.md": T
    }
    assert git.commit_times(repository.folder, set()) == {}


def test_a_palace_below_the_top_of_a_repository(repository: Repository) -> None:
    """Paths are relative to the palace's root, wherever in the repository it lies."""
    repository.commit("sub/palace/a.md", "palace/a.md", at=T)
    repository.commit("sub/palace/a.md", at=T + 100)
    root = repository.folder / "sub"
    assert git.commit_times(root, {"palace/a.md"}) == {"palace/a.md": T + 100}
    assert git.commit_times(repository.folder, {"palace/a.md"}) == {"palace/a.md": T}
    assert git.in_repository(root)
    assert git.head(root) == git.head(repository.folder) != ""


def test_a_moved_file_has_the_time_of_its_move(repository: Repository) -> None:
    """A rename is a commit of the new path."""
    repository.commit("palace/a.md", at=T)
    repository.git("mv", "palace/a.md", "palace/b.md")
    repository.git("commit", "--quiet", "-m", "move", at=T + 100)
    assert git.commit_times(repository.folder, {"palace/b.md"}) == {"palace/b.md": T + 100}


def test_a_file_named_like_a_commit_mark_is_a_file(repository: Repository) -> None:
    """No name in a stranger's repository can pass for, or break, what is read between names."""
    odd = ["\x01x.md", "\x01", "\x011.md", "1700000000"]
    repository.commit("palace/a.md", *odd, at=T)
    wanted = {"palace/a.md", *odd}
    assert git.commit_times(repository.folder, wanted) == dict.fromkeys(wanted, T)


@pytest.mark.parametrize(
    "setting",
    ["log.showRoot=false", "log.showSignature=true", "color.ui=always", "core.quotePath=true",
     "diff.noprefix=true", "log.follow=true", "diff.renames=copies", "format.pretty=oneline",
     "log.date=relative", "core.pager=false", "log.diffMerges=off", "log.decorate=full"],
)  # fmt: skip
def test_settings_of_git_change_no_answer(repository: Repository, setting: str) -> None:
    """However the user, or the repository, has set up git, times are found."""
    repository.commit("palace/a.md", at=T)
    repository.commit("palace/b.md", at=T + 1)
    repository.git("config", *setting.split("="))
    assert git.commit_times(repository.folder, {"palace/a.md", "palace/b.md"}) == {
        "palace/a.md": T,
        "palace/b.md": T + 1,
    }


@pytest.mark.parametrize("way", ["fsmonitor", "signature"])
def test_a_repository_runs_no_program_of_its_own(
    repository: Repository, tmp_path: Path, way: str
) -> None:
    """Reading a stranger's repository starts none of the programs that its configuration names."""
    program, trace = tmp_path / "program", tmp_path / "trace"
    program.write_text(f"#!/bin/sh\ntouch {trace}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    repository.commit("palace/a.md", at=T)
    if way == "fsmonitor":
        repository.git("config", "core.fsmonitor", str(program))
    else:
        commit = repository.git("cat-file", "commit", "HEAD")
        headers, _, message = commit.partition("\n\n")
        signature = "-----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
        signed = f"{headers}\ngpgsig {signature}\n\n{message}\n"
        made = repository.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=signed)
        repository.git("update-ref", "HEAD", made)
        repository.git("config", "log.showSignature", "true")
        repository.git("config", "gpg.program", str(program))
    assert git.commit_times(repository.folder, {"palace/a.md"}) == {"palace/a.md": T}
    assert git.head(repository.folder)
    git.run(repository.folder, "status", "--porcelain")
    assert not trace.exists()


def test_a_partial_clone_fetches_nothing(repository: Repository, tmp_path: Path) -> None:
    """Its configuration names the program that would bring the objects it lacks."""
    program, trace = tmp_path / "program", tmp_path / "trace"
    program.write_text(f"#!/bin/sh\ntouch {trace}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    repository.commit("palace/a.md", at=T)
    repository.commit("palace/b.md", at=T + 100)
    tree = repository.git("rev-parse", "HEAD~1^{tree}")
    for key, value in {
        "core.repositoryFormatVersion": "1",
        "extensions.partialClone": "origin",
        "remote.origin.promisor": "true",
        "remote.origin.url": str(tmp_path / "elsewhere"),
        "remote.origin.uploadpack": str(program),
    }.items():
        repository.git("config", key, value)
    (repository.folder / f".git/objects/{tree[:2]}/{tree[2:]}").unlink()
    git.commit_times(repository.folder, {"palace/a.md"}, timeout=10)
    git.run(repository.folder, "cat-file", "-e", tree, timeout=10)
    assert not trace.exists()


def test_hooks_of_the_user_may_talk_to_a_remote() -> None:
    """Only a commit of ours runs them."""
    assert "GIT_ALLOW_PROTOCOL" not in git.environment(hooks=True)
    assert git.environment()["GIT_ALLOW_PROTOCOL"] == "none"


def test_the_head_is_the_current_commit(repository: Repository) -> None:
    """Before the first commit there is none; then it is the commit's hash."""
    assert git.head(repository.folder) == ""
    assert git.commit_times(repository.folder, {"palace/a.md"}) == {}
    assert git.head(repository.folder) == ""
    made = repository.commit("palace/a.md", at=T)
    assert git.head(repository.folder) == made
    repository.git("checkout", "--quiet", "--detach")
    assert git.head(repository.folder) == made


def test_a_folder_outside_any_repository(tmp_path: Path) -> None:
    """Without git's folder there is nothing to ask."""
    assert not git.in_repository(tmp_path)
    assert git.head(tmp_path) == ""
    assert git.commit_times(tmp_path, {"palace/a.md"}) == {}
    assert git.main_worktree(tmp_path) is None


def test_a_machine_without_git(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where the command is not installed answers are empty; only making a repository needs it."""
    repository.commit("palace/a.md", at=T)
    linked = repository.worktree(tmp_path / "linked")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git.in_repository(repository.folder)
    assert git.run(repository.folder, "status") is None
    assert git.head(repository.folder) == ""
    assert git.commit_times(repository.folder, {"palace/a.md"}) == {}
    assert git.main_worktree(linked) is None
    with pytest.raises(Missing, match=r"install git, or run it there yourself$"):
        git.init(tmp_path)


def test_a_broken_repository_gives_nothing(tmp_path: Path) -> None:
    """A folder that only looks like a repository is no fault."""
    (tmp_path / ".git").mkdir()
    assert git.in_repository(tmp_path)
    assert git.head(tmp_path) == ""
    assert git.commit_times(tmp_path, {"palace/a.md"}) == {}
    (tmp_path / ".git").rmdir()
    (tmp_path / ".git").write_text("gitdir: /nonexistent\n")
    assert git.main_worktree(tmp_path) is None


def test_a_command_that_takes_too_long_gives_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A hanging git is given up after the time limit."""
    slow = tmp_path / "git"
    slow.write_text("#!/bin/sh\nexec /bin/sleep 30\n")
    slow.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert git.run(tmp_path, "status", timeout=0.2) is None


@pytest.mark.parametrize("variable", ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE",
                                      "GIT_COMMON_DIR", "GIT_OBJECT_DIRECTORY"])  # fmt: skip
def test_variables_of_a_git_hook_lead_nowhere(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str
) -> None:
    """Inside a hook of another repository the palace's own is asked all the same."""
    repository.commit("palace/a.md", at=T)
    made = git.head(repository.folder)
    other = Repository(tmp_path / "other")
    other.commit("palace/a.md", at=T + 5)
    monkeypatch.setenv(variable, str(other.folder / ".git"))
    assert git.head(repository.folder) == made != ""
    assert git.commit_times(repository.folder, {"palace/a.md"}) == {"palace/a.md": T}


def test_the_output_is_given_only_on_success(repository: Repository) -> None:
    """A command that git refuses gives None, one that says nothing gives no bytes."""
    assert git.run(repository.folder, "no-such-command") is None
    assert git.run(repository.folder, "status", "--porcelain") == b""


def test_a_linked_worktree_has_a_main_one(repository: Repository, tmp_path: Path) -> None:
    """A folder of a linked worktree corresponds to the same one in the main worktree."""
    repository.commit("sub/a.md", at=T)
    linked = repository.worktree(tmp_path / "linked \N{CASTLE}")
    (linked / "only here").mkdir()
    assert git.main_worktree(linked) == repository.folder
    assert git.main_worktree(linked / "sub") == repository.folder / "sub"
    assert git.main_worktree(linked / "only here") is None
    assert git.main_worktree(repository.folder) is None
    assert git.main_worktree(repository.folder / "sub") is None


def test_a_submodule_is_no_linked_worktree(repository: Repository, tmp_path: Path) -> None:
    """A submodule has a ``.git`` file too, and is a repository of its own."""
    repository.commit("palace/a.md", at=T)
    outer = Repository(tmp_path / "outer")
    outer.git(
        "-c", "protocol.file.allow=always",
        "submodule", "--quiet", "add", str(repository.folder), "inner",
    )  # fmt: skip
    assert (outer.folder / "inner" / ".git").is_file()
    assert git.main_worktree(outer.folder / "inner") is None
    assert git.head(outer.folder / "inner") == git.head(repository.folder)


def test_a_worktree_of_a_bare_repository_has_no_main_one(
    repository: Repository, tmp_path: Path
) -> None:
    """A bare repository has no worktree that could be the main one."""
    repository.commit("palace/a.md", at=T)
    repository.git("clone", "--quiet", "--bare", str(repository.folder), str(tmp_path / "bare.git"))
    repository.git(
        "-C", str(tmp_path / "bare.git"), "worktree", "add", "--quiet", str(tmp_path / "linked")
    )
    assert git.main_worktree(tmp_path / "linked") is None


def test_a_repository_is_made(tmp_path: Path) -> None:
    """``init`` makes a repository, and leaves one that is there alone."""
    git.init(tmp_path)
    assert (tmp_path / ".git").is_dir()
    made = Repository(tmp_path).commit("palace/a.md", at=T)
    git.init(tmp_path)
    assert git.head(tmp_path) == made


FAKE = """#!/bin/sh
case "$*" in
*ls-tree*) printf 'a.md\\0b.md\\0' ;;
*) printf '/7\\0\\na.md\\0'; {end} ;;
esac
"""


def fake_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str) -> Path:
    """A root whose git tells of ``a.md`` at 7, then does ``end``."""
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/git"
    program.write_text(FAKE.format(end=end))
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    (tmp_path / "root/.git").mkdir(parents=True)
    return tmp_path / "root"


def test_history_is_read_no_further_than_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As soon as all files are found git is stopped, however much it has still to say."""
    root = fake_git(tmp_path, monkeypatch, "exec sleep 60")
    before = time.monotonic()
    times = git.commit_times(root, {"a.md", "new and unknown to git.md"})
    assert time.monotonic() - before < 20
    assert times == {"a.md": 7}
    assert times.whole


@pytest.mark.parametrize("end", ["exit 1", "exec sleep 60"])
def test_a_git_that_fails_half_way_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, end: str
) -> None:
    """What it told counts, and the answer is marked as not whole."""
    root = fake_git(tmp_path, monkeypatch, end)
    times = git.commit_times(root, {"a.md", "b.md"}, timeout=1)
    assert times == {"a.md": 7}
    assert not times.whole


def test_a_history_that_ends_is_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that no commit names has no time, and asking again would find none."""
    times = git.commit_times(fake_git(tmp_path, monkeypatch, "exit 0"), {"a.md", "b.md"})
    assert times == {"a.md": 7}
    assert times.whole


def test_an_answer_is_whole_unless_git_failed(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No repository and no such file are answers; no git, or a broken repository, is none."""
    repository.commit("palace/a.md", at=T)
    assert git.commit_times(repository.folder, {"palace/a.md", "palace/gone.md"}).whole
    assert git.commit_times(tmp_path, {"palace/a.md"}).whole
    (tmp_path / "broken/.git").mkdir(parents=True)
    assert not git.commit_times(tmp_path / "broken", {"palace/a.md"}).whole
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not git.commit_times(repository.folder, {"palace/a.md"}).whole


def test_a_long_history_is_read_whole(repository: Repository) -> None:
    """Names that fall on the border of two reads are found too."""
    wanted = {f"palace/{'x' * 150}{n:04}.md" for n in range(1500)}
    repository.commit(*wanted, at=T)
    repository.commit("palace/a.md", at=T + 1)
    assert git.commit_times(repository.folder, wanted) == dict.fromkeys(wanted, T)
