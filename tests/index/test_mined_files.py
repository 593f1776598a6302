"""Files of mined projects in the index: found, kept up, and never taken for notes."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memory_palace.core import code_tree, markdown, mining
from memory_palace.core.code_tree import Definition
from memory_palace.core.errors import Refused
from memory_palace.core.mining import Line
from memory_palace.core.text import sha256
from memory_palace.files import local, projects, read
from memory_palace.files.read import Text
from memory_palace.index import build, freshness, graph, run
from memory_palace.index import catalog as catalogs
from memory_palace.index.build import Options
from memory_palace.index.progress import Silent
from memory_palace.index.projects import look, parse
from memory_palace.index.watch import Keeper
from support.fake import FakeEmbedder, fake_choice
from support.palaces import OLD_NS, Palace

CODE = "import os\n\n\ndef open_ledger(path):\n    return os.open(path)\n"


class Project:
    """A project beside a palace, mined into it by hand."""

    def __init__(self, palace: Palace, name: str = "demo") -> None:
        self.palace = palace
        self.name = name
        self.top = palace.root.parent / f"{name}-source"
        self.top.mkdir()
        local.put(palace.root, name, self.top)

    def write(self, path: str, text: str | bytes, room: str = "src") -> None:
        """A file, and its line in the manifest."""
        place = self.top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())
        os.utime(place, ns=(OLD_NS, OLD_NS + len(text)))
        self.line(path, room)

    def line(self, path: str, room: str = "src") -> None:
        """The manifest's line of a file."""
        listed = projects.load(self.palace.root, self.name)
        lines = {**listed.lines, path: Line(path, mining.kind(path), room)}
        projects.save(self.palace.root, self.name, listed, lines.values())

    def git(self, *arguments: str, at: str = "2020-02-03T04:05:06Z") -> None:
        """A git command in the project."""
        names = {"GIT_AUTHOR_DATE": at, "GIT_COMMITTER_DATE": at}
        who = ("-c", "user.name=a", "-c", "user.email=a@b.c")
        command = ["git", "-C", str(self.top), *who, *arguments]
        subprocess.run(command, check=True, capture_output=True, env=os.environ | names)


@pytest.fixture
def demo(palace: Palace) -> Project:
    """A project with a source file and a document, and a note beside them."""
    palace.notes(topics__a="# Ledgers\nA note about ledgers.")
    project = Project(palace)
    project.write("src/ledger.py", CODE)
    project.write("README.md", "---\npriority: high\n---\n# Demo\nSee [[a]].\n", "general")
    return project


def rows(palace: Palace, query: str) -> list[tuple]:
    """What the catalog answers to ``query``."""
    with catalogs.open_to_read(palace.root / ".palace/index" / catalogs.MAIN) as catalog:
        return catalog.db.execute(query).fetchall()


def mined(palace: Palace) -> list[str]:
    """The mined files that the catalog has, without their project."""
    found = rows(palace, "SELECT path FROM files WHERE path GLOB 'project:*' ORDER BY path")
    return [path.partition("/")[2] for (path,) in found]


def test_a_mined_file_is_a_row_as_its_line_says(palace: Palace, demo: Project) -> None:
    """Type, priority and room are the manifest's; what a document says of itself counts not."""
    done = palace.index()
    assert (done.mined, done.files) == (2, 3)
    found = rows(palace, "SELECT path, type, priority, room, tags, said FROM files ORDER BY path")
    assert found[1:] == [
        ("project:demo/README.md", "document", "low", "general", "[]", "[false, null, null]"),
        ("project:demo/src/ledger.py", "code", "low", "src", "[]", "[false, null, null]"),
    ]
    assert sha256(CODE) == rows(palace, "SELECT sha256 FROM files ORDER BY path")[2][0]


def test_its_text_is_embedded_with_its_path(palace: Palace, demo: Project) -> None:
    """In the project, so that it may be called otherwise elsewhere."""
    palace.index()
    embedded = [row[0] for row in rows(palace, "SELECT embedded FROM chunks ORDER BY id")]
    assert embedded[1] == "README.md\nDemo\nSee [[a]]."
    assert {text.partition("\n")[0] for text in embedded[2:]} == {"src/ledger.py"}


def test_links_of_mined_files_are_none(palace: Palace, demo: Project) -> None:
    """And none leads to them, nor are they in the graph."""
    palace.notes(topics__b="[[ledger]] [[README]]")
    done = palace.index()
    assert [problem.path for problem in done.problems] == ["palace/topics/b.md"] * 2
    with catalogs.open_to_read(palace.root / ".palace/index" / catalogs.MAIN) as catalog:
        assert sorted(graph.read(catalog).out) == ["palace/topics/a.md", "palace/topics/b.md"]


def test_links_of_mined_documents_are_not_looked_for(
    palace: Palace, demo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half a megabyte of brackets would take many seconds."""
    monkeypatch.setattr(markdown, "_inline_links", None)
    assert palace.index().errors == []
    assert mined(palace) == ["README.md", "src/ledger.py"]


def test_an_unchanged_project_costs_one_stat_a_file(
    palace: Palace, demo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is read a second time."""
    palace.index()
    monkeypatch.setattr("memory_palace.files.project_text.read_bytes", None)
    assert not palace.index().changes.any


def test_a_changed_file_embeds_only_its_changed_chunks(tmp_path: Path) -> None:
    """Also where all lines have moved."""
    embedder = FakeEmbedder()
    palace = Palace(tmp_path / "palace-root", fake_choice(embedder))
    project = Project(palace)
    blocks = [f"{name} = 1\n" * 80 for name in ("one", "two", "three")]
    project.write("a.toml", "\n".join(blocks))
    palace.index()
    assert len(embedder.embedded) == 3
    project.write("a.toml", "\n".join(["zero = 0\n" + blocks[0], *blocks[1:]]))
    done = palace.index()
    assert (done.changes.changed, done.vectors) == (["project:demo/a.toml"], 1)


def test_notes_get_their_vectors_before_mined_files(tmp_path: Path) -> None:
    """Whatever was indexed first."""
    embedder = FakeEmbedder()
    palace = Palace(tmp_path / "palace-root")
    Project(palace).write("a.toml", "size = 1\n")
    palace.index()
    palace.notes(topics__a="A note.")
    Palace(palace.root, fake_choice(embedder)).index()
    assert embedder.embedded == ["A note.", "a.toml\nsize = 1"]


def test_what_vanishes_leaves_and_what_moves_is_told(palace: Palace, demo: Project) -> None:
    """Within its project; a note with the same text has not moved there."""
    palace.index()
    os.rename(demo.top / "src/ledger.py", demo.top / "src/book.py")
    demo.line("src/book.py")
    done = palace.index()
    assert done.changes.moved == {"project:demo/src/book.py": "project:demo/src/ledger.py"}
    (demo.top / "src/book.py").unlink()
    palace.notes(topics__copy=CODE)
    done = palace.index()
    assert done.changes.removed == ["project:demo/src/book.py"]
    assert (done.changes.added, mined(palace)) == (["palace/topics/copy.md"], ["README.md"])


def test_a_line_that_goes_takes_its_file_with_it(palace: Palace, demo: Project) -> None:
    """The manifest says what is mined."""
    palace.index()
    listed = projects.load(palace.root, "demo")
    projects.save(palace.root, "demo", listed, [listed.lines["README.md"]])
    palace.index()
    assert mined(palace) == ["README.md"]


def test_a_file_of_two_projects_is_the_inner_one_s(palace: Palace, demo: Project) -> None:
    """Both list it, as two branches that git merged do; the outer one's row leaves without a word
    of lost files, and is no change that anybody is asked for."""
    for n in range(25):
        demo.write(f"src/f{n}.py", f"x = {n}\n")
    palace.index()
    local.put(palace.root, "inner", demo.top / "src")
    files = ["ledger.py", *(f"f{n}.py" for n in range(25))]
    lines = [Line(path, "code", "src") for path in files]
    projects.save(palace.root, "inner", projects.Listed(), lines)
    said = Said()
    done = run.index(palace.root, palace.config, palace.choice, Options(), said)
    found = rows(palace, "SELECT path FROM files WHERE path GLOB 'project:*'")
    assert {path for (path,) in found} == {
        "project:demo/README.md",
        *(f"project:inner/{path}" for path in files),
    }
    assert (len(done.changes.removed), said.lines) == (26, [])
    with _opened(palace) as catalog:
        (palace.root / projects.manifest_path("inner")).touch()
        assert freshness.changed_files(palace.root, palace.config, catalog) == 0
    projects.remove(palace.root, "inner")
    palace.index()
    assert len(mined(palace)) == 27


def test_a_changed_room_counts_without_reading(palace: Palace, demo: Project) -> None:
    """The line has changed, not the file."""
    palace.index()
    demo.line("src/ledger.py", "books")
    assert not palace.index().changes.any
    assert rows(palace, "SELECT room FROM files WHERE room = 'books'") == [("books",)]


class Said(Silent):
    """Keeps the lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def say(self, line: str) -> None:
        self.lines.append(line)


def test_a_project_that_is_elsewhere_keeps_its_rows(palace: Palace, demo: Project) -> None:
    """And the run says so; with its place gone from local.yaml likewise."""
    palace.index()
    os.rename(demo.top, demo.top.with_name("away"))
    said = Said()
    done = run.index(palace.root, palace.config, palace.choice, Options(), said)
    assert not done.changes.any
    assert mined(palace) == ["README.md", "src/ledger.py"]
    assert said.lines == [
        "project demo is not on this machine: its files are kept as they were; "
        "`palace mine DIR --name demo` says where it is"
    ]
    local.put(palace.root, "demo", None)
    assert not palace.index().changes.any
    assert freshness.changed_files(palace.root, palace.config, _opened(palace)) == 0


def test_manifests_that_cannot_be_listed_are_no_end_of_their_files(
    palace: Palace, demo: Project
) -> None:
    """Nobody can say which projects there are: an error, and every row stays."""
    palace.index()
    folder = palace.root / projects.FOLDER
    os.rename(folder, folder.with_name("elsewhere"))
    folder.write_text("in its place\n")
    done = palace.index()
    assert not done.changes.any
    assert mined(palace) == ["README.md", "src/ledger.py"]
    assert [problem.message for problem in done.problems] == [
        "manifests/projects cannot be listed (Not a directory): mend it"
    ]
    assert freshness.changed_files(palace.root, palace.config, _opened(palace)) == 0


def test_a_manifest_that_cannot_be_read_is_no_change(palace: Palace, demo: Project) -> None:
    """Its rows stay with their rooms, and nobody is asked for a run."""
    palace.index()
    asked = "SELECT path, type, priority, room FROM files"
    before = rows(palace, asked)
    manifest = palace.root / projects.FOLDER / "demo.jsonl"
    manifest.write_bytes(b"\0" * 10)
    done = palace.index()
    assert not done.changes.any
    assert rows(palace, asked) == before
    assert [problem.path for problem in done.errors] == ["manifests/projects/demo.jsonl"]
    os.utime(manifest, ns=(OLD_NS, OLD_NS))
    assert freshness.changed_files(palace.root, palace.config, _opened(palace)) == 0


def test_an_empty_folder_is_no_end_of_its_files(palace: Palace, demo: Project) -> None:
    """A disk that is not mounted leaves one: the rows stay, and nothing counts as changed."""
    palace.index()
    os.rename(demo.top, demo.top.with_name("away"))
    demo.top.mkdir()
    said = Said()
    done = run.index(palace.root, palace.config, palace.choice, Options(), said)
    assert not done.changes.any
    assert mined(palace) == ["README.md", "src/ledger.py"]
    assert said.lines == [
        f"project demo has an empty folder ({demo.top}): its files are kept as they were; "
        "`palace mine DIR --name demo` says where it is"
    ]
    assert freshness.changed_files(palace.root, palace.config, _opened(palace)) == 0


def _opened(palace: Palace) -> catalogs.Catalog:
    return catalogs.open_to_read(palace.root / ".palace/index" / catalogs.MAIN)


def test_a_broken_local_yaml_loses_nothing(palace: Palace, demo: Project) -> None:
    """It is a fault that names the line."""
    palace.index()
    (palace.root / ".palace/local.yaml").write_text("projects: [\n")
    done = palace.index()
    assert mined(palace) == ["README.md", "src/ledger.py"]
    assert [p.grade for p in done.problems] == ["error"]
    assert "local.yaml" in done.problems[0].message


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is closed to root")
def test_a_closed_folder_keeps_its_files(palace: Palace, demo: Project) -> None:
    """They cannot be said to be gone."""
    palace.index()
    (demo.top / "src").chmod(0)
    try:
        done = palace.index()
    finally:
        (demo.top / "src").chmod(0o755)
    assert (done.changes.removed, mined(palace)) == ([], ["README.md", "src/ledger.py"])


def test_files_that_cannot_be_looked_at_stay(
    palace: Palace, demo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run names one of them and why."""
    palace.index()
    real = Path.lstat

    def closed(place: Path) -> os.stat_result:
        if place.name == "ledger.py":
            raise PermissionError(13, "Permission denied")
        return real(place)

    monkeypatch.setattr(Path, "lstat", closed)
    said = Said()
    done = run.index(palace.root, palace.config, palace.choice, Options(), said)
    assert (done.changes.removed, len(said.lines)) == ([], 1)
    assert said.lines[0].startswith("project:demo/src/ledger.py cannot be looked at")
    assert freshness.changed_files(palace.root, palace.config, _opened(palace)) == 0


def test_many_files_of_a_project_may_go_and_come_back(palace: Palace, demo: Project) -> None:
    """Another branch was checked out, say: that is told in a line, and the rest goes on."""
    for n in range(25):
        demo.write(f"src/f{n}.py", f"x = {n}\n")
    palace.index()
    os.rename(demo.top / "src", demo.top.with_name("src"))
    palace.notes(topics__b="A new note.")
    said = Said()
    done = run.index(palace.root, palace.config, palace.choice, Options(), said)
    assert done.changes.added == ["palace/topics/b.md"]
    assert mined(palace) == ["README.md"]
    assert said.lines == [
        f"project demo: 26 of 27 files are gone from {demo.top}, so dropped: `palace mine` takes "
        "their lines out too"
    ]
    os.rename(demo.top.with_name("src"), demo.top / "src")
    palace.index()
    assert len(mined(palace)) == 27


def test_files_of_projects_are_no_measure_for_notes(palace: Palace, demo: Project) -> None:
    """Neither do many of them hide that most notes are gone, nor do they count as notes."""
    palace.notes(**{f"topics__n{n}": f"note {n}" for n in range(40)})
    for n in range(100):
        demo.write(f"src/f{n}.py", f"x = {n}\n")
    palace.index()
    for n in range(25):
        (palace.root / f"palace/topics/n{n}.md").unlink()
    shutil.rmtree(demo.top / "src")
    with pytest.raises(Refused, match="25 of 41 files are gone"):
        palace.index()
    assert len(mined(palace)) == 102


def another(demo: Project) -> None:
    """Another project in the folder's place, with one name of its own in common."""
    shutil.rmtree(demo.top)
    for path in ("README.md", "lib/a.py", "lib/b.py"):
        (demo.top / path).parent.mkdir(parents=True, exist_ok=True)
        (demo.top / path).write_text("# Quite another project\n")


def test_another_projects_folder_replaces_nothing(palace: Palace, demo: Project) -> None:
    """A wrong place in local.yaml, or a disk that is not mounted: every row stays, in a line."""
    for n in range(10):
        demo.write(f"src/f{n}.py", f"ledger = {n}\n")
    palace.index()
    before = rows(palace, "SELECT path, sha256 FROM files")
    another(demo)
    said = Said()
    done = run.index(palace.root, palace.config, palace.choice, Options(), said)
    assert not done.changes.any
    assert rows(palace, "SELECT path, sha256 FROM files") == before
    assert said.lines == [
        f"project demo has hardly a file in {demo.top}, which seems to be another folder: its "
        "files are kept as they were; `palace mine DIR --name demo` says where it is"
    ]
    assert freshness.changed_files(palace.root, palace.config, _opened(palace)) == 0
    assert not run.check(palace.root, palace.config, palace.choice, Options()).changes.any
    answer = palace.ask("ledger demo")
    assert [hit.path for hit in answer.hits] == ["palace/topics/a.md"]
    assert answer.changed == 0
    assert answer.notes == ["project:demo: not on this machine, its files are left out"]


def test_a_file_as_it_was_makes_a_folder_the_projects_own(palace: Palace, demo: Project) -> None:
    """So does a tenth of the files at their places, whatever is in them now."""
    for n in range(18):
        demo.write(f"src/f{n}.py", f"x = {n}\n")
    palace.index()
    text = (demo.top / "README.md").read_text()
    another(demo)
    (demo.top / "README.md").write_text(text)
    palace.index()
    assert mined(palace) == ["README.md"]
    another(demo)
    (demo.top / "src").mkdir()
    (demo.top / "src/f1.py").write_text("quite another text\n")
    palace.index()
    assert mined(palace) == ["README.md", "src/f1.py"]


def test_nothing_of_another_folder_is_looked_at(palace: Palace, demo: Project) -> None:
    """Neither its files nor its history count for the project."""
    palace.index()
    another(demo)
    (demo.top / "README.md").unlink()
    (demo.top / "src").mkdir()
    with _opened(palace) as catalog:
        known = catalog.known()
    found = look(palace.root)
    assert found.folders == {"demo": demo.top}
    found.set_aside(known)
    assert (found.folders, found.files, found.away) == ({}, [], {"demo"})


def test_an_emptied_project_leaves(palace: Palace, demo: Project) -> None:
    """Its manifest says so; an empty folder is no news of it."""
    palace.index()
    shutil.rmtree(demo.top)
    demo.top.mkdir()
    projects.save(palace.root, "demo", projects.load(palace.root, "demo"), [])
    said = Said()
    run.index(palace.root, palace.config, palace.choice, Options(), said)
    assert (mined(palace), said.lines) == ([], [])


def test_symbol_path_and_project_are_keywords(
    palace: Palace, demo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A method is found by its class, whose name stands elsewhere, and by its file's name."""
    save = Definition("save", 1, 3)
    tree = (Definition("Hoard", 0, 3, (save,)),)
    monkeypatch.setattr(code_tree, "definitions", lambda path, text: tree)
    text = "class Hoard:\n    def save(self):\n        return " + "1 + " * 300 + "1\n"
    demo.write("src/vault.py", text)
    got = read.read(palace.root, "project:demo/src/vault.py")
    assert isinstance(got, Text)
    (_, row) = parse("project:demo/src/vault.py", got).chunks
    assert row.heading == ("Hoard", "save")
    assert [word.lower() for word in row.words[:3]] == ["src/vault.py", "hoard save", "demo"]


def test_empty_files_are_no_sign(palace: Palace, demo: Project) -> None:
    """Every project has some of the same name."""
    for n in range(18):
        demo.write(f"src/f{n}.py", f"x = {n}\n")
    demo.write("src/__init__.py", "")
    palace.index()
    shutil.rmtree(demo.top)
    (demo.top / "src").mkdir(parents=True)
    (demo.top / "src/__init__.py").touch()
    assert not palace.index().changes.any
    assert len(mined(palace)) == 21


def test_a_moved_project_is_its_own_again_once_it_was_mined(palace: Palace, demo: Project) -> None:
    """What its manifest lists counts, not what the catalog has of before."""
    palace.index()
    for path in ("src", "README.md"):
        os.rename(demo.top / path, demo.top / f"x{path}")
    lines = [Line("xsrc/ledger.py", "code", "xsrc"), Line("xREADME.md", "document", "general")]
    projects.save(palace.root, "demo", projects.load(palace.root, "demo"), lines)
    answer = palace.ask("open ledger", types=("code",))
    assert (answer.hits, answer.changed) == ([], 1)
    assert answer.notes == ["what matched has changed since: run `palace index` and ask again"]
    assert len(palace.index().changes.moved) == 2
    assert mined(palace) == ["xREADME.md", "xsrc/ledger.py"]


def test_changed_manifests_are_no_news_only_once_they_were_indexed(
    palace: Palace, demo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A line that came, went or has another room counts as a file; as they were, none is read."""

    def changed() -> int:
        return freshness.changed_files(palace.root, palace.config, _opened(palace))

    assert palace.index() and changed() == 0
    demo.write("src/new.py", "y = 1\n")
    demo.line("src/not_there.py")
    assert changed() == 1
    demo.line("README.md", "another")
    assert changed() == 2
    (projects_of := palace.root / projects.FOLDER / "demo.jsonl").unlink()
    assert changed() == 2
    projects_of.write_text('{"path": "README.md", "room": "general"}\n')
    assert changed() == 1
    palace.index()
    monkeypatch.setattr(projects, "load", None)
    assert changed() == 0


def test_links_lead_to_no_mined_file(palace: Palace, demo: Project, tmp_path: Path) -> None:
    """Neither a link in a file's place nor one on the way is followed."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.py").write_text("secret = 1\n")
    (demo.top / "one.py").symlink_to(outside / "secret.py")
    (demo.top / "way").symlink_to(outside)
    (outside / "deep").mkdir()
    (outside / "deep/secret.py").write_text("secret = 2\n")
    demo.line("one.py")
    demo.line("way/secret.py")
    demo.line("way/deep/secret.py")
    palace.index()
    assert mined(palace) == ["README.md", "src/ledger.py"]


def test_a_note_of_the_palace_is_one_row(palace: Palace) -> None:
    """A project around the palace may list it: the note counts."""
    palace.notes(topics__a="A note.")
    local.put(palace.root, "around", palace.root.parent)
    lines = [Line(f"{palace.root.name}/palace/topics/a.md", "document", "general")]
    projects.save(palace.root, "around", projects.load(palace.root, "around"), lines)
    assert palace.index().files == 1


def test_odd_bytes_and_large_files_are_no_fault(palace: Palace, demo: Project) -> None:
    """What is not UTF-8 is replaced; a file that has grown too large has a row and a warning."""
    demo.write("src/latin.py", "größe = 1\n".encode("latin-1"))
    demo.write("src/nul.py", b"x = 1\n" * 2000 + b"\0")
    demo.write("src/large.py", "x = 1\n" * 100_000)
    done = palace.index()
    assert [(p.path, p.grade) for p in done.problems] == [("project:demo/src/large.py", "warning")]
    assert "gr\ufffd\ufffde = 1" in rows(palace, "SELECT text FROM chunks WHERE text GLOB 'gr*'")[0]
    kinds = rows(palace, "SELECT type, room FROM files WHERE path GLOB '*large.py'")
    assert kinds == [("code", "src")]


def test_times_are_of_the_projects_own_history(palace: Palace, demo: Project) -> None:
    """The last commit of each file, else its mtime; only new commits are read again."""
    demo.git("init", "-q")
    demo.git("add", "src")
    demo.git("commit", "-qm", "one")
    palace.index()
    asked = "SELECT time, time_source FROM files WHERE path GLOB 'project:*' ORDER BY path"
    (readme, ledger) = rows(palace, asked)
    assert readme[1] == "mtime"
    assert ledger == (1580702706.0, "git")
    demo.git("add", "README.md")
    demo.git("commit", "-qm", "two", at="2021-02-03T04:05:06Z")
    palace.index()
    assert rows(palace, asked) == [(1612325106.0, "git"), (1580702706.0, "git")]


def test_a_history_that_was_begun_anew_is_read_whole(palace: Palace, demo: Project) -> None:
    """As after a new clone in the same place: the commit that was read last is in it no more."""
    asked = "SELECT time, time_source FROM files WHERE path GLOB 'project:*' ORDER BY path"
    for year in (2020, 2022):
        shutil.rmtree(demo.top / ".git", ignore_errors=True)
        demo.git("init", "-q")
        demo.git("add", ".")
        demo.git("commit", "-qm", "all", at=f"{year}-01-01T00:00:00Z")
        palace.index()
    assert rows(palace, asked) == [(1640995200.0, "git")] * 2


def test_a_missing_grammar_is_said_once(
    palace: Palace, demo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """When its code is read; a note's name is no language."""
    monkeypatch.setattr(code_tree, "_pack", object)
    monkeypatch.setattr(code_tree, "_parser", lambda language: None)
    demo.write("src/b.py", "x = 1\n")
    said = Said()
    for _ in range(2):
        run.index(palace.root, palace.config, palace.choice, Options(), said)
    assert said.lines == [
        "no grammar for python: cut at blank lines; `python3 scripts/install.py code` puts them "
        "in place"
    ]
    assert rows(palace, "SELECT heading, text FROM chunks WHERE text GLOB '*def *'") == [
        ("[]", CODE.strip())
    ]


def test_code_is_cut_anew_once_the_grammars_are_there(
    palace: Palace, demo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Documents are not; nor is anything where the grammars are gone again."""
    monkeypatch.setattr(code_tree, "installed", lambda: False)
    palace.index()
    monkeypatch.setattr(code_tree, "installed", lambda: True)
    assert palace.index().changes.changed == ["project:demo/src/ledger.py"]
    assert not palace.index().changes.any
    monkeypatch.setattr(code_tree, "installed", lambda: False)
    assert not palace.index().changes.any


def test_the_check_says_that_code_will_be_cut_anew(
    palace: Palace, demo: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So do doctor and the run itself; a run that ended before it was done does not count."""
    monkeypatch.setattr(code_tree, "installed", lambda: False)
    palace.index()
    monkeypatch.setattr(code_tree, "installed", lambda: True)
    said = "0 added, 1 changed (1 only cut anew), 0 moved, 0 removed, 2 unchanged"
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    assert f"note  index: stale, run `palace index`; {said}\n" in palace.command("doctor").out
    with monkeypatch.context() as patched:
        patched.setattr(build, "_apply", None)
        with pytest.raises(TypeError):
            palace.index()
    checked = run.check(palace.root, palace.config, palace.choice, Options())
    assert (checked.stale, checked.changes.summary()) == (True, said)
    assert palace.index().changes.summary() == said
    assert not run.check(palace.root, palace.config, palace.choice, Options()).stale


def test_the_watch_sees_mined_files_change(palace: Palace, demo: Project) -> None:
    """And what says where they are; a fault that stays is no news."""
    palace.index()
    keeper = Keeper(palace.root, lambda line: None)
    keeper._rest = 0.0
    assert not keeper.news()
    demo.write("src/ledger.py", CODE + "\nx = 1\n")
    keeper._rest = 0.0
    assert keeper.news()
    keeper._rest = 0.0
    assert not keeper.news()
    assert "changed project:demo/src/ledger.py" in keeper.refresh().line
    demo.write("src/new.py", "y = 1\n")
    keeper._rest = 0.0
    assert keeper.news()
    assert "added project:demo/src/new.py" in keeper.refresh().line


def test_the_check_counts_mined_files(palace: Palace, demo: Project) -> None:
    """As files that a run would read."""
    palace.index()
    demo.write("src/ledger.py", "x = 2\n")
    checked = run.check(palace.root, palace.config, palace.choice, Options())
    assert checked.changes.changed == ["project:demo/src/ledger.py"]
    assert freshness.changed_files(palace.root, palace.config, _opened(palace)) == 1
