"""Manifests of projects, and where projects are on this machine."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.core.diff import FileStat
from memory_palace.core.errors import BadInput, Changed
from memory_palace.core.mining import Line
from memory_palace.files import local, mined, projects
from memory_palace.files.projects import Project
from support.palaces import NOW, OLD_NS, Palace

LINES = [Line("b.py", "code", "general"), Line("a/x.md", "document", "a")]


def save(palace: Palace, name: str = "demo", lines: list[Line] = LINES) -> None:
    """A manifest with these lines."""
    projects.save(palace.root, name, projects.load(palace.root, name), lines)


def text(palace: Palace, name: str = "demo") -> str:
    """A manifest's text."""
    return (palace.root / projects.manifest_path(name)).read_text()


def test_lines_are_sorted_and_stable(keyword_palace: Palace) -> None:
    """No time, no size, no machine's path: the same files give the same bytes."""
    save(keyword_palace)
    assert text(keyword_palace) == (
        '{"path": "a/x.md", "type": "document", "room": "a", "priority": "low"}\n'
        '{"path": "b.py", "type": "code", "room": "general", "priority": "low"}\n'
    )
    listed = projects.load(keyword_palace.root, "demo")
    assert not projects.save(keyword_palace.root, "demo", listed, LINES[::-1])
    assert projects.listed(keyword_palace.root, "demo") == LINES[::-1]


def test_what_people_add_to_a_line_stays(keyword_palace: Palace) -> None:
    """A key of their own, and a higher priority."""
    keyword_palace.write(
        projects.manifest_path("demo"),
        '{"path": "b.py", "why": "the core", "room": "old", "priority": "high"}\n',
    )
    listed = projects.load(keyword_palace.root, "demo")
    assert listed.lines["b.py"] == Line("b.py", "code", "old", "high")
    projects.save(keyword_palace.root, "demo", listed, [Line("b.py", "code", "new", "high")])
    assert json.loads(text(keyword_palace)) == {
        **{"path": "b.py", "why": "the core", "room": "new", "priority": "high", "type": "code"},
    }


def test_a_union_of_two_branches(keyword_palace: Palace) -> None:
    """A file that both name is one line again; each other line of both is kept."""
    keyword_palace.write(
        projects.manifest_path("demo"),
        '{"path": "c.py", "room": "one"}\n{"path": "a.py"}\n{"path": "c.py", "room": "two"}\n',
    )
    listed = projects.listed(keyword_palace.root, "demo")
    assert [(line.path, line.room) for line in listed] == [("a.py", "general"), ("c.py", "one")]


@pytest.mark.parametrize(
    "line",
    [
        '{"path": "../a.py"}',
        '{"path": "/etc/a.py"}',
        '{"path": "a//b.py"}',
        '{"path": "./b.py"}',
        '{"path": "C:a.py"}',
        '{"path": ".ssh/a.txt"}',
        '{"path": "a\\\\b.py"}',
        '{"path": 3}',
        "{}",
        "[1]",
        "<<<<<<< HEAD",
    ],
)
def test_a_line_that_names_no_file_of_the_project(keyword_palace: Palace, line: str) -> None:
    """It is a problem with its line, lists nothing, and is kept as it stands."""
    keyword_palace.write(projects.manifest_path("demo"), f'{{"path": "a.py"}}\n{line}\n')
    listed = projects.load(keyword_palace.root, "demo")
    assert list(listed.lines) == ["a.py"]
    assert [(p.path, p.line) for p in listed.problems] == [("manifests/projects/demo.jsonl", 2)]
    projects.save(keyword_palace.root, "demo", listed, [Line("a.py", "code", "general")])
    assert text(keyword_palace).endswith(f"\n{line}\n")


def test_two_writers(keyword_palace: Palace) -> None:
    """Whoever read the manifest before it changed does not write."""
    listed = projects.load(keyword_palace.root, "demo")
    save(keyword_palace)
    with pytest.raises(Changed):
        projects.save(keyword_palace.root, "demo", listed, LINES)


def test_projects_and_their_places(keyword_palace: Palace, tmp_path: Path) -> None:
    """Here, nowhere, and gone."""
    for name in ("here", "gone", "elsewhere"):
        save(keyword_palace, name)
    keyword_palace.write("manifests/projects/no name.jsonl", "")
    keyword_palace.write("manifests/projects/x.txt", "")
    (tmp_path / "p").mkdir()
    local.put(keyword_palace.root, "here", tmp_path / "p")
    local.put(keyword_palace.root, "gone", tmp_path / "q")
    assert projects.every(keyword_palace.root) == [
        *(Project("elsewhere", None), Project("gone", None), Project("here", tmp_path / "p")),
    ]
    assert projects.place(keyword_palace.root, "project:here/a/x.md") == tmp_path / "p/a/x.md"
    assert projects.place(keyword_palace.root, "project:gone/a/x.md") is None
    assert projects.place(keyword_palace.root, "project:other/a/x.md") is None


@pytest.mark.parametrize("path", ["../a", "a/../../b", "/etc/passwd", "a/./b", "a//b", "link/b"])
def test_paths_that_leave_a_project(keyword_palace: Palace, tmp_path: Path, path: str) -> None:
    """By their parts, or by a symbolic link."""
    (tmp_path / "p").mkdir()
    (tmp_path / "p/link").symlink_to("/etc")
    local.put(keyword_palace.root, "demo", tmp_path / "p")
    with pytest.raises(BadInput):
        projects.place(keyword_palace.root, f"project:demo/{path}")


def test_removed(keyword_palace: Palace) -> None:
    """A manifest that is gone is gone, also twice."""
    save(keyword_palace)
    projects.remove(keyword_palace.root, "demo")
    assert projects.remove(keyword_palace.root, "demo") == "manifests/projects/demo.jsonl"
    assert projects.every(keyword_palace.root) == []


BY_HAND = """\
# mine
projects:
    # the shop
    shop: /src/shop   # moved in May

    "café": '~/c'
# the end
"""


def test_what_is_edited_by_hand_stays(keyword_palace: Palace) -> None:
    """Comments, order and indentation; only the line of the project changes."""
    root = keyword_palace.root
    keyword_palace.write(local.PATH, BY_HAND)
    assert local.places(root) == {"shop": Path("/src/shop"), "café": Path.home() / "c"}
    local.put(root, "demo", Path("/src/a: b"))
    with_demo = BY_HAND.replace("projects:\n", 'projects:\n    "demo": "/src/a: b"\n')
    assert (root / local.PATH).read_text() == with_demo
    local.put(root, "demo", None)
    assert (root / local.PATH).read_text() == BY_HAND
    local.put(root, "shop", Path("/src/shop"))  # as it is
    assert (root / local.PATH).read_text() == BY_HAND
    local.put(root, "shop", Path("/new"))
    line = "    shop: /src/shop   # moved in May"
    assert (root / local.PATH).read_text() == BY_HAND.replace(line, '    "shop": "/new"')
    local.put(root, "shop", None)
    local.put(root, "café", None)
    assert local.places(root) == {}


@pytest.mark.parametrize(
    "before", ["", "projects:\n", "projects: {}\n", 'projects: {a: /a,\n  "b": /b}\n', "# x\n"]
)
def test_every_form_takes_a_place(keyword_palace: Palace, before: str) -> None:
    """What was there is still there."""
    keyword_palace.write(local.PATH, before)
    was = local.places(keyword_palace.root)
    local.put(keyword_palace.root, "demo", Path("/d"))
    assert local.places(keyword_palace.root) == {**was, "demo": Path("/d")}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("projects: [a]\n", "local.yaml:1: projects is"),
        ("project: {}\n", "local.yaml:1: unknown key `project`: did you mean `projects`?"),
        ("projects:\n  a: src\n", "full path"),
        ("projects:\n  a: ~no-such-user/src\n", "full path"),
        ("projects:\n  a/b: /src\n", "names no project"),
        ("projects: {\n", "broken YAML"),
        ("- a\n", "not a mapping"),
        (b"\xff", "not UTF-8"),
    ],
)
def test_a_broken_file_of_places(keyword_palace: Palace, text: str | bytes, said: str) -> None:
    """One line that says what to do."""
    keyword_palace.write(local.PATH, text)
    with pytest.raises(BadInput, match=r"local\.yaml") as caught:
        local.places(keyword_palace.root)
    assert said in str(caught.value)


def test_places_that_came_with_a_repository(keyword_palace: Palace, tmp_path: Path) -> None:
    """A stranger's clone does not say which folders of this machine are read."""
    save(keyword_palace)
    local.put(keyword_palace.root, "demo", tmp_path)
    assert projects.every(keyword_palace.root) == [Project("demo", tmp_path)]
    repository = Repository(keyword_palace.root)
    repository.git("add", "--force", local.PATH)
    local._is_tracked.cache_clear()
    assert projects.every(keyword_palace.root) == [Project("demo", None)]
    with pytest.raises(BadInput, match="git rm --cached"):
        local.put(keyword_palace.root, "demo", None)
    subprocess.run(
        ["git", "-C", str(keyword_palace.root), "rm", "--quiet", "--cached", local.PATH], check=True
    )
    local._is_tracked.cache_clear()
    assert projects.every(keyword_palace.root) == [Project("demo", tmp_path)]


def test_what_was_read_is_kept(keyword_palace: Palace, tmp_path: Path) -> None:
    """A file that is as it was need not be opened; a fresh one is not trusted."""
    root = keyword_palace.root
    file = keyword_palace.write("x.py", "text")
    (stat,) = [s for s in _stats(root) if s.path == "x.py"]
    seen = mined.look(root, stat, OLD_NS + 3_000_000_000)
    assert (seen.what, seen.holds(stat)) == (mined.TEXT, True)
    assert not mined.look(root, stat, OLD_NS + 1).holds(stat)
    mined.keep(root, "demo", {"x.py": seen}, NOW)
    assert mined.load(root, "demo") == {"x.py": seen}
    assert mined.newest(root, "demo") == "2026-11-29T12:00:00Z"
    mined.keep(root, "demo", {})
    assert mined.newest(root, "demo") == "2026-11-29T12:00:00Z"
    file.write_bytes(b"caf\xe9")
    assert mined.look(root, stat, 0).what == mined.REPLACED
    file.write_bytes(b"a\0")
    assert mined.look(root, stat, 0).what == mined.BINARY
    file.unlink()
    assert mined.look(root, stat, 0).what == mined.UNREADABLE
    for damaged in ("{", "[]", '{"format": 1, "files": {"a": [1]}}', "\0"):
        keyword_palace.write(".palace/mine/demo.json", damaged)
        assert mined.load(root, "demo") == {}
        assert mined.newest(root, "demo") == ""
    mined.forget(root, "demo")
    mined.forget(root, "demo")
    assert not (root / ".palace/mine/demo.json").exists()


@pytest.mark.parametrize("what", ["size", "mtime_ns", "inode"])
def test_a_file_is_as_it_was_by_size_time_and_inode(what: str) -> None:
    """Each of them tells a change that the others may not."""
    then = FileStat("a.py", 5, OLD_NS, 7)
    seen = mined.Seen(5, OLD_NS, 7, mined.TEXT)
    assert seen.holds(then)
    assert not seen.holds(replace(then, **{what: 1}))


def _stats(root: Path) -> list:  # type: ignore[type-arg]
    from memory_palace.files.collect import Wanted, collect

    return collect(root, Wanted()).files


def test_a_room_that_no_folder_could_be_called(keyword_palace: Palace) -> None:
    """Endless, half a character or none: the rule says where the file belongs."""
    rooms = ["x" * 256, "\ud800", "", 7]
    rows = [json.dumps({"path": f"a/{n}.py", "room": room}) for n, room in enumerate(rooms)]
    keyword_palace.write("manifests/projects/demo.jsonl", "\n".join(rows) + "\n")
    assert {line.room for line in projects.listed(keyword_palace.root, "demo")} == {"a"}


def test_projects_in_projects(tmp_path: Path) -> None:
    """By their real folders; a name that begins the same is no folder within."""
    places = {"a": "a", "b": "a/x/b", "c": "link/c", "d": "ab", "same": "a"}
    (tmp_path / "a/x/b/c").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "a/x/b")
    every = [projects.Project(name, tmp_path / place) for name, place in places.items()]
    assert projects.nested([*every, projects.Project("away", None)]) == {
        "a": {"x/b": "b", "x/b/c": "c"},
        "same": {"x/b": "b", "x/b/c": "c"},
        "b": {"c": "c"},
    }
