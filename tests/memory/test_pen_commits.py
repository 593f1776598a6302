"""What write commands commit, and what they say where they cannot."""

import os
import stat
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.core.errors import Refused
from memory_palace.core.events import PATH
from memory_palace.files import journal
from memory_palace.memory import pen
from memory_palace.memory.pen import Pen
from support.palaces import Palace

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
NOTE = "palace/topics/lessons.md"


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    """An empty palace."""
    return Palace(tmp_path / "root")


@pytest.fixture
def repository(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Repository:
    """The palace as a repository that takes commits of write commands."""
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "a")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")
    palace.write("palace.yaml", "git: {commit: auto}\n")
    palace.write(".gitignore", ".palace/\n")
    palace.write(NOTE, "old\n")
    made = Repository(palace.root)
    made.git("add", "--all")
    made.git("commit", "--quiet", "-m", "first")
    return made


def work(root: Path, *acts: Callable[[Pen], object], reason: str = "") -> list[str]:
    """Do something with the pen; what it said."""
    said: list[str] = []
    with pen.begin(root, NOW, "palace test", reason, said.append) as p:
        for act in acts:
            act(p)
    return said


def write(path: str = NOTE, text: str = "new\n") -> Callable[[Pen], None]:
    """Read and replace a file."""

    def act(p: Pen) -> None:
        p.read(path)
        p.put(path, text)

    return act


def test_a_commit_has_reason_hand_and_events(palace: Palace, repository: Repository) -> None:
    """The reason is the subject; only what was written is in it; the rest stays staged."""
    palace.write("palace/b.md", "staged\n")
    repository.git("add", "palace/b.md")
    palace.write("palace/c.md", "untracked\n")
    said = work(
        palace.root, write(), lambda p: p.log("pinned", "x"), lambda p: p.log("unpinned", "x"),
        reason="It came up\nagain",
    )  # fmt: skip
    assert said == []
    uids = [event.uid for event in journal.load(palace.root).events]
    assert repository.git("log", "-1", "--format=%s") == "It came up again"
    trailers = repository.git("log", "-1", "--format=%(trailers)").splitlines()
    assert trailers == ["Agent: pi@laptop", *(f"Event: {uid}" for uid in uids)]
    shown = repository.git("show", "--name-only", "--format=").split()
    assert shown == [PATH, NOTE]
    assert repository.git("status", "--porcelain").splitlines() == [
        "A  palace/b.md",
        "?? palace/c.md",
    ]


def test_without_a_reason_the_command_is_the_subject(
    palace: Palace, repository: Repository
) -> None:
    """And what writes nothing commits nothing."""
    work(palace.root, write())
    assert repository.git("log", "-1", "--format=%s") == "palace test"
    before = repository.git("rev-parse", "HEAD")
    work(palace.root, write())
    assert repository.git("rev-parse", "HEAD") == before


def test_manual_is_the_default(palace: Palace, repository: Repository) -> None:
    """Without `git.commit: auto` git is left alone."""
    palace.write("palace.yaml", "")
    repository.git("commit", "--quiet", "-am", "manual")
    assert work(palace.root, write()) == []
    assert repository.git("status", "--porcelain") == f"M {NOTE}"


def test_what_was_written_before_a_fault_is_committed(
    palace: Palace, repository: Repository
) -> None:
    """The fault is told all the same."""
    with pytest.raises(Refused, match="no"):
        work(palace.root, write(), lambda p: (_ for _ in ()).throw(Refused("no")))
    assert repository.git("show", "--name-only", "--format=") == NOTE


@pytest.mark.parametrize("what", ["detached", "hook", "no git", "ignored"])
def test_what_cannot_be_committed_is_written(
    palace: Palace,
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
) -> None:
    """With one line that says why, and what is to be committed."""
    before = repository.git("rev-parse", "HEAD")
    if what == "detached":
        repository.git("checkout", "--quiet", "--detach")
    elif what == "hook":
        hook = palace.write(".git/hooks/pre-commit", "#!/bin/sh\necho too long >&2\nexit 1\n")
        hook.chmod(hook.stat().st_mode | stat.S_IXUSR)
    elif what == "no git":
        monkeypatch.setenv("PATH", str(tmp_path))
    else:
        palace.write(".gitignore", ".palace/\nmanifests/\n")
    [said] = work(palace.root, write(), lambda p: p.log("pinned", "x"))
    assert said.startswith("written, not committed: ")
    assert said.endswith(f"; commit it yourself: {NOTE} {PATH}")
    assert (palace.root / NOTE).read_text() == "new\n"
    assert len(journal.load(palace.root).events) == 1
    monkeypatch.undo()
    assert repository.git("rev-parse", "HEAD") == before


def test_many_files_that_cannot_be_committed_are_counted(
    palace: Palace, repository: Repository
) -> None:
    """The line names the first ones; an import may write thousands."""
    repository.git("checkout", "--quiet", "--detach")

    def many(pen: Pen) -> None:
        for number in range(30):
            pen.read(f"palace/n{number}.md")
            pen.put(f"palace/n{number}.md", "new\n")

    [said] = work(palace.root, many)
    assert "commit it yourself: palace/n0.md palace/n1.md " in said
    assert said.endswith("palace/n19.md and 10 more that `git status` lists")


def test_auto_without_a_repository_is_said(palace: Palace) -> None:
    """Whoever asked for commits learns that there are none."""
    palace.write("palace.yaml", "git: {commit: auto}\n")
    [said] = work(palace.root, write())
    assert "there is no git repository" in said
