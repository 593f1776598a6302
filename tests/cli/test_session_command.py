"""``palace session``."""

import json
from pathlib import Path

import pytest

from memory_palace.cli import json_input
from memory_palace.core.errors import BadInput
from memory_palace.core.ledger import SUMMARY
from memory_palace.files import ledgers as files
from support import ledgers
from support.palaces import Palace

FIRST = "palace/chambers/claude-code/ledger/5e1f-a.jsonl"
OTHER = "palace/chambers/pi/ledger/other.jsonl"


@pytest.fixture
def palace(keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Palace:
    """A palace with one session."""
    monkeypatch.setenv("PALACE_NOW", "2026-11-29T12:00:00Z")
    monkeypatch.setenv("PALACE_IDENTITY", "claude-code@laptop")
    monkeypatch.chdir(tmp_path)
    lines = [
        ledgers.header("5e1f-a", "shop", "claude-code"),
        ledgers.entry(0, "Read tabs."),
        ledgers.entry(1, "Next steps:\n- Measure it", role="assistant"),
    ]
    ledgers.write(keyword_palace.root, "claude-code", "5e1f-a", lines)
    return keyword_palace


def parts(ran_out: str) -> dict[str, str]:
    """The parts of a summary in a line of jsonl."""
    found = json.loads(ran_out)
    return {key: found[key] for key in SUMMARY if found[key]}


def test_by_rules_then_in_ones_own_words(palace: Palace) -> None:
    """The newest counts, and show gives it back."""
    ran = palace.command("session", "show")
    assert ran.code == 1
    assert "not summed up yet: `palace session summarize --session 5e1f-a`" in ran.err
    assert palace.command("session", "summarize").code == 0
    shown = palace.command("session", "show", "5e1f", "--format", "jsonl").out
    assert parts(shown) == {"request": "Read tabs.", "next_steps": "Measure it"}
    ran = palace.command("session", "summarize")
    assert "summed up already" in ran.err and ran.code == 0
    given = json.dumps({"learned": "A tab is 8 columns"})
    ran = palace.command("session", "summarize", "--json", "-", stdin=given)
    assert ran.code == 0, ran.err
    assert "learned: A tab is 8 columns" in palace.command("session", "show").out


def test_every_option_is_a_part(palace: Palace) -> None:
    """One option for each part, and no other."""
    options = [f"--{key.replace('_', '-')}" for key in SUMMARY]
    words = [word for option in options for word in (option, f"said by {option}")]
    assert palace.command("session", "summarize", *words).code == 0
    shown = palace.command("session", "show", "--format", "jsonl").out
    assert parts(shown) == {
        key: f"said by {option}" for key, option in zip(SUMMARY, options, strict=True)
    }


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "said"),
    [
        (("summarize", "--json", "-"), '{"next_step": "x"}', 2, "did you mean `next_steps`"),
        (("summarize", "--json", "-"), '{"learned":\n 1', 2, "stdin:2: no JSON"),
        (("summarize", "--json", "-"), "[]", 2, "write an object with request, investigated"),
        (("summarize", "--json", "-"), "[" * 100_000, 2, "no JSON"),
        (("summarize", "--json", "none.json"), "", 2, "none.json cannot be read (No such"),
        (("summarize", "--json", "-", "--learned", "x"), "{}", 2, "leave the other options out"),
        (("summarize", "--json", "-"), "{}", 2, "the summary is empty"),
        (("summarize", "--next-step", "x"), "", 2, "did you mean `--next-steps`"),
        (("summarize", "--session", "none"), "", 1, "no ledger of session `none`"),
        (("summarize", "--agent", "claud"), "", 1, "did you mean `claude-code`"),
        (("list", "--wing", "shp"), "", 1, "did you mean `shop`"),
        (("list", "--limit", "0"), "", 2, "0 is not in the range"),
        (("show", "none"), "", 1, "no ledger of session `none`"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    palace: Palace, arguments: tuple[str, ...], stdin: str, code: int, said: str
) -> None:
    """What, where, what to do; the ledger is as it was."""
    ledger = palace.root / "palace/chambers/claude-code/ledger/5e1f-a.jsonl"
    before = ledger.read_bytes()
    ran = palace.command("session", *arguments, stdin=stdin)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1
    assert ledger.read_bytes() == before


def test_a_json_file_that_is_too_large(palace: Palace, tmp_path: Path) -> None:
    """It is not read to its end."""
    (tmp_path / "a.json").write_bytes(b" " * (1024 * 1024 + 1))
    ran = palace.command("session", "summarize", "--json", str(tmp_path / "a.json"))
    assert (ran.code, "over 1 MB" in ran.err) == (2, True)


def test_no_session_yet(keyword_palace: Palace) -> None:
    """Says how one comes to be."""
    ran = keyword_palace.command("session", "list")
    assert (ran.code, ran.out) == (1, "")
    assert "no session yet" in ran.err


def test_lines_that_do_not_count_are_told(palace: Palace) -> None:
    """With the command that says which."""
    ledger = palace.root / "palace/chambers/claude-code/ledger/5e1f-a.jsonl"
    ledger.write_text(ledger.read_text() + "{}\n")
    ran = palace.command("session", "list")
    assert ran.code == 0
    assert "1 line left out: `palace ledger check` says why" in ran.err


def test_a_ledger_that_cannot_be_read_hides_no_other(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is named, the rest is listed, and the exit code is 1."""
    ledgers.write(palace.root, "pi", "other", [ledgers.entry(0)])
    monkeypatch.setattr(files, "MOST_BYTES", (palace.root / FIRST).stat().st_size)
    with (palace.root / OTHER).open("ab") as file:
        file.write(b"\n" * files.MOST_BYTES)
    for command in (("session", "list"), ("ledger", "status")):
        ran = palace.command(*command)
        assert ran.code == 1
        assert f"{OTHER}: " in ran.err
        assert "5e1f-a" in ran.out


def test_a_summary_that_is_not_given_is_no_traceback(
    palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where stdin is closed, Python has none."""
    monkeypatch.setattr(json_input.sys, "stdin", None)
    with pytest.raises(BadInput, match="stdin is closed: name a file"):
        json_input.read("-", 1_000)


def test_a_session_is_named_either_way(palace: Palace) -> None:
    """As an argument, or as everywhere else; two different ones are refused."""
    palace.command("session", "summarize")
    shown = palace.command("session", "show", "5e1f-a").out
    assert "request: Read tabs." in shown
    assert palace.command("session", "show", "--session", "5e1f-a").out == shown
    assert palace.command("session", "show", "5e1f-a", "--session", "5e1f-a").out == shown
    ran = palace.command("session", "show", "5e1f-a", "--session", "other")
    assert ran.code == 2 and "name two sessions: leave one out" in ran.err
