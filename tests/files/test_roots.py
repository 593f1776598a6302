"""Which palace a command is about."""

from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.core.errors import BadInput
from memory_palace.files import roots
from support.palaces import REPOSITORY

T = 1_700_000_000


def palace(folder: Path) -> Path:
    """Make a folder a palace root."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "palace.yaml").touch()
    return folder


def test_a_root_that_is_named_counts_over_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """``--root`` beats ``$PALACE_ROOT``, which beats the current directory."""
    one, two, three = (palace(tmp_path / name) for name in ("one", "two", "three"))
    monkeypatch.chdir(three)
    assert roots.find() == three
    monkeypatch.setenv("PALACE_ROOT", str(two))
    assert roots.find() == two
    assert roots.find(str(one)) == one
    assert roots.find(start=three) == two


def test_the_nearest_folder_with_a_palace_is_taken(tmp_path: Path) -> None:
    """From any folder below, the closest root at or above it is found."""
    outer, inner = palace(tmp_path / "outer"), palace(tmp_path / "outer/a/inner")
    (inner / "palace/topics").mkdir(parents=True)
    assert roots.find(start=inner / "palace/topics") == inner
    assert roots.find(start=inner) == inner
    assert roots.find(start=tmp_path / "outer/a") == outer
    assert roots.find(start=outer / "not" / "there") == outer


def test_the_current_directory_is_where_the_search_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a start it is the process's directory."""
    palace(tmp_path / "root")
    (tmp_path / "root/deep/er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "root/deep/er")
    assert roots.find() == tmp_path / "root"


def test_the_toolkit_has_a_palace_of_its_own(tmp_path: Path) -> None:
    """Where there is none, the toolkit's own repository is the palace."""
    assert roots.find(start=tmp_path) == roots.find(str(REPOSITORY))


def test_without_any_palace_there_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An installed toolkit without a palace says how to make or name one."""
    monkeypatch.setattr(roots, "__file__", str(tmp_path / "site/memory_palace/files/roots.py"))
    with pytest.raises(BadInput, match=r"run `palace init DIR`, or name a palace with --root$"):
        roots.find(start=tmp_path)


@pytest.mark.parametrize("how", ["given", "environment"])
@pytest.mark.parametrize("state", ["missing", "empty", "a file", "a folder of that name"])
def test_what_is_no_palace_root_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str, state: str
) -> None:
    """A named root without ``palace.yaml`` is an error, and no other is taken in its place."""
    palace(tmp_path)
    place = tmp_path / "place"
    if state == "a file":
        place.touch()
    elif state != "missing":
        place.mkdir()
    if state == "a folder of that name":
        (place / "palace.yaml").mkdir()
    if how == "environment":
        monkeypatch.setenv("PALACE_ROOT", str(place))
    with pytest.raises(BadInput) as caught:
        roots.find(str(place) if how == "given" else None, start=tmp_path)
    assert str(caught.value) == (
        f"{place} is not a palace root (no palace.yaml): run `palace init {place}`, or name another"
    )


def test_the_home_of_a_user_who_is_not_there(tmp_path: Path) -> None:
    """``~nobody`` is a folder's name then, as a shell takes it."""
    with pytest.raises(BadInput, match=r"^~no-such-user/x is not a palace root"):
        roots.find("~no-such-user/x", start=tmp_path)


def test_a_root_is_given_by_its_real_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path, ``~`` and a symbolic link lead to the same root."""
    root = palace(tmp_path / "root")
    (tmp_path / "link").symlink_to("root")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("root", "./link", "~/root", "link/../root", str(tmp_path / "link")):
        assert roots.find(name) == root
    assert roots.find(start=tmp_path / "link") == root


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    """A repository with one commit, whose palace files git does not know."""
    made = Repository(tmp_path / "src" / "project")
    made.commit("README.md", "sub/code.py", at=T)
    return made


@pytest.mark.parametrize("below", [".", "sub"])
@pytest.mark.parametrize("tracked", [True, False])
def test_a_linked_worktree_shares_the_palace_of_the_main_one(
    repository: Repository,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    below: str,
    tracked: bool,
) -> None:
    """One memory, whatever worktree asks: at the top or below it, in git or not."""
    root = palace(repository.folder / below)
    if tracked:
        repository.commit(at=T)
    linked = repository.worktree(tmp_path / "linked")
    assert (linked / below / "palace.yaml").exists() == tracked
    assert roots.find(start=linked / below) == root.resolve()
    assert roots.find(start=linked / "sub") == root.resolve()
    monkeypatch.chdir(linked / "sub")
    assert roots.find() == root.resolve()
    if tracked:
        assert roots.find(str(linked / below)) == root.resolve()


def test_a_folder_that_only_the_worktree_has(repository: Repository, tmp_path: Path) -> None:
    """From a folder that is new in a linked worktree the main one's palace is found too."""
    root = palace(repository.folder)
    linked = repository.worktree(tmp_path / "linked")
    (linked / "new" / "er").mkdir(parents=True)
    assert roots.find(start=linked / "new" / "er") == root


def test_a_palace_that_only_the_worktree_has(repository: Repository, tmp_path: Path) -> None:
    """A root that the main worktree does not have stays where it is."""
    linked = repository.worktree(tmp_path / "linked")
    palace(repository.folder)
    inner = palace(linked / "sub")
    assert roots.find(start=linked / "sub") == inner
    assert roots.find(str(inner)) == inner


def test_the_main_worktree_counts_over_what_lies_around_the_linked_one(
    repository: Repository, tmp_path: Path
) -> None:
    """A palace around a linked worktree does not hide the project's own."""
    around = palace(tmp_path / "elsewhere")
    linked = repository.worktree(around / "linked")
    assert roots.find(start=linked) == around
    root = palace(repository.folder)
    assert roots.find(start=linked / "sub") == root


def test_a_palace_above_the_main_worktree_is_found(repository: Repository, tmp_path: Path) -> None:
    """A linked worktree far away finds what the main one would."""
    root = palace(tmp_path / "src")
    linked = repository.worktree(tmp_path / "linked")
    assert roots.find(start=repository.folder) == root
    assert roots.find(start=linked / "sub") == root


def test_the_worktrees_own_palace_counts_over_one_around_the_main(
    repository: Repository, tmp_path: Path
) -> None:
    """What lies around the main worktree comes after all that the two worktrees hold."""
    palace(tmp_path / "src")
    linked = palace(repository.worktree(tmp_path / "linked"))
    assert roots.find(start=linked / "sub") == linked


def test_a_worktree_inside_the_main_one(repository: Repository) -> None:
    """A worktree kept below its own repository has the repository's palace."""
    root = palace(repository.folder)
    linked = repository.worktree(repository.folder / ".worktrees" / "x")
    assert roots.find(start=linked / "sub") == root


def test_the_index_lies_in_the_derived_folder(tmp_path: Path) -> None:
    """All that can be made anew is below ``.palace``."""
    assert roots.index_folder(tmp_path) == tmp_path / ".palace" / "index"


def test_the_index_lies_below_the_root(tmp_path: Path) -> None:
    """It need not be there."""
    assert roots.index_folder(tmp_path) == tmp_path / ".palace/index"


@pytest.mark.parametrize("link", [".palace", ".palace/index", ".palace/index/writer.lock"])
@pytest.mark.parametrize("there", [True, False])
def test_a_link_leads_no_index_out_of_the_root(tmp_path: Path, link: str, there: bool) -> None:
    """A stranger's repository may hold links: nothing is written through one."""
    root = tmp_path / "root"
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(tmp_path / "outside")
    if there:
        (tmp_path / "outside").mkdir()
    with pytest.raises(BadInput) as caught:
        roots.index_folder(root)
    assert str(caught.value) == (
        f"{link} in {root} is a symbolic link: replace it by what it stands for"
    )


def test_a_root_that_is_itself_a_link_is_inside(tmp_path: Path) -> None:
    """Only what lies below the root counts."""
    (tmp_path / "real/manifests").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")
    root = tmp_path / "link"
    assert roots.inside(root, "manifests/new.jsonl") == root / "manifests/new.jsonl"


def test_a_copy_of_the_toolkit_that_nobody_named_is_borrowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An update replaces it; a clone stays, and so does what a variable or a folder names."""
    toolkit, project = tmp_path / "toolkit", tmp_path / "project"
    for folder in (toolkit, project, toolkit / "scripts"):
        folder.mkdir()
    (toolkit / "palace.yaml").touch()
    monkeypatch.setattr(roots, "toolkit", lambda: toolkit)
    monkeypatch.delenv("PALACE_ROOT", raising=False)
    assert roots.is_borrowed(toolkit, project)
    assert not roots.is_borrowed(project, project)
    assert not roots.is_borrowed(toolkit, toolkit / "scripts")
    (toolkit / ".git").mkdir()
    assert not roots.is_borrowed(toolkit, project)
    (toolkit / ".git").rmdir()
    monkeypatch.setenv("PALACE_ROOT", str(toolkit))
    assert not roots.is_borrowed(toolkit, project)
