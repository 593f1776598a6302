"""Mining a project: what is planned, refused, written and kept."""

import errno
import os
import shutil
import time
from pathlib import Path

import pytest

from files.repository import Repository
from memory_palace.core.errors import BadInput, Missing, Refused
from memory_palace.files import atomic, local, mined, project_text, projects, read, roots
from memory_palace.files import config as configs
from memory_palace.files.projects import Project
from memory_palace.index import catalog as catalogs
from memory_palace.index import freshness
from memory_palace.memory import mining, mining_names, mining_writing, pen
from memory_palace.memory.mining import Planned
from support.palaces import NOW, OLD_NS, Palace


@pytest.fixture
def top(tmp_path: Path) -> Path:
    """A project of three files beside the palace."""
    folder = tmp_path / "demo"
    put(folder, "src/api/a.py")
    put(folder, "src/b.py")
    put(folder, "README.md")
    return folder


def put(top: Path, path: str, text: str | bytes = "text\n") -> Path:
    """A file that was not written just now."""
    place = top / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    os.utime(place, ns=(OLD_NS, OLD_NS + len(text)))
    return place


def plan(palace: Palace, top: Path, name: str = "demo") -> Planned:
    """What mining would do now."""
    return mining.plan(palace.root, Project(name, top), configs.load(palace.root, {}))


def mine(palace: Palace, top: Path, name: str = "demo") -> Planned:
    """Mine it."""
    planned = plan(palace, top, name)
    with pen.begin(palace.root, NOW, "palace mine") as held:
        mining_writing.write(held, planned)
    return planned


def listed(palace: Palace, name: str = "demo") -> dict[str, str]:
    """{path: room} of a project's manifest."""
    return {line.path: line.room for line in projects.listed(palace.root, name)}


def paths(lines: list) -> list[str]:  # type: ignore[type-arg]
    """Their paths."""
    return [line.path for line in lines]


def close_api(monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder ``api`` cannot be listed from now on."""
    real = os.scandir

    def scandir(place: Path) -> object:
        if str(place).rstrip("/").endswith("/api"):
            raise PermissionError(13, "Permission denied", str(place))
        return real(place)

    monkeypatch.setattr(os, "scandir", scandir)


def test_files_become_lines(keyword_palace: Palace, top: Path) -> None:
    """Sources stay where they are; the palace knows which and where."""
    before = sorted(str(path) for path in top.rglob("*"))
    planned = mine(keyword_palace, top)
    assert listed(keyword_palace) == {
        **{"README.md": "general", "src/api/a.py": "src", "src/b.py": "src"},
    }
    assert paths(planned.added) == ["README.md", "src/api/a.py", "src/b.py"]
    assert local.places(keyword_palace.root) == {"demo": top}
    assert sorted(str(path) for path in top.rglob("*")) == before
    assert str(top) not in (keyword_palace.root / "manifests/projects/demo.jsonl").read_text()


def test_what_changed_since(keyword_palace: Palace, top: Path) -> None:
    """Added, changed, removed; a case-only rename is both."""
    mine(keyword_palace, top)
    put(top, "src/b.py", "another text\n")
    put(top, "new.ts")
    (top / "README.md").rename(top / "readme.md")
    (top / "src/api/a.py").unlink()
    planned = mine(keyword_palace, top)
    assert paths(planned.changed) == ["src/b.py"]
    assert paths(planned.added) == ["new.ts", "readme.md"]
    assert paths(planned.removed) == ["README.md", "src/api/a.py"]
    assert list(listed(keyword_palace)) == ["new.ts", "readme.md", "src/b.py"]


def test_an_unchanged_file_is_not_opened(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its stat is enough, also for one that is left out."""
    put(top, "bin.json", b"\0")
    mine(keyword_palace, top)
    opened: list[str] = []
    real = read.read_bytes

    def read_bytes(root: Path, path: str, *rest: object) -> object:
        if root == top:
            opened.append(path)
        return real(root, path, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(read, "read_bytes", read_bytes)
    put(top, "src/b.py", "changed\n")
    planned = plan(keyword_palace, top)
    assert opened == ["src/b.py"]
    assert planned.skipped["binary"] == {"bin.json"}


@pytest.mark.parametrize("seconds", [-3600, 3600, 10**10])
def test_a_file_of_any_time_is_read_once(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch, seconds: int
) -> None:
    """An unpacked archive, a clock that was wrong: in the future, or after all that fits."""
    moment = time.time_ns() + seconds * 10**9
    os.utime(top / "README.md", ns=(moment, moment))
    mine(keyword_palace, top)
    keyword_palace.index()
    monkeypatch.setattr(mined, "look", None)
    monkeypatch.setattr(project_text, "read_bytes", None)
    assert plan(keyword_palace, top).changed == []
    assert not keyword_palace.index().changes.any
    with catalogs.open_to_read(roots.index_folder(keyword_palace.root) / catalogs.MAIN) as catalog:
        assert freshness.changed_mined(keyword_palace.root, catalog.known()) == 0


def test_rooms_by_rule(keyword_palace: Palace, top: Path) -> None:
    """Patterns, then a folder called like a room of the configuration or of the project's wing."""
    keyword_palace.write(
        "palace.yaml", "rooms: {backend: [src/api/**], docs: []}\nmine: {extensions: [vue]}\n"
    )
    keyword_palace.notes(project_rooms__demo__widgets__a="text")
    for path in ("web/Docs/x.md", "web/widgets/y.vue", "web/z.vue"):
        put(top, path)
    mine(keyword_palace, top)
    assert listed(keyword_palace) == {
        **{"README.md": "general", "src/api/a.py": "backend", "src/b.py": "src"},
        **{"web/Docs/x.md": "docs", "web/widgets/y.vue": "widgets", "web/z.vue": "web"},
    }
    keyword_palace.write("palace.yaml", "rooms: {core: [src/**]}\n")
    planned = plan(keyword_palace, top)
    assert paths(planned.moved) == ["src/api/a.py", "src/b.py", "web/Docs/x.md"]
    assert paths(planned.removed) == ["web/widgets/y.vue", "web/z.vue"]


def test_not_utf8_is_mined_and_told(keyword_palace: Palace, top: Path) -> None:
    """A byte that is no UTF-8 does not hide the rest of the file."""
    put(top, "latin.txt", b"caf\xe9\n")
    planned = mine(keyword_palace, top)
    assert planned.odd == ["latin.txt"]
    assert "latin.txt" in listed(keyword_palace)


def test_a_subtree_without_permission_keeps_its_lines(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What cannot be looked at is not gone; what is gone beside it is."""
    put(top, "src/api/deep/c.py")
    mine(keyword_palace, top)
    (top / "src/b.py").unlink()
    close_api(monkeypatch)
    planned = mine(keyword_palace, top)
    assert paths(planned.kept) == ["src/api/a.py", "src/api/deep/c.py"]
    assert paths(planned.removed) == ["src/b.py"]
    assert ["cannot be listed" in str(problem) for problem in planned.problems] == [True]
    assert list(listed(keyword_palace)) == ["README.md", "src/api/a.py", "src/api/deep/c.py"]


def test_a_tracked_file_without_permission(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git lists it although its folder cannot be: it is kept, and not counted as left out."""
    Repository(top).git("add", "--all")
    mine(keyword_palace, top)
    close_api(monkeypatch)
    planned = plan(keyword_palace, top)
    assert (paths(planned.kept), planned.skipped) == (["src/api/a.py"], {})


def test_a_file_that_may_not_be_read(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A known one is kept, a new one is counted."""
    mine(keyword_palace, top)
    put(top, "src/b.py", "changed\n")
    put(top, "new.py")
    real = os.open

    def refuse(path: Path, *rest: object, **more: object) -> int:
        if Path(path).name in ("b.py", "new.py"):
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(os, "open", refuse)
    planned = plan(keyword_palace, top)
    assert paths(planned.kept) == ["src/b.py"]
    assert planned.skipped == {"unreadable": {"new.py"}}
    assert planned.removed == []


def test_a_file_that_changes_while_it_is_read(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is looked at again by the next run."""
    real = read.read_bytes

    def read_bytes(root: Path, path: str, *rest: object) -> object:
        got = real(root, path, *rest)  # type: ignore[arg-type]
        if root == top and not isinstance(got, read.Unreadable):
            return got[0] + b"more", got[1]
        return got

    monkeypatch.setattr(read, "read_bytes", read_bytes)
    seen = plan(keyword_palace, top).seen
    assert [one.settled for one in seen.values()] == [False] * 3


def test_a_file_that_became_a_pipe(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between look and read: nothing waits for it."""
    real = mined.look

    def look(place: Path, file: object, now_ns: int) -> mined.Seen:
        target = place / "src/b.py"
        if target.is_file():
            target.unlink()
            os.mkfifo(target)
        return real(place, file, now_ns)  # type: ignore[arg-type]

    monkeypatch.setattr(mined, "look", look)
    assert "src/b.py" not in paths(plan(keyword_palace, top).lines)


def test_an_interrupted_run_goes_on(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read before the interrupt is not read again, and nothing else was written."""
    real, read_before = mined.look, []

    def look(place: Path, file: object, now_ns: int) -> mined.Seen:
        if len(read_before) == 2:
            raise KeyboardInterrupt
        read_before.append(file)
        return real(place, file, now_ns)  # type: ignore[arg-type]

    monkeypatch.setattr(mined, "look", look)
    with pytest.raises(KeyboardInterrupt):
        plan(keyword_palace, top)
    assert len(mined.load(keyword_palace.root, "demo")) == 2
    assert mined.newest(keyword_palace.root, "demo") == ""
    assert not (keyword_palace.root / "manifests/projects").exists()
    monkeypatch.setattr(mined, "look", real)
    assert len(mine(keyword_palace, top).lines) == 3


def test_an_interrupt_forgets_nothing_that_was_read_before(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Files that did not come up yet are still known."""
    mine(keyword_palace, top)
    put(top, "src/b.py", "another text\n")

    def look(place: Path, file: object, now_ns: int) -> mined.Seen:
        raise KeyboardInterrupt

    monkeypatch.setattr(mined, "look", look)
    put(top, "README.md", "another text\n")
    with pytest.raises(KeyboardInterrupt):
        plan(keyword_palace, top)
    assert len(mined.load(keyword_palace.root, "demo")) == 3


def test_a_priority_written_by_hand_stays(keyword_palace: Palace, top: Path) -> None:
    """Also where the file and its room change."""
    mine(keyword_palace, top)
    manifest = keyword_palace.root / projects.manifest_path("demo")
    manifest.write_text(manifest.read_text().replace('"low"', '"high"', 1))
    put(top, "README.md", "another text\n")
    put(top, "new.py")
    mine(keyword_palace, top)
    lines = projects.listed(keyword_palace.root, "demo")
    assert [(line.path, line.priority) for line in lines][:2] == [
        ("README.md", "high"),
        ("new.py", "low"),
    ]


def test_a_young_file_is_no_changed_one(keyword_palace: Palace, top: Path) -> None:
    """It is read again, and is as it was."""
    (top / "young.py").write_text("x = 1\n")
    mine(keyword_palace, top)
    planned = plan(keyword_palace, top)
    assert (planned.changed, planned.added) == ([], [])


def test_all_gone_at_once_are_refused(keyword_palace: Palace, top: Path) -> None:
    """A disk that is not mounted leaves an empty folder, which empties nothing."""
    mine(keyword_palace, top)
    for path in top.rglob("*"):
        if path.is_file():
            path.unlink()
    planned = plan(keyword_palace, top)
    with pytest.raises(Refused, match=r"3 of 3 files are gone .* --yes"):
        mining.guard(planned)
    with pen.begin(keyword_palace.root, NOW, "palace mine") as held:
        mining_writing.write(held, planned)  # as with --yes
    assert listed(keyword_palace) == {}


def test_many_gone_at_once_are_an_ordinary_end(keyword_palace: Palace, top: Path) -> None:
    """Another branch was checked out, say: the sources are there to be read again."""
    for number in range(30):
        put(top, f"old/{number}.py")
    mine(keyword_palace, top)
    (top / "old").rename(top.with_name("old"))
    planned = plan(keyword_palace, top)
    mining.guard(planned)
    assert len(planned.removed) == 30


def test_a_moved_folder_is_no_loss(keyword_palace: Palace, top: Path) -> None:
    """Names and sizes are as they were, though no file is at its place."""
    for number in range(30):
        put(top, f"old/{number}.py")
    mine(keyword_palace, top)
    for name in ("old", "src"):
        (top / name).rename(top / f"new-{name}")
    (top / "README.md").unlink()
    planned = plan(keyword_palace, top)
    mining.guard(planned)
    assert (len(planned.removed), len(planned.added)) == (33, 32)


def test_another_projects_folder_is_refused(
    keyword_palace: Palace, top: Path, tmp_path: Path
) -> None:
    """However many files it has; also where another machine mined the project: nothing was read
    here. With a tenth of the files at their places it is the project's own."""
    for number in range(18):
        put(top, f"src/{number}.py", f"x = {number}\n")
    put(top, "lib/__init__.py", b"")
    mine(keyword_palace, top)
    other = tmp_path / "other"
    put(other, "README.md", "quite another\n")
    put(other, "src/__init__.py", b"")
    for number in range(40):
        put(other, f"lib/{number}.ts", "let x\n")
    for _ in range(2):
        planned = plan(keyword_palace, other)
        with pytest.raises(Refused, match=r"21 of 22 files are gone .* another folder: .* --yes"):
            mining.guard(planned)
        mined.forget(keyword_palace.root, "demo")
    for number in range(2):
        put(other, f"src/{number}.py", "quite another\n")
    mining.guard(plan(keyword_palace, other))  # with README.md three of 22


def test_a_wrong_place_is_mended_by_its_own_folder(
    keyword_palace: Palace, top: Path, tmp_path: Path
) -> None:
    """What local.yaml names is another project: that does not hold the name."""
    mine(keyword_palace, top)
    put(tmp_path / "x/other", "README.md", "quite another\n")
    put(tmp_path / "x/demo", "src/b.py", "quite another\n")
    local.put(keyword_palace.root, "demo", tmp_path / "x/demo")
    with pytest.raises(Refused, match="the project `demo` is"):
        at(keyword_palace, top)  # a file is at its place
    (tmp_path / "x/demo/src").rename(tmp_path / "x/demo/lib")
    assert at(keyword_palace, top) == "demo"


@pytest.mark.parametrize("wide", ["/", "home", "above"])
def test_a_folder_that_holds_everything_is_refused(
    keyword_palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wide: str
) -> None:
    """The disk, the home folder and what holds it; also where local.yaml names it, or a link."""
    home = tmp_path / "homes/me"
    put(home, "project/a.py")
    put(tmp_path / "homes/you", "a.py")
    monkeypatch.setenv("HOME", str(home))
    folder = {"/": Path("/"), "home": home, "above": home.parent}[wide]
    (tmp_path / "link").symlink_to(folder)
    for given in (folder, tmp_path / "link"):
        with pytest.raises(BadInput, match="name a project's folder in it"):
            at(keyword_palace, given)
        with pytest.raises(BadInput, match="name a project's folder in it"):
            plan(keyword_palace, given)
    assert at(keyword_palace, home / "project") == "project"
    assert at(keyword_palace, tmp_path / "homes/you") == "you"


def test_a_place_that_is_closed_to_us_is_taken(
    keyword_palace: Palace, top: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It cannot be said that the project has left it."""
    mine(keyword_palace, top)
    put(tmp_path / "x/demo", "a.py")
    real = Path.is_dir

    def is_dir(place: Path) -> bool:
        if place == top:
            raise PermissionError(13, "Permission denied", str(place))
        return real(place)

    monkeypatch.setattr(Path, "is_dir", is_dir)
    with pytest.raises(Refused, match="the project `demo` is"):
        at(keyword_palace, tmp_path / "x/demo")


def test_a_folder_that_is_gone(keyword_palace: Palace, top: Path) -> None:
    """Said, and nothing is written."""
    with pytest.raises(Missing, match="cannot be listed"):
        plan(keyword_palace, top / "none")


def test_nothing_to_mine(keyword_palace: Palace, tmp_path: Path) -> None:
    """No manifest is made of an empty folder."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refused, match="has no file to mine"):
        mine(keyword_palace, tmp_path / "empty", "empty")
    assert projects.every(keyword_palace.root) == []


def test_an_emptied_project_is_no_fault(keyword_palace: Palace, top: Path) -> None:
    """An inner project took all it had; what comes later is mined."""
    (top / "README.md").unlink()
    mine(keyword_palace, top)
    mine(keyword_palace, top / "src", "inner")
    assert mine(keyword_palace, top).lines == []
    put(top, "new.py")
    assert paths(mine(keyword_palace, top).added) == ["new.py"]


def test_the_palace_inside_the_project(tmp_path: Path) -> None:
    """Its notes, manifests and derived files are not mined; what is beside them is."""
    palace = Palace(tmp_path / "demo/memory")
    palace.notes(topics__a="text")
    put(tmp_path / "demo", "src/a.py")
    put(palace.root, "tool.py")
    mine(palace, tmp_path / "demo")
    mine(palace, tmp_path / "demo")
    assert list(listed(palace)) == ["memory/palace.yaml", "memory/tool.py", "src/a.py"]
    mine(palace, palace.root, "memory")
    assert list(listed(palace, "memory")) == ["palace.yaml", "tool.py"]


def test_a_project_inside_another(keyword_palace: Palace, top: Path) -> None:
    """No file is in two projects: the inner one takes its own at once, and gives them back at the
    outer one's next run once it is forgotten."""
    put(top, "src2/c.py")
    mine(keyword_palace, top)
    assert plan(keyword_palace, top / "src", "inner").taken == {"demo": 2}
    assert mine(keyword_palace, top / "src", "inner").taken == {"demo": 2}
    assert list(listed(keyword_palace)) == ["README.md", "src2/c.py"]
    assert list(listed(keyword_palace, "inner")) == ["api/a.py", "b.py"]
    planned = mine(keyword_palace, top)
    assert (planned.skipped["project"], planned.removed, planned.taken) == ({"src"}, [], {})
    assert mine(keyword_palace, top / "src/api", "core").taken == {"inner": 1}
    with pen.begin(keyword_palace.root, NOW, "palace mine") as held:
        mining_writing.forget(held, "inner")
    assert paths(mine(keyword_palace, top).added) == ["src/b.py"]


def test_an_outer_manifest_keeps_what_cannot_be_read(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the inner project's lines leave it; one that nobody can read is left alone."""
    mine(keyword_palace, top)
    manifest = keyword_palace.root / projects.manifest_path("demo")
    manifest.write_text("broken\n" + manifest.read_text())
    mine(keyword_palace, top / "src", "inner")
    assert [line[:20] for line in manifest.read_text().splitlines()] == [
        '{"path": "README.md"',
        "broken",
    ]
    real = projects.load

    def load(root: Path, name: str) -> projects.Listed:
        if name == "demo":
            raise Missing("manifests/projects/demo.jsonl: cannot be read")
        return real(root, name)

    monkeypatch.setattr(projects, "load", load)
    assert mine(keyword_palace, top / "src/api", "core").taken == {"inner": 1}


def test_forgotten(keyword_palace: Palace, top: Path) -> None:
    """Lines and place go, sources stay."""
    mine(keyword_palace, top)
    with pen.begin(keyword_palace.root, NOW, "palace mine") as held:
        mining_writing.forget(held, "demo")
    assert projects.every(keyword_palace.root) == []
    assert local.places(keyword_palace.root) == {}
    assert (top / "src/b.py").exists()


def test_a_commit_has_the_manifest(keyword_palace: Palace, top: Path) -> None:
    """With git.commit: auto; the place on this machine is not in it."""
    repository = Repository(keyword_palace.root)
    keyword_palace.write("palace.yaml", "git: {commit: auto}\n")
    keyword_palace.write(".gitignore", ".palace/\n")
    repository.git("config", "user.name", "a")
    repository.git("config", "user.email", "a@example.org")
    mine(keyword_palace, top)
    assert repository.git("ls-files") == "manifests/projects/demo.jsonl"


def at(palace: Palace, folder: Path | str, name: str | None = None) -> str:
    """The name that a folder gets."""
    return mining_names.at(palace.root, str(folder), name).name


def test_the_name_of_a_project(keyword_palace: Palace, top: Path, tmp_path: Path) -> None:
    """--name, else the repository's through any worktree, else the folder's."""
    assert at(keyword_palace, top) == "demo"
    assert at(keyword_palace, top, "other") == "other"
    repository = Repository(tmp_path / "shop")
    repository.commit("a.py", at=1_700_000_000)
    assert at(keyword_palace, repository.folder) == "shop"
    assert at(keyword_palace, repository.worktree(tmp_path / "linked")) == "shop"
    put(tmp_path / "my shop!", "a.py")
    assert at(keyword_palace, tmp_path / "my shop!") == "my-shop"


def test_the_name_of_a_repository_s_folder(keyword_palace: Palace, tmp_path: Path) -> None:
    """Its own after the repository's, in a linked worktree too; what was mined keeps its name."""
    repository = Repository(tmp_path / "shop")
    repository.commit("packages/api/a.py", "packages/my web/a.py", at=1_700_000_000)
    api, web = repository.folder / "packages/api", repository.folder / "packages/my web"
    linked = repository.worktree(tmp_path / "linked")
    assert at(keyword_palace, api) == at(keyword_palace, linked / "packages/api") == "shop-api"
    mine(keyword_palace, api, "shop")
    assert (at(keyword_palace, api), at(keyword_palace, web)) == ("shop", "shop-my-web")
    put(api, "inner/.git/HEAD", "ref: refs/heads/main\n")
    assert at(keyword_palace, api / "inner") == "inner"


def test_two_projects_with_one_name(keyword_palace: Palace, top: Path, tmp_path: Path) -> None:
    """The second is refused with what to do, unless the first is the same place or gone."""
    mine(keyword_palace, top)
    put(tmp_path / "x/Demo", "a.py")
    assert at(keyword_palace, top) == at(keyword_palace, top, "DEMO") == "demo"
    (tmp_path / "link").symlink_to(top)
    assert at(keyword_palace, tmp_path / "link") == "demo"
    local.put(keyword_palace.root, "demo", tmp_path / "link")  # by hand, say
    assert at(keyword_palace, top) == "demo"
    local.put(keyword_palace.root, "demo", top)
    with pytest.raises(Refused, match="--name"):
        at(keyword_palace, tmp_path / "x/Demo")
    with pytest.raises(Refused, match="--forget demo"):
        at(keyword_palace, top, "other")
    top.rename(tmp_path / "moved")
    assert at(keyword_palace, tmp_path / "x/Demo") == "demo"
    local.put(keyword_palace.root, "demo", None)  # another machine mined it
    assert at(keyword_palace, tmp_path / "x/Demo") == "demo"


def test_a_mined_project_keeps_its_name(keyword_palace: Palace, top: Path) -> None:
    """Also where it was named by hand."""
    mine(keyword_palace, top, "named")
    assert at(keyword_palace, top) == "named"


@pytest.mark.parametrize("inside", ["palace", "palace/topics", ".palace", "manifests"])
def test_a_project_inside_the_palace(keyword_palace: Palace, tmp_path: Path, inside: str) -> None:
    """Notes are indexed already."""
    (keyword_palace.root / inside).mkdir(parents=True, exist_ok=True)
    with pytest.raises(Refused, match="of the palace itself"):
        at(keyword_palace, keyword_palace.root / inside)
    with pytest.raises(Refused, match="or of another one"):  # a worktree of it, say
        at(Palace(tmp_path / "second"), keyword_palace.root / inside)


def test_a_moved_project_is_known_by_its_files(
    keyword_palace: Palace, top: Path, tmp_path: Path
) -> None:
    """Most of them are at their places, and it is nowhere else; of a known one nothing is asked."""

    def alike(name: str) -> dict[str, Path | None]:
        return mining_names.alike(keyword_palace.root, Project(name, tmp_path / "moved"))

    mine(keyword_palace, top)
    shutil.copytree(top, tmp_path / "moved")
    assert alike("moved") == {}
    shutil.rmtree(top)
    assert alike("moved") == {"demo": top}
    assert alike("demo") == {}
    local.put(keyword_palace.root, "demo", None)
    (tmp_path / "moved/README.md").unlink()
    assert alike("moved") == {"demo": None}
    (tmp_path / "moved/src/b.py").unlink()
    assert alike("moved") == {}


def test_what_is_no_folder(keyword_palace: Palace, top: Path) -> None:
    """A file, nothing, a loop, a name that is none."""
    (top / "loop").symlink_to("loop")
    for given in (top / "README.md", top / "none", top / "loop", "a\0b", ""):
        with pytest.raises(BadInput, match="folder"):
            at(keyword_palace, given)
    with pytest.raises(BadInput, match="No such file"):
        mining_names.at(keyword_palace.root, "~no-such-user/x")
    with pytest.raises(BadInput, match="--name 'a/b' names no project"):
        at(keyword_palace, top, "a/b")


def test_a_project_is_found_by_its_name(keyword_palace: Palace, top: Path) -> None:
    """Without case; else the nearest one is named."""
    mine(keyword_palace, top)
    assert mining_names.named(keyword_palace.root, "Demo") == Project("demo", top)
    with pytest.raises(Refused, match="did you mean `demo`"):
        mining_names.named(keyword_palace.root, "dem")


@pytest.mark.parametrize("path", ["manifests/projects/demo.jsonl", ".palace/local.yaml"])
def test_what_cannot_be_written(
    keyword_palace: Palace, top: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    """Which file, and what to do; a follower goes on after that."""
    real = atomic.write

    def write(place: Path, *rest: object, **options: object) -> None:
        if place == keyword_palace.root / path:
            raise OSError(errno.ENOSPC, "No space left on device")
        real(place, *rest, **options)  # type: ignore[arg-type]

    monkeypatch.setattr(atomic, "write", write)
    with pytest.raises(Missing, match=rf"^{path} cannot be written \(No space left on device\)"):
        mine(keyword_palace, top)
