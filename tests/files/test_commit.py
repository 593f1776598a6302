"""What a write command asks of git: moves, and commits of its own paths only."""

import os
import stat
import subprocess
from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.files import commit

ODD = ["palace/a*.md", "palace/[ab].md", "palace/:(top)x.md", "palace/-rf.md",
       "palace/宮 殿.md",
       "palace/!x.md", 'palace/"q"\\.md', "palace/a?.md", "-.md", ":x.md",
       ":!palace/a.md"]  # fmt: skip


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """A repository with two committed files, and a git that knows who commits."""
    for name, value in {
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_AUTHOR_NAME": "a",
        "GIT_AUTHOR_EMAIL": "a@example.org",
        "GIT_COMMITTER_NAME": "a",
        "GIT_COMMITTER_EMAIL": "a@example.org",
    }.items():
        monkeypatch.setenv(name, value)
    made = Repository(tmp_path / "repository")
    made.commit("palace/a.md", "palace/b.md", at=1_700_000_000)
    return made


def files(repository: Repository, commit: str = "HEAD") -> list[str]:
    """The files that a commit changed."""
    said = repository.git("show", "-z", "--name-only", "--no-renames", "--format=", commit)
    return sorted(name for name in said.strip("\n").split("\0") if name)


def status(repository: Repository) -> list[str]:
    """Git's short status."""
    return repository.git("status", "--porcelain", "-uall").splitlines()


def test_only_its_own_paths(repository: Repository) -> None:
    """What else is staged stays staged, what else is changed stays changed."""
    repository.write("palace/a.md", "ours\n")
    repository.write("palace/new.md", "ours\n")
    repository.write("palace/b.md", "staged\n")
    repository.git("add", "palace/b.md")
    repository.write("palace/b.md", "and more\n")
    repository.write("other.txt", "untracked\n")
    paths = ["palace/a.md", "palace/new.md", "palace/a.md"]
    assert commit.commit(repository.folder, paths, "why\n\nAgent: a@b") == ""
    assert files(repository) == ["palace/a.md", "palace/new.md"]
    assert repository.git("log", "-1", "--format=%s|%(trailers:key=Agent,valueonly)") == "why|a@b"
    assert [line.strip() for line in status(repository)] == ["MM palace/b.md", "?? other.txt"]
    assert repository.git("show", ":palace/b.md") == "staged"


def test_a_message_is_kept_as_it_is(repository: Repository) -> None:
    """Also a subject that git would take for a comment."""
    repository.write("palace/a.md", "ours\n")
    assert commit.commit(repository.folder, ["palace/a.md"], "#12 fixed\n\n# not a comment") == ""
    assert repository.git("log", "-1", "--format=%B") == "#12 fixed\n\n# not a comment"


@pytest.mark.parametrize("name", ODD)
def test_names_that_git_would_read_as_patterns(repository: Repository, name: str) -> None:
    """New, changed, moved, gone: each is that file alone."""
    root = repository.folder
    for other in ("palace/ab.md", "palace/ac.md", "x.md"):
        repository.write(other)
    repository.write(name, "new\n")
    assert not commit.is_tracked(root, name)
    assert commit.commit(root, [name], "new") == ""
    assert files(repository) == [name]
    assert commit.is_tracked(root, name) and not commit.is_changed(root, name)
    assert commit.show(root, "HEAD", name) == b"new\n"
    repository.write(name, "changed\n")
    assert commit.is_changed(root, name)
    assert commit.commit(root, [name], "changed") == ""
    assert files(repository) == [name]
    assert commit.move(root, name, "palace/there.md")
    assert (root / "palace/there.md").read_text() == "changed\n"
    assert commit.commit(root, [name, "palace/there.md"], "moved") == ""
    assert files(repository) == sorted([name, "palace/there.md"])
    assert commit.move(root, "palace/there.md", name)
    assert commit.commit(root, ["palace/there.md", name], "back") == ""
    (root / name).unlink()
    assert commit.commit(root, [name], "gone") == ""
    assert files(repository) == [name]
    assert status(repository) == [
        f"?? {other}" for other in ("palace/ab.md", "palace/ac.md", "x.md")
    ]


def test_a_move_is_a_rename_in_the_history(repository: Repository) -> None:
    """Git follows the note to the archive; both paths are in one commit."""
    root = repository.folder
    (root / "palace/archive_basement").mkdir()
    assert commit.move(root, "palace/a.md", "palace/archive_basement/a.md")
    both = ["palace/a.md", "palace/archive_basement/a.md"]
    assert commit.commit(root, both, "cold") == ""
    assert files(repository) == both
    assert len(repository.git("log", "--follow", "--format=%h", "--", both[1]).splitlines()) == 2
    assert status(repository) == []


def test_a_plain_rename_of_a_tracked_file_is_committed_too(repository: Repository) -> None:
    """Where `git mv` said no."""
    root = repository.folder
    (root / "palace/a.md").rename(root / "palace/c.md")
    assert commit.commit(root, ["palace/a.md", "palace/c.md"], "moved") == ""
    assert files(repository) == ["palace/a.md", "palace/c.md"]
    assert status(repository) == []


def test_a_move_that_git_refuses_moves_nothing(repository: Repository) -> None:
    """An untracked file, a target that is there."""
    root = repository.folder
    repository.write("palace/new.md")
    assert not commit.move(root, "palace/new.md", "palace/c.md")
    assert not commit.move(root, "palace/a.md", "palace/b.md")
    assert (root / "palace/new.md").is_file() and (root / "palace/a.md").is_file()


def test_nothing_to_commit_is_no_fault(repository: Repository) -> None:
    """No change, no such file, no path: no commit is made."""
    before = repository.git("rev-parse", "HEAD")
    for paths in (["palace/a.md"], ["palace/never.md"], []):
        assert commit.commit(repository.folder, paths, "x") == ""
    assert repository.git("rev-parse", "HEAD") == before


def test_the_first_commit(tmp_path: Path, repository: Repository) -> None:
    """A repository without one takes it."""
    new = Repository(tmp_path / "new")
    new.write("palace/a.md")
    new.write("palace/b.md")
    assert commit.commit(new.folder, ["palace/a.md"], "first") == ""
    assert new.git("ls-files") == "palace/a.md"


def test_a_palace_below_the_top_of_a_repository(repository: Repository) -> None:
    """Paths are relative to the palace; what lies beside it is not touched."""
    root = repository.folder / "sub"
    repository.write("sub/palace/a.md", "x\n")
    repository.write("palace/a.md", "outside\n")
    repository.git("add", "palace/a.md")
    assert commit.commit(root, ["palace/a.md"], "sub") == ""
    assert files(repository) == ["sub/palace/a.md"]
    assert commit.show(root, "HEAD", "palace/a.md") == b"x\n"
    assert commit.is_tracked(root, "palace/a.md") and not commit.is_changed(root, "palace/a.md")
    assert commit.move(root, "palace/a.md", "palace/c.md")
    assert commit.commit(root, ["palace/a.md", "palace/c.md"], "moved") == ""
    assert files(repository) == ["sub/palace/a.md", "sub/palace/c.md"]
    assert status(repository) == ["M  palace/a.md"]


def test_no_repository_and_no_git(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Said in half a sentence; every question has an answer."""
    plain = tmp_path / "plain"
    plain.mkdir()
    assert commit.commit(plain, ["a"], "x") == "there is no git repository"
    assert not commit.is_tracked(plain, "a") and not commit.is_changed(plain, "a")
    assert commit.show(plain, "HEAD", "a") is None
    assert not commit.move(plain, "a", "b")
    repository.write("palace/a.md", "new\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit.commit(repository.folder, ["palace/a.md"], "x").startswith("git is not there")
    assert not commit.move(repository.folder, "palace/a.md", "palace/c.md")
    assert not commit.is_tracked(repository.folder, "palace/a.md")


def busy(repository: Repository, what: str) -> None:
    """Bring the repository into the middle of something."""
    git = repository.git
    if what == "detached":
        git("checkout", "--quiet", "--detach")
        return
    git("branch", "other")
    repository.write("palace/b.md", "ours\n")
    git("commit", "--quiet", "-a", "-m", "ours")
    git("checkout", "--quiet", "other")
    repository.write("palace/b.md", "theirs\n")
    git("commit", "--quiet", "-a", "-m", "theirs")
    words = {
        "merge": ["merge", "main"],
        "rebase": ["rebase", "main"],
        "rebase apply": ["rebase", "--apply", "main"],
        "cherry-pick": ["cherry-pick", "main"],
        "revert": ["revert", "--no-edit", "HEAD~1"],
    }[what]
    if what == "revert":
        repository.write("palace/b.md", "later\n")
        git("commit", "--quiet", "-a", "-m", "later")
        words = ["revert", "--no-edit", "HEAD~1"]
    try:
        git(*words)
    except Exception:
        return
    raise AssertionError("no conflict")


@pytest.mark.parametrize(
    ("what", "said"),
    [
        ("detached", "HEAD is detached"),
        ("merge", "a merge is in progress"),
        ("rebase", "a rebase is in progress"),
        ("rebase apply", "a rebase is in progress"),
        ("cherry-pick", "a cherry-pick is in progress"),
        ("revert", "a revert is in progress"),
    ],
)
def test_in_the_middle_of_something(repository: Repository, what: str, said: str) -> None:
    """No commit, nothing staged, and why; the file is as it was written."""
    busy(repository, what)
    repository.write("palace/new.md", "new\n")
    before = repository.git("rev-parse", "HEAD"), status(repository)
    assert commit.commit(repository.folder, ["palace/new.md"], "x").startswith(said)
    assert (repository.git("rev-parse", "HEAD"), status(repository)) == before


def test_a_linked_worktree_has_its_own_state(repository: Repository, tmp_path: Path) -> None:
    """A rebase in one does not keep the other from committing."""
    linked = Repository(repository.worktree(tmp_path / "linked"))
    linked.git("checkout", "--quiet", "-b", "there")
    busy(repository, "rebase")
    linked.write("palace/new.md")
    assert commit.commit(linked.folder, ["palace/new.md"], "x") == ""
    assert commit.unready(repository.folder) == "a rebase is in progress"


@pytest.mark.parametrize("name", ["pre-commit", "commit-msg", "prepare-commit-msg"])
@pytest.mark.parametrize("words", ["", "echo one; echo the reason >&2; "])
def test_a_hook_that_fails(repository: Repository, name: str, words: str) -> None:
    """No commit, and what the hook said last; a hook may look at git."""
    hook = repository.folder / ".git/hooks" / name
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ngit status >/dev/null || exit 0\n{words}exit 1\n")
    hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    before = repository.git("rev-parse", "HEAD")
    repository.write("palace/a.md", "new\n")
    said = commit.commit(repository.folder, ["palace/a.md"], "x")
    assert said == ("git commit said: the reason" if words else "git said no")
    assert repository.git("rev-parse", "HEAD") == before
    assert (repository.folder / "palace/a.md").read_text() == "new\n"


def test_a_hook_that_passes_is_run(repository: Repository) -> None:
    """The user's own checks hold for commits of ours too."""
    hook = repository.folder / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\ngit diff --cached --name-only > ran\n")
    hook.chmod(0o755)
    repository.write("palace/a.md", "new\n")
    repository.write("palace/b.md", "staged\n")
    repository.git("add", "palace/b.md")
    assert commit.commit(repository.folder, ["palace/a.md"], "x") == ""
    assert (repository.folder / "ran").read_text() == "palace/a.md\n"


def test_nobody_to_commit_as(repository: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a name git says no, and that is passed on."""
    for name in ("AUTHOR", "COMMITTER"):
        for part in ("NAME", "EMAIL"):
            monkeypatch.delenv(f"GIT_{name}_{part}")
    repository.git("config", "user.useConfigOnly", "true")
    repository.write("palace/a.md", "new\n")
    said = commit.commit(repository.folder, ["palace/a.md"], "x")
    assert said.startswith("git commit said: fatal: ")


def test_a_path_that_git_ignores(repository: Repository) -> None:
    """It is written and not committed; a reason is given, and nothing hangs."""
    repository.write(".gitignore", "manifests/\n")
    repository.write("manifests/memory_events.jsonl", "{}\n")
    repository.write("palace/a.md", "new\n")
    said = commit.commit(repository.folder, ["palace/a.md", "manifests/memory_events.jsonl"], "x")
    assert said.startswith("git add said: ")


def test_variables_of_a_hook_lead_nowhere(
    repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Run inside another repository's hook, the palace's own takes the commit."""
    other = Repository(tmp_path / "other")
    other.commit("palace/a.md", at=1_700_000_000)
    head = other.git("rev-parse", "HEAD")
    repository.write("palace/a.md", "new\n")
    monkeypatch.setenv("GIT_DIR", str(other.folder / ".git"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(other.folder / ".git/index"))
    assert commit.commit(repository.folder, ["palace/a.md"], "x") == ""
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    assert other.git("rev-parse", "HEAD") == head
    assert files(repository) == ["palace/a.md"]


def test_the_configuration_of_a_bare_repository_in_a_clone_runs_nothing(tmp_path: Path) -> None:
    """A folder of a clone may look like a repository: its hooks and filters are a stranger's."""
    repository = Repository(tmp_path / "clone")
    repository.write("sub/a.md", "text\n")
    inside = repository.folder / "sub"
    subprocess.run(["git", "init", "--quiet", "--bare", str(tmp_path / "bare")], check=True)
    for name in ("HEAD", "config", "objects", "refs"):
        (tmp_path / "bare" / name).rename(inside / name)
    told = tmp_path / "told"
    hooks = tmp_path / "hooks"
    hooks.mkdir()
    (hooks / "pre-commit").write_text(f"#!/bin/sh\ntouch {told}\n")
    (hooks / "pre-commit").chmod(0o755)
    with (inside / "config").open("a") as file:
        file.write(f"[core]\n\tbare = false\n\tworktree = {inside}\n\thooksPath = {hooks}\n")
        file.write(f'[filter "x"]\n\tclean = touch {told}; cat\n')
    (inside / ".gitattributes").write_text("*.md filter=x\n")
    assert commit.commit(inside, ["a.md"], "x")
    commit.changed(inside)
    commit.is_changed(inside, "a.md")
    assert not told.exists()


def test_changed_are_the_tracked_files_that_differ(tmp_path: Path) -> None:
    """Staged, unstaged and deleted ones; before the first commit all that is staged."""
    repository = Repository(tmp_path / "r")
    assert commit.changed(tmp_path) == set()
    repository.write("a.md", "a")
    repository.git("add", "a.md")
    assert commit.changed(repository.folder) == {"a.md"}
    repository.commit("a.md", "b.md", "c.md", at=1_700_000_000)
    assert commit.changed(repository.folder) == set()
    repository.write("a.md", "other")
    repository.write("b.md", "staged")
    repository.git("add", "b.md")
    (repository.folder / "c.md").unlink()
    repository.write("new.md", "untracked")
    assert commit.changed(repository.folder) == {"a.md", "b.md", "c.md"}
