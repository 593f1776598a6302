"""The house of references/architecture.md, held."""

import ast
from pathlib import Path

import pytest

from support.palaces import SCRIPTS

LIBRARY = SCRIPTS / "memory_palace"
FLOORS = {
    "core": 0,
    "files": 1,
    "embed": 1,
    "index": 2,
    "search": 3,
    "memory": 4,
    "fleet": 5,
    "session": 6,
    "serve": 7,
    "agents": 8,
    "view": 8,
    "cli": 9,
}
IMPURE = {
    "os",
    "pathlib",
    "subprocess",
    "time",
    "sqlite3",
    "socket",
    "tempfile",
    "shutil",
    "random",
}


def modules() -> list[Path]:
    """Every module of the library."""
    return sorted(LIBRARY.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """The full names of all that a module imports."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found |= {node.module or ""} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(LIBRARY)))
def test_a_room_imports_only_rooms_on_lower_floors(path: Path) -> None:
    """Imports go down the house, never up or across."""
    parts = path.relative_to(LIBRARY).parts
    if len(parts) == 1:
        return
    room = parts[0]
    for name in imported(path):
        target = name.split(".")
        if target[0] != "memory_palace" or len(target) < 2 or target[1] not in FLOORS:
            continue
        assert target[1] == room or FLOORS[target[1]] < FLOORS[room], f"{path}: {name}"


@pytest.mark.parametrize("path", sorted((LIBRARY / "core").glob("*.py")), ids=lambda p: p.stem)
def test_the_core_is_pure(path: Path) -> None:
    """No file, clock, process or network on the ground floor."""
    assert not {name.split(".")[0] for name in imported(path)} & IMPURE


@pytest.mark.parametrize("path", modules(), ids=lambda p: str(p.relative_to(LIBRARY)))
def test_the_library_never_prints(path: Path) -> None:
    """Only the command line writes to the terminal."""
    calls = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "print"
    ]
    assert not calls


def test_files_are_short() -> None:
    """No module of the library is over 500 lines, nine in ten are under 350."""
    lengths = [len(path.read_text().splitlines()) for path in modules()]
    assert max(lengths) <= 500
    assert sum(length < 350 for length in lengths) >= 0.9 * len(lengths)
