"""`palace mine-sessions`, as its user sees it."""

import json
from pathlib import Path

import pytest

from memory_palace.files import conversations
from memory_palace.memory import note_batch
from session.spoken import Spoken, Step, write
from support.palaces import REPOSITORY, Palace

SAMPLES = REPOSITORY / "tests" / "fixtures" / "transcripts"
TALK = Spoken(Step("user", "Light the lamp."), Step("answer", "It is lit."))


@pytest.fixture
def palace(keyword_palace: Palace) -> Palace:
    """An empty palace."""
    return keyword_palace


def test_each_session_has_a_line(palace: Palace) -> None:
    """Where its note is and how much was added; the second time nothing is new, exit 0."""
    ran = palace.command("mine-sessions", str(SAMPLES))
    assert ran.code == 0
    *lines, last = ran.out.splitlines()
    assert len(lines) == 8
    assert all("/sessions/2026-11-30-" in line and "  new: " in line for line in lines)
    assert last.startswith("8 sessions: 8 filed; in them passed over: ")
    again = palace.command("mine-sessions", str(SAMPLES))
    assert (again.code, again.out) == (0, "8 sessions: 8 unchanged\n")


def test_a_session_is_found_by_what_was_said(palace: Palace) -> None:
    """By its words, as a note of its type; the turn's own heading is shown."""
    palace.write("palace.yaml", "embedder: none\n")
    palace.command("mine-sessions", str(SAMPLES / "pi.jsonl"))
    assert palace.command("index").code == 0
    ran = palace.command("query", "lamp lit", "--type", "session", "--format", "files")
    assert "/sessions/2026-11-30-light-the-lamp-please-" in ran.out
    assert ' "11:12 ' in ran.out


def test_a_dry_run_says_what_would_be(palace: Palace) -> None:
    """And writes nothing."""
    ran = palace.command("mine-sessions", str(SAMPLES / "pi.jsonl"), "--dry-run")
    assert ran.code == 0
    assert "new: 13 turns would be added" in ran.out
    assert "(nothing was written)" in ran.out
    assert not list(palace.root.rglob("sessions/*.md"))


def test_a_note_that_changes_meanwhile(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit 4, and the summary counts a failed one: nothing is told as added that is not."""
    records = list(TALK.records())
    write(tmp_path / "a.jsonl", records[:1])
    palace.command("mine-sessions", str(tmp_path / "a.jsonl"))
    (place,) = palace.root.rglob("sessions/*.md")
    real = note_batch.Batch.flush

    def flush(batch: note_batch.Batch) -> None:
        place.write_text(place.read_text() + "Meanwhile.\n")
        real(batch)

    monkeypatch.setattr(note_batch.Batch, "flush", flush)
    write(tmp_path / "a.jsonl", records)
    ran = palace.command("mine-sessions", str(tmp_path / "a.jsonl"))
    assert (ran.code, ran.out) == (4, "1 session: 1 failed\n")
    assert "changed underneath" in ran.err
    assert place.read_text().endswith("Meanwhile.\n")


def test_a_dry_run_counts_a_copy_once(palace: Palace, tmp_path: Path) -> None:
    """As the run after it does."""
    for name in ("a", "b"):
        TALK.write(tmp_path / f"{name}.jsonl")
    for more in (["--dry-run"], []):
        ran = palace.command("mine-sessions", str(tmp_path), *more)
        assert ran.out.splitlines()[-1].startswith("2 sessions: 1 filed, 1 unchanged")


def test_json_lines(palace: Palace, tmp_path: Path) -> None:
    """One object a session, and one for what was passed over."""
    TALK.write(tmp_path / "a.jsonl")
    (tmp_path / "b.png").write_bytes(b"x")
    ran = palace.command("mine-sessions", str(tmp_path), "--format", "jsonl", "--project", "quay")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    first = rows[0]
    assert (first["what"], first["client"], first["added"]) == ("filed", "claude-code", 2)
    assert first["paths"][0].startswith("palace/project_rooms/quay/sessions/2026-11-29-")
    assert rows[-1]["others"]["other kind of file (.png)"] == 1


def test_what_was_passed_over_is_told(palace: Palace, tmp_path: Path) -> None:
    """A folder without a conversation: exit 1, and why; JSON lines stay JSON lines."""
    place = tmp_path / "pictures"
    place.mkdir()
    (place / "b.png").write_bytes(b"x")
    ran = palace.command("mine-sessions", str(place))
    none = "no conversation found: PATH is a transcript, or a folder with some\n"
    assert (ran.code, ran.out) == (1, "")
    assert ran.err == f"{none}passed over: 1 other kind of file (.png)\n"
    ran = palace.command("mine-sessions", str(place), "--format", "jsonl")
    assert (ran.code, ran.err) == (1, none)
    assert json.loads(ran.out) == {"others": {"other kind of file (.png)": 1}}


def test_a_file_that_is_gone_once_its_folder_was_listed(
    palace: Palace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named with what to do, and the others go on."""
    place = tmp_path / "chats"
    place.mkdir()
    TALK.write(place / "b.jsonl")
    listed = [(str(place), list[str](), ["a.jsonl", "b.jsonl"])]
    monkeypatch.setattr(conversations, "walk", lambda top, unread: listed)
    ran = palace.command("mine-sessions", str(place))
    assert (ran.code, ran.out.splitlines()[-1][:20]) == (1, "1 session: 1 filed")
    gone = f"{place / 'a.jsonl'} cannot be read (No such file or directory)"
    assert f"{gone}: check it and run this again\n" in ran.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "Missing argument 'PATH...'"),
        (["none.jsonl"], "cannot be read"),
        (["{root}/palace.yaml"], "other kind of file (.yaml): name a transcript of Claude Code"),
        (["{samples}/pi.jsonl", "--client", "codex"], "not of codex, but of pi"),
        (["{samples}", "--client", "emacs"], "'emacs' is not one of"),
        (["{samples}", "--all"], "no option `--all`"),
    ],
)
def test_bad_input(palace: Palace, arguments: list[str], said: str) -> None:
    """One line, exit 2, nothing written."""
    given = [one.format(root=palace.root, samples=SAMPLES) for one in arguments]
    ran = palace.command("mine-sessions", *given)
    assert ran.code == 2
    assert said in ran.err
    assert "Traceback" not in ran.err
    assert not list(palace.root.rglob("sessions"))


def test_a_project_name_that_is_a_path_stays_inside(palace: Palace, tmp_path: Path) -> None:
    """And one of signs alone gets another."""
    for number, name in enumerate(("../../out", "???", "a/b")):
        talk = Spoken(*TALK.steps, session=f"s{number}")
        ran = palace.command(
            "mine-sessions", str(talk.write(tmp_path / f"{number}.jsonl")), "--project", name
        )
        assert ran.code == 0, ran.err
    assert len(list((palace.root / "palace" / "project_rooms").glob("*/sessions/*.md"))) == 3
