"""A new palace."""

import os
from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.core import note
from memory_palace.core.errors import BadInput, Missing
from memory_palace.files import config, git, manifest, roots, starter, tree


def snapshot(root: Path) -> dict[str, bytes]:
    """All files but git's own."""
    return {
        str(path.relative_to(root)): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(root).parts
    }


def test_a_new_palace_can_be_used(tmp_path: Path) -> None:
    """It is a root with rooms, settings that load, notes without a fault, and a repository."""
    root = tmp_path / "a" / "palace root"
    made = starter.make(root)
    assert roots.find(str(root)) == root
    assert config.load(root, {}).embedder == "auto"
    found = tree.scan(root)
    assert [f.path for f in found.notes] == [
        "palace/grand_hall/README.md",
        "palace/grand_hall/identity.md",
    ]
    for file in found.notes:
        parsed = note.parse(file.path, (root / file.path).read_text("utf-8"))
        assert parsed.title and not parsed.problems
    assert not found.problems and not found.others
    assert git.in_repository(root)
    assert {path.rstrip("/") for path in made} >= {
        "palace.yaml", ".gitignore", ".gitattributes", ".git", "palace/topics",
        *(f"palace/{room}" for room in starter.ROOMS),
    }  # fmt: skip
    assert all((root / path).exists() for path in made)
    assert (root / ".gitignore").read_text() == ".palace/\n.*.tmp\n"
    assert (root / ".gitattributes").read_text().splitlines()[0] == (
        "*.jsonl merge=union text eol=lf"
    )


def test_every_room_survives_a_clone(tmp_path: Path) -> None:
    """Git keeps no empty folder, so each empty room has a file that does."""
    starter.make(tmp_path / "root")
    Repository(tmp_path / "root").commit(at=1_700_000_000)
    Repository(tmp_path).git("clone", "--quiet", str(tmp_path / "root"), str(tmp_path / "clone"))
    assert all((tmp_path / "clone/palace" / room).is_dir() for room in starter.ROOMS)
    assert starter.make(tmp_path / "clone") == []


def test_making_it_again_changes_nothing(tmp_path: Path) -> None:
    """A second run makes nothing and says so."""
    starter.make(tmp_path)
    before = snapshot(tmp_path)
    assert starter.make(tmp_path) == []
    assert snapshot(tmp_path) == before


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    """What a person has written stays; what is missing is added."""
    mine = {
        "palace.yaml": b"embedder: none\n",
        "palace/grand_hall/identity.md": b"I am Ada.\n",
        "palace/topics/lessons.md": b"- [x] y\n",
        "manifests/watchdog_manifest_v1.jsonl": b"{}\n",
    }
    for path, data in mine.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_bytes(data)
    made = starter.make(tmp_path)
    after = snapshot(tmp_path)
    assert {path: after[path] for path in mine} == mine
    assert not set(made) & set(mine)
    assert "palace/topics/" not in made
    assert "palace/grand_hall/README.md" in made
    assert not (tmp_path / "palace/topics/.gitkeep").exists()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"*.pyc\n", b"*.pyc\n.palace/\n.*.tmp\n"),
        (b"*.pyc", b"*.pyc\n.palace/\n.*.tmp\n"),
        (b"", b".palace/\n.*.tmp\n"),
        (b".palace/\n*.pyc\n", b".palace/\n*.pyc\n.*.tmp\n"),
        (b"a\r\n.palace/\r\n", b"a\r\n.palace/\r\n.*.tmp\n"),
        (b"caf\xe9/\n", b"caf\xe9/\n.palace/\n.*.tmp\n"),
        (b"x.palace/\n", b"x.palace/\n.palace/\n.*.tmp\n"),
    ],
)
def test_lines_are_added_to_an_ignore_file_that_is_there(
    tmp_path: Path, before: bytes, after: bytes
) -> None:
    """Existing lines stay byte for byte, and a line that is there is not added again."""
    (tmp_path / ".gitignore").write_bytes(before)
    (tmp_path / ".gitattributes").write_bytes(b"*.png binary")
    made = starter.make(tmp_path)
    assert (tmp_path / ".gitignore").read_bytes() == after
    assert (".gitignore" in made) == (before != after)
    assert (tmp_path / ".gitattributes").read_bytes() == (
        b"*.png binary\n*.jsonl merge=union text eol=lf\npalace/topics/**/*.md merge=union\n"
        b"palace/chambers/*/diary/*.md merge=union\n"
    )


def test_git_ignores_what_is_derived_and_merges_logs(tmp_path: Path) -> None:
    """The rules do in git what they are there for."""
    starter.make(tmp_path)
    repository = Repository(tmp_path)
    assert repository.git("check-ignore", ".palace/index/catalog.sqlite")
    said = repository.git("check-attr", "merge", "--", manifest.PATH)
    assert said.endswith("merge: union")


def test_a_folder_in_a_repository_gets_none_of_its_own(tmp_path: Path) -> None:
    """A palace made inside a repository belongs to that one."""
    Repository(tmp_path)
    made = starter.make(tmp_path / "memory")
    assert ".git/" not in made
    assert not (tmp_path / "memory/.git").exists()


@pytest.mark.parametrize("name", ["root", "root/palace", "root/palace/topics"])
def test_a_file_in_the_way_is_no_place_for_a_palace(tmp_path: Path, name: str) -> None:
    """A file where a folder has to be is named, and is still there."""
    path = tmp_path / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("mine")
    with pytest.raises(BadInput, match=r" is in the way: name a folder$"):
        starter.make(tmp_path / "root")
    assert path.read_text() == "mine"


def test_a_place_that_takes_no_files_is_missing() -> None:
    """Where nothing can be written the fault says so."""
    if not Path("/proc/self").exists():
        pytest.skip("no /proc on this system")
    with pytest.raises(Missing, match=r"^/proc/root-of-none.* cannot be written \(.+\): mend it$"):
        starter.make(Path("/proc/root-of-none"))


def test_without_git_all_but_the_repository_is_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The fault names what is missing, and what was made can be used."""
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(Missing, match="install git"):
        starter.make(tmp_path / "root")
    assert roots.find(str(tmp_path / "root")) == tmp_path / "root"
    assert len(tree.scan(tmp_path / "root").notes) == 2


def test_the_home_folder_is_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """``~`` is the user's home."""
    monkeypatch.setenv("HOME", str(tmp_path))
    starter.make(Path("~/mine"))
    assert (tmp_path / "mine/palace.yaml").is_file()


@pytest.mark.parametrize("link", ["palace", "palace/topics", ".gitignore"])
def test_a_link_leads_nothing_out_of_a_new_palace(tmp_path: Path, link: str) -> None:
    """Where a link stands in the place of a room or a file, nothing is made behind it."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / link).parent.mkdir(parents=True)
    outside.write_text("") if link == ".gitignore" else outside.mkdir()
    (root / link).symlink_to(outside)
    with pytest.raises(BadInput, match="is a symbolic link: replace it by"):
        starter.make(root)
    assert outside.read_text() == "" if outside.is_file() else not list(outside.iterdir())
