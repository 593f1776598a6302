"""A walk through folders: as Python's own, without its end."""

import os
from pathlib import Path

from memory_palace.files.walk import walk
from support.deep import DEPTH, deep_folders


def test_it_walks_as_python_does(tmp_path: Path) -> None:
    """Top first, links not followed, what cannot be listed told, folders taken out left out."""
    for name in ("a/b/x", "a/y", "c/z", "out/w"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x")
    (tmp_path / "a/loop").symlink_to(tmp_path)
    (tmp_path / "a/itself").symlink_to("itself")
    told: list[OSError] = []
    found = []
    for folder, folders, names in walk(tmp_path, told.append):
        if "out" in folders:
            folders.remove("out")
        found.append((folder, sorted(folders), sorted(names)))
    by_python = []
    for folder, folders, names in os.walk(tmp_path):
        if "out" in folders:
            folders.remove("out")
        by_python.append((folder, sorted(folders), sorted(names)))
    assert sorted(found) == sorted(by_python)
    assert found[0][0] == str(tmp_path)
    assert told == []
    assert list(walk(tmp_path / "none", told.append)) == []
    assert [type(error) for error in told] == [FileNotFoundError]


def test_folders_in_folders_have_no_end(tmp_path: Path) -> None:
    """More of them than Python calls within each other, to where the system's paths end."""
    told: list[OSError] = []
    with deep_folders(tmp_path, "x"):
        assert sum(1 for _ in walk(tmp_path, told.append)) == DEPTH + 1
    assert told == []
