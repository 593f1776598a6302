"""The rules of mining: kinds, rooms, names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_palace.core import mining
from memory_palace.core.mining import Line


@pytest.mark.parametrize(
    ("path", "wanted", "kind"),
    [
        ("a.py", True, "code"),
        ("src/A.PY", True, "code"),
        ("README.md", True, "document"),
        ("notes.TXT", True, "document"),
        ("a.tar.gz", False, "code"),
        ("py", False, "code"),
        ("Makefile", False, "code"),
        (".golangci.yml", True, "code"),
        ("a.md/b.png", False, "code"),
        ("v1.2/py", False, "code"),
    ],
)
def test_a_file_counts_by_its_extension(path: str, wanted: bool, kind: str) -> None:
    """Case does not matter, and a name without a dot has no extension."""
    assert mining.is_wanted(path) is wanted
    assert mining.kind(path) == kind


def test_the_user_adds_extensions_and_whole_names() -> None:
    """Both are compared in lower case."""
    assert mining.is_wanted("web/App.Vue", ("vue",))
    assert mining.is_wanted("Makefile", ("makefile",))
    assert not mining.is_wanted("web/App.vue", ("makefile",))


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("a.py", ""),
        ("web/node_modules/x/i.js", "web/node_modules"),
        ("vendor/a.go", "vendor"),
        (".github/ci.yml", ".github"),
        ("src/.cache/a.py", "src/.cache"),
        ("src/targets/a.py", ""),
        (".eslintrc.json", ""),
        ("build", ""),
    ],
)
def test_folders_that_are_never_mined(path: str, folder: str) -> None:
    """The outermost one is named, and a file of that name is none."""
    assert mining.pruned(path) == folder


def starts(prefix: str) -> object:
    """Patterns that name what is below a folder."""
    return lambda path: path.startswith(prefix)


@pytest.mark.parametrize(
    ("path", "room"),
    [
        ("src/api/a.py", "backend"),
        ("src/Docs/a.md", "docs"),
        ("src/web/a.ts", "src"),
        ("a.py", "general"),
        ("src/café/a.py", "Café"),
        ("src/backend/a.py", "backend"),
        ("src/docs/backend/a.py", "docs"),
    ],
)
def test_a_room_is_found_by_pattern_then_name_then_folder(path: str, room: str) -> None:
    """Names are compared without case, and as Unicode composes them."""
    matching = {"backend": starts("src/api/")}
    assert mining.room(path, matching, ("docs", "Cafe\u0301".encode().decode(), "Café")) == room  # type: ignore[arg-type]


def test_the_first_pattern_that_fits_decides() -> None:
    """Rooms are asked in the order of the configuration, before any name."""
    matching = {"one": starts("src/"), "two": starts("src/two/")}
    assert mining.room("src/two/a.py", matching) == "one"  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["demo", "a.b-c_d+e", "Größe", "0", "x" * 80])
def test_names_of_projects(name: str) -> None:
    """A name is a file's name on every system."""
    assert mining.name_fault(name) == ""


@pytest.mark.parametrize(
    "name", ["", ".x", "a/b", "a\\b", "a:b", "a b", "x" * 81, "a.", "..", "-a"]
)
def test_what_names_no_project(name: str) -> None:
    """The fault says what to write."""
    assert "letters, digits" in mining.name_fault(name)


@pytest.mark.parametrize("name", ["con", "NUL", "com1", "aux.tools"])
def test_a_device_of_windows_names_no_project(name: str) -> None:
    """No such file could be checked out there; a folder of that name has another one here."""
    assert "device" in mining.name_fault(name)
    assert mining.as_name(name) == f"project-{name}"


@given(st.text(max_size=120))
def test_every_folder_gives_a_name(text: str) -> None:
    """Whatever a folder is called, its project's name is one, and stays as it is."""
    name = mining.as_name(text)
    assert mining.name_fault(name) == ""
    assert mining.as_name(name) == name


def test_paths_of_the_catalog() -> None:
    """A project's path is told from one of the palace, and comes apart again."""
    path = mining.catalog_path("demo", "src/a.py")
    assert path == "project:demo/src/a.py"
    assert mining.split(path) == ("demo", "src/a.py")
    for other in ("palace/a.md", "project:demo", "project:demo/", "project:/a"):
        assert mining.split(other) is None


def test_a_nul_at_the_beginning_is_no_text() -> None:
    """It counts within the first 8,192 bytes only."""
    assert mining.is_text(b"a" * 8_192 + b"\0")
    assert not mining.is_text(b"a" * 8_191 + b"\0")


def test_lines_are_counted_by_room() -> None:
    """By name."""
    lines = [Line("b/x.py", "code", "b"), Line("a/x.py", "code", "a"), Line("a/y.py", "code", "a")]
    assert list(mining.by_room(lines).items()) == [("a", 2), ("b", 1)]
