"""``palace ledger`` and ``palace recall ID``: figures, lines, folds, faults."""

import json
from pathlib import Path

import pytest

from memory_palace.files import ledgers as files
from memory_palace.session import marks
from support.ledgers import (
    Line,
    dropped,
    eid,
    entry,
    folded,
    header,
    observed,
    oid,
    reflected,
    write,
)
from support.palaces import NOW, Palace

ROWS: list[Line] = [
    header("5e1f", "demo"),
    entry(0, "Use amber. \x1b[31mred\u202e"),
    entry(1, "x" * 4 * 21_000, role="tool", tool="Bash", failed=True),
    observed(1, "Amber \x1b[31mwas chosen.", sources=[0]),
    observed(1, "Half.", sources=[1, 42]),
    observed(1, "Nothing.", sources=[42]),
    reflected(1, "Amber it is.", "Amber \x1b[31mwas chosen."),
    reflected(1, "In the air.", "never seen"),
    dropped(1, "Half."),
    folded(1, full=True),
    entry(2, "y" * 4 * 10_000),
]
AMBER = oid("Amber \x1b[31mwas chosen.")


@pytest.fixture
def filled(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Palace:
    """A palace with one ledger; the current folder is no repository."""
    monkeypatch.setenv("PALACE_NOW", NOW.isoformat())
    monkeypatch.chdir(tmp_path)
    write(keyword_palace.root, "pi", "5e1f", ROWS)
    return keyword_palace


def test_status_as_objects(filled: Palace) -> None:
    """Exactly these keys."""
    [row] = map(
        json.loads, filled.command("ledger", "status", "--format", "jsonl").out.splitlines()
    )
    stages = row.pop("stages")
    assert row == {
        "path": "palace/chambers/pi/ledger/5e1f.jsonl", "agent": "pi", "session": "5e1f",
        "wing": "demo", "at": "2026-11-29T08:02:00Z", "entries": 3, "elsewhere": 0,
        "tokens": 31_005, "pending": 1, "pending_tokens": 10_000, "observations": 2, "dropped": 1,
        "reflections": 2, "folds": 1,
    }  # fmt: skip
    assert stages[0] == {
        "name": "observer", "due": True, "tokens": 10_000, "threshold": 10_000, "waits": "",
    }  # fmt: skip
    assert [one["name"] for one in stages] == ["observer", "reflector", "fold"]


def test_status_knows_what_was_found_to_be_nothing(filled: Palace) -> None:
    """The observer is not due again at once."""
    path = "palace/chambers/pi/ledger/5e1f.jsonl"
    marks.change(filled.root, marks.BACKOFF, path, {"observe": eid(2)})
    assert "observer 0 of 10,000;" in filled.command("ledger", "status").out


def test_the_list_is_bounded(filled: Palace) -> None:
    """Ten at once, and how many there are besides."""
    for number in range(12):
        write(filled.root, "pi", f"s{number}", [entry(number, parent=None)])
    ran = filled.command("ledger", "status", "--format", "jsonl")
    assert len(ran.out.splitlines()) == 10 and "3 older ledgers not shown: --limit 0" in ran.err
    assert len(filled.command("ledger", "status", "--limit", "0").out.splitlines()) == 39


def test_show_as_objects(filled: Palace) -> None:
    """Each line with its kind; dropped ones say so."""
    ran = filled.command("ledger", "show", "--entries", "--format", "jsonl")
    rows = [json.loads(line) for line in ran.out.splitlines()]
    assert [row["kind"] for row in rows] == ["reflection"] * 2 + ["observation"] * 3 + ["entry"] * 3
    assert [row["content"] for row in rows if row.get("dropped")] == ["Half."]
    assert rows[-2]["failed"] and rows[-2]["tokens"] == 21_000 and "dropped" not in rows[-1]


def test_show_is_bounded(filled: Palace) -> None:
    """The newest of each, on lines that a terminal can show."""
    ran = filled.command("ledger", "show", "--entries", "--limit", "1")
    assert ran.code == 0 and "Observations: 2 earlier not shown: --limit 0" in ran.err
    assert len(ran.out.splitlines()) == 10
    assert f"[{eid(2)}] 2026-11-29 08:02 user: {'y' * 160} [39840 more characters]" in ran.out
    ran = filled.command("ledger", "show", "--entries")
    assert "\x1b" not in ran.out and "\u202e" not in ran.out and r"\x1b[31mred\u202e" in ran.out


def test_a_fold(filled: Palace) -> None:
    """Its text on stdout; what stays raw and when it is due on stderr."""
    ran = filled.command("ledger", "fold")
    assert ran.code == 0 and "\x1b" not in ran.out
    assert ran.out.splitlines()[0] == "## Reflections" and "Half." not in ran.out
    assert ran.err == "normal fold; raw: 1 entry (10,000 tokens); fold 10,000 of 81,000\n"
    before = (filled.root / "palace/chambers/pi/ledger/5e1f.jsonl").read_bytes()
    ran = filled.command("ledger", "fold", "--window", "1000", "--format", "json")
    row = json.loads(ran.out)
    assert row["text"].startswith("## Reflections\n[") and "\x1b" not in row["text"]
    assert (row["due"], row["tokens"], row["threshold"], row["full"]) == (True, 10_000, 680, False)
    assert (row["raw"], row["raw_tokens"], len(row["observations"])) == ([eid(2)], 10_000, 2)
    assert (filled.root / "palace/chambers/pi/ledger/5e1f.jsonl").read_bytes() == before
    ran = filled.command("ledger", "fold", "--first-kept", eid(0))
    assert (ran.code, ran.out) == (1, "")
    ran = filled.command("ledger", "fold", "--first-kept", "amber")
    assert ran.code == 2 and "amber is not on the branch: `palace ledger show --entries`" in ran.err


def test_a_fold_in_a_budget(filled: Palace) -> None:
    """No more than what was allowed."""
    whole = filled.command("ledger", "fold").out
    ran = filled.command("ledger", "fold", "--budget", "20")
    assert len(ran.out) < len(whole)


def test_check(filled: Palace) -> None:
    """Each problem with its line; 1 if there is any, and the other ledgers are looked at too."""
    ran = filled.command("ledger", "check")
    assert (ran.code, ran.out) == (1, "1 ledger, 3 problems\n")
    where = "palace/chambers/pi/ledger/5e1f.jsonl"
    assert f"{where}:5: warning: observation {oid('Half.')} rests on entry {eid(42)}" in ran.err
    good = write(filled.root, "pi", "good", [entry(0), observed(0, "a")])
    assert filled.command("ledger", "check", "--session", "good").code == 0
    with (filled.root / good).open("a") as file:
        file.write("{}\n[" + "\n")
    ran = filled.command("ledger", "check", "--session", "good")
    assert ran.code == 1 and f"{good}:3: error: `at` is 'None'" in ran.err
    assert f"{good}:4: error: not a JSON object" in ran.err
    ran = filled.command("ledger", "status", "--session", "good")
    assert ran.code == 0 and f"{good}: 2 lines left out: `palace ledger check` says why" in ran.err


def test_check_goes_on_after_what_cannot_be_read(
    filled: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a problem like others."""
    write(filled.root, "pi", "small", [entry(1, parent=5)])
    monkeypatch.setattr(files, "MOST_BYTES", 1024)
    ran = filled.command("ledger", "check")
    assert ran.code == 1 and " KB, a ledger may have 1: split it" in ran.err
    assert "small.jsonl:1: warning: entry" in ran.err


def test_check_names_what_is_passed_over(filled: Palace) -> None:
    """What is no file does not look as if there were no ledger."""
    folder = filled.root / "palace/chambers/pi/ledger"
    (folder / "good.jsonl").symlink_to("/dev/zero")
    ran = filled.command("ledger", "check")
    assert (ran.code, ran.out) == (1, "1 ledger, 4 problems\n")
    assert "ledger/good.jsonl: error: a symbolic link, left out" in ran.err


@pytest.mark.parametrize(
    ("id", "code", "out", "err"),
    [
        (AMBER, 0, "## Sources", ""),
        (oid("Amber it is."), 0, "## Observations", ""),
        (oid("Half."), 0, f"- entry {eid(42)} is not in this ledger", "partial: "),
        (oid("Half."), 0, "Half. (dropped)", "partial: "),
        (oid("Nothing."), 1, "## Gaps", "source_unavailable: what it rests on is not there"),
        (oid("In the air."), 1, "## Gaps", "no_source: nothing leads on"),
        (eid(0), 0, r"Use amber. \x1b[31mred\u202e", ""),
        (
            "0" * 12,
            1,
            "",
            f"no ledger has {'0' * 12}: ",
        ),
    ],
)
def test_recall(filled: Palace, id: str, code: int, out: str, err: str) -> None:
    """What an id rests on, in full, on lines that a terminal can show."""
    ran = filled.command("recall", id)
    assert ran.code == code and out in ran.out and err in ran.err
    assert bool(ran.err) == bool(err) and "\x1b" not in ran.out


def test_recall_in_one_ledger(filled: Palace) -> None:
    """Of a session or an agent: what is no id is an error, what is not there is said."""
    assert filled.command("recall", AMBER, "--session", "5e").code == 0
    assert filled.command("recall", AMBER, "--agent", "pi").code == 0
    ran = filled.command("recall", "demo", "--session", "5e1f")
    assert ran.code == 2 and "id 'demo': an id has 12 hex digits, in lower case" in ran.err
    ran = filled.command("recall", "0" * 12, "--agent", "pi")
    assert ran.code == 1 and "palace/chambers/pi/ledger/5e1f.jsonl has no " in ran.err
    assert filled.command("recall", AMBER, "--agent", "pie").code == 1
    ran = filled.command("recall", AMBER, "x", "--agent", "pi")
    assert ran.code == 2 and "--session and --agent take one ID" in ran.err


def test_a_wing_goes_before_an_id(filled: Palace) -> None:
    """One whose name has 12 hex digits is what it was."""
    filled.write(f"palace/project_rooms/{AMBER}/a.md", "A note.\n")
    assert "A note." in filled.command("recall", AMBER).out
    assert "## Sources" in filled.command("recall", AMBER, "--agent", "pi").out


def test_recall_names_the_other_sessions(filled: Palace) -> None:
    """What two of them hold is shown from one."""
    other = write(filled.root, "pi", "b", [entry(0), observed(0, "Amber \x1b[31mwas chosen.")])
    ran = filled.command("recall", AMBER)
    assert ran.code == 0 and f"also in {other}: --session shows it there" in ran.err


@pytest.mark.parametrize("words", [("status",), ("show",), ("fold",), ("check",)])
def test_bad_words(filled: Palace, words: tuple[str, ...]) -> None:
    """One line that names the nearest, and exit code 2 or 1."""
    ran = filled.command("ledger", *words, "--sesion", "x")
    assert ran.code == 2 and "did you mean `--session`?" in ran.err
    ran = filled.command("ledger", *words, "--session", "nope")
    assert (ran.code, ran.out) == (1, "") and ran.err.count("\n") == 1
    ran = filled.command("ledger", *words, "--agent", "...")
    assert ran.code == 2 and "write a name, as in claude-code" in ran.err


@pytest.mark.parametrize("id", [f"[{AMBER}]", f"#{AMBER}"])
def test_an_id_as_it_is_shown_is_recalled(filled: Palace, id: str) -> None:
    """Copied out of a fold, or out of a hit."""
    ran = filled.command("recall", id)
    assert f"[{AMBER}]" in ran.out


def test_a_budget_that_no_line_fits(filled: Palace) -> None:
    """Something is there, and that is said."""
    ran = filled.command("ledger", "fold", "--budget", "1")
    assert (ran.code, ran.out) == (1, "")
    assert "no line fits 1 token: give a larger --budget" in ran.err
    assert "nothing to fold" not in ran.err
