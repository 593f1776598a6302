"""Mined files among the hits: found by type, room and project, checked, read, and no notes."""

import json
import os
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core import code_tree
from memory_palace.core.code_tree import Definition
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.mining import Line, kind
from memory_palace.core.problems import Problem
from memory_palace.files import local, projects, read
from memory_palace.search import pick, reading, recent
from memory_palace.search.query import Query
from memory_palace.search.quick import Quick, terms_of
from support.palaces import NOW, OLD_NS, Palace

CODE = "import os\n\n\ndef open_ledger(path):\n    return os.open(path)\n"


@pytest.fixture
def demo(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A mined project with one source in the room ``files`` and a document; and a note."""
    found = (Definition("open_ledger", 3, 5),)
    monkeypatch.setattr(code_tree, "definitions", lambda path, text: found)
    palace.notes(topics__a="# Ledgers\nA note about the ledger.")
    top = palace.root.parent / "demo-source"
    texts = {"src/ledger.py": CODE, "docs/ledger.md": "# Ledger\nHow the ledger is kept.\n"}
    for path, text in texts.items():
        (top / path).parent.mkdir(parents=True)
        (top / path).write_text(text)
        os.utime(top / path, ns=(OLD_NS, OLD_NS))
    local.put(palace.root, "demo", top)
    rooms = {"src/ledger.py": "files/stores", "docs/ledger.md": "docs"}
    lines = [Line(path, kind(path), room) for path, room in rooms.items()]
    projects.save(palace.root, "demo", projects.load(palace.root, "demo"), lines)
    palace.index()
    return top


def test_a_hit_in_code_has_path_lines_and_symbol(palace: Palace, demo: Path) -> None:
    """And the room that its manifest says."""
    (hit,) = palace.hits("open ledger", types=("code",))
    assert (hit.path, hit.start, hit.end) == ("project:demo/src/ledger.py", 4, 5)
    assert (hit.heading, hit.type, hit.room) == (("open_ledger",), "code", "files/stores")


@pytest.mark.parametrize(
    ("room", "found"),
    [
        ("files", ["src/ledger.py"]),
        ("files/stores", ["src/ledger.py"]),
        ("project:demo", ["docs/ledger.md", "src/ledger.py"]),
        ("project:demo/docs", ["docs/ledger.md"]),
        ("topics", ["palace/topics/a.md"]),
        ("file", []),
    ],
)
def test_rooms_are_whole_and_projects_are_rooms(
    palace: Palace, demo: Path, room: str, found: list[str]
) -> None:
    """Of mined files by their manifest, of notes by their folder."""
    hits = palace.hits("ledger", rooms=(room,))
    assert sorted(hit.path.removeprefix("project:demo/") for hit in hits) == found


def test_an_unknown_room_names_those_of_mined_files(palace: Palace, demo: Path) -> None:
    """They are rooms like others."""
    (note,) = palace.ask("ledger", rooms=("stores",)).notes
    assert "there are docs, files, files/stores, project:demo, topics" in note


def test_a_changed_file_is_read_again(palace: Palace, demo: Path) -> None:
    """Its lines are those of now; what is gone is dropped; filters still count."""
    (demo / "src/ledger.py").write_text("# one\n# two\n" + CODE)
    hits = palace.hits("open ledger", types=("code",), rooms=("files",))
    assert any(CODE.splitlines()[3] in hit.text for hit in hits)
    (demo / "src/ledger.py").unlink()
    assert palace.hits("open ledger", types=("code",)) == []


def test_a_project_that_is_elsewhere_gives_no_hits_and_a_line(palace: Palace, demo: Path) -> None:
    """They could not be checked; its files have not changed."""
    os.rename(demo, demo.with_name("away"))
    answer = palace.ask("ledger")
    assert [hit.path for hit in answer.hits] == ["palace/topics/a.md"]
    assert answer.changed == 0
    assert answer.notes == ["project:demo: not on this machine, its files are left out"]


def test_no_hit_says_why_where_a_run_of_the_index_would_not_help(
    palace: Palace, demo: Path
) -> None:
    """The project is elsewhere, or its folder is empty: nothing asks for a run."""
    os.rename(demo, demo.with_name("away"))
    for _ in range(2):
        answer = palace.ask("ledger", types=("code",))
        assert (answer.hits, answer.changed) == ([], 0)
        assert answer.notes == [
            "project:demo: not on this machine, its files are left out",
            "nothing matched: try other words, fewer filters or --archived",
        ]
        demo.mkdir(exist_ok=True)


def test_a_file_that_may_not_be_read_is_said(
    palace: Palace, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is left out and stays in the index: it has not changed."""
    real = read.read_bytes

    def closed(root: Path, path: str, *rest: Any) -> Any:
        if path == "src/ledger.py":
            return read.Unreadable(Problem(path, None, "Permission denied"), content=False)
        return real(root, path, *rest)

    monkeypatch.setattr(read, "read_bytes", closed)
    monkeypatch.setattr(os, "access", lambda *_: False)
    answer = palace.ask("ledger", types=("code",))
    assert (answer.hits, answer.changed) == ([], 0)
    assert answer.notes == [
        "project:demo/src/ledger.py may not be read, so left out: check the permissions",
        "nothing matched: try other words, fewer filters or --archived",
    ]


def test_a_broken_local_yaml_breaks_no_question(palace: Palace, demo: Path) -> None:
    """Its files cannot be checked: they are left out."""
    (palace.root / ".palace/local.yaml").write_text("projects: [\n")
    assert [hit.path for hit in palace.hits("ledger")] == ["palace/topics/a.md"]


def test_the_palaces_own_patterns_exclude_no_mined_file(palace: Palace, demo: Path) -> None:
    """They are about its notes."""
    palace.write("palace.yaml", 'index: {exclude: ["**/src/**", "**/topics/**"]}\n')
    paths = [hit.path for hit in palace.hits("ledger")]
    assert sorted(paths) == ["project:demo/docs/ledger.md", "project:demo/src/ledger.py"]


def test_notes_alone_are_wanted_by_sessions(palace: Palace, demo: Path) -> None:
    """Neither vectors nor keywords bring mined files into a prompt."""
    assert [hit.path for hit in palace.hits("ledger", notes_only=True)] == ["palace/topics/a.md"]
    palace.notes(topics__a="The ledger is kept open.", **{f"n{n}": f"word{n}" for n in range(40)})
    palace.index()
    quick = Quick(palace.root)
    try:
        terms = terms_of("how is the ledger kept open?")
        found = quick.notes(terms, quick.weighed(terms), NOW, 5)
    finally:
        quick.close()
    assert [one.path for one in found] == ["palace/topics/a.md"]


def test_recent_notes_are_notes(palace: Palace, demo: Path) -> None:
    """Mined files are listed where their type is asked for."""
    assert [n.path for n in recent.recent(palace.root, Query(top_k=9)).notes] == [
        "palace/topics/a.md"
    ]
    asked = Query(types=("code",), top_k=9)
    assert [n.path for n in recent.recent(palace.root, asked).notes] == [
        "project:demo/src/ledger.py"
    ]


def test_a_mined_file_is_read_by_its_path(palace: Palace, demo: Path) -> None:
    """With lines, as a hit names them, or whole; code has no headings."""
    path = "project:demo/src/ledger.py"
    found = reading.read(palace.root, f"{path}:4-5")
    assert (found.path, found.title, found.heading) == (path, "src/ledger.py", "")
    assert found.lines == ("def open_ledger(path):", "    return os.open(path)")
    assert reading.read(palace.root, path).total == 5
    (hit,) = palace.hits("open ledger", types=("code",))
    assert reading.read(palace.root, f"#{hit.id}").lines == found.lines
    document = reading.read(palace.root, "project:demo/docs/ledger.md", section="Ledger")
    assert document.lines[0] == "# Ledger"


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("project:demo/src/ledgr.py", "did you mean project:demo/src/ledger.py"),
        ("project:demo", "`palace query` with --room project:demo searches it"),
        ("demo/src/ledger.py", "did you mean project:demo/src/ledger.py\\?"),
        ("src/ledger.py", "did you mean project:demo/src/ledger.py\\?"),
        ("project:demo/../../etc/passwd", "no file"),
        ("project:dem/src/ledger.py", "no project dem: did you mean `demo`"),
        ("project:demo/secret.env", "no file"),
        ("project:", "no project"),
    ],
)
def test_only_listed_files_are_read(palace: Palace, demo: Path, name: str, why: str) -> None:
    """Whatever else lies in the project."""
    (demo / "secret.env").write_text("KEY=1\n")
    with pytest.raises(Refused, match=why):
        reading.read(palace.root, name)


def test_a_closed_folder_is_no_fault_of_a_reader(
    palace: Palace, demo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is refused in a line."""
    real = Path.is_file

    def is_file(place: Path) -> bool:
        if place.name == "ledger.py":
            raise PermissionError(13, "Permission denied", str(place))
        return real(place)

    monkeypatch.setattr(Path, "is_file", is_file)
    with pytest.raises(Refused, match="is gone or cannot be read"):
        reading.read(palace.root, "project:demo/src/ledger.py")


def test_a_link_in_a_listed_files_place_is_not_read(
    palace: Palace, demo: Path, tmp_path: Path
) -> None:
    """It could lead anywhere."""
    (demo / "src/ledger.py").unlink()
    (tmp_path / "secret").write_text("secret\n")
    (demo / "src/ledger.py").symlink_to(tmp_path / "secret")
    with pytest.raises((Refused, BadInput), match=r"ledger\.py"):
        reading.read(palace.root, "project:demo/src/ledger.py")


def test_hits_are_shown_with_project_and_symbol(palace: Palace, demo: Path) -> None:
    """As text, and as JSON with the room; a note has none."""
    ran = palace.command("query", "--type", "code", "open", "ledger")
    first = ran.out.splitlines()[0]
    assert first.startswith("1. project:demo/src/ledger.py:4-5  demo › open_ledger  (code, low, ")
    ran = palace.command("query", "--format", "jsonl", "ledger")
    found = {one["path"]: one["room"] for one in map(json.loads, ran.out.splitlines())}
    assert found["project:demo/src/ledger.py"] == "files/stores"
    assert found["palace/topics/a.md"] is None


def test_mined_files_do_not_count_as_retrieved(palace: Palace, demo: Path) -> None:
    """What is counted is what notes are kept for."""
    palace.command("query", "ledger")
    said = (palace.root / ".palace/memory/retrieved.jsonl").read_text()
    assert json.loads(said)["paths"] == ["palace/topics/a.md"]


def test_times_are_compared_with_the_files(palace: Palace, demo: Path) -> None:
    """A mined file is as old as it says."""
    old = datetime.fromtimestamp(OLD_NS / 1e9, UTC)
    assert palace.hits("ledger", types=("code",), until=old)
    assert not palace.hits("ledger", types=("code",), since=NOW)


def test_mined_files_make_no_word_common(palace: Palace, demo: Path) -> None:
    """What a prompt's words prove does not depend on how much was mined."""
    terms = terms_of("where does the ledger stand")
    listed = projects.load(palace.root, "demo")
    found = []
    for more in (0, 300):
        for n in range(more):
            (demo / f"src/f{n}.py").write_text(f"ledger = stand({n})\n")
        lines = [*listed.lines.values(), *(Line(f"src/f{n}.py", "code", "x") for n in range(more))]
        projects.save(palace.root, "demo", projects.load(palace.root, "demo"), lines)
        palace.index()
        quick = Quick(palace.root)
        try:
            asked = quick.weighed(terms)
            found.append((asked, [one.path for one in quick.notes(terms, asked, NOW, 5)]))
        finally:
            quick.close()
    assert found[0] == found[1]
    assert found[0][0].rows == 1


def test_a_project_changes_no_score_of_a_note(palace: Palace, tmp_path: Path) -> None:
    """Its words make none of theirs rarer or more common, whether asked for or put beside a
    prompt; when it is forgotten, nothing is left of it."""
    texts = {f"n{n}": f"The gateway of house {n} leaks.\n" + "More of it. " * n for n in range(9)}
    palace.notes(ledger="# Keys\nWho keeps the ledger of keys.", **texts)

    def scores() -> list[object]:
        asked = [
            palace.hits(text, top_k=99) for text in ("ledger keys", '"ledger of keys" gateway')
        ]
        notes = [hit for hits in asked for hit in hits if hit.path.startswith("palace/")]
        with closing(Quick(palace.root)) as quick:
            terms = terms_of("who keeps the ledger of keys")
            weighed = quick.weighed(terms)
            beside = [(one.path, one.score) for one in quick.notes(terms, weighed, NOW, 3)]
            return [[(hit.path, hit.score, hit.parts) for hit in notes], weighed, beside]

    palace.index()
    before = scores()
    top = tmp_path / "demo-source"
    top.mkdir()
    local.put(palace.root, "demo", top)
    for n in range(40):
        (top / f"f{n}.py").write_text("ledger = 'of keys'\n" + f"gateway_{n} = keys\n" * n)
    lines = [Line(f"f{n}.py", "code", "src") for n in range(40)]
    for listed in (lines, []):
        projects.save(palace.root, "demo", projects.load(palace.root, "demo"), listed)
        palace.index(yes=True)
        assert scores() == before
        assert bool(palace.hits("ledger", types=("code",))) == bool(listed)


def many(palace: Palace, monkeypatch: pytest.MonkeyPatch, top: Path) -> None:
    """A source that defines five functions and uses one of them much, mined."""
    names = ["open_ledger", "close_ledger", "read_ledger", "ledger_keys", "ledger_use"]
    text = "".join(f"def {name}(ledger):\n    return ledger\n\n" for name in names)
    text += "open_ledger(open_ledger)\n"
    found = tuple(Definition(name, 3 * n, 3 * n + 2) for n, name in enumerate(names))
    monkeypatch.setattr(code_tree, "definitions", lambda path, text: found)
    top.mkdir()
    (top / "book.py").write_text(text)
    local.put(palace.root, "demo", top)
    lines = [Line("book.py", "code", "src")]
    projects.save(palace.root, "demo", projects.load(palace.root, "demo"), lines)
    palace.index()


def test_a_source_gives_several_hits_and_no_more(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Definitions only beside one, blocks where it has none; all of them only where all chunks are
    wanted. A note gives one."""
    keyword_palace.notes(a="# One\nledger\n" + "word " * 400 + "\n# Two\nledger\n" + "word " * 400)
    many(keyword_palace, monkeypatch, tmp_path / "source")
    hits = keyword_palace.hits("ledger", top_k=20)
    assert sum(hit.path.startswith("project:") for hit in hits) == pick.MOST_OF_A_SOURCE
    assert sum(hit.path == "palace/a.md" for hit in hits) == 1
    hits = keyword_palace.hits("ledger", top_k=20, all_chunks=True, types=("code",))
    assert len(hits) == 6
    hits = keyword_palace.hits("open_ledger", top_k=20, types=("code",))
    assert [bool(hit.heading) for hit in hits] == [True] * len(hits)
    monkeypatch.setattr(code_tree, "definitions", lambda path, text: ())
    blocks = "\n\n".join(f"ledger({n})  # {'x' * 900}" for n in range(6))
    (tmp_path / "source/book.py").write_text(blocks)
    keyword_palace.index()
    hits = keyword_palace.hits("ledger", top_k=20, types=("code",))
    assert len(hits) == pick.MOST_OF_A_SOURCE


def test_what_is_defined_comes_before_where_it_is_used(
    palace: Palace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By its name, in any spelling, with keywords alone and with vectors; --raw goes by cosine."""
    many(palace, monkeypatch, tmp_path / "source")
    for question in ("where is open_ledger?", "openLedger", "open ledger"):
        first = palace.hits(question)[0]
        assert (first.heading, first.parts.name) == (("open_ledger",), 1.0)
    assert palace.hits("use of the ledger")[0].heading == ("ledger_use",)
    assert {hit.parts.name for hit in palace.hits("open_ledger", raw=True)} == {0.0}
