"""The palace tree on disk."""

import os
import socket
import stat
import time
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core.diff import FileStat
from memory_palace.core.errors import Missing
from memory_palace.files import tree
from memory_palace.files.tree import Tree


def write(root: Path, *paths: str) -> None:
    """Make those files, relative to ``palace/``."""
    for path in paths:
        place = root / "palace" / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text("text")


def notes(found: Tree) -> list[str]:
    """The live notes, without ``palace/``."""
    return [file.path.removeprefix("palace/") for file in found.notes]


def problems(found: Tree) -> list[tuple[str, str, str]]:
    """(path without ``palace/``, grade, message) of each problem."""
    return [(p.path.removeprefix("palace/"), p.grade, p.message) for p in found.problems]


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with an empty tree."""
    (tmp_path / "root" / "palace").mkdir(parents=True)
    return tmp_path / "root"


def test_an_empty_tree_has_nothing(root: Path) -> None:
    """A palace without files is read without a word."""
    assert tree.scan(root) == Tree()


def test_notes_are_found_with_their_stat(root: Path) -> None:
    """A note's path is relative to the root, its size, time and inode those of the disk."""
    write(root, "topics/lessons.md")
    info = (root / "palace/topics/lessons.md").stat()
    assert tree.scan(root).notes == [
        FileStat("palace/topics/lessons.md", 4, info.st_mtime_ns, info.st_ino)
    ]


def test_all_lists_are_sorted_by_path(root: Path) -> None:
    """Order is that of the whole path, folders and files mixed."""
    names = ["b.md", "a/z.md", "a.md", "a-b.md", "a/b/c.md", "B.md", "ä.md"]
    write(root, *names, *(f"archive_basement/{n}" for n in names), *(f"{n}.png" for n in names))
    found = tree.scan(root)
    for paths in ([f.path for f in found.notes], [f.path for f in found.cold], found.others):
        assert paths == sorted(paths)
        assert len(paths) == len(names)


def test_the_archive_is_apart(root: Path) -> None:
    """Notes in a cold folder at any depth are cold; a name that only sounds so is not."""
    write(root, "archive_basement/a.md", "chambers/x/archive_basement/b.md", "archive_basement.md")
    found = tree.scan(root)
    assert notes(found) == ["archive_basement.md"]
    assert [f.path for f in found.cold] == [
        "palace/archive_basement/a.md",
        "palace/chambers/x/archive_basement/b.md",
    ]


def test_files_that_are_no_notes_are_others(root: Path) -> None:
    """Only ``.md``, in any case, makes a note; the rest is known for links to it."""
    write(root, "a.MD", "b.Md", "plan.png", "log.jsonl", "md", "c.md.txt", "d.markdown")
    found = tree.scan(root)
    assert notes(found) == ["a.MD", "b.Md"]
    assert found.others == [
        "palace/c.md.txt",
        "palace/d.markdown",
        "palace/log.jsonl",
        "palace/md",
        "palace/plan.png",
    ]
    assert not found.problems


@pytest.mark.parametrize("path", [".hidden.md", ".obsidian/app.md", "topics/.trash/x.md", ".md"])
def test_dot_files_are_no_part_of_the_tree(root: Path, path: str) -> None:
    """Whatever begins with a dot is passed over, with all below it."""
    write(root, path, "seen.md")
    found = tree.scan(root)
    assert notes(found) == ["seen.md"]
    assert not found.others and not found.problems


@pytest.mark.parametrize(
    "name",
    ["two words.md", "\N{CASTLE}.md", "line\nfeed.md", "tab\t.md", "-rf.md", "%41.md", "[a]*.md",
     "e\u0301.md", "\u202ertl.md", "宮殿/記憶.md", "a" * 252 + ".md"],
)  # fmt: skip
def test_any_name_in_utf_8_is_found(root: Path, name: str) -> None:
    """A name is kept as the disk has it."""
    write(root, name)
    found = tree.scan(root)
    assert notes(found) == [name]
    assert not found.problems


@pytest.mark.parametrize("name", [b"caf\xe9.md", b"\xff/note.md"])
def test_a_name_that_is_not_utf_8_is_reported(root: Path, name: bytes) -> None:
    """A note whose path cannot be written down is an error that says so."""
    path = os.fsencode(root / "palace") + b"/" + name
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:  # noqa: PTH123
        file.write("text")
    found = tree.scan(root)
    assert not found.notes
    ((path_shown, grade, message),) = problems(found)
    assert os.fsencode(path_shown) == name
    assert (grade, message) == ("error", "its name is not UTF-8: rename it")
    assert str(found.problems[0]).isprintable()


def test_links_to_what_is_found_anyway_are_passed_over(root: Path) -> None:
    """A symbolic link to a file or folder of the tree is silent: its target is met once."""
    write(root, "topics/a.md", "plan.png")
    (root / "palace/b.md").symlink_to("topics/a.md")
    (root / "palace/absolute.md").symlink_to(root / "palace/topics/a.md")
    (root / "palace/topics/up").symlink_to("..")
    (root / "palace/c.png").symlink_to("plan.png")
    found = tree.scan(root)
    assert notes(found) == ["topics/a.md"]
    assert found.others == ["palace/plan.png"]
    assert not found.problems


def test_links_out_of_the_palace_are_reported(root: Path, tmp_path: Path) -> None:
    """What lies outside is not read through a link, be it a file, a folder or beside the tree."""
    (tmp_path / "outside.md").write_text("secret")
    (root / "README.md").write_text("beside")
    (root / "palace/a.md").symlink_to("../../outside.md")
    (root / "palace/b").symlink_to(tmp_path)
    (root / "palace/c.md").symlink_to("../README.md")
    found = tree.scan(root)
    assert not found.notes
    message = "a symbolic link out of the palace, left out: copy the file in instead"
    assert sorted(problems(found)) == [(name, "warning", message) for name in ("a.md", "b", "c.md")]


def test_links_that_lead_nowhere_are_reported(root: Path) -> None:
    """A dangling link, a link to itself and a ring of links are named, and nothing hangs."""
    (root / "palace/dangling.md").symlink_to("gone.md")
    (root / "palace/itself.md").symlink_to("itself.md")
    (root / "palace/one").symlink_to("two")
    (root / "palace/two").symlink_to("one")
    found = tree.scan(root)
    message = "a symbolic link that leads nowhere, left out: mend or remove it"
    assert sorted(problems(found)) == [
        (name, "warning", message) for name in ("dangling.md", "itself.md", "one", "two")
    ]


def test_a_root_that_is_a_link_is_read(root: Path, tmp_path: Path) -> None:
    """A palace may be reached through a link; links inside it are still inside."""
    write(root, "a.md")
    (root / "palace/b.md").symlink_to("a.md")
    (tmp_path / "link").symlink_to(root)
    found = tree.scan(tmp_path / "link")
    assert notes(found) == ["a.md"]
    assert not found.problems


def test_what_is_no_regular_file_is_reported(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pipe or socket named like a note is left out with a word; no other name is worth one."""
    os.mkfifo(root / "palace/pipe.md")
    os.mkfifo(root / "palace/pipe")
    monkeypatch.chdir(root / "palace")  # a socket's path may have 107 bytes only
    with socket.socket(socket.AF_UNIX) as made:
        made.bind("socket.md")
        found = tree.scan(root)
    message = "not a regular file, left out: move it away"
    assert problems(found) == [(name, "warning", message) for name in ("pipe.md", "socket.md")]
    assert not found.notes


def test_a_folder_named_like_a_note_is_a_folder(root: Path) -> None:
    """``x.md/`` is walked like any other."""
    write(root, "x.md/y.md")
    assert notes(tree.scan(root)) == ["x.md/y.md"]


@pytest.mark.parametrize(
    "name",
    [
        "a.sync-conflict-20240101-120000-ABCDEFG.md",
        "a (conflicted copy 2024-01-01 120000).md",
        "a (Ada's conflicted copy 2024-01-01).md",
        "a (Konflikt-Kopie von Ada).md",
        "a_conf(1).md",
        "a.orig.md",
        "a_BASE_1234.md",
        "a.LOCAL.1234.md",
        "a_REMOTE_1.md",
        "a.BACKUP.99.md",
    ],
)
def test_a_conflict_copy_is_reported_and_not_indexed(root: Path, name: str) -> None:
    """What a sync tool or a merge left beside a note is named, and is no note."""
    write(root, "a.md", name)
    found = tree.scan(root)
    assert notes(found) == ["a.md"]
    assert found.excluded == [f"palace/{name}"]
    message = "a sync tool's conflict copy, not indexed: merge it, then delete it"
    assert problems(found) == [(name, "warning", message)]


@pytest.mark.parametrize(
    "name",
    ["conflict.md", "sync-conflict.md", "conflicted copy.md", "CLAUDE.local.md", "a~1.md",
     "knowledge.base.md", "backup.md", "api.remote.md", "conf(1).md", "resolved (2024).md"],
)  # fmt: skip
def test_a_name_that_only_sounds_like_a_conflict_is_a_note(root: Path, name: str) -> None:
    """A note about conflicts, and a name that a person chose, is indexed."""
    write(root, name)
    found = tree.scan(root)
    assert notes(found) == [name]
    assert not found.problems


@pytest.mark.parametrize(
    ("patterns", "left"),
    [
        ([], ["a.md", "drafts/a.md", "drafts/keep.md", "topics/drafts/b.md", "topics/x.tmp.md"]),
        (["**/drafts/**"], ["a.md", "topics/x.tmp.md"]),
        (["drafts/"], ["a.md", "topics/x.tmp.md"]),
        (["/palace/drafts/"], ["a.md", "topics/drafts/b.md", "topics/x.tmp.md"]),
        (["/drafts/"], ["a.md", "drafts/a.md", "drafts/keep.md", "topics/drafts/b.md",
                        "topics/x.tmp.md"]),
        (["*.tmp.md"], ["a.md", "drafts/a.md", "drafts/keep.md", "topics/drafts/b.md"]),
        (["a.md"], ["drafts/keep.md", "topics/drafts/b.md", "topics/x.tmp.md"]),
        (["*", "!*.tmp.md"], ["topics/x.tmp.md"]),
        (["palace/drafts/*", "!keep.md"],
         ["a.md", "drafts/keep.md", "topics/drafts/b.md", "topics/x.tmp.md"]),
        (["!keep.md", "palace/drafts/*"], ["a.md", "topics/drafts/b.md", "topics/x.tmp.md"]),
        (["# drafts", "", "[ab].md"], ["drafts/keep.md", "topics/x.tmp.md"]),
        (["**"], []),
    ],
)  # fmt: skip
def test_patterns_leave_notes_out_as_gitignore_does(
    root: Path, patterns: list[str], left: list[str]
) -> None:
    """Patterns are relative to the root, the last one that matches counts, ``!`` takes back."""
    write(root, "a.md", "drafts/a.md", "drafts/keep.md", "topics/drafts/b.md", "topics/x.tmp.md")
    every = set(notes(tree.scan(root)))
    found = tree.scan(root, tuple(patterns))
    assert notes(found) == left
    assert {path.removeprefix("palace/") for path in found.excluded} == every - set(left)
    assert not found.problems


def test_the_archive_can_be_excluded_too(root: Path) -> None:
    """A pattern counts for cold notes as for live ones, and not for files that are no notes."""
    write(root, "archive_basement/a.md", "plan.png")
    found = tree.scan(root, ("*",))
    assert not found.cold
    assert found.excluded == ["palace/archive_basement/a.md"]
    assert found.others == ["palace/plan.png"]


def test_a_folder_that_cannot_be_listed_hides_what_is_in_it(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unreadable folder is an error, and nothing below it counts as deleted."""
    write(root, "open/a.md", "shut/b.md", "shut/deep/c.md", "shut.md", "shutter/d.md")
    scandir = os.scandir

    def guarded(path: Any) -> Any:
        if str(path).endswith("/shut"):
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", guarded)
    found = tree.scan(root)
    assert notes(found) == ["open/a.md", "shut.md", "shutter/d.md"]
    assert found.unseen == ["palace/shut"]
    message = "cannot be listed (Permission denied): its notes are kept as they were"
    assert problems(found) == [("shut", "error", message)]
    assert found.may_be_there("palace/shut/b.md")
    assert found.may_be_there("palace/shut/deep/never-seen.md")
    assert not found.may_be_there("palace/shut.md")
    assert not found.may_be_there("palace/shutter/gone.md")
    assert not found.may_be_there("palace/open/gone.md")


def test_a_tree_deeper_than_a_path_can_name_is_reported(root: Path) -> None:
    """Folders nested beyond what the system can open are unseen, and the rest is read."""
    write(root, "a.md")
    here = os.open(root / "palace", os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=here)
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    found = tree.scan(root)
    assert notes(found) == ["a.md"]
    (unseen,) = found.unseen
    assert found.may_be_there(f"{unseen}/note.md")
    assert "cannot be listed (File name too long)" in found.problems[0].message


@pytest.mark.skipif(os.geteuid() == 0, reason="root may list every folder")
def test_a_folder_without_permission_is_unseen(root: Path) -> None:
    """A folder that may not be listed, and a note that may not be looked at, are kept."""
    write(root, "shut/a.md", "blind/b.md")
    (root / "palace/shut").chmod(0)
    (root / "palace/blind").chmod(0o444)
    try:
        found = tree.scan(root)
    finally:
        (root / "palace/shut").chmod(0o755)
        (root / "palace/blind").chmod(0o755)
    assert found.may_be_there("palace/shut/a.md")
    assert found.may_be_there("palace/blind/b.md")


def test_a_placeholder_of_a_cloud_means_not_here_now(root: Path) -> None:
    """``.note.md.icloud`` stands for a note that may still be there."""
    write(root, "topics/.note.md.icloud", "topics/other.md")
    found = tree.scan(root)
    assert notes(found) == ["topics/other.md"]
    assert found.away == ["palace/topics/note.md"]
    assert found.may_be_there("palace/topics/note.md")
    assert not found.may_be_there("palace/topics/gone.md")
    assert not found.problems


@pytest.mark.parametrize(
    "field", [{"st_flags": 0x40000020}, {"st_file_attributes": 0x1020},
              {"st_file_attributes": 0x400020}],
)  # fmt: skip
def test_a_note_whose_content_is_in_the_cloud_is_away(field: dict[str, int]) -> None:
    """The marks that macOS and Windows put on such files are known; without them a file is here."""

    class Info:
        st_mode = stat.S_IFREG

    assert not tree._is_away(Info())  # type: ignore[arg-type]
    for name, value in field.items():
        setattr(Info, name, value)
    assert tree._is_away(Info())  # type: ignore[arg-type]


@pytest.mark.parametrize("state", ["missing", "a file", "a link", "a link to nowhere"])
def test_a_tree_that_cannot_be_listed_is_missing(root: Path, tmp_path: Path, state: str) -> None:
    """Without ``palace/`` nothing is known to be deleted: it is an environment fault."""
    (root / "palace").rename(tmp_path / "away")
    if state == "a file":
        (root / "palace").touch()
    elif state.startswith("a link"):
        (root / "palace").symlink_to(tmp_path / ("nowhere" if "nowhere" in state else "away"))
    with pytest.raises(Missing, match=r"palace/.*: .*") as caught:
        tree.scan(root)
    assert caught.value.exit_code == 3


def test_a_root_that_is_gone_is_missing(tmp_path: Path) -> None:
    """An unmounted disk is not an empty palace."""
    with pytest.raises(Missing, match=r"mount or restore it, or run `palace init`$"):
        tree.scan(tmp_path / "unmounted")


@pytest.mark.parametrize("name", ["back\\slash.md", "a\\b/note.md", "\\.md"])
def test_a_note_with_a_backslash_is_reported(root: Path, name: str) -> None:
    """Windows reads a backslash as a folder, so such a name could not be listed everywhere."""
    write(root, name, "seen.md", "back\\slash.png")
    found = tree.scan(root)
    assert notes(found) == ["seen.md"]
    assert problems(found) == [(name, "error", "its name has a backslash: rename it")]
    assert found.others == ["palace/back\\slash.png"]
    assert not tree.scan(root, ("*",)).problems


def test_thousands_of_evicted_notes_are_told_apart_at_once() -> None:
    """Every note of a large palace may be in the cloud."""
    paths = [f"palace/topics/{n}.md" for n in range(20_000)]
    found = Tree(away=list(paths), unseen=[f"palace/shut{n}" for n in range(2_000)])
    before = time.perf_counter()
    assert all(found.may_be_there(path) for path in paths)
    assert all(found.may_be_there(f"palace/shut{n}/a/b.md") for n in range(2_000))
    assert time.perf_counter() - before < 5
    assert not found.may_be_there("palace/topics")
    assert not found.may_be_there("palace/shut1")
    assert not found.may_be_there("shut1/a.md")


def test_what_is_found_away_later_counts_too() -> None:
    """The answer follows the lists."""
    found = Tree()
    assert not found.may_be_there("palace/a.md")
    found.away.append("palace/a.md")
    assert found.may_be_there("palace/a.md")
    assert not found.may_be_there("palace/b/c.md")
    found.unseen.append("palace/b")
    assert found.may_be_there("palace/b/c.md")
