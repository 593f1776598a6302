"""The file commands of the Anthropic API's memory tool over a palace."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memory_palace.agents.memory_tool import MemoryTool
from memory_palace.core.errors import PalaceError
from support.palaces import NOW, Palace

ROOM = "/memories/project_rooms/demo"
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


class Memory:
    """A palace as a model sees it."""

    def __init__(self, palace: Palace) -> None:
        self.palace = palace
        self.tool = MemoryTool(palace.root, now=lambda: NOW)

    def do(self, command: str, **given: Any) -> str:
        return self.tool.call({"command": command, **given})

    def fails(self, command: str, **given: Any) -> str:
        """The message of the error; nothing was written."""
        before = self.files()
        with pytest.raises(PalaceError) as caught:
            self.do(command, **given)
        assert self.files() == before
        return str(caught.value)

    def text(self, path: str) -> str:
        return (self.palace.root / "palace" / path).read_text()

    def files(self) -> dict[str, bytes]:
        root = self.palace.root
        found = [path for top in ("palace", "manifests") for path in (root / top).rglob("*")]
        return {p.relative_to(root).as_posix(): p.read_bytes() for p in found if p.is_file()}


@pytest.fixture
def memory(keyword_palace: Palace) -> Memory:
    """A room with a note, a topic file, something archived."""
    keyword_palace.notes(
        project_rooms__demo__plan="# Plan\n\nFirst the ledge.\nThen the fjord.\n",
        topics__lessons="# Lessons\n\n- [lesson] Test first ^3f9ac2d41b7e\n",
        archive_basement__old="Old.",
    )
    return Memory(keyword_palace)


def test_view_shows_no_private_span(memory: Memory) -> None:
    """A mark stands in its place, on as many lines as before."""
    text = "# Amber\n\nOpen. <private>hushed\n\nstill hushed</private>\nLast.\n"
    memory.palace.write("palace/project_rooms/demo/amber.md", text)
    shown = memory.do("view", path=f"{ROOM}/amber.md")
    assert "hushed" not in shown
    assert "     3\tOpen. [PRIVATE]" in shown and "     6\tLast." in shown


def test_view_lists_two_levels(memory: Memory) -> None:
    """Sizes and paths below /memories; nothing hidden, nothing archived, no deeper level."""
    memory.palace.write("palace/.obsidian/app.json", "{}")
    memory.palace.write("palace/topics/node_modules/x.md", "x")
    assert memory.do("view", path="/memories").splitlines() == [
        "Here're the files and directories up to 2 levels deep in /memories, "
        "excluding hidden items and node_modules:",
        "88\t/memories",
        "41\t/memories/project_rooms",
        "41\t/memories/project_rooms/demo",
        "47\t/memories/topics",
        "47\t/memories/topics/lessons.md",
    ]
    assert memory.do("view", path=f"{ROOM}/").splitlines()[1:] == [
        f"41\t{ROOM}",
        f"41\t{ROOM}/plan.md",
    ]


def test_view_shows_a_file_with_line_numbers(memory: Memory) -> None:
    """Six columns, a tab, the line; a range of lines, to the end with -1."""
    path = f"{ROOM}/plan.md"
    assert memory.do("view", path=path) == (
        f"Here's the content of {path} with line numbers:\n"
        "     1\t# Plan\n     2\t\n     3\tFirst the ledge.\n     4\tThen the fjord."
    )
    assert memory.do("view", path=path, view_range=[3, -1]).splitlines()[1:] == [
        "     3\tFirst the ledge.",
        "     4\tThen the fjord.",
    ]
    assert memory.do("view", path=path, view_range=[1, 1]).splitlines()[1:] == ["     1\t# Plan"]
    for bad in ([0, 2], [9, 10], [3, 1], [1], "1-2", [1, True]):
        assert "view_range" in memory.fails("view", path=path, view_range=bad)


def test_a_long_file_is_cut_and_says_so(memory: Memory) -> None:
    """What one view leaves out can be asked for."""
    memory.palace.write("palace/topics/long.md", "x" * 99 + "\n" + "line of text\n" * 20_000)
    shown = memory.do("view", path="/memories/topics/long.md")
    assert len(shown) < 101_000
    last = shown.splitlines()[-1]
    assert last.startswith("[cut here: view_range [")
    start = int(last.split("[")[2].split(",")[0])
    assert int(shown.splitlines()[-2].split("\t")[0]) == start - 1


def test_create(memory: Memory) -> None:
    """A new note with metadata of its own; an existing one is not overwritten."""
    path = f"{ROOM}/new.md"
    said = memory.do("create", path=path, file_text="# New\n\nA quokka.\n")
    assert said.splitlines()[0] == f"File created successfully at: {path}"
    assert memory.text("project_rooms/demo/new.md").endswith("# New\n\nA quokka.\n")
    assert memory.fails("create", path=path, file_text="x") == f"Error: File {path} already exists"
    assert ".md" in memory.fails("create", path=f"{ROOM}/new.txt", file_text="x")


def test_str_replace(memory: Memory) -> None:
    """Exactly one place; the lines around it come back; without new_str it is taken out."""
    path = f"{ROOM}/plan.md"
    said = memory.do("str_replace", path=path, old_str="ledge", new_str="amber ledge")
    assert said.splitlines() == [
        "The memory file has been edited.",
        "     1\t# Plan",
        "     2\t",
        "     3\tFirst the amber ledge.",
        "     4\tThen the fjord.",
    ]
    memory.do("str_replace", path=path, old_str=" amber")
    assert "First the ledge." in memory.text("project_rooms/demo/plan.md")
    assert memory.fails("str_replace", path=path, old_str="zebra", new_str="x") == (
        f"No replacement was performed, old_str `zebra` did not appear verbatim in {path}."
    )
    assert memory.fails("str_replace", path=path, old_str="the ", new_str="x") == (
        "No replacement was performed. Multiple occurrences of old_str `the ` in lines: 3, 4. "
        "Please ensure it is unique"
    )
    assert memory.fails("str_replace", path=f"{ROOM}/no.md", old_str="a", new_str="b") == (
        f"Error: The path {ROOM}/no.md does not exist. Please provide a valid path."
    )


def test_windows_lines_are_kept(memory: Memory) -> None:
    """The model sees and writes line feeds; the file has the line ends that it had."""
    path = memory.palace.write("palace/topics/w.md", "\ufeff# W\r\n\r\none\r\ntwo\r\n")
    shown = "/memories/topics/w.md"
    assert memory.do("view", path=shown).endswith("     3\tone\n     4\ttwo")
    memory.do("str_replace", path=shown, old_str="one\ntwo", new_str="1\n2")
    assert path.read_bytes() == b"\xef\xbb\xbf# W\r\n\r\n1\r\n2\r\n"


def test_the_lines_around_an_edit_are_those_of_the_edit(memory: Memory) -> None:
    """Also where the new text stands elsewhere too, and where metadata has grown above it."""
    rows = "".join(f"row {n}\n" for n in range(1, 31))
    memory.palace.write("palace/topics/r.md", f"---\ncreated: 2026-01-01\n---\n{rows}")
    path = "/memories/topics/r.md"
    said = memory.do("str_replace", path=path, old_str="row 20\n", new_str="row 1\n")
    numbered = [line.split("\t") for line in said.splitlines() if "\t" in line]
    assert [text for _, text in numbered] == [
        *("row 16", "row 17", "row 18", "row 19", "row 1"),
        *("row 21", "row 22", "row 23", "row 24"),
    ]
    assert int(numbered[0][0]) == memory.text("topics/r.md").split("\n").index("row 16") + 1


def test_insert(memory: Memory) -> None:
    """After a line; 0 is the top; a line beyond the end is refused with the range."""
    path = f"{ROOM}/plan.md"
    assert memory.do("insert", path=path, insert_line=3, insert_text="Between.\n") == (
        f"The file {path} has been edited."
    )
    assert memory.text("project_rooms/demo/plan.md").splitlines()[2:5] == [
        "First the ledge.",
        "Between.",
        "Then the fjord.",
    ]
    memory.do("insert", path=path, insert_line=5, insert_text="Last.")
    assert memory.text("project_rooms/demo/plan.md").endswith("Then the fjord.\nLast.\n")
    assert memory.fails("insert", path=path, insert_line=99, insert_text="x") == (
        "Error: Invalid `insert_line` parameter: 99. It should be within the range of lines of "
        "the file: [0, 6]"
    )
    for absent in (f"{ROOM}/no.md", ROOM):
        assert memory.fails("insert", path=absent, insert_line=0, insert_text="x") == (
            f"Error: The path {absent} does not exist"
        )


def test_delete_moves_to_the_archive(memory: Memory) -> None:
    """Gone for the model, kept for a person; a folder with all that is in it."""
    path = f"{ROOM}/plan.md"
    assert memory.do("delete", path=path) == f"Successfully deleted {path}"
    assert "does not exist" in memory.fails("view", path=path)
    assert "First the ledge." in memory.text("archive_basement/project_rooms/demo/plan.md")
    assert "does not exist" in memory.fails("view", path="/memories/archive_basement")
    memory.do("create", path=f"{ROOM}/a/one.md", file_text="1")
    memory.do("create", path=f"{ROOM}/a/two.md", file_text="2")
    memory.do("delete", path=f"{ROOM}/a")
    assert f"{ROOM}/a" not in memory.do("view", path=ROOM)
    assert memory.fails("delete", path=f"{ROOM}/no.md") == (
        f"Error: The path {ROOM}/no.md does not exist"
    )


def test_rename(memory: Memory) -> None:
    """A note or a folder; onto nothing that is there."""
    assert memory.do("rename", old_path=f"{ROOM}/plan.md", new_path=f"{ROOM}/b/way.md") == (
        f"Successfully renamed {ROOM}/plan.md to {ROOM}/b/way.md"
    )
    assert "First the ledge." in memory.text("project_rooms/demo/b/way.md")
    memory.do("rename", old_path=f"{ROOM}/b", new_path=f"{ROOM}/c")
    assert "First the ledge." in memory.text("project_rooms/demo/c/way.md")
    assert f"{ROOM}/b" not in memory.do("view", path=ROOM)
    memory.do("rename", old_path=f"{ROOM}/c", new_path=f"{ROOM}/c/d")
    memory.do("rename", old_path=f"{ROOM}/c/d", new_path=f"{ROOM}/b")
    assert "holds no note" in memory.fails("rename", old_path=f"{ROOM}/c", new_path=f"{ROOM}/e")
    memory.do("delete", path=f"{ROOM}/c")  # a folder with nothing in it
    memory.do("rename", old_path=f"{ROOM}/b", new_path=f"{ROOM}/c")
    memory.do("create", path=f"{ROOM}/new.md", file_text="x")
    assert (
        memory.fails("rename", old_path=f"{ROOM}/new.md", new_path=f"{ROOM}/c/way.md")
        == f"Error: The destination {ROOM}/c/way.md already exists"
    )
    assert memory.fails("rename", old_path=f"{ROOM}/no.md", new_path=f"{ROOM}/x.md") == (
        f"Error: The path {ROOM}/no.md does not exist"
    )


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "memories/a.md",
        "/memoriesx/a.md",
        "/memories/../palace.yaml",
        "/memories/topics/../../palace.yaml",
        "/memories/./a.md",
        "/memories/.git/config",
        "/memories/a\\b.md",
        "/memories/a\0b.md",
        "/memories/..",
        "",
    ],
)
@pytest.mark.parametrize("command", ["view", "create", "delete"])
def test_a_path_that_leads_out_is_refused(memory: Memory, command: str, path: str) -> None:
    """Whatever the command, in one line."""
    said = memory.fails(command, path=path, file_text="x")
    assert said.startswith("Error: The path ")
    assert "is not allowed" in said
    assert "\n" not in said


def test_a_symbolic_link_is_not_followed(memory: Memory, tmp_path: Path) -> None:
    """Neither a linked file nor a linked folder, to read or to write."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.md").write_text("secret")
    (memory.palace.root / "palace/topics/away").symlink_to(outside)
    (memory.palace.root / "palace/topics/one.md").symlink_to(outside / "secret.md")
    assert "away" not in memory.do("view", path="/memories")
    for path in ("/memories/topics/away/secret.md", "/memories/topics/one.md"):
        for command in ("view", "create", "delete"):
            said = memory.fails(command, path=path, file_text="x")
            assert "symbolic link" in said
    assert (outside / "secret.md").read_text() == "secret"


def test_what_a_palace_does_not_let_go(memory: Memory) -> None:
    """Memories of one line, rooms, the top: refused with the reason."""
    lessons = "/memories/topics/lessons.md"
    for path in ("/memories/topics", ROOM, "/memories/project_rooms"):
        assert "is a room of the palace" in memory.fails("delete", path=path)
    assert "stays as it is" in memory.fails("delete", path="/memories")
    assert "palace archive" in memory.fails("delete", path=lessons)
    line = "- [lesson] Test first ^3f9ac2d41b7e\n"
    assert "would be lost" in memory.fails("str_replace", path=lessons, old_str=line, new_str="")


def test_a_folder_is_moved_whole_or_says_how_far(memory: Memory) -> None:
    """With another kind of file in it, not at all; a note that stays is named, with the count."""
    memory.palace.notes(project_rooms__demo__a__one="1", project_rooms__demo__a__two="2")
    log = memory.palace.write("palace/project_rooms/demo/a/log.jsonl", "{}")
    assert "only notes (.md)" in memory.fails("delete", path=f"{ROOM}/a")
    log.unlink()
    memory.palace.write("palace/project_rooms/demo/a/two.md", "---\npinned: true\n---\n2")
    with pytest.raises(PalaceError, match=r"pinned.*1 of 2 notes were moved before"):
        memory.do("delete", path=f"{ROOM}/a")
    assert "two.md" in memory.do("view", path=ROOM)


def test_secrets_are_taken_out(memory: Memory) -> None:
    """What must not be stored is not, and the model is told."""
    said = memory.do("create", path=f"{ROOM}/key.md", file_text=f"The key is {SECRET}.\n")
    assert SECRET not in memory.text("project_rooms/demo/key.md")
    assert "taken out" in said


def test_each_write_is_an_event_with_the_reason(memory: Memory) -> None:
    """As every write to the palace is."""
    memory.do("create", path=f"{ROOM}/new.md", file_text="x")
    log = (memory.palace.root / "manifests/memory_events.jsonl").read_text()
    event = json.loads(log.splitlines()[-1])
    assert event["reason"] == "memory tool"


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ({}, "no command `None`"),
        ({"command": ["view"], "path": "/memories"}, "no command"),
        ({"command": "view", "path": "/memories/\ud83d.md"}, "`path` has halves of characters"),
        ({"command": "vew", "path": "/memories"}, "did you mean `view`?"),
        ({"command": "view"}, "`view` needs `path`, which is text"),
        ({"command": "insert", "path": "/memories/a.md", "insert_text": "x"}, "a whole number"),
        ({"command": "create", "path": "/memories/a.md", "file_text": 5}, "needs `file_text`"),
        (
            {"command": "str_replace", "path": "/memories/a.md", "old_str": "a", "new_str": 1},
            "`new_str` is text",
        ),
    ],
)
def test_a_bad_input_says_what_is_needed(memory: Memory, given_: dict[str, Any], said: str) -> None:
    """A command or a field that is not there, or of another type."""
    with pytest.raises(PalaceError, match=said):
        memory.tool.call(given_)


_PATHS = st.sampled_from([f"{ROOM}/{name}.md" for name in ("plan", "a", "b/c")])
_TEXTS = st.text(alphabet="ab \n#-[]", min_size=1, max_size=12)


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(steps=st.lists(st.tuples(st.integers(0, 4), _PATHS, _PATHS, _TEXTS), max_size=8))
def test_nothing_is_ever_lost(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, str, str, str]]
) -> None:
    """Whatever a model does: each answer is text or one error, and no note's file disappears."""
    memory = Memory(Palace(tmp_path_factory.mktemp("any") / "root"))
    memory.palace.notes(project_rooms__demo__plan="# Plan\n\nThe ledge.\n")
    for kind, path, other, text in steps:
        before = sum(name.endswith(".md") for name in memory.files())
        command: dict[str, Any] = [
            {"command": "create", "path": path, "file_text": text},
            {"command": "str_replace", "path": path, "old_str": text, "new_str": "x"},
            {"command": "insert", "path": path, "insert_line": 1, "insert_text": text},
            {"command": "delete", "path": path},
            {"command": "rename", "old_path": path, "new_path": other},
        ][kind]
        try:
            assert memory.tool.call(command)
        except PalaceError as error:
            assert str(error)
        assert sum(name.endswith(".md") for name in memory.files()) >= before
