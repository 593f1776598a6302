"""``palace wake`` and ``palace recall``, as they are called."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.palaces import NOW, SCRIPTS, Palace

_IMPORTED = """
import runpy, sys
sys.argv = sys.argv[1:]
sys.path[0] = sys.argv[0].rsplit("/", 1)[0]
try:
    runpy.run_path(sys.argv[0], run_name="__main__")
finally:
    print("imported", *sys.modules, file=sys.stderr)
"""
HEAVY = {"numpy", "faiss", "onnxruntime", "markdown_it", "pathspec", "filelock", "pydantic", "rich"}


@pytest.fixture
def filled(keyword_palace: Palace) -> Palace:
    """An identity and a wing, indexed."""
    keyword_palace.notes(grand_hall__identity="Who.", project_rooms__demo__a="Amber.")
    head = "---\nupdated: 2026-11-20\n---\n"
    keyword_palace.notes(topics__lessons=f"{head}- [lesson] Cut small\n")
    keyword_palace.command("index")
    return keyword_palace


@pytest.mark.parametrize(
    "words", [("wake",), ("recall", "demo"), ("recall", "topics/lessons"), ("report",)]
)
def test_no_model_and_no_vectors(filled: Palace, words: tuple[str, ...]) -> None:
    """What a session starts with is found with SQLite alone."""
    ran = subprocess.run(
        [sys.executable, "-c", _IMPORTED, str(SCRIPTS / "palace.py"), *words],
        env=os.environ | {"PALACE_ROOT": str(filled.root), "PALACE_NOW": NOW.isoformat()},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    imported = set(ran.stderr.rpartition("imported ")[2].split())
    assert "memory_palace.session" in imported
    assert not HEAVY & imported


def test_the_wing_of_the_folder(
    filled: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The repository that the command is run in names it."""
    (tmp_path / "demo/.git").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "demo")
    assert "# Essential story: demo\n" in filled.command("wake").out
    monkeypatch.chdir(tmp_path)
    assert "# Essential story\n" in filled.command("wake").out


def test_nothing_to_tell(keyword_palace: Palace) -> None:
    """Exit 1, nothing on stdout, and what to write."""
    ran = keyword_palace.command("wake")
    assert (ran.code, ran.out) == (1, "")
    assert "nothing to tell yet: write palace/grand_hall/identity.md" in ran.err


def test_a_tree_that_cannot_be_read(filled: Palace) -> None:
    """Is not an empty palace."""
    (filled.root / "palace").rename(filled.root / "elsewhere")
    for words in (("wake",), ("recall", "demo"), ("report",), ("consolidate",)):
        ran = filled.command(*words)
        assert ran.code == 3 and "cannot read palace/ in " in ran.err and ran.out == ""
