"""What looks as if there were no ledger."""

import os
from pathlib import Path

import pytest

from memory_palace.files import ledgers, left_out
from session.sessions import Session
from support.palaces import Palace

CHAMBERS = "palace/chambers"
LINK = "a symbolic link, left out: replace it by what it stands for"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A palace with a ledger."""
    root = Palace(tmp_path / "root").root
    Session(root).said("hello")
    return root


def told(root: Path) -> list[tuple[str, str]]:
    """Path and message of each."""
    return [(one.path, one.message) for one in left_out.of_ledgers(root)]


def test_nothing_is_left_out_of_a_whole_palace(root: Path) -> None:
    """Other files, hidden folders and a chamber without ledgers are none of its business."""
    for name in (".git/ledger", "pi/diary", "pi/ledger/more"):
        (root / CHAMBERS / name).mkdir(parents=True)
    (root / CHAMBERS / "README.md").write_text("x")
    (root / CHAMBERS / "codex").mkdir()
    (root / CHAMBERS / "codex/ledger").write_text("x")
    (root / CHAMBERS / "pi/ledger/notes.txt").symlink_to("/nowhere")
    assert told(root) == []


def test_what_is_no_regular_file_is_named(root: Path) -> None:
    """A folder, a pipe, a link: each is passed over by those who list ledgers."""
    folder = root / CHAMBERS / "claude-code/ledger"
    (folder / "a.jsonl").mkdir()
    os.mkfifo(folder / "b.jsonl")
    (folder / "c.jsonl").symlink_to(folder / "s1.jsonl")
    no_file = "not a regular file, left out: move it away"
    assert [message for _, message in told(root)] == [no_file, no_file, LINK]
    assert ledgers.every(root) == [f"{CHAMBERS}/claude-code/ledger/s1.jsonl"]


@pytest.mark.parametrize("name", ["", "/claude-code", "/claude-code/ledger"])
def test_a_folder_that_is_a_link_is_named(root: Path, tmp_path: Path, name: str) -> None:
    """Wherever it leads to."""
    place = root / f"{CHAMBERS}{name}"
    place.rename(tmp_path / "elsewhere")
    place.symlink_to(tmp_path / "elsewhere")
    assert told(root) == [(f"{CHAMBERS}{name}", LINK)]
    assert ledgers.every(root) == []


def test_a_folder_that_cannot_be_listed_is_named(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not empty: nobody knows."""
    real = os.scandir

    def refused(path: Path) -> object:
        if str(path).endswith("/ledger"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr(os, "scandir", refused)
    why = "cannot be read (Permission denied): check its permissions"
    assert told(root) == [(f"{CHAMBERS}/claude-code/ledger", why)]


def test_no_chambers_at_all(tmp_path: Path) -> None:
    """Nothing is left out of nothing."""
    assert told(tmp_path) == []
