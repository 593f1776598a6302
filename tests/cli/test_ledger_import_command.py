"""`palace ledger import`, as its user sees it."""

import json
from pathlib import Path

import pytest

from support.palaces import REPOSITORY, Palace

SAMPLES = REPOSITORY / "tests" / "fixtures" / "transcripts"
PI = "palace/chambers/pi/ledger/01a22c28-21d1-72bd-9441-2385ebf49e43.jsonl"


@pytest.fixture
def palace(keyword_palace: Palace) -> Palace:
    """An empty palace."""
    return keyword_palace


def test_one_line_says_what_came_of_it(palace: Palace) -> None:
    """How much was added, where, and what was passed over; the second time nothing is new."""
    file = str(SAMPLES / "pi.jsonl")
    ran = palace.command("ledger", "import", file)
    passed = "passed over: 3 bookkeeping, 1 summary"
    assert (ran.code, ran.err) == (0, "")
    assert ran.out == f"13 entries added to {PI}, 0 there already; {passed}\n"
    again = palace.command("ledger", "import", file)
    assert (again.code, again.out) == (0, f"nothing new for {PI}: 13 there already; {passed}\n")
    status = palace.command("ledger", "status", "--session", "01a22c28-21d1")
    assert "13 entries" in status.out


def test_a_dry_run_says_what_would_be(palace: Palace) -> None:
    """And writes nothing."""
    ran = palace.command("ledger", "import", str(SAMPLES / "pi.jsonl"), "--dry-run")
    assert ran.code == 0
    assert ran.out.startswith(f"13 entries would be added to {PI}, 0 there already;")
    assert not (palace.root / PI).exists()


def test_a_folder_is_all_its_transcripts(palace: Palace) -> None:
    """Each has its line; forks and subagents have ledgers of their own."""
    ran = palace.command("ledger", "import", str(SAMPLES))
    assert ran.code == 0
    assert len(ran.out.splitlines()) == 7
    assert len(list(palace.root.glob("palace/chambers/*/ledger/*.jsonl"))) == 7
    assert palace.command("ledger", "check").code == 0


def test_of_several_a_bad_one_is_named_and_the_rest_goes_on(palace: Palace, tmp_path: Path) -> None:
    """Exit 1; alone it is a usage error."""
    bad = tmp_path / "notes.jsonl"
    bad.write_text('{"a": 1}\n')
    ran = palace.command("ledger", "import", str(bad), "none.jsonl", str(SAMPLES / "pi.jsonl"))
    assert ran.code == 1
    assert ran.out.startswith("13 entries added")
    assert f"{bad} is no transcript: name a transcript of Claude Code (~/.claude" in ran.err
    assert "none.jsonl cannot be read (No such file or directory)" in ran.err
    alone = palace.command("ledger", "import", str(bad))
    assert (alone.code, alone.out) == (2, "")
    assert "is no transcript" in alone.err


def test_a_wrong_client_is_told(palace: Palace) -> None:
    """By name, with the one that it is."""
    ran = palace.command("ledger", "import", str(SAMPLES / "pi.jsonl"), "--client", "codex")
    assert ran.code == 2
    assert "is no transcript of codex, but of pi" in ran.err
    unknown = palace.command("ledger", "import", "x", "--client", "copilot")
    assert unknown.code == 2


def test_an_agent_without_a_name_is_refused(palace: Palace) -> None:
    """Before anything is written."""
    ran = palace.command("ledger", "import", str(SAMPLES / "pi.jsonl"), "--agent", "!!")
    assert ran.code == 2
    assert "write a name" in ran.err


def test_what_is_new_is_observed_on_demand(palace: Palace, tmp_path: Path) -> None:
    """`--observe` records observations of all that was imported."""
    file = tmp_path / "t.jsonl"
    shared = {"sessionId": "s", "type": "user", "timestamp": "2026-11-29T09:00:00Z"}
    said = "From now on, always use feature flags for the lamp; we decided against two branches."
    row = shared | {"uuid": "a", "parentUuid": None, "message": {"content": said}}
    file.write_text(json.dumps(row) + "\n")
    ran = palace.command("ledger", "import", str(file), "--observe")
    assert ran.code == 0, ran.err
    assert "observed: 1 observation, 0 reflections" in ran.out
    shown = palace.command("ledger", "show", "--session", "s")
    assert "feature flags" in shown.out


def test_nobody_says_anything(palace: Palace, tmp_path: Path) -> None:
    """A transcript that has only a header is no fault."""
    file = tmp_path / "t.jsonl"
    file.write_text('{"type": "session", "id": "abc", "cwd": "/x"}\n')
    ran = palace.command("ledger", "import", str(file))
    assert ran.code == 0
    assert ran.out.startswith("nothing for palace/chambers/pi/ledger/abc.jsonl: nobody says")
