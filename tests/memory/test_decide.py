"""Accept and reject: a commit of just these paths, or what HEAD has and nothing lost."""

from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.core.errors import BadInput, Changed, Missing, Refused
from memory_palace.files import git, gitkeep
from memory_palace.memory import decide
from memory_palace.memory.decide import Rejected
from support.palaces import NOW

T = 1_700_000_000
A, B, NEW = "palace/a.md", "palace/b.md", "palace/room/new.md"
LOG = "manifests/memory_events.jsonl"


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A palace with two notes at one commit, in a repository that knows who commits."""
    repository = Repository(tmp_path / "repository")
    repository.git("config", "user.name", "a")
    repository.git("config", "user.email", "a@example.org")
    repository.write("palace.yaml", "")
    repository.write(".gitignore", ".palace/\n")
    repository.write(LOG, "")
    repository.commit(A, B, at=T)
    return repository


def accept(repository: Repository, *paths: str, message: str = "why") -> decide.Accepted:
    """Accept paths of the repository."""
    return decide.accept(repository.folder, paths, message, NOW)


def reject(repository: Repository, *paths: str, reason: str = "") -> Rejected:
    """Reject paths of the repository."""
    return decide.reject(repository.folder, paths, reason, NOW)


def status(repository: Repository) -> list[str]:
    """What git says of every file that is not as in HEAD."""
    return sorted(repository.git("status", "--porcelain", "--untracked-files=all").splitlines())


def test_accept_commits_just_these_paths(repository: Repository) -> None:
    """Edited, added and deleted ones; what else is staged stays staged, and the rest as it is."""
    repository.write(A, "edited\n")
    repository.write(NEW, "new\n")
    repository.write("palace/staged.md", "staged\n")
    repository.git("add", "palace/staged.md")
    (repository.folder / B).unlink()
    done = accept(repository, A, NEW, B)
    assert done.commit == git.head(repository.folder)
    changed = repository.git("show", "--name-status", "--format=", "HEAD").splitlines()
    assert changed == ["M\tpalace/a.md", "D\tpalace/b.md", "A\tpalace/room/new.md"]
    assert status(repository) == ["A  palace/staged.md"]
    message = repository.git("log", "-1", "--format=%B")
    assert message.splitlines()[0] == "why" and "\nAgent: cli@" in message


def test_accept_of_a_move_takes_both_paths(repository: Repository) -> None:
    """As git has it: one file gone, one there."""
    repository.git("mv", A, "palace/c.md")
    accept(repository, A, "palace/c.md")
    assert status(repository) == []


def test_a_hook_that_says_no_is_a_refusal(repository: Repository) -> None:
    """Hooks run, and what they say is told."""
    hook = repository.folder / ".git/hooks/pre-commit"
    hook.write_text("#!/bin/sh\necho not today >&2\nexit 1\n")
    hook.chmod(0o755)
    repository.write(A, "edited\n")
    head = git.head(repository.folder)
    with pytest.raises(Refused, match="not today"):
        accept(repository, A)
    assert git.head(repository.folder) == head


def test_a_message_holds_no_secret_and_is_not_empty(repository: Repository) -> None:
    """It is cleaned like every text that is stored."""
    repository.write(A, "edited\n")
    with pytest.raises(BadInput, match="empty message"):
        accept(repository, A, message=" \n")
    accept(repository, A, message="use ghp_abcdefghijklmnopqrstuvwxyz0123456789 there")
    assert "ghp_" not in repository.git("log", "-1", "--format=%B")


def test_reject_puts_back_and_keeps(repository: Repository) -> None:
    """An edited note is as in HEAD again; what it was is in git, one command away."""
    old = (repository.folder / A).read_text()
    repository.write(A, "my  words\r\n\n")
    repository.write(B, "stays\n")
    done = reject(repository, A, reason="not true")
    assert done.ref == "refs/palace/rejected/20261129T120000Z-1"
    assert (done.restored, done.removed, done.kept) == ((A,), (), (A,))
    assert (repository.folder / A).read_text() == old
    assert status(repository) == ["M palace/b.md"]
    assert repository.git("log", "-1", "--format=%s", done.ref) == "rejected: not true"
    (line,) = done.undo(repository.folder, repository.folder)
    assert line == f"git restore --source {done.ref} -- {A}"
    repository.git(*line.split()[1:])
    assert (repository.folder / A).read_bytes() == b"my  words\r\n\n"


def test_undo_names_the_root_where_it_is_not_the_folder(repository: Repository) -> None:
    """The command works where it is shown."""
    repository.write("palace/two words.md", "x\n")
    (line,) = reject(repository, "palace/two words.md").undo(repository.folder, Path("/"))
    assert line.startswith(f"git -C {repository.folder} restore") and line.endswith(
        "-- 'palace/two words.md'"
    )


@pytest.mark.parametrize("staged", [False, True])
def test_reject_of_a_new_note_takes_it_away(repository: Repository, staged: bool) -> None:
    """Untracked or staged, it goes, and is kept."""
    repository.write(NEW, "new\n")
    if staged:
        repository.git("add", NEW)
    done = reject(repository, NEW)
    assert (done.restored, done.removed, status(repository)) == ((), (NEW,), [])
    assert not (repository.folder / NEW).exists()
    repository.git("restore", "--source", done.ref, "--", NEW)
    assert (repository.folder / NEW).read_text() == "new\n"


def test_reject_of_a_deletion_brings_the_note_back(repository: Repository) -> None:
    """There is nothing to keep, and so no ref."""
    repository.git("rm", "--quiet", A)
    done = reject(repository, A)
    assert (done.ref, done.restored, done.undo(repository.folder, Path("/"))) == ("", (A,), ())
    assert status(repository) == []
    assert repository.git("for-each-ref", "refs/palace") == ""


def test_reject_of_a_move_takes_both_paths(repository: Repository) -> None:
    """The old place is filled again and the new one is empty."""
    repository.git("mv", A, "palace/c.md")
    done = reject(repository, A, "palace/c.md")
    assert status(repository) == []
    assert done.kept == ("palace/c.md",)


def test_what_was_staged_and_then_edited_is_kept_twice(repository: Repository) -> None:
    """As `git stash` does: the staged version is the second parent."""
    repository.write(A, "staged\n")
    repository.git("add", A)
    repository.write(A, "edited\n")
    done = reject(repository, A)
    assert status(repository) == []
    assert repository.git("show", f"{done.ref}:{A}") == "edited"
    assert repository.git("show", f"{done.ref}^2:{A}") == "staged"
    assert len(done.undo(repository.folder, repository.folder)) == 2
    for line in done.undo(repository.folder, repository.folder):
        repository.git(*line.split()[1:])
    assert status(repository) == ["MM palace/a.md"]


def test_what_is_only_staged_is_kept(repository: Repository) -> None:
    """The file is as in HEAD, the index is not."""
    old = (repository.folder / A).read_text()
    repository.write(A, "staged\n")
    repository.git("add", A)
    repository.write(A, old)
    done = reject(repository, A)
    assert status(repository) == []
    assert repository.git("show", f"{done.ref}^2:{A}") == "staged"


def test_nothing_else_is_touched(repository: Repository) -> None:
    """Neither HEAD nor what else is staged, edited or untracked."""
    repository.write(A, "edited\n")
    repository.write(B, "staged\n")
    repository.git("add", B)
    repository.write("palace/untracked.md")
    head = git.head(repository.folder)
    reject(repository, A)
    assert git.head(repository.folder) == head
    assert status(repository) == ["?? palace/untracked.md", "M  palace/b.md"]


def test_two_rejections_have_two_refs(repository: Repository) -> None:
    """At the same second, too."""
    refs = []
    for text in ("one\n", "two\n"):
        repository.write(A, text)
        refs.append(reject(repository, A).ref)
    assert [repository.git("show", f"{ref}:{A}") for ref in refs] == ["one", "two"]


def test_before_the_first_commit_everything_new_can_go(tmp_path: Path) -> None:
    """The kept commit has no parent then."""
    fresh = Repository(tmp_path / "fresh")
    fresh.write("palace.yaml", "")
    fresh.write(NEW, "new\n")
    done = reject(fresh, NEW)
    assert not (fresh.folder / NEW).exists()
    assert fresh.git("show", f"{done.ref}:{NEW}") == "new"


def test_a_palace_below_the_top_of_a_repository(repository: Repository) -> None:
    """Its paths are its own, in the kept commit as in the command that brings them back."""
    root = repository.folder / "sub"
    repository.write("sub/palace.yaml", "")
    repository.commit("sub/palace/a.md", at=T + 1)
    repository.write("sub/palace/a.md", "edited\n")
    repository.write(A, "the other palace's\n")
    done = decide.reject(root, [A], "", NOW)
    assert repository.git("show", f"{done.ref}:sub/palace/a.md") == "edited"
    assert status(repository)[-1] == "M palace/a.md"
    Repository(root.parent).git("-C", "sub", "restore", "--source", done.ref, "--", A)
    assert (root / A).read_text() == "edited\n"
    decide.accept(root, [A], "why", NOW)
    assert repository.git("show", "--name-only", "--format=", "HEAD") == "sub/palace/a.md"


@pytest.mark.parametrize(
    "path",
    ["a.md", "palace", "palace/", "palace/../x.md", "/palace/a.md", "palace//a.md", "palace.yaml",
     "palace/.git/config", "palace\\a.md", "./palace/a.md", "palace/a\0.md"],
)  # fmt: skip
def test_what_is_no_path_of_the_memory_is_bad_input(repository: Repository, path: str) -> None:
    """Nothing is guessed."""
    for act in (accept, reject):
        with pytest.raises(BadInput, match="no path of the memory"):
            act(repository, path)


@pytest.mark.parametrize("path", [A, "palace/none.md", "palace/*.md"])
def test_a_path_without_a_change_is_refused(repository: Repository, path: str) -> None:
    """And so is everything named with it: all or nothing."""
    repository.write(B, "edited\n")
    for act in (accept, reject):
        with pytest.raises(Refused, match="has no change"):
            act(repository, B, path)
    assert status(repository) == ["M palace/b.md"]


def test_a_folder_is_refused(repository: Repository) -> None:
    """Files are named one by one."""
    repository.write(NEW)
    for act in (accept, reject):
        with pytest.raises(Refused, match="is a folder"):
            act(repository, "palace/room")


def test_a_log_is_never_put_back(repository: Repository) -> None:
    """Its lines stay; it can be accepted."""
    repository.write(LOG, '{"a": 1}\n')
    with pytest.raises(Refused, match="append-only log"):
        reject(repository, LOG)
    assert accept(repository, LOG).paths == (LOG,)


def test_in_a_merge_both_are_refused(repository: Repository) -> None:
    """Finish it first: a commit of some paths is none of a merge."""
    repository.git("checkout", "--quiet", "-b", "work")
    repository.commit("palace/theirs.md", at=T + 1)
    repository.git("checkout", "--quiet", "main")
    repository.commit("palace/mine.md", at=T + 2)
    repository.git("merge", "--no-commit", "--no-ff", "--quiet", "work")
    repository.write(A, "edited\n")
    for act in (accept, reject):
        with pytest.raises(Refused, match="a merge is in progress"):
            act(repository, A)


def test_a_link_is_not_followed(repository: Repository, tmp_path: Path) -> None:
    """What it leads to is nobody's change."""
    (tmp_path / "x").write_text("x")
    (repository.folder / NEW).parent.mkdir(parents=True)
    (repository.folder / NEW).symlink_to(tmp_path / "x")
    with pytest.raises(BadInput, match="symbolic link"):
        reject(repository, NEW)
    assert (repository.folder / NEW).is_symlink()


def test_nothing_is_put_back_that_is_not_kept(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If the ref cannot be read back, files stay as they are."""
    repository.write(A, "edited\n")
    real = gitkeep.name

    def lost(root: Path, commit: str, now: object) -> str:
        raise Missing("git did not keep it: run `git fsck`")

    monkeypatch.setattr(gitkeep, "name", lost)
    with pytest.raises(Missing):
        reject(repository, A)
    assert (repository.folder / A).read_text() == "edited\n"
    monkeypatch.setattr(gitkeep, "name", real)


def test_an_edit_meanwhile_is_not_lost(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What changed after it was kept stays where it is: exit 4."""
    repository.write(A, "edited\n")
    real = gitkeep.name

    def slow(root: Path, commit: str, now: object) -> str:
        repository.write(A, "edited again\n")
        return real(root, commit, NOW)

    monkeypatch.setattr(gitkeep, "name", slow)
    with pytest.raises(Changed, match="nothing was put back"):
        reject(repository, A)
    assert (repository.folder / A).read_text() == "edited again\n"


def test_without_git_it_says_what_to_do(tmp_path: Path) -> None:
    """There is nothing to commit to, and nothing to put back from."""
    for act in (decide.accept, decide.reject):
        with pytest.raises(Missing, match="git init"):
            act(tmp_path, [A], "why", NOW)


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        (A, "ghp_abcdefghijklmnopqrstuvwxyz0123456789\n", "a secret"),
        (A, "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n", "a merge was left unfinished"),
        (LOG, "", "gone from an append-only log"),
    ],
)
def test_what_stays_in_the_history_is_not_accepted(
    repository: Repository, path: str, text: str, said: str
) -> None:
    """No later commit takes it back: git itself is there for whoever means it."""
    repository.write(
        LOG, '{"at": "2026-11-10T00:00:00Z", "event": "pinned", "uid": "1", "id": "a"}\n'
    )
    repository.commit(LOG, at=T + 1)
    repository.write(path, text)
    head = git.head(repository.folder)
    with pytest.raises(Refused, match=said):
        accept(repository, path)
    assert git.head(repository.folder) == head


def test_a_link_is_not_accepted(repository: Repository) -> None:
    """It leads wherever its writer chose."""
    (repository.folder / NEW).parent.mkdir()
    (repository.folder / NEW).symlink_to("/etc/hostname")
    with pytest.raises(BadInput, match="symbolic link"):
        accept(repository, NEW)
