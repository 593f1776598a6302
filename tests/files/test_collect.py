"""Which files of a project are found, with git and without."""

import os
import socket
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from files.repository import Repository
from memory_palace.core.problems import Problem
from memory_palace.files import collect, gitlist, ignores, tree
from memory_palace.files.collect import Collected, Wanted
from support.deep import deep_folders


def write(top: Path, *paths: str, text: str | bytes = "text\n") -> None:
    """Files with that text."""
    for path in paths:
        place = top / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(text if isinstance(text, bytes) else text.encode())


def paths(found: Collected) -> list[str]:
    """What was found."""
    return [file.path for file in found.files]


@pytest.fixture(params=["git", "walk"])
def top(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A project's folder, a repository or none."""
    folder = tmp_path / "project"
    folder.mkdir()
    if request.param == "git":
        Repository(folder)
    return folder


def test_files_are_found_and_skips_are_counted(top: Path) -> None:
    """With git and without, each file that is left out has its reason."""
    write(top, "b.py", "a.md", "web/x.ts", "logo.png", "LICENSE", "empty.py", text="")
    write(top, "web/node_modules/i/i.js", "web/node_modules/j.js", ".github/ci.yml")
    write(top, "big.json", text=b"x" * (512 * 1024 + 1))
    write(top, "full.json", text=b"x" * (512 * 1024))
    (top / "link.py").symlink_to("b.py")
    (top / "loop").symlink_to(".")
    (top / "inside.md").symlink_to("/etc/hostname")
    found = collect.collect(top, Wanted())
    assert paths(found) == ["a.md", "b.py", "empty.py", "full.json", "web/x.ts"]
    assert found.skipped == {
        "kind": {"logo.png", "LICENSE", "loop"},
        "folder": {"web/node_modules", ".github"},
        "size": {"big.json"},
        "link": {"link.py", "inside.md"},
    }
    assert found.problems == []


def test_ignore_rules_with_negations_and_folders(top: Path) -> None:
    """Nested files of patterns, negations, and folders that nothing comes back from."""
    write(top, ".gitignore", text="*.txt\n!keep.txt\n/out/\n!out/a.md\ngen/*\n!gen/keep.md\n")
    write(top, "a.txt", "keep.txt", "sub/keep.txt", "sub/b.txt", "out/a.md", "gen/a.md")
    write(top, "gen/keep.md", "sub/out/a.md", "sub/c.md", "sub/deep/c.md")
    write(top, "sub/.gitignore", text="c.md\n!b.txt\n")
    assert paths(collect.collect(top, Wanted())) == [
        *("gen/keep.md", "keep.txt", "sub/b.txt", "sub/keep.txt", "sub/out/a.md"),
    ]


def test_a_pipe_in_the_place_of_what_git_excludes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git would wait for it: it is not asked for what it does not track."""
    Repository(tmp_path)
    write(tmp_path, "a.py")
    (tmp_path / ".git/info/exclude").unlink(missing_ok=True)
    (tmp_path / ".git/info").mkdir(exist_ok=True)
    os.mkfifo(tmp_path / ".git/info/exclude")
    monkeypatch.setattr(gitlist, "_SECONDS", 5.0)
    asked: list[tuple[str, ...]] = []
    real = gitlist._ask

    def ask(folder: Path, *what: str) -> list[bytes] | None:
        asked.append(what)
        return real(folder, *what)

    monkeypatch.setattr(gitlist, "_ask", ask)
    assert paths(collect.collect(tmp_path, Wanted())) == ["a.py"]
    assert asked == [("--cached", "--stage")]


def test_a_pattern_of_folders_ignores_no_file(top: Path) -> None:
    """A slash at its end says so."""
    write(top, ".gitignore", text="gen.py/\nout/\n")
    write(top, "gen.py", "a/gen.py/b.py", "out/c.py", "a/out.md")
    assert paths(collect.collect(top, Wanted())) == ["a/out.md", "gen.py"]


def test_pipes_and_sockets_are_not_opened(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are counted where a walk meets them, and nothing hangs; git does not list them."""
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe.py")
    os.mkfifo(".gitignore")
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket.py")
        write(tmp_path, "a.py")
        found = collect.collect(tmp_path, Wanted())
    assert paths(found) == ["a.py"]
    assert found.skipped["special"] == {"pipe.py", "socket.py"}
    assert [problem.path for problem in found.problems] == [".gitignore"]
    Repository(tmp_path)  # which would wait for that .gitignore
    found = collect.collect(tmp_path, Wanted())
    assert paths(found) == ["a.py"]
    assert [problem.path for problem in found.problems] == [".", ".gitignore"]
    os.unlink(".gitignore")
    assert paths(collect.collect(tmp_path, Wanted())) == ["a.py"]


def test_odd_names(top: Path) -> None:
    """A name that is no UTF-8 or has a backslash is counted; others are as they are."""
    write(top, "ü.py", "a b.py", "new\nline.py", "-x.py", "*.md", "back\\slash.py")
    (Path(os.fsdecode(bytes(top) + b"/\xff.py"))).write_text("x")
    found = collect.collect(top, Wanted())
    assert paths(found) == ["*.md", "-x.py", "a b.py", "new\nline.py", "ü.py"]
    assert found.skipped["name"] == {"back\\slash.py", os.fsdecode(b"\xff.py")}


def test_a_folder_that_became_a_link(tmp_path: Path) -> None:
    """Git still lists what was in it; nothing behind the link is taken."""
    repository = Repository(tmp_path / "project")
    repository.write("src/a.py")
    repository.commit("b.py", at=1_700_000_000)
    write(tmp_path, "elsewhere/a.py")
    (repository.folder / "src/a.py").unlink()
    (repository.folder / "src").rmdir()
    (repository.folder / "src").symlink_to(tmp_path / "elsewhere")
    found = collect.collect(repository.folder, Wanted())
    assert paths(found) == ["b.py"]
    assert found.skipped["link"] == {"src/a.py"}


def test_tracked_files_that_are_gone_or_ignored(tmp_path: Path) -> None:
    """What git tracks counts although it is ignored; what is not on the disk does not."""
    repository = Repository(tmp_path)
    repository.commit("a.py", "b.py", at=1_700_000_000)
    repository.write(".gitignore", "*.py\n")
    repository.write("c.py")
    (tmp_path / "a.py").unlink()
    assert paths(collect.collect(tmp_path, Wanted())) == ["b.py"]


def test_submodules_and_repositories_inside(tmp_path: Path) -> None:
    """Each is asked for its own files by its own rules; one that is not checked out is counted."""
    library = Repository(tmp_path / "library")
    library.write(".gitignore", "made.py\n")
    library.commit("lib.py", at=1_700_000_000)
    main = Repository(tmp_path / "main")
    main.commit("a.py", at=1_700_000_000)
    add = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library.folder))
    main.git(*add, "libs/one")
    main.git(*add, "libs/two")
    main.git("submodule", "--quiet", "deinit", "--force", "libs/two")
    inner = Repository(main.folder / "inner")
    inner.write("made.py")
    inner.write("x.py")
    for made in (main.folder / "libs/one", inner.folder):
        write(made, "made.py")
    write(main.folder, "vendor/v.py")
    Repository(main.folder / "node_modules/dep")
    write(main.folder, "node_modules/dep/d.js")
    found = collect.collect(main.folder, Wanted())
    assert paths(found) == ["a.py", "inner/made.py", "inner/x.py", "libs/one/lib.py"]
    assert found.skipped["repository"] == {"libs/two"}
    assert found.skipped["folder"] == {"vendor", "node_modules"}


def test_repositories_below_a_plain_folder(tmp_path: Path) -> None:
    """Without git at the top, git is asked where there is a repository below."""
    one = Repository(tmp_path / "one")
    one.write(".git/info/exclude", "secret.py\n")
    write(tmp_path, "one/secret.py", "one/a.py", "two/secret.py")
    assert paths(collect.collect(tmp_path, Wanted())) == ["one/a.py", "two/secret.py"]


def test_a_folder_that_git_ignores(tmp_path: Path) -> None:
    """Whoever names it means it: its own .gitignore files count."""
    repository = Repository(tmp_path)
    repository.write(".gitignore", "*\n")
    write(tmp_path, "project/a.py", "project/b.py")
    write(tmp_path, "project/.gitignore", text="b.py\n")
    assert paths(collect.collect(tmp_path / "project", Wanted())) == ["a.py"]


def test_tracked_files_of_an_ignored_folder(tmp_path: Path) -> None:
    """They were added on purpose: git is asked, and what it ignores beside them is not mined."""
    repository = Repository(tmp_path)
    repository.write(".gitignore", "*\n")
    write(tmp_path, "project/a.py", "project/b.py")
    repository.git("add", "--force", "project/a.py")
    assert paths(collect.collect(tmp_path / "project", Wanted())) == ["a.py"]


def test_a_folder_in_a_repository(tmp_path: Path) -> None:
    """Paths are relative to the folder that was named; the rules above it count."""
    repository = Repository(tmp_path)
    repository.write(".gitignore", "b.py\n")
    write(tmp_path, "x.py", "pack/a.py", "pack/b.py")
    assert paths(collect.collect(tmp_path / "pack", Wanted())) == ["a.py"]


def test_a_damaged_repository_is_walked(tmp_path: Path) -> None:
    """Where git says no, .gitignore files are read."""
    write(tmp_path, ".git", text="gitdir: /nowhere\n")
    write(tmp_path, "a.py", "b.py")
    write(tmp_path, ".gitignore", text="b.py\n")
    found = collect.collect(tmp_path, Wanted())
    assert paths(found) == ["a.py"]
    assert ["git does not list" in str(problem) for problem in found.problems] == [True]


def test_no_program_of_the_repository_runs(tmp_path: Path) -> None:
    """Its configuration is a stranger's."""
    repository = Repository(tmp_path / "project")
    ran = tmp_path / "ran"
    for key in ("core.fsmonitor", "core.pager", "filter.x.clean", "diff.x.textconv"):
        repository.git("config", key, f"touch {ran}")
    repository.write(".gitattributes", "* filter=x diff=x\n")
    repository.write("a.py")
    ran.unlink(missing_ok=True)
    assert paths(collect.collect(repository.folder, Wanted())) == ["a.py"]
    assert not ran.exists()


def test_what_is_asked_for(top: Path) -> None:
    """More extensions, excluded patterns, folders left out."""
    write(top, "a.vue", "Makefile", "gen/a.py", "sub/gen/b.py", "own/a.py", "own/b/c.py", "x.py")
    wanted = Wanted(
        frozenset({"vue", "makefile"}), tree.exclusion(("/gen/", "x.py")), {"own": "project"}
    )
    found = collect.collect(top, wanted)
    assert paths(found) == ["Makefile", "a.vue", "sub/gen/b.py"]
    assert found.skipped == {"excluded": {"gen/a.py", "x.py"}, "project": {"own"}}


def test_a_palace_inside(top: Path) -> None:
    """Its notes and manifests are left out, wherever it stands; what is beside them is not."""
    write(top, "palace.yaml", "palace/a.md", "manifests/m.json", "a.py")
    write(top, "mem/palace.yaml", "mem/palace/a.md", "mem/b.py", "src/palace/c.py")
    found = collect.collect(top, Wanted())
    assert paths(found) == ["a.py", "mem/b.py", "mem/palace.yaml", "palace.yaml", "src/palace/c.py"]
    assert found.skipped["palace"] == {"palace", "manifests", "mem/palace"}


def test_a_folder_that_cannot_be_listed(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is a problem, and its files are counted, not gone."""
    write(top, "a.py", "shut/b.py")
    if (top / ".git").exists():
        Repository(top).git("add", "--all")
    real = os.scandir

    def scandir(place: Path) -> object:
        if str(place).rstrip("/").endswith("/shut"):
            raise PermissionError(13, "Permission denied", str(place))
        return real(place)

    monkeypatch.setattr(os, "scandir", scandir)
    found = collect.collect(top, Wanted())
    assert paths(found) == ["a.py"]
    assert [(one.path, one.grade) for one in found.problems] == [("shut", "error")]
    assert collect.Folders(top).reason("shut/b.py") == "unreadable"
    assert collect.Folders(top).reason("none/b.py") == ""
    assert collect.Folders(top).reason("a.py") is None


def test_a_folder_that_lists_names_only(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its files cannot be looked at: they are counted, not gone."""
    write(top, "a.py", "half/b.py")
    real = os.lstat

    def lstat(place: str | Path, **more: Any) -> os.stat_result:
        if str(place).endswith("/half/b.py"):
            raise PermissionError(13, "Permission denied", str(place))
        return real(place, **more)

    monkeypatch.setattr(os, "lstat", lstat)
    found = collect.collect(top, Wanted())
    assert (paths(found), found.skipped) == (["a.py"], {"unreadable": {"half/b.py"}})


def test_two_spellings_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a disk that ignores case, the one that the folder lists counts."""
    write(tmp_path, "Foo.py")
    os.link(tmp_path / "Foo.py", tmp_path / "foo.py")
    assert paths(collect.collect(tmp_path, Wanted())) == ["Foo.py", "foo.py"]  # two links here
    monkeypatch.setattr(os, "listdir", lambda place: ["foo.py"])
    found = collect.collect(tmp_path, Wanted())
    assert paths(found) == ["foo.py"]
    assert found.skipped["twice"] == {"Foo.py"}


def test_a_pattern_that_cannot_be_used(tmp_path: Path) -> None:
    """It is named with its line, and the others count."""
    write(tmp_path, "a.py", "b.py", "sub/c.py")
    write(tmp_path, ".gitignore", text="b.py\n!\n[b-a].md\n")
    problems: list[Problem] = []
    found = [entry.path for entry in ignores.walk(tmp_path, "", problems)]
    assert found == [".gitignore", "a.py", "sub/c.py"]
    assert [(one.path, one.line, one.grade) for one in problems] == [
        *((".gitignore", 2, "warning"), (".gitignore", 3, "warning")),
    ]


def test_a_list_of_patterns_that_cannot_be_read(tmp_path: Path) -> None:
    """It is a problem, and those of the folders above still count."""
    write(tmp_path, "sub/a.py", "sub/b.py")
    write(tmp_path, ".gitignore", text="b.py\n")
    (tmp_path / "sub/.gitignore").mkdir()
    found = collect.collect(tmp_path, Wanted())
    assert paths(found) == ["sub/a.py"]
    assert [problem.path for problem in found.problems] == ["sub/.gitignore"]


def test_a_list_of_patterns_from_windows(top: Path) -> None:
    """The mark of UTF-8 is no part of the first pattern, nor are other signs ends of lines."""
    write(top, "a.py", "b.py", "c.py", "d\x0ce.py")
    write(top, ".gitignore", text="\ufeffa.py\r\nb.py\r\nd\x0ce.py\n")
    assert paths(collect.collect(top, Wanted())) == ["c.py"]


def test_many_files_in_one_folder(tmp_path: Path) -> None:
    """Ten thousand, by path."""
    for number in range(10_000):
        (tmp_path / f"{number}.py").touch()
    found = paths(collect.collect(tmp_path, Wanted()))
    assert len(found) == 10_000
    assert found == sorted(found)


_NAMES = st.sampled_from(["a", "b", "ab"])
_PATHS = st.lists(
    st.tuples(st.lists(_NAMES, max_size=2), _NAMES).map(lambda p: "/".join([*p[0], f"{p[1]}.py"])),
    min_size=1,
    max_size=6,
)
_PATTERNS = st.lists(
    st.builds(
        "".join,
        st.tuples(
            st.sampled_from(["", "!", "/", "!/"]),
            st.sampled_from(
                [
                    "a",
                    "b",
                    "*",
                    "a*",
                    "*b*.p*",
                    "[ab]*",
                    "**/a",
                    "a/**",
                    "a/b",
                    "*/b",
                    "a/*",
                    "?.py",
                ]
            ),
            st.sampled_from(["", "/", ".py", "/*.py"]),
        ),
    ),
    max_size=4,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(paths=_PATHS, top_rules=_PATTERNS, inner_rules=_PATTERNS)
def test_the_walk_keeps_to_gitignore_as_git_does(
    tmp_path_factory: pytest.TempPathFactory,
    paths: list[str],
    top_rules: list[str],
    inner_rules: list[str],
) -> None:
    """Git is the oracle."""
    top = tmp_path_factory.mktemp("project")
    write(top, *(path for path in paths))
    write(top, ".gitignore", text="".join(f"{rule}\n" for rule in top_rules))
    if (top / "a").is_dir():
        write(top, "a/.gitignore", text="".join(f"{rule}\n" for rule in inner_rules))
    walked = sorted(entry.path for entry in ignores.walk(top, "", []))
    Repository(top)
    by_git = gitlist.listed(top, []) or []  # None: it ignores everything
    assert walked == sorted(entry.path for entry in by_git)


def test_what_no_manifest_may_name_is_no_file(top: Path) -> None:
    """A name that reads as a drive elsewhere is left out, not written and refused each time."""
    write(top, "a:b.py", "ab:c.py", "d/e:f.py")
    found = collect.collect(top, Wanted())
    assert paths(found) == ["ab:c.py", "d/e:f.py"]
    assert found.skipped == {"name": {"a:b.py"}}


def test_folders_within_each_other_have_no_end(top: Path) -> None:
    """A thousand and more of them are walked as two are."""
    with deep_folders(top, "x.py") as path:
        found = collect.collect(top, Wanted())
    assert paths(found) == [path]
    assert found.problems == []
