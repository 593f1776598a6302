"""``palace mine``: flags, output, exit codes, and following a project."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from memory_palace.cli.mine_watch import Follower
from memory_palace.core import code_tree
from memory_palace.core.diff import FileStat
from memory_palace.files import local, mined, projects
from memory_palace.index.watch import Keeper
from support.palaces import OLD_NS, SCRIPTS, Palace


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A project of two files beside the palace."""
    write(tmp_path / "demo/src/till.py", "def total(cart):\n    return sum(cart)\n")
    write(tmp_path / "demo/README.md", "# The till\n")
    return tmp_path / "demo"


def write(place: Path, text: str) -> None:
    """A file that was not written just now."""
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(text)
    os.utime(place, ns=(OLD_NS, OLD_NS + len(text)))


def listed(palace: Palace) -> list[str]:
    """The paths in the project's manifest."""
    return [line.path for line in projects.listed(palace.root, "demo")]


def test_mined_files_are_found(keyword_palace: Palace, top: Path) -> None:
    """One command: lines, chunks, an answer."""
    done = keyword_palace.command("mine", str(top))
    assert done.code == 0, done.err
    assert f"mined demo  {top}\n2 files: 2 added, 0 changed, 0 removed\n" in done.out
    found = keyword_palace.command("query", "total of the cart", "--format", "files")
    assert "project:demo/src/till.py" in found.out


@pytest.mark.parametrize("here", [True, False])
def test_missing_grammars_are_told(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch, here: bool
) -> None:
    """With the command that brings them, and only where code was mined anew."""
    monkeypatch.setattr(code_tree, "installed", lambda: here)
    said = "code is cut at blank lines, without symbols: `python3 scripts/install.py code`"
    assert (said in keyword_palace.command("mine", str(top)).err) is not here
    assert said not in keyword_palace.command("mine", str(top)).err


def test_the_list_has_columns(keyword_palace: Palace, top: Path, tmp_path: Path) -> None:
    """Places, counts and times stand below each other."""
    write(tmp_path / "a-longer-name/x.md", "# X\n")
    keyword_palace.command("mine", str(top))
    keyword_palace.command("mine", str(tmp_path / "a-longer-name"))
    first, second = keyword_palace.command("mine", "--list").out.splitlines()
    assert first.index(str(tmp_path)) == second.index(str(tmp_path))
    assert first.index("  mined ") == second.index("  mined ")
    assert "  1 file in 1 room    mined " in first


def test_a_dry_run_writes_nothing(keyword_palace: Palace, top: Path) -> None:
    """Neither manifest nor place nor index, nor what was read."""
    before = sorted(str(path) for path in keyword_palace.root.rglob("*"))
    done = keyword_palace.command("mine", str(top), "--dry-run")
    assert (done.code, done.err) == (0, "")
    assert "src: 1 added\n  + src/till.py\n" in done.out
    assert sorted(str(path) for path in keyword_palace.root.rglob("*")) == before


def test_a_dry_run_exits_as_the_run_would(
    keyword_palace: Palace, top: Path, tmp_path: Path
) -> None:
    """Nothing to mine, or another folder: the plan, then the same line and code."""
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty/logo.png").touch()
    keyword_palace.command("mine", str(top))
    write(tmp_path / "other/a.py", "x\n")
    for folder, name in (("empty", "empty"), ("other", "demo")):
        local.put(keyword_palace.root, "demo", None)
        words = ("mine", str(tmp_path / folder), "--name", name)
        tried, done = keyword_palace.command(*words, "--dry-run"), keyword_palace.command(*words)
        assert (tried.code, tried.err) == (done.code, done.err)
        assert (done.code, done.out, done.err.count("error: ")) == (1, "", 1)
        assert tried.out.startswith(f"would mine {name}  ")
    assert len(listed(keyword_palace)) == 2


def test_a_moved_project_is_asked_for(keyword_palace: Palace, top: Path, tmp_path: Path) -> None:
    """Without --name it becomes a second one, as before."""
    keyword_palace.command("mine", str(top))
    top.rename(tmp_path / "till")
    moved = ("mine", str(tmp_path / "till"))
    said = (
        f"is {tmp_path}/till the project demo, which is not at {top} any more? "
        "`--name demo` goes on with it\n"
    )
    assert keyword_palace.command(*moved, "--dry-run").err == said
    assert keyword_palace.command(*moved, "--dry-run", "--name", "x").err == ""
    done = keyword_palace.command(*moved)
    assert (done.code, done.err.startswith(said)) == (0, True)
    assert len(projects.listed(keyword_palace.root, "till")) == 2


def test_a_long_list_is_cut_in_text_only(keyword_palace: Palace, top: Path) -> None:
    """All are in jsonl."""
    for number in range(30):
        write(top / f"many/{number:02}.py", "x\n")
    done = keyword_palace.command("mine", str(top), "--dry-run")
    assert "  … 10 more: --format jsonl lists all\n" in done.out
    done = keyword_palace.command("mine", str(top), "--dry-run", "--format", "jsonl")
    rows = [json.loads(line) for line in done.out.splitlines()]
    assert [row["kind"] for row in rows] == ["file"] * 32 + ["project"]


def test_what_is_kept_unseen_is_named(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that may not be read keeps its line, and a person reads which it is."""
    write(top / "shut\n.py", "x\n")
    keyword_palace.command("mine", str(top))
    write(top / "shut\n.py", "x = 2\n")
    real = mined.look

    def look(folder: Path, file: FileStat, now_ns: int) -> mined.Seen:
        seen = real(folder, file, now_ns)
        return seen._replace(what=mined.UNREADABLE) if file.path.startswith("shut") else seen

    monkeypatch.setattr(mined, "look", look)
    done = keyword_palace.command("mine", str(top))
    assert "1 kept that could not be looked at (shut\\n.py)\n" in done.out
    assert "shut\n.py" in listed(keyword_palace)


def test_all_projects_that_are_here(keyword_palace: Palace, top: Path, tmp_path: Path) -> None:
    """One that cannot be mined does not keep the others from it; one that is away is said."""
    for name in ("demo", "full", "away"):
        if name != "demo":
            write(tmp_path / name / "a.py", "x\n")
        assert keyword_palace.command("mine", str(tmp_path / name)).code == 0
    (tmp_path / "full/a.py").unlink()
    (tmp_path / "away").rename(tmp_path / "elsewhere")
    write(top / "new.py", "y\n")
    done = keyword_palace.command("mine")
    assert done.code == 1
    assert "away: not on this machine, its lines are kept" in done.err
    assert "error: full: 1 of 1 files are gone" in done.err
    assert "new.py" in listed(keyword_palace)
    assert len(projects.listed(keyword_palace.root, "away")) == 1
    done = keyword_palace.command("mine", "--yes")
    assert done.code == 0
    assert projects.listed(keyword_palace.root, "full") == []


@pytest.mark.parametrize("pipe", ["| true", "2>&1 | true", "2>&1 >/dev/null | true"])
def test_a_reader_that_leaves_ends_output_alone(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch, pipe: str
) -> None:
    """Manifest and index are in step, after `--forget` too; the command ends quietly, with 0."""
    monkeypatch.setenv("PALACE_EMBEDDER", "none")
    palace_ = f'"{sys.executable}" "{SCRIPTS / "palace.py"}"'
    environment = os.environ | {"PALACE_ROOT": str(keyword_palace.root)}
    for words, files in ((f'mine "{top}"', 2), ("mine --forget demo --yes", 0)):
        line = f"set -o pipefail; {palace_} {words} {pipe}"
        done = subprocess.run(
            ["bash", "-c", line], env=environment, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout, "Error" in done.stderr) == (0, "", False)
        assert len(listed(keyword_palace)) == files
        assert keyword_palace.command("index", "--check").out.startswith("up to date; ")


def test_a_follower_indexes_what_it_could_not_tell(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The manifest is written when its reader leaves: the next look indexes all the same."""
    keyword_palace.command("mine", str(top))
    keeper = Keeper(keyword_palace.root, lambda _: None)
    follower = Follower(keyword_palace.root, ["demo"], keeper)

    def left() -> None:
        raise BrokenPipeError

    write(top / "new.py", "def refund():\n    pass\n")
    with monkeypatch.context() as patched:
        patched.setattr(keeper, "refresh", left)
        with pytest.raises(BrokenPipeError):
            follower.look()
    assert "new.py" in listed(keyword_palace)
    monkeypatch.setattr(keeper, "news", lambda: False)
    assert keyword_palace.command("index", "--check").code == 1
    follower.look()
    assert keyword_palace.command("index", "--check").code == 0


def test_an_inner_project_takes_its_files(keyword_palace: Palace, top: Path) -> None:
    """Told with the way back, before and after; the index has each file once."""
    keyword_palace.command("mine", str(top))
    said = (
        "1 file of demo {} inner's alone: if inner is forgotten, the next `palace mine` brings "
        "them back to demo\n"
    )
    inner = ("mine", str(top / "src"), "--name", "inner")
    assert keyword_palace.command(*inner, "--dry-run").err == said.format("would be")
    assert listed(keyword_palace) == ["README.md", "src/till.py"]
    done = keyword_palace.command(*inner)
    assert (done.code, done.err.count(said.format("are"))) == (0, 1)
    assert listed(keyword_palace) == ["README.md"]
    found = keyword_palace.command("query", "total of the cart", "--format", "files").out
    assert (found.count(".py"), "project:inner/till.py" in found) == (1, True)
    done = keyword_palace.command("mine", "--forget", "inner", "--yes")
    assert "its files are demo's again from the next `palace mine` on\n" in done.err
    keyword_palace.command("mine")
    assert listed(keyword_palace) == ["README.md", "src/till.py"]


def test_a_manifest_s_problems_are_told_once(keyword_palace: Palace, top: Path) -> None:
    """By the line that they have after the run; in a dry run by the one that they have."""
    keyword_palace.command("mine", str(top))
    manifest = keyword_palace.root / projects.manifest_path("demo")
    broken = "manifests/projects/demo.jsonl:{}: error: not a JSON object"
    manifest.write_text("broken\n" + manifest.read_text())
    done = keyword_palace.command("mine", str(top), "--dry-run")
    assert (done.code, done.err.count(": error: ")) == (1, 1)
    assert done.err.startswith(broken.format(1))
    done = keyword_palace.command("mine", str(top))
    assert (done.code, done.err.count(": error: ")) == (1, 1)
    assert broken.format(3) in done.err
    assert manifest.read_text().splitlines()[2] == "broken"


def test_a_follower_leaves_a_manifest_s_problems_to_the_index(
    keyword_palace: Palace, top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Once, although the line moves."""
    keyword_palace.command("mine", str(top))
    follower = Follower(keyword_palace.root, ["demo"], Keeper(keyword_palace.root, lambda _: None))
    manifest = keyword_palace.root / projects.manifest_path("demo")
    manifest.write_text("broken\n" + manifest.read_text())
    follower.keeper._rest = 0.0
    capsys.readouterr()
    follower.look()
    write(top / "new.py", "x\n")
    follower.look()
    assert manifest.read_text().splitlines()[-1] == "broken"
    assert capsys.readouterr().err.count(": error: ") == 1


def test_a_forgotten_project_is_not_found(keyword_palace: Palace, top: Path) -> None:
    """Its rows leave with its lines, however many; the files stay."""
    for number in range(40):
        write(top / f"many/{number:02}.py", "widget\n")
    keyword_palace.command("mine", str(top))
    assert keyword_palace.command("mine", "--forget", "demo", "--dry-run").code == 0
    assert len(listed(keyword_palace)) == 42
    done = keyword_palace.command("mine", "--forget", "DEMO", "--yes", "--format", "jsonl")
    assert done.code == 0, done.err
    assert json.loads(done.out)["files"] == 42
    assert keyword_palace.command("query", "widget").code == 1
    assert (top / "many/00.py").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--list", "x"), "--list does not go with DIR"),
        (("--forget", "x", "--watch"), "--forget does not go with --watch"),
        (("--watch", "--dry-run"), "--watch does not go with --dry-run"),
        (("--dry-run", "--yes"), "--yes does not go with --dry-run"),
        (("--name", "x"), "--name names the project in DIR"),
        (("--nam", "x"), "did you mean `--name`"),
        (("--format", "files"), "'files' is not one of"),
    ],
)
def test_flags_that_say_nothing(keyword_palace: Palace, words: tuple[str, ...], said: str) -> None:
    """Bad usage, in one line."""
    done = keyword_palace.command("mine", *words)
    assert (done.code, done.out, done.err.count("\n")) == (2, "", 1)
    assert said in done.err


def test_a_broken_file_of_places(keyword_palace: Palace, top: Path) -> None:
    """Named with its line; nothing is written over it."""
    keyword_palace.write(local.PATH, "projects:\n  demo: src\n")
    done = keyword_palace.command("mine", str(top))
    assert done.code == 2
    assert ".palace/local.yaml:1: projects: demo is 'src'" in done.err


def test_a_place_that_is_no_project(
    keyword_palace: Palace, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever wrote the home folder into local.yaml is told; alone it is bad input."""
    keyword_palace.command("mine", str(top))
    monkeypatch.setenv("HOME", str(tmp_path))
    local.put(keyword_palace.root, "demo", tmp_path)
    done = keyword_palace.command("mine")
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"error: {tmp_path} is your home folder, no project: name a project's folder in it\n"
    )
    assert len(listed(keyword_palace)) == 2


def test_broken_extensions(keyword_palace: Palace, top: Path) -> None:
    """The configuration says what to write."""
    keyword_palace.write("palace.yaml", "mine: {extensions: ['*.vue']}\n")
    done = keyword_palace.command("mine", str(top))
    assert done.code == 2
    assert "palace.yaml:1: mine.extensions: '*.vue' is no extension" in done.err
    keyword_palace.write("palace.yaml", "mine: {extension: [vue]}\n")
    assert "did you mean `extensions`" in keyword_palace.command("mine", str(top)).err


def test_a_follower_brings_what_changed(keyword_palace: Palace, top: Path) -> None:
    """New, changed and vanished files, at the next look; a fault is said once."""
    keyword_palace.command("mine", str(top))
    said: list[str] = []
    follower = Follower(keyword_palace.root, ["demo"], Keeper(keyword_palace.root, said.append))
    follower.look()
    write(top / "new.py", "def refund():\n    pass\n")
    (top / "README.md").unlink()
    follower.look()
    assert listed(keyword_palace) == ["new.py", "src/till.py"]
    assert "new.py" in keyword_palace.command("query", "refund", "--format", "files").out
    write(top / "src/till.py", "def invoice():\n    pass\n")
    follower.look()
    assert "till.py" in keyword_palace.command("query", "invoice", "--format", "files").out


def test_a_follower_gives_an_object_a_change(
    keyword_palace: Palace, top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the first round did, once the index has it; nothing where nothing changed, or in text."""
    keyword_palace.command("mine", str(top))
    keeper = Keeper(keyword_palace.root, lambda _: None)
    for shape, objects in (("jsonl", 1), ("text", 0)):
        follower = Follower(keyword_palace.root, ["demo"], keeper, shape)
        write(top / f"{shape}.py", "x\n")
        capsys.readouterr()
        follower.look()
        rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [(row["kind"], row["project"], row["added"]) for row in rows] == [
            ("project", "demo", 1)
        ] * objects
        follower.look()
        assert capsys.readouterr().out == ""


def test_a_follower_outlives_a_folder(
    keyword_palace: Palace, top: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its lines are kept while it is away, which is said once."""
    keyword_palace.command("mine", str(top))
    follower = Follower(keyword_palace.root, ["demo"], Keeper(keyword_palace.root, lambda _: None))
    capsys.readouterr()
    top.rename(tmp_path / "away")
    for _ in range(3):
        follower.look()
    assert capsys.readouterr().err.count("not on this machine") == 1
    assert len(listed(keyword_palace)) == 2
    (tmp_path / "away").rename(top)
    write(top / "new.py", "x\n")
    follower.look()
    assert len(listed(keyword_palace)) == 3


def test_a_follower_outlives_faults_of_places_and_names(
    keyword_palace: Palace, top: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A local.yaml that is being edited, a project that was forgotten: said once, and it goes on
    where they are mended."""
    keyword_palace.command("mine", str(top))
    follower = Follower(keyword_palace.root, ["demo"], Keeper(keyword_palace.root, lambda _: None))
    good = (keyword_palace.root / local.PATH).read_text()
    capsys.readouterr()
    keyword_palace.write(local.PATH, "projects: [\n")
    for _ in range(3):
        follower.look()
    assert capsys.readouterr().err.count("local.yaml") == 1
    keyword_palace.write(local.PATH, good)
    write(top / "new.py", "x\n")
    follower.look()
    assert "new.py" in listed(keyword_palace)
    projects.remove(keyword_palace.root, "demo")
    capsys.readouterr()
    for _ in range(3):
        follower.look()
    assert capsys.readouterr().err.count("demo: no project now\n") == 1


def test_a_follower_does_not_run_for_what_it_may_not_read(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file that stays unreadable is no news; one that was just written is looked at again."""
    keyword_palace.command("mine", str(top))
    keeper = Keeper(keyword_palace.root, lambda _: None)
    follower = Follower(keyword_palace.root, ["demo"], keeper)
    ran: list[int] = []
    real, run = mined.look, keeper.refresh
    monkeypatch.setattr(keeper, "refresh", lambda: (ran.append(1), run())[1])

    def look(folder: Path, file: FileStat, now_ns: int) -> mined.Seen:
        seen = real(folder, file, now_ns)
        closed = file.path == "shut.py"
        return seen._replace(what=mined.UNREADABLE, settled=False) if closed else seen

    monkeypatch.setattr(mined, "look", look)
    write(top / "shut.py", "x\n")
    follower.look()
    ran.clear()
    follower.look()
    assert ran == []
    write(top / "later.py", "x\n")
    os.utime(top / "later.py", (4_000_000_000, 4_000_000_000))
    follower.look()
    ran.clear()
    follower.look()
    assert ran == []  # nor is what will be written in the year 2096
    (top / "young.py").write_text("x\n")
    for _ in range(2):
        ran.clear()
        follower.look()
        assert ran == [1]


def test_watch_runs_until_it_is_ended(keyword_palace: Palace, top: Path) -> None:
    """One at a time; SIGTERM ends it with 0, Ctrl-C with 130."""
    command = [sys.executable, str(SCRIPTS / "palace.py"), "mine", str(top), "--watch"]
    environment = os.environ | {"PALACE_ROOT": str(keyword_palace.root), "PALACE_EMBEDDER": "none"}
    for number, code in ((signal.SIGTERM, 0), (signal.SIGINT, 130)):
        with subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, text=True
        ) as process:
            assert process.stderr is not None
            try:
                while "watching demo" not in (line := process.stderr.readline()):
                    assert line
                second = subprocess.run(command, capture_output=True, env=environment, text=True)
                assert second.returncode == 1
                assert "palace mine --watch" in second.stderr
                write(top / f"{code}.py", "x\n")
                while f"{code}.py" not in listed(keyword_palace):
                    time.sleep(0.05)
            finally:
                process.send_signal(number)
            process.stderr.read()
        assert process.returncode == code
