"""The repository that a folder is of."""

import os
import subprocess
from pathlib import Path

import pytest

from memory_palace.files import repository


def test_the_name_is_that_of_the_top(tmp_path: Path) -> None:
    """From any folder in it; none outside of one."""
    (tmp_path / "demo" / ".git").mkdir(parents=True)
    (tmp_path / "demo" / "src" / "deep").mkdir(parents=True)
    assert repository.name_of(str(tmp_path / "demo" / "src" / "deep")) == "demo"
    assert repository.name_of(str(tmp_path / "demo" / "not" / "there")) == "demo"
    assert repository.name_of(str(tmp_path)) == ""


def test_a_linked_worktree_is_of_the_main_one(tmp_path: Path) -> None:
    """So that a session in it has the same project."""
    main = tmp_path / "demo"
    env = {**os.environ, "HOME": str(tmp_path)}
    for words in (
        ["init", "-q", str(main)],
        *(
            ["-C", str(main), "-c", "user.name=a", "-c", "user.email=a@b", *more]
            for more in (
                ["commit", "-q", "--allow-empty", "-m", "x"],
                ["worktree", "add", "-q", str(tmp_path / "side")],
            )
        ),
    ):
        subprocess.run(["git", *words], check=True, env=env)
    assert repository.name_of(str(tmp_path / "side")) == "demo"


@pytest.mark.parametrize("folder", ["", "relative", "a\0b", "/", "C:\\x"])
def test_odd_folders_have_none(folder: str) -> None:
    """Nothing is asked, nothing raised."""
    assert repository.name_of(folder) == ""
