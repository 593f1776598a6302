"""``palace rules``: what is written and printed, and the exit codes."""

import json
from pathlib import Path

import pytest

from memory_palace.cli import rules as command
from memory_palace.files import config as configs
from support.palaces import NOW, Palace

FOLDER = "palace/reflection_wing/rules"
SECRET = "ghp_0123456789abcdefghijABCDEFGHIJ012345"


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fixed clock."""
    monkeypatch.setattr(command, "now", lambda: NOW)


@pytest.mark.parametrize(
    "given",
    [
        ("--trigger", 'bash_contains echo "a" # b', "--action", "run_after make x # y"),
        ("--trigger", r"bash_regex git\s+push .*#", "--action", "block", "--reason", "a: b"),
        ("--trigger", "tool_name mcp__x__y", "--action", "warn", "--name", "x: #y"),
        ("--trigger", "file_modified *.lock", "--action", "warn"),
        ("--verifier", "tool_called Read before git commit # x"),
    ],
)
def test_what_is_added_is_read_back(keyword_palace: Palace, given: tuple[str, ...]) -> None:
    """Whatever characters are in it; the event says which note."""
    added = keyword_palace.command("rules", "add", *given)
    assert added.code == 0, added.err
    path = added.out.split()[1].rpartition(":")[0]
    [line] = keyword_palace.command("rules", "list", "--format", "jsonl").out.splitlines()
    rule = json.loads(line)
    assert rule["path"] == path
    for flag, value in zip(given[::2], given[1::2], strict=True):
        assert rule[flag[2:]] == value
    [event] = (keyword_palace.root / "manifests/memory_events.jsonl").read_text().splitlines()
    assert (json.loads(event)["event"], json.loads(event)["path"]) == ("noted", path)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("--trigger", "bash_contains x"), "`action` is missing"),
        (("--trigger", "file_modified ../x", "--action", "warn"), "below the project"),
        (("--verifier", "Read before x"), "write tool_called TOOL before COMMAND"),
        (("--verifier", "tool_called A before b", "--action", "block"), "`trigger` is missing"),
        (("--trigger", f"bash_contains {SECRET}", "--action", "block"), "a secret"),
    ],
)
def test_what_is_no_rule_is_refused(
    keyword_palace: Palace, given: tuple[str, ...], said: str
) -> None:
    """With what to write; no note, no event."""
    ran = keyword_palace.command("rules", "add", *given)
    assert (ran.code, ran.out) == (2, "")
    assert said in ran.err
    assert not (keyword_palace.root / FOLDER).exists()
    assert not (keyword_palace.root / "manifests").exists()


def test_a_file_is_named_from_here(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """As a tool in this folder would name it."""
    keyword_palace.command(
        "rules", "add", "--trigger", "file_modified src/*.py", "--action", "block"
    )
    (tmp_path / "work/.git").mkdir(parents=True)
    (tmp_path / "work/src").mkdir()
    monkeypatch.chdir(tmp_path / "work/src")
    assert keyword_palace.command("rules", "test", "--file", "a.py").code == 1
    assert keyword_palace.command("rules", "test", "--file", "../a.py").code == 0
    ran = keyword_palace.command("rules", "explain", "--file", "a.py")
    assert (ran.code, "file  a.py  seen as a.py, src/a.py" in ran.out) == (1, True)


def test_what_the_user_allows_is_shown_as_that(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the list and after adding; a configuration that cannot be read is said."""
    given = ("rules", "add", "--trigger", "tool_name X", "--action", "run_after make fmt")
    config = configs.Config(run_after=("make fmt",))
    monkeypatch.setattr(configs, "load", lambda *_: config)
    assert keyword_palace.command(*given).err == ""
    assert "(not allowed)" not in keyword_palace.command("rules", "list").out
    monkeypatch.undo()
    keyword_palace.write("palace.yaml", "rules: {run_after: [make fmt]}\n")
    ran = keyword_palace.command("rules", "list")
    assert "(not allowed)" in ran.out
    assert "belongs into your own configuration" in ran.err


def test_a_long_command_is_shown_in_part(keyword_palace: Palace) -> None:
    """Its first commands, and how many there are more."""
    ran = keyword_palace.command("rules", "explain", "--command", "a 'b c' ''; " * 30)
    assert (ran.code, ran.out.count("command  a 'b c' ''\n")) == (0, 20)
    assert "10 more commands" in ran.out
    assert "0 of 0 rules are not about this call" in ran.out


def test_a_root_is_needed(tmp_path: Path) -> None:
    """A folder that is no palace is bad usage."""
    from support.palaces import command as run

    ran = run("rules", "list", "--root", str(tmp_path))
    assert (ran.code, "not a palace root" in ran.err) == (2, True)
