"""Imports of other tools' memories: planned, written once, never over what a person edited."""

import json
import os
import sqlite3
import subprocess
from pathlib import Path
from typing import Any

import pytest

from memory_palace.core import note
from memory_palace.core.errors import BadInput
from memory_palace.files import atomic
from memory_palace.files import facts as logs
from memory_palace.memory.imports import facts, run
from memory_palace.memory.imports.run import Imported
from memory_palace.memory.imports.sources import Triple
from support.palaces import NOW, Palace

IMPORTS = "palace/project_rooms/imports"


@pytest.fixture
def palace(tmp_path: Path) -> Palace:
    """An empty palace, with keywords only."""
    made = Palace(tmp_path / "root")
    made.write("palace.yaml", "embedder: none\n")
    return made


def files(place: Path, texts: dict[str, str | bytes]) -> Path:
    """A folder with files."""
    for name, text in texts.items():
        path = place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def bring(palace: Palace, kind: str, path: Path, write: bool = True) -> Imported:
    """One import."""
    return run.run(palace.root, NOW, kind, path, write=write)


def whats(done: Imported) -> dict[str, str]:
    """What became of each piece."""
    return {item.original: item.what for item in done.items}


def read(palace: Palace, path: str) -> note.Note:
    """An imported note."""
    text = (palace.root / IMPORTS / path).read_text(encoding="utf-8")
    found = note.parse(path, text)
    assert not found.problems
    return found


def links(palace: Palace, path: str) -> dict[str, str]:
    """Where the links of an imported note lead."""
    ran = palace.command("links", f"{IMPORTS}/{path}", "--format", "json")
    assert ran.code == 0
    return {one["text"].strip("[]"): one["path"] for one in json.loads(ran.out)["out"]}


def test_claude_memory(palace: Palace, tmp_path: Path) -> None:
    """Memories of projects and of the user, links by their names; transcripts are none."""
    place = files(
        tmp_path / ".claude",
        {
            "CLAUDE.md": "Use tabs. See [[lamp-fact]].\n",
            "rules/style.md": "Short lines.\n",
            "projects/-home-me-demo/memory/MEMORY.md": "- [Lamp](lamp.md)\n",
            "projects/-home-me-demo/memory/lamp.md": (
                "---\nname: lamp-fact\ndescription: d\nmetadata:\n  type: project\n---\nLit.\n"
            ),
            "projects/-home-me-demo/5e1f.jsonl": "{}\n",
            "plugins/x/CLAUDE.md": "Of a plugin.\n",
            "todo.md": "no memory\n",
        },
    )
    done = bring(palace, "claude-memory", place)
    assert whats(done) == {
        "CLAUDE.md": "new",
        "rules/style.md": "new",
        "home-me-demo/MEMORY.md": "new",
        "home-me-demo/lamp.md": "new",
    }
    assert dict(done.others) == {
        "not Markdown": 1,
        "of a plugin": 1,
        "not a memory of Claude Code": 1,
    }
    lamp = read(palace, "claude-memory/home-me-demo/lamp.md")
    assert (lamp.title, lamp.aliases, lamp.body) == ("lamp-fact", ("lamp-fact",), "Lit.\n")
    memory = place / "projects" / "-home-me-demo" / "memory"
    assert set(whats(bring(palace, "claude-memory", memory)).values()) == {"unchanged"}


def test_a_single_file(palace: Palace, tmp_path: Path) -> None:
    """Is kept under the name of its folder."""
    place = files(tmp_path / "demo", {"CLAUDE.md": "Use tabs.\n"})
    done = bring(palace, "claude-memory", place / "CLAUDE.md")
    assert done.items[0].path == f"{IMPORTS}/claude-memory/demo/CLAUDE.md"


def test_codex_memories(palace: Palace, tmp_path: Path) -> None:
    """The handbook, summaries of sessions with their ids and times, AGENTS.md."""
    place = files(
        tmp_path / ".codex",
        {
            "AGENTS.md": "Be brief.\n",
            "config.toml": "x = 1\n",
            "memories/MEMORY.md": "# Handbook\n",
            "memories/memory_summary.md": "v1\n\nShort.\n",
            "memories/rollout_summaries/2026-05-01-a.md": (
                "thread_id: 019a-x\nupdated_at: 2026-05-01T10:00:00+02:00\n\n# Sum\n"
            ),
        },
    )
    done = bring(palace, "codex-memories", place)
    assert set(whats(done)) == {
        "AGENTS.md",
        "MEMORY.md",
        "memory_summary.md",
        "rollout_summaries/2026-05-01-a.md",
    }
    told = read(palace, "codex-memories/rollout_summaries/2026-05-01-a.md")
    assert told.metadata["original_id"] == "019a-x"
    assert told.metadata["updated"] == "2026-05-01T08:00:00Z"
    again = bring(palace, "codex-memories", place / "memories")
    assert set(whats(again).values()) == {"unchanged"}


def test_openclaw(palace: Palace, tmp_path: Path) -> None:
    """Days have their date from their name; the workspace's other files are no memory."""
    place = files(
        tmp_path / "workspace",
        {
            "MEMORY.md": "Lit at dusk.\n",
            "SOUL.md": "x\n",
            "memory/2026-03-28.md": "Today.\n",
            "memory/2026-03-29-quay.md": b"caf\xe9\n",
            "memory/empty.md": "\n",
            "memory/binary.md": b"a\0b",
        },
    )
    done = bring(palace, "openclaw", place)
    assert (
        read(palace, "openclaw/workspace/memory/2026-03-28.md").metadata["created"] == "2026-03-28"
    )
    assert read(palace, "openclaw/workspace/memory/2026-03-29-quay.md").body == "café\n"
    assert dict(done.others) == {"file of the workspace, no memory": 1, "empty file": 1}
    assert any("binary" in line for line in done.odd)
    assert any("not UTF-8" in line for line in done.odd)


def test_basic_memory(palace: Palace, tmp_path: Path) -> None:
    """Observations and relations stay as they are; links find notes by title and permalink."""
    text = (
        "---\ntitle: Search Design\ntype: note\ntags: [a]\npermalink: specs/search\n---\n"
        "- [decision] Use words #search (why)\n- implements [[Coffee: Brewing?]]\n- [ ] a task\n"
    )
    place = files(
        tmp_path / "notes",
        {
            "specs/Search Design.md": text,
            "Coffee Brewing.md": (
                '---\ntitle: "Coffee: Brewing?"\npermalink: coffee-brewing\n---\n'
                "- requires [[specs/search]]\n- see [[Search Design]]\n"
            ),
        },
    )
    done = bring(palace, "basic-memory", place)
    assert dict(done.counts) == {"note": 2, "observation": 1, "relation": 3}
    design = f"{IMPORTS}/basic-memory/notes/specs/Search Design.md"
    found = read(palace, "basic-memory/notes/specs/Search Design.md")
    assert (found.type, found.tags, found.body) == ("note", ("a",), text.split("---\n")[2])
    assert links(palace, "basic-memory/notes/specs/Search Design.md") == {
        "Coffee: Brewing?": f"{IMPORTS}/basic-memory/notes/Coffee Brewing.md"
    }
    assert links(palace, "basic-memory/notes/Coffee Brewing.md") == {
        "specs/search": design,
        "Search Design": design,
    }


def test_a_plan_writes_nothing(palace: Palace, tmp_path: Path) -> None:
    """And says what the import then does."""
    place = files(tmp_path / "notes", {"a.md": "x\n", "b/c.md": "y\n"})
    told = bring(palace, "basic-memory", place, write=False)
    assert not (palace.root / "palace/project_rooms").exists()
    assert told == bring(palace, "basic-memory", place)


def test_what_is_new_or_changed_comes(palace: Palace, tmp_path: Path) -> None:
    """Importing again: nothing twice, a changed piece anew, an edited note not at all."""
    place = files(tmp_path / "notes", {"a.md": "x\n", "b.md": "y\n", "c.md": "z\n"})
    bring(palace, "basic-memory", place)
    edited = palace.root / IMPORTS / "basic-memory/notes/b.md"
    edited.write_text(edited.read_text() + "Mine.\n")
    files(place, {"a.md": "x2\n", "b.md": "y2\n", "d.md": "new\n"})
    done = bring(palace, "basic-memory", place)
    assert whats(done) == {
        "notes/a.md": "changed",
        "notes/b.md": "edited",
        "notes/c.md": "unchanged",
        "notes/d.md": "new",
    }
    assert read(palace, "basic-memory/notes/a.md").body == "x2\n"
    assert read(palace, "basic-memory/notes/b.md").body == "y\nMine.\n"


def test_moved_and_archived_notes_are_known(palace: Palace, tmp_path: Path) -> None:
    """By what they were in their source."""
    place = files(tmp_path / "notes", {"a.md": "x\n", "b.md": "y\n", "c.md": "z\n"})
    bring(palace, "basic-memory", place)
    folder = palace.root / IMPORTS / "basic-memory/notes"
    (folder / "a.md").rename(folder / "renamed.md")
    cold = palace.root / "palace/archive_basement/project_rooms/imports/basic-memory/notes"
    room = palace.root / "palace/project_rooms/harbour"
    for new in (cold, room):
        new.mkdir(parents=True)
    (cold / "c.md").write_bytes((folder / "c.md").read_bytes())
    (folder / "b.md").rename(cold / "b.md")
    (folder / "c.md").rename(room / "c.md")
    (place / "c.md").write_text("z2\n")
    assert whats(bring(palace, "basic-memory", place)) == {
        "notes/a.md": "unchanged",
        "notes/b.md": "archived",
        "notes/c.md": "changed",
    }
    assert "z2" in (room / "c.md").read_text()
    assert not (folder / "c.md").exists()


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("basic-memory", "index.md"),
        ("openclaw", "MEMORY.md"),
        ("openclaw", "memory/2026-03-28.md"),
        ("codex-memories", "AGENTS.md"),
        ("claude-memory", "CLAUDE.md"),
    ],
)
def test_two_folders_are_two_sources(
    palace: Palace, tmp_path: Path, kind: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file of the second never takes the note of the first; by itself, by way of its folder, or
    of the folder that one is in, a file is the same one."""
    for above in ("quay", "lamp"):
        place = files(tmp_path / above, {name: f"Of {above}.\n"})
        assert list(whats(bring(palace, kind, place)).values()) == ["new"]
    assert "Of quay." in read(palace, f"{kind}/quay/{name}").body
    assert "Of lamp." in read(palace, f"{kind}/lamp/{name}").body
    alone = [tmp_path / "quay"]
    if kind != "basic-memory" or "/" not in name:
        alone.append(tmp_path / "quay" / name)
    if "/" in name:
        alone.append((tmp_path / "quay" / name).parent)
    for path in alone:
        assert whats(bring(palace, kind, path)) == {f"quay/{name}": "unchanged"}
    monkeypatch.chdir(tmp_path / "quay")
    assert whats(bring(palace, kind, Path())) == {f"quay/{name}": "unchanged"}
    monkeypatch.chdir(tmp_path / "lamp")
    assert whats(bring(palace, kind, Path("../quay"))) == {f"quay/{name}": "unchanged"}
    (tmp_path / "quay" / "deep").mkdir()
    monkeypatch.chdir(tmp_path / "quay" / "deep")
    assert whats(bring(palace, kind, Path(".."))) == {f"quay/{name}": "unchanged"}


def _home(place: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home folder of somebody called Ada."""
    home = place / "ada"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    return home


@pytest.mark.parametrize(
    ("kind", "folder", "name"),
    [
        ("basic-memory", "notes", "x.md"),
        ("claude-memory", "notes", "CLAUDE.md"),
        ("claude-memory", ".claude", "CLAUDE.md"),
        ("claude-memory", ".claude", "projects/-quay/memory/MEMORY.md"),
        ("codex-memories", ".codex", "memories/MEMORY.md"),
        ("openclaw", ".openclaw", "workspace/memory/2026-03-28.md"),
    ],
)
def test_folders_of_one_name_in_two_places_are_two_sources(
    palace: Palace,
    tmp_path: Path,
    kind: str,
    folder: str,
    name: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each has notes of its own, grows by itself, and is the same whatever of it is named."""
    home = _home(tmp_path, monkeypatch)
    notes = {}
    for above in ("a", "b"):
        place = files(home / above / folder, {name: f"Of {above}.\n"})
        (item,) = bring(palace, kind, place).items
        assert item.what == "new"
        assert bool(item.said) == (above == "b")
        notes[above] = palace.root / item.path
        text = notes[above].read_text()
        assert f'original_place: "~/{above}' in text
    files(home / "a" / folder, {name: "Of a, later.\n"})
    for above, what in (("a", "changed"), ("b", "unchanged"), ("a", "unchanged")):
        (item,) = bring(palace, kind, home / above / folder).items
        assert (item.what, palace.root / item.path) == (what, notes[above])
        for path in (home / above / folder / name, (home / above / folder / name).parent):
            if "/" not in name or path.is_dir() or kind == "claude-memory":
                assert [one.what for one in bring(palace, kind, path).items] == ["unchanged"]
    assert "Of a, later." in notes["a"].read_text()
    assert "Of b." in notes["b"].read_text()


def test_a_second_place_has_one_folder(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also for what the first has not, and what came later on either side."""
    home = _home(tmp_path, monkeypatch)
    for above, texts in (
        ("a", {"x.md": "a\n"}),
        ("b", {"x.md": "b\n", "y.md": "b\n", "deep/z.md": "b\n"}),
        ("a", {"y.md": "a\n"}),
        ("c", {"w.md": "c\n"}),
        ("b", {"w.md": "b\n"}),
    ):
        done = bring(palace, "basic-memory", files(home / above / "notes", texts))
        assert {item.what for item in done.items} <= {"new", "unchanged"}
        assert sum(bool(item.said) for item in done.items) == (above != "a")
    top = palace.root / IMPORTS / "basic-memory"
    found = {path.relative_to(top).as_posix(): path for path in top.rglob("*.md")}
    assert sorted(found) == [
        *("notes-2/deep/z.md", "notes-2/w.md", "notes-2/x.md", "notes-2/y.md"),
        *("notes-3/w.md", "notes/x.md", "notes/y.md"),
    ]
    for path, place in found.items():
        whose = {"notes": "a", "notes-2": "b", "notes-3": "c"}[path.split("/")[0]]
        assert place.read_text().endswith(f"---\n{whose}\n")


def test_the_same_place_on_another_machine_is_one_source(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below another home folder; of a place outside of it a note says no name."""
    for machine, what in (("one", "new"), ("two", "unchanged")):
        home = _home(tmp_path / machine, monkeypatch)
        place = files(home / "a" / "notes", {"x.md": "x\n"})
        assert whats(bring(palace, "basic-memory", place)) == {"notes/x.md": what}
    assert whats(bring(palace, "basic-memory", tmp_path / "one/ada/a/notes")) == {
        "notes/x.md": "new"
    }
    outside = read(palace, "basic-memory/notes-2/x.md")
    assert "ada/" not in str(outside.metadata)
    assert len(str(outside.metadata["original_place"])) == 12


def test_a_source_that_moved(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is another one, until its notes say where it is now: that is no edit."""
    home = _home(tmp_path, monkeypatch)
    place = files(home / "a" / "notes", {"x.md": "x\n"})
    bring(palace, "basic-memory", place)
    place.rename(home / "notes")
    files(home / "notes", {"x.md": "later\n"})
    assert whats(bring(palace, "basic-memory", home / "notes", write=False)) == {
        "notes/x.md": "new"
    }
    one = palace.root / IMPORTS / "basic-memory/notes/x.md"
    one.write_text(one.read_text().replace('original_place: "~/a"', 'original_place: "~"'))
    (item,) = bring(palace, "basic-memory", home / "notes").items
    assert (item.what, palace.root / item.path) == ("changed", one)


def test_two_palaces_of_the_other_tool(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the same wing and room: none takes the other's note, and each database is known."""
    home = _home(tmp_path, monkeypatch)
    for place in ("one", "two"):
        theirs = mempalace(home / place)
        with sqlite3.connect(theirs / "chroma.sqlite3") as made:
            made.execute(
                "UPDATE embedding_metadata SET string_value = ? WHERE string_value LIKE 'first%'",
                (f"Of {place}.",),
            )
        made.close()
        assert set(whats(bring(palace, "mempalace", theirs)).values()) == {"new"}
    assert "Of one." in read(palace, "mempalace/code/auth.md").body
    assert "Of two." in read(palace, "mempalace/code-2/auth.md").body
    for path in ("one", "two/chroma.sqlite3"):
        assert set(whats(bring(palace, "mempalace", home / path)).values()) == {"unchanged"}


def test_notes_of_an_earlier_version_tell_no_place(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are of the first that is imported, edited and archived ones too, and say so then."""
    home = _home(tmp_path, monkeypatch)
    texts: dict[str, str | bytes] = {f"{n}.md": f"{n}\n" for n in range(4)}
    bring(palace, "basic-memory", files(home / "a" / "notes", texts))
    folder = palace.root / IMPORTS / "basic-memory/notes"
    for note_ in folder.iterdir():
        note_.write_text(note_.read_text().replace('original_place: "~/a"\n', ""))
    edited = folder / "1.md"
    edited.write_text(edited.read_text() + "Mine.\n")
    cold = palace.root / "palace/archive_basement/project_rooms/imports/basic-memory/notes"
    cold.mkdir(parents=True)
    (folder / "2.md").rename(cold / "2.md")
    files(home / "a" / "notes", {"1.md": "1, later\n", "3.md": "3, later\n"})
    assert list(whats(bring(palace, "basic-memory", home / "a" / "notes")).values()) == [
        *("unchanged", "edited", "archived", "changed")
    ]
    for path in (folder / "0.md", edited, cold / "2.md", folder / "3.md"):
        assert 'original_place: "~/a"\n' in path.read_text()
    assert edited.read_text().endswith("Mine.\n")
    other = bring(palace, "basic-memory", files(home / "b" / "notes", texts))
    assert set(whats(other).values()) == {"new"}


def test_names_that_no_system_takes(palace: Palace, tmp_path: Path) -> None:
    """Get another one, by which the first is still found; names that differ in case both stay."""
    place = files(
        tmp_path / "notes",
        {"what? why: a|b.md": "x\n", "con.md": "y\n", "Lamp.md": "1\n", "lamp.md": "2\n"},
    )
    done = bring(palace, "basic-memory", place)
    assert not done.faults
    paths = [item.path for item in done.items]
    assert len({path.casefold() for path in paths}) == 4
    assert not any(set('?:|"') & set(path) for path in paths)
    assert set(whats(bring(palace, "basic-memory", place)).values()) == {"unchanged"}


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX alone")
def test_a_name_that_is_not_utf8_is_a_fault(palace: Palace, tmp_path: Path) -> None:
    """No note can say where it came from; the others come."""
    top = files(tmp_path / "bm", {"good.md": "# Good\n"})
    try:
        (top / os.fsdecode(b"bad\xff.md")).write_text("# Bad\n")
    except OSError:
        pytest.skip("this file system takes no such name")
    done = bring(palace, "basic-memory", top)
    assert [(item.what, item.original) for item in done.items] == [("new", "bm/good.md")]
    assert done.faults == ("bad\udcff.md: a name that is not UTF-8: rename it",)


def test_what_is_passed_over_is_told(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Too large a file by its name, hidden folders and those of tools by their number."""
    monkeypatch.setattr("memory_palace.memory.imports.sources.MOST_BYTES", 1_000)
    place = files(
        tmp_path / "notes",
        {
            "a.md": "x" * 1_000,
            "large.md": "x" * 1_001,
            ".obsidian/x.md": "x",
            "node_modules/x.md": "x",
            ".trash/deep/x.md": "x",
        },
    )
    done = bring(palace, "basic-memory", place)
    assert whats(done) == {"notes/a.md": "new"}
    assert done.odd == ("large.md: over 0 MB: split it",)
    assert dict(done.others) == {"folder that is passed over": 3}


def test_the_palace_itself_is_not_imported(palace: Palace) -> None:
    """Where it lies in what is imported: nothing of it comes, the second time neither."""
    files(palace.root, {"a.md": "x\n", "deep/palace/b.md": "no palace of ours\n"})
    top = palace.root.parent
    for what in ("new", "unchanged"):
        done = bring(palace, "basic-memory", top)
        assert set(whats(done).values()) == {what}
        assert sorted(whats(done)) == [
            f"{top.name}/root/a.md",
            f"{top.name}/root/deep/palace/b.md",
        ]
        assert done.others["notes of a palace"] == 1
    for inside in (palace.root / "palace", palace.root / "palace" / "topics"):
        with pytest.raises(BadInput, match="is in this palace already"):
            bring(palace, "basic-memory", inside)


def test_what_could_not_be_written_has_failed(palace: Palace, tmp_path: Path) -> None:
    """The others are there; no piece is told as new that is not."""
    place = files(tmp_path / "notes", {"a.md": "x\n", "b/c.md": "y\n"})
    (palace.root / IMPORTS / "basic-memory" / "notes").mkdir(parents=True)
    (palace.root / IMPORTS / "basic-memory" / "notes" / "b").symlink_to(tmp_path)
    done = bring(palace, "basic-memory", place)
    assert whats(done) == {"notes/a.md": "new", "notes/b/c.md": "failed"}
    assert len(done.faults) == 1
    assert "is a symbolic link" in done.faults[0]
    assert not (tmp_path / "c.md").exists()


def test_a_secret_in_a_name_is_not_stored(palace: Palace, tmp_path: Path) -> None:
    """Neither as the note's name nor in it; the note is known again."""
    secret = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
    place = files(tmp_path / "notes", {f"key {secret}.md": "x\n"})
    done = bring(palace, "basic-memory", place)
    assert not done.faults
    assert secret not in str(done.items)
    assert secret not in (palace.root / done.items[0].path).read_text()
    assert set(whats(bring(palace, "basic-memory", place)).values()) == {"unchanged"}


def test_folders_that_differ_in_case_are_one(palace: Palace, tmp_path: Path) -> None:
    """Some systems tell no case: all notes are there, each in the folder that came first."""
    rows = [("Web", "auth"), ("web", "auth"), ("WEB", "tests")]
    lines = "".join(
        f'{{"id": "{n}", "document": "text {n}", "metadata": {{"wing": "{w}", "room": "{r}"}}}}\n'
        for n, (w, r) in enumerate(rows)
    )
    place = files(tmp_path / "theirs", {"a.jsonl": lines})
    done = bring(palace, "mempalace", place)
    assert not done.faults
    assert len({item.path.casefold() for item in done.items}) == 3
    assert len({item.path.rsplit("/", 1)[0] for item in done.items}) == 1
    assert set(whats(bring(palace, "mempalace", place)).values()) == {"unchanged"}


def test_pipes_links_and_missing_paths(palace: Palace, tmp_path: Path) -> None:
    """No hang, nothing outside the folder; a path that is none is an error."""
    place = files(tmp_path / "notes", {"a.md": "x\n"})
    os.mkfifo(place / "pipe.md")
    (place / "link.md").symlink_to("/etc/hostname")
    (place / "up").symlink_to(tmp_path)
    done = bring(palace, "basic-memory", place)
    assert whats(done) == {"notes/a.md": "new"}
    assert dict(done.others) == {"no regular file": 1, "symbolic link": 2}
    for path in (place / "pipe.md", place / "none"):
        with pytest.raises(BadInput, match="name what to import"):
            bring(palace, "basic-memory", path)


def mempalace(place: Path) -> Path:
    """A palace of the other tool: drawers, a summary, facts."""
    place.mkdir()
    with sqlite3.connect(place / "chroma.sqlite3") as made:
        made.executescript(
            """
            CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE segments (id TEXT PRIMARY KEY, collection TEXT, scope TEXT);
            CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT, embedding_id TEXT);
            CREATE TABLE embedding_metadata (id INTEGER, key TEXT NOT NULL, string_value TEXT,
              int_value INTEGER, float_value REAL, bool_value INTEGER, PRIMARY KEY (id, key));
            INSERT INTO collections VALUES ('d', 'mempalace_drawers'), ('c', 'mempalace_closets');
            INSERT INTO segments VALUES ('s', 'd', 'METADATA'), ('t', 'c', 'METADATA');
            """
        )
        filed = {"source_file": "/home/me/src/auth.py", "filed_at": "2026-04-01T10:00:00"}
        auth = {"wing": "code", "room": "auth", **filed}
        drawers: list[tuple[str, str, str | None, dict[str, Any]]] = [
            ("s", "b", "# A heading\nsecond", {**auth, "chunk_index": 1}),
            ("s", "a", "first\n```\nopen", {**auth, "chunk_index": 0}),
            ("s", "c", "homeless", {}),
            ("s", "d", None, {**auth}),
            ("t", "e", "a summary", {"wing": "code", "room": "auth"}),
        ]
        for number, (segment, name, text, told) in enumerate(drawers):
            made.execute("INSERT INTO embeddings VALUES (?, ?, ?)", (number, segment, name))
            for key, value in {"chroma:document": text, **told}.items():
                column = "int_value" if isinstance(value, int) else "string_value"
                made.execute(
                    f"INSERT INTO embedding_metadata (id, key, {column}) VALUES (?, ?, ?)",
                    (number, key, value),
                )
    made.close()
    with sqlite3.connect(place / "knowledge_graph.sqlite3") as made:
        made.executescript(
            """
            CREATE TABLE entities (id TEXT PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE triples (id TEXT PRIMARY KEY, subject TEXT, predicate TEXT, object TEXT,
              valid_from TEXT, valid_to TEXT, confidence REAL, source_file TEXT, extracted_at TEXT);
            INSERT INTO entities VALUES ('max', 'Max'), ('alice', 'Alice');
            INSERT INTO triples VALUES
              ('1', 'max', 'child_of', 'alice', '2015-04-01', NULL, 1.0, NULL, '2026-01-01'),
              ('2', 'max', 'does', 'swimming', '2025-01-01', '2025-06-30', 0.8, '/a/b.md', NULL),
              ('3', 'max', 'likes', 'chess', NULL, NULL, 1.0, NULL, '2026-01-02 10:00:00'),
              ('4', 'max', 'went', 'away', 'soon', NULL, 1.0, NULL, NULL),
              ('5', 'max', 'came', 'back', '2026-01-02', '2026-01-01', 1.0, NULL, NULL);
            """
        )
    made.close()
    return place


def test_mempalace(palace: Palace, tmp_path: Path) -> None:
    """A note a room, drawers in the order of their source; summaries stay where they are."""
    done = bring(palace, "mempalace", mempalace(tmp_path / "theirs"))
    assert whats(done) == {"unknown/general": "new", "code/auth": "new"}
    assert dict(done.others) == {"summary (closet)": 1, "drawer without a text": 1}
    auth = read(palace, "mempalace/code/auth.md")
    assert auth.metadata["updated"] == "2026-04-01T10:00:00Z"
    assert auth.body == (
        "## auth.py\n\n*drawer `a`, from `~/src/auth.py`, filed 2026-04-01T10:00:00*\n\n"
        "first\n```\nopen\n```\n\n"
        "## auth.py, part 2\n\n*drawer `b`, from `~/src/auth.py`, filed 2026-04-01T10:00:00*\n\n"
        "### A heading\nsecond\n"
    )
    again = bring(palace, "mempalace", tmp_path / "theirs")
    assert set(whats(again).values()) == {"unchanged"}


def test_facts_of_mempalace(palace: Palace, tmp_path: Path) -> None:
    """With the time they held, once; the last day of theirs counts as a whole."""
    done = bring(palace, "mempalace", mempalace(tmp_path / "theirs"))
    assert facts.plan(palace.root, done.triples)[:2] == (3, 0)
    told = facts.write(palace.root, NOW, done.triples, "palace import")
    assert told[:2] == (3, 0)
    assert len(told.odd) == 2
    found = {fact.sentence: fact for fact in logs.load(palace.root).found}
    swimming = found["Max does swimming"]
    assert swimming.valid_to is not None
    assert swimming.valid_to.isoformat() == "2025-07-01T00:00:00+00:00"
    assert (swimming.confidence, swimming.source) == (0.8, "b.md")
    assert found["Max child_of Alice"].valid_to is None
    assert found["Max likes chess"].begins.date().isoformat() == "2026-01-02"
    before = (palace.root / "manifests/facts.jsonl").read_bytes()
    again = facts.write(palace.root, NOW, done.triples, "palace import")
    assert again[:2] == (0, 3)
    assert (palace.root / "manifests/facts.jsonl").read_bytes() == before


def test_many_facts_read_the_log_once(palace: Palace, monkeypatch: pytest.MonkeyPatch) -> None:
    """What the run itself adds and closes is known without it."""
    palace.write("palace.yaml", "embedder: none\nfacts: {one_valued: [lives_in]}\n")
    triples = [
        Triple("Max", "lives_in", "Oslo", "2020-01-01"),
        Triple("max", "Lives In", "oslo", "2020-01-01"),
        Triple("Max", "lives_in", "Rome", "2021-01-01", "2021-12-31"),
        Triple("Max", "lives_in", "Oslo", "2022-01-01"),
    ]
    loads = []
    whole = logs.load
    monkeypatch.setattr(logs, "load", lambda *a: loads.append(a) or whole(*a))
    assert facts.write(palace.root, NOW, triples, "palace import")[:2] == (3, 1)
    assert len(loads) == 1
    told = [
        (f.object, f.begins.year, f.valid_to and f.valid_to.year) for f in whole(palace.root).all
    ]
    assert told == [("Oslo", 2020, 2021), ("Rome", 2021, 2022), ("Oslo", 2022, None)]


def test_a_fact_that_begins_in_a_number(palace: Palace, tmp_path: Path) -> None:
    """SQLite keeps a number where a date should be: the fact is left out, and told."""
    place = mempalace(tmp_path / "theirs")
    with sqlite3.connect(place / "knowledge_graph.sqlite3") as made:
        made.execute("DROP TABLE triples")
        made.execute(
            "CREATE TABLE triples (subject, predicate, object, valid_from, valid_to, confidence)"
        )
        made.execute("INSERT INTO triples VALUES ('max', 'born', 'there', 2015, NULL, 1.0)")
    made.close()
    told = facts.plan(palace.root, bring(palace, "mempalace", place).triples)
    assert told == (0, 0, ("fact Max born there: it begins '2015', which is no date: left out",))


def test_an_endless_name_is_told_in_a_line(palace: Palace) -> None:
    """The fact is left out, and what is said of it stays short."""
    triples = [
        Triple("Max", "knows", "x" * 100_000, "2020-01-01"),
        Triple("y" * 999, "is", "z", ""),
    ]
    new, there, odd = facts.write(palace.root, NOW, triples, "palace import")
    assert (new, there, len(odd)) == (0, 0, 2)
    assert all(len(line) < 300 for line in odd)


def test_two_pieces_of_one_name(palace: Palace, tmp_path: Path) -> None:
    """The second is told and left out, in this run and the next: it never takes the first's
    note."""
    place = files(tmp_path / "repo", {"CLAUDE.md": "One.\n", "memory/CLAUDE.md": "Two.\n"})
    for what in ("new", "unchanged"):
        done = bring(palace, "claude-memory", place)
        assert [item.what for item in done.items] == [what, "failed"]
        assert "another piece has the same name" in done.faults[0]
        assert read(palace, "claude-memory/repo/CLAUDE.md").body.strip() == "One."


def test_nothing_is_left_beside_a_database(palace: Palace, tmp_path: Path) -> None:
    """One in WAL mode that nobody has open is read without the files that SQLite makes."""
    place = mempalace(tmp_path / "theirs")
    for name in ("chroma.sqlite3", "knowledge_graph.sqlite3"):
        with sqlite3.connect(place / name) as made:
            made.execute("PRAGMA journal_mode=WAL")
        made.close()
    before = sorted(os.listdir(place))
    done = bring(palace, "mempalace", place)
    assert whats(done) == {"unknown/general": "new", "code/auth": "new"}
    assert len(done.triples) == 5
    assert sorted(os.listdir(place)) == before


def test_a_fact_that_ended_meanwhile_ends(palace: Palace, tmp_path: Path) -> None:
    """The next import brings its end."""
    place = mempalace(tmp_path / "theirs")
    facts.write(palace.root, NOW, bring(palace, "mempalace", place).triples, "palace import")
    with sqlite3.connect(place / "knowledge_graph.sqlite3") as made:
        made.execute("UPDATE triples SET valid_to = '2026-10-01T12:00:00Z' WHERE id = '1'")
    made.close()
    facts.write(palace.root, NOW, bring(palace, "mempalace", place).triples, "palace import")
    (fact,) = [one for one in logs.load(palace.root).found if one.object == "Alice"]
    assert fact.valid_to is not None
    assert fact.valid_to.isoformat() == "2026-10-01T12:00:00+00:00"


def test_exports_of_mempalace(palace: Palace, tmp_path: Path) -> None:
    """JSON lines, the exact store and Markdown give the same rooms."""
    lines = (
        '{"id": "b", "document": "second", "metadata": {"wing": "code", "room": "auth",'
        ' "source_file": "a.py", "chunk_index": 1}}\n'
        "{broken\n"
        '{"id": "a", "document": "first", "metadata": {"wing": "code", "room": "auth",'
        ' "source_file": "a.py", "chunk_index": 0}}\n'
    )
    done = bring(palace, "mempalace", files(tmp_path / "one", {"export.jsonl": lines}))
    assert whats(done) == {"code/auth": "new"}
    assert done.odd == ("export.jsonl:2: no drawer: left out",)
    assert read(palace, "mempalace/code/auth.md").body.count("## a.py") == 2
    place = files(tmp_path / "two", {"x": ""})
    with sqlite3.connect(place / "sqlite_exact.sqlite3") as made:
        made.executescript(
            """
            CREATE TABLE collections (id INTEGER PRIMARY KEY, name TEXT NOT NULL);
            CREATE TABLE documents (collection_id INTEGER, id TEXT, document TEXT,
              metadata_json TEXT, PRIMARY KEY (collection_id, id));
            INSERT INTO collections VALUES (1, 'mempalace_drawers');
            INSERT INTO documents VALUES
              (1, 'b', 'second', '{"wing": "code", "room": "auth", "source_file": "a.py",
                "chunk_index": 1}'),
              (1, 'a', 'first', '{"wing": "code", "room": "auth", "source_file": "a.py"}');
            """
        )
    made.close()
    place = (place / "sqlite_exact.sqlite3").rename(tmp_path / "one" / "sqlite_exact.sqlite3")
    assert whats(bring(palace, "mempalace", place)) == {"code/auth": "unchanged"}
    markdown = (
        "# code / tests\n\n## c\n\n> third\n> ## not a drawer\n\n| Field | Value |\n"
        "|-------|-------|\n| Source | unknown |\n| Filed | 2026-04-02T08:00:00 |\n\n---\n\n"
    )
    texts = {"code/tests.md": markdown, "index.md": "# Palace Export\n", "odd.md": "# Odd\n"}
    done = bring(palace, "mempalace", files(tmp_path / "three", texts))
    assert whats(done) == {"code/tests": "new"}
    assert "third\n### not a drawer" in read(palace, "mempalace/code-2/tests.md").body
    assert dict(done.others) == {
        "index of an export": 1,
        "Markdown that is no room of an export": 1,
    }


def test_databases_that_are_none(palace: Palace, tmp_path: Path) -> None:
    """One of something else is told; a damaged one is an error that names a way."""
    with sqlite3.connect(tmp_path / "other.sqlite3") as made:
        made.execute("CREATE TABLE x (y)")
    made.close()
    done = bring(palace, "mempalace", tmp_path / "other.sqlite3")
    assert not done.items
    assert "without drawers or facts" in done.odd[0]
    (tmp_path / "torn.sqlite3").write_bytes(b"SQLite format 3\0" + b"x" * 500)
    with pytest.raises(BadInput, match="mempalace export"):
        bring(palace, "mempalace", tmp_path / "torn.sqlite3")
    place = mempalace(tmp_path / "theirs")
    (tmp_path / "torn.sqlite3").rename(place / "a-torn.sqlite3")
    done = bring(palace, "mempalace", place)
    assert len(done.items) == 2
    assert len(done.triples) == 5
    assert "a-torn.sqlite3 cannot be read" in done.faults[0]
    (tmp_path / "text.sqlite3").write_text("no database")
    with pytest.raises(BadInput, match="no SQLite database"):
        bring(palace, "mempalace", tmp_path / "text.sqlite3")


def test_a_large_room_has_parts(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No drawer is left out."""
    monkeypatch.setattr("memory_palace.core.session_notes.PART_BYTES", 1_000)
    lines = "".join(
        f'{{"id": "d{n:02}", "document": "{"word " * 60}{n}", "metadata": {{"wing": "w"}}}}\n'
        for n in range(12)
    )
    done = bring(palace, "mempalace", files(tmp_path / "one", {"a.jsonl": lines}))
    assert len(done.items) == 4
    bodies = "".join(
        (palace.root / item.path).read_text() for item in done.items if item.what == "new"
    )
    assert bodies.count("*drawer `d") == 12
    large = f'{{"id": "e1", "document": "{"word " * 600}", "metadata": {{"wing": "v"}}}}\n'
    done = bring(palace, "mempalace", files(tmp_path / "two", {"b.jsonl": large}))
    assert whats(done) == {"v/general": "new"}


def test_a_room_in_two_files_comes_once(palace: Palace, tmp_path: Path) -> None:
    """As in a palace with an export of it beside: the second is counted, and no fault."""
    line = '{"id": "d", "document": "x", "metadata": {"wing": "w", "room": "r"}}\n'
    done = bring(palace, "mempalace", files(tmp_path / "one", {"a.jsonl": line, "b.jsonl": line}))
    assert whats(done) == {"w/r": "new"}
    assert dict(done.others) == {"room that is in another file too": 1}
    assert not done.faults


def test_a_room_is_as_new_as_its_newest_drawer(palace: Palace, tmp_path: Path) -> None:
    """Wherever that stands in it."""
    lines = "".join(
        f'{{"id": "d{n}", "document": "x", "metadata": {{"wing": "w", "filed_at": "{day}"}}}}\n'
        for n, day in enumerate(("2026-01-02", "2026-03-04", "2026-02-03"))
    )
    bring(palace, "mempalace", files(tmp_path / "one", {"a.jsonl": lines}))
    assert read(palace, "mempalace/w/general.md").metadata["updated"] == "2026-03-04"


def test_folders_beyond_the_longest_path_are_faults(palace: Palace, tmp_path: Path) -> None:
    """What is in them cannot be reached; the other notes come."""
    top = files(tmp_path / "deep", {"zz.md": "# Top\n"})
    here = os.open(top, os.O_RDONLY)
    for _ in range(45):
        os.mkdir("d" * 100, dir_fd=here)
        below = os.open("d" * 100, os.O_RDONLY, dir_fd=here)
        os.close(here)
        here = below
    os.close(here)
    try:
        done = bring(palace, "basic-memory", top)
    finally:
        subprocess.run(["rm", "-r", str(top)], check=True)
    assert [(item.what, item.original) for item in done.items] == [("new", "deep/zz.md")]
    (fault,) = done.faults
    assert fault.endswith("d cannot be read (File name too long): its files wait")


def test_a_note_that_cannot_be_read_is_not_imported_again(palace: Palace, tmp_path: Path) -> None:
    """It may be the piece's own: that is told, the others come, and none is there twice."""
    place = files(tmp_path / "notes", {"a.md": "a\n", "b.md": "b\n"})
    bring(palace, "basic-memory", place)
    one = palace.root / IMPORTS / "basic-memory/notes/a.md"
    one.write_bytes(one.read_bytes() + b"caf\xe9\n")
    files(place, {"a.md": "a2\n", "b.md": "b2\n"})
    done = bring(palace, "basic-memory", place)
    assert whats(done) == {"notes/a.md": "failed", "notes/b.md": "changed"}
    assert "not UTF-8" in done.faults[0]
    assert sorted(path.name for path in one.parent.iterdir()) == ["a.md", "b.md"]


def test_a_closed_folder_keeps_its_own_notes_only(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be written there is told; the others come."""
    place = files(tmp_path / "notes", {"a/x.md": "x\n", "b/y.md": "y\n"})
    real = atomic.write

    def write(path: Path, *given: Any, **more: Any) -> None:
        if path.parent.name == "a":  # root may write anywhere
            raise PermissionError(13, "Permission denied", str(path))
        real(path, *given, **more)

    monkeypatch.setattr(atomic, "write", write)
    done = bring(palace, "basic-memory", place)
    assert whats(done) == {"notes/a/x.md": "failed", "notes/b/y.md": "new"}
    assert "a/x.md cannot be written (Permission denied)" in done.faults[0]
    monkeypatch.undo()
    again = bring(palace, "basic-memory", place)
    assert whats(again) == {"notes/a/x.md": "new", "notes/b/y.md": "unchanged"}


def test_a_folder_that_cannot_be_looked_at(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Is a fault of its own notes, not of the source."""
    place = files(tmp_path / "notes", {"a/x.md": "x\n", "b/y.md": "y\n"})
    real = Path.exists

    def exists(path: Path) -> bool:
        if path.parent.name == "a" and path.is_relative_to(palace.root):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path)

    monkeypatch.setattr(Path, "exists", exists)
    done = bring(palace, "basic-memory", place)
    assert whats(done) == {"notes/a/x.md": "failed", "notes/b/y.md": "new"}
    assert "x.md cannot be read (Permission denied): mend its permissions" in done.faults[0]


def test_a_database_that_is_being_written(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told, its facts come all the same, and the next run brings its drawers."""
    place = mempalace(tmp_path / "theirs")
    real = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *a, **more: real(*a, **{**more, "timeout": 0}))
    writer = sqlite3.connect(place / "chroma.sqlite3", isolation_level=None)
    try:
        writer.execute("BEGIN EXCLUSIVE")
        done = bring(palace, "mempalace", place)
        assert (done.items, len(done.triples)) == ((), 5)
        (fault,) = done.faults
        assert fault.endswith(
            "chroma.sqlite3 cannot be read (database is locked): another program writes to it: "
            "close that, or run this again"
        )
    finally:
        writer.close()
    assert set(whats(bring(palace, "mempalace", place)).values()) == {"new"}
