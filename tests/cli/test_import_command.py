"""`palace import`, as its user sees it."""

import json
from pathlib import Path

import pytest

from memory_palace.cli import importing
from memory_palace.memory import note_batch
from support.palaces import Palace

NOTE = "palace/project_rooms/imports/openclaw/work space/MEMORY.md"


@pytest.fixture
def palace(keyword_palace: Palace) -> Palace:
    """An empty palace."""
    return keyword_palace


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A workspace of OpenClaw."""
    place = tmp_path / "work space"
    (place / "memory").mkdir(parents=True)
    (place / "MEMORY.md").write_text("Lit at dusk.\n")
    (place / "memory" / "2026-03-28.md").write_text("Today.\n")
    (place / "SOUL.md").write_text("x\n")
    return place


def test_the_plan_comes_first(palace: Palace, workspace: Path) -> None:
    """Off a terminal nothing is asked and nothing written; the command that does it is told."""
    ran = palace.command("import", "openclaw", str(workspace))
    assert ran.code == 0
    assert f"new        work space/MEMORY.md -> {NOTE}\n" in ran.out
    assert "2 notes: 2 new (found: 1 memory, 1 day); nothing is written yet" in ran.out
    assert f"import openclaw '{workspace}' --yes` does it" in ran.err
    assert "passed over: 1 file of the workspace, no memory" in ran.err
    assert not (palace.root / NOTE).exists()


def test_yes_brings_it_in_once(palace: Palace, workspace: Path) -> None:
    """And says what it did; the second time nothing is new, exit 0."""
    ran = palace.command("import", "openclaw", str(workspace), "--yes", "--reason", "moving in")
    assert ran.code == 0
    assert "2 notes: 2 new" in ran.out
    assert (palace.root / NOTE).read_text().endswith("Lit at dusk.\n")
    assert "moving in" in (palace.root / "manifests/memory_events.jsonl").read_text()
    again = palace.command("import", "openclaw", str(workspace), "--yes")
    assert (again.code, again.out) == (0, "2 notes: 2 unchanged (found: 1 memory, 1 day)\n")


def test_an_edited_note_is_told(palace: Palace, workspace: Path) -> None:
    """And left as it is."""
    palace.command("import", "openclaw", str(workspace), "--yes")
    place = palace.root / NOTE
    place.write_text(place.read_text() + "Mine.\n")
    (workspace / "MEMORY.md").write_text("Lit at noon.\n")
    ran = palace.command("import", "openclaw", str(workspace), "--yes")
    assert ran.code == 0
    assert f"edited     work space/MEMORY.md -> {NOTE}\n" in ran.out
    assert "Lit at dusk.\nMine.\n" in place.read_text()


def test_a_note_that_changes_meanwhile(
    palace: Palace, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 4: what somebody wrote stays, and the piece has failed."""
    palace.command("import", "openclaw", str(workspace), "--yes")
    place = palace.root / NOTE
    (workspace / "MEMORY.md").write_text("Lit at noon.\n")
    real = note_batch.Batch.flush

    def flush(batch: note_batch.Batch) -> None:
        place.write_text(place.read_text() + "Meanwhile.\n")
        real(batch)

    monkeypatch.setattr(note_batch.Batch, "flush", flush)
    ran = palace.command("import", "openclaw", str(workspace), "--yes")
    assert ran.code == 4
    assert "2 notes: 1 unchanged, 1 failed" in ran.out
    assert "changed underneath" in ran.err
    assert place.read_text().endswith("Lit at dusk.\nMeanwhile.\n")


def test_a_dry_run_never_asks(
    palace: Palace, workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also on a terminal, where the plan by itself does."""
    asked = []
    monkeypatch.setattr(importing, "confirmed", lambda _, question: asked.append(question))
    palace.command("import", "openclaw", str(workspace), "--dry-run")
    assert not asked
    palace.command("import", "openclaw", str(workspace))
    assert asked == ["Import 2 pieces?"]


@pytest.mark.parametrize("shape", ["text", "jsonl"])
def test_nothing_to_import_is_told_on_stderr(palace: Palace, tmp_path: Path, shape: str) -> None:
    """With JSON lines too; exit 1."""
    (tmp_path / "empty").mkdir()
    ran = palace.command("import", "openclaw", str(tmp_path / "empty"), "--format", shape)
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == "nothing to import: PATH is the tool's folder, or a file of it\n"


def test_json_lines(palace: Palace, workspace: Path) -> None:
    """One object a piece."""
    ran = palace.command("import", "openclaw", str(workspace), "--dry-run", "--format", "jsonl")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert rows[0] == {
        "what": "new",
        "original": "work space/MEMORY.md",
        "path": NOTE,
        "said": [],
        "written": False,
    }


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["openclaw", "none"], 2, "none cannot be read"),
        (["obsidian", "."], 2, "'obsidian' is not one of"),
        (["openclaw"], 2, "Missing argument 'PATH'"),
        (["openclaw", ".", "--yes", "--dry-run"], 2, "leave out --yes, or --dry-run"),
        (["mempalace", "{empty}"], 1, ""),
    ],
)
def test_bad_input(
    palace: Palace, tmp_path: Path, arguments: list[str], code: int, said: str
) -> None:
    """One line, and the exit code that it stands for."""
    (tmp_path / "empty").mkdir()
    given = [one.format(empty=tmp_path / "empty") for one in arguments]
    ran = palace.command("import", *given)
    assert ran.code == code
    assert said in ran.err
    assert "Traceback" not in ran.err
