"""Every file of tests/transcripts/ is played, and has to come out as it is written."""

import difflib
import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import transcripts
from support.palaces import NOW

ALL = sorted(transcripts.FOLDER.glob("*.txt"))


@pytest.fixture
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    """An empty folder to work in, a fixed clock, UTC, and a git without anyone's settings."""
    monkeypatch.setenv("PALACE_NOW", NOW.isoformat())
    monkeypatch.setenv("PALACE_IDENTITY", "pi@laptop")
    (tmp_path / "home").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("memory_palace.agents.install.found.program_of", lambda *_: None)
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for name in ("GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"):
        monkeypatch.setenv(name, os.devnull)
    for name in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{name}_NAME", "A Person")
        monkeypatch.setenv(f"GIT_{name}_EMAIL", "a@example.org")
        monkeypatch.setenv(f"GIT_{name}_DATE", "2026-11-20T10:00:00Z")
    monkeypatch.chdir(tmp_path)
    yield monkeypatch
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("path", ALL, ids=lambda p: p.stem)
def test_transcript(path: Path, tmp_path: Path, settled: pytest.MonkeyPatch) -> None:
    """Playing the transcript gives the transcript."""
    text = path.read_text()
    settings, steps = transcripts.parse(text)
    settled.setenv("PALACE_EMBEDDER", settings.get("embedder", "none"))
    root = tmp_path / "root"
    (root / "palace").mkdir(parents=True)
    (root / "palace.yaml").touch()
    settled.chdir(root)
    real = transcripts.replay(steps, root)
    if os.environ.get("UPDATE_TRANSCRIPTS"):
        path.write_text(transcripts.settle(real))
        return
    diff = difflib.unified_diff(
        text.splitlines(), real.splitlines(), "expected", "real", lineterm="", n=2
    )
    assert real == text, f"{path.name} came out otherwise:\n" + "\n".join(diff)


def test_there_is_one_for_every_command() -> None:
    """Each command of the toolkit has a transcript named after it."""
    from memory_palace.cli.main import COMMANDS

    names = {path.stem.removeprefix("cmd-") for path in ALL}
    assert {name for name in COMMANDS if not any(n.startswith(name) for n in names)} == set()


def test_open_places_match_within_a_line_only() -> None:
    """`<*>` stands for any text of one line, and is kept where the line still matches."""
    assert transcripts.keep(["a <*> c", "d"], ["a bb c", "x", "d"]) == ["a <*> c", "x", "d"]
    assert transcripts.keep(["a <*>"], ["b"]) == ["b"]
    assert not transcripts.matches("a.c", "abc")
