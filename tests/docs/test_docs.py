"""What the documents show is done, and what they say is compared with the code."""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs import documents, playing
from support.palaces import NOW, REPOSITORY, SCRIPTS

PLAYED = [p for p in documents.paths() if p.name not in ("CHANGELOG.md", "CONTRIBUTING.md")]


@pytest.fixture(scope="module")
def shipped(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the palace of this repository, indexed."""
    root = tmp_path_factory.mktemp("shipped") / "memory-palace"
    for name in ("palace", "manifests"):
        shutil.copytree(REPOSITORY / name, root / name)
    shutil.copy2(REPOSITORY / "palace.yaml", root)
    session = playing.Session(root)
    session.run("palace index")
    assert session.code == 0
    return root


@pytest.fixture
def session(
    shipped: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[playing.Session]:
    """A shell in a palace of its own, at a fixed hour, in UTC."""
    root = tmp_path / "memory-palace"
    shutil.copytree(shipped, root)
    (root / "scripts").symlink_to(SCRIPTS)
    monkeypatch.setenv("PALACE_NOW", NOW.isoformat())
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    # Which clients this machine has is no matter of the documents.
    monkeypatch.setattr("memory_palace.agents.install.found.program_of", lambda *_: None)
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A Person")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
        monkeypatch.setenv(f"GIT_{name}_DATE", "2026-11-20T10:00:00Z")
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    shutil.copy2(REPOSITORY / ".gitignore", root)
    git = ["git", "-C", str(root)]
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "add", "palace", "manifests", "palace.yaml", ".gitignore"], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "notes"], check=True)
    settled = playing.Session(root)
    settled.run("palace index")  # a copy has other inodes
    yield settled
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("path", PLAYED, ids=documents.name)
def test_what_is_shown_happens(path: Path, session: playing.Session) -> None:
    """The files, commands and Python of a document, in its order, give what stands below them."""
    blocks = documents.blocks(path)
    start = session.root
    printed: list[str] | None = None
    for block in blocks:
        place = f"{documents.name(path)}:{block.line}"
        if block.file:
            target = session.root / block.file
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text)
        elif block.language == "console":
            play(playing.steps(block.text), session, place)
        elif block.language == "python":
            printed = playing.python(block.text, start)
        elif block.language == "text" and printed is not None:
            expect(block.text.splitlines(), printed, place)
        if block.language != "python":
            printed = None


def play(steps: list[playing.Step], session: playing.Session, place: str) -> None:
    """Run the steps of one block and compare."""
    for number, step in enumerate(steps):
        real = session.run(step.command)
        if step.shown:
            expect(step.shown, real, f"{place}: $ {step.command}")
        asked = number + 1 < len(steps) and steps[number + 1].command == "echo $?"
        assert asked or session.code == 0, f"{place}: $ {step.command}\n" + "\n".join(real)


def expect(shown: list[str], real: list[str], place: str) -> None:
    """The shown lines fit the real ones."""
    assert playing.fits(shown, real), f"{place}: this came out:\n" + "\n".join(real)


def test_the_form_of_what_varies_is_compared_and_the_rest_as_it_is() -> None:
    """Scores, dates, durations and totals may differ, `…` is anything, other text is exact."""
    real = ["a.md:1-2  (high, 2026-11-29)  0.761", "x", "y", "in 0.02 s (38/s)"]
    assert playing.fits(["a.md:1-2  (high, 2025-01-01)  0.100", "…", "in 1.50 s (7/s)"], real)
    assert playing.fits(["a…  0.100", "x", "y", "…", "in 1.5 s (7/s)"], real)
    assert not playing.fits(["a.md:1-3  (high, 2025-01-01)  0.100", "…"], real)
    assert not playing.fits(real[:3], real)
    assert playing.fits(["1 added, 7 unchanged: 8 notes"], ["1 added, 33 unchanged: 34 notes"])
    assert not playing.fits(["1 added, 7 unchanged: 8 notes"], ["2 added, 7 unchanged: 8 notes"])


def test_a_step_is_a_command_and_what_stands_below_it() -> None:
    """Lines after `$ ` are commands, the others their output."""
    assert playing.steps("$ a\nb\n\n$ c\n") == [
        playing.Step("a", ["b", ""]),
        playing.Step("c", []),
    ]
