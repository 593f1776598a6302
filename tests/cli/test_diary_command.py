"""``palace diary``, and two of them at once."""

import json
import os
import subprocess
import sys

import pytest

from support.palaces import SCRIPTS, Palace

FILE = "palace/chambers/cli/diary/2026-11-29.md"


@pytest.fixture(autouse=True)
def noon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A known time and writer."""
    monkeypatch.setenv("PALACE_NOW", "2026-11-29T12:00:00Z")
    monkeypatch.setenv("PALACE_IDENTITY", "cli@laptop")


def test_an_entry_from_stdin_is_written_and_read(keyword_palace: Palace) -> None:
    """Exactly what was piped in, under the keys that jsonl promises."""
    ran = keyword_palace.command("diary", "write", "-", "--topic", "cache", stdin="one\n\ntwo\n")
    assert (ran.code, ran.out) == (0, f"wrote {FILE} 12:00\n")
    ran = keyword_palace.command("diary", "read", "--format", "jsonl")
    assert json.loads(ran.out) == {
        "at": "2026-11-29T12:00:00Z",
        "agent": "cli",
        "by": "cli@laptop",
        "topic": "cache",
        "text": "one\n\ntwo",
        "path": FILE,
        "start": 9,
        "end": 13,
    }


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("read", "--agent", "nobody"), 1, "has no diary"),
        (("read", "--agent", "@"), 2, "write a name"),
        (("read", "--since", "soon"), 2, "--since 'soon' is no date: write 2026-11-29"),
        (("read", "--since", "24h", "--until", "7d"), 2, "--since is after --until: swap them"),
        (("read", "--last", "0"), 2, "0 is not in the range"),
        (("read", "--untill", "2026-11-29"), 2, "did you mean `--until`"),
        (("read", "--until", "2026-11-01"), 1, "cli wrote nothing in that time"),
        (("write", ""), 2, "there is no text"),
        (("write", "<private>x</private>"), 2, "all of the text is private"),
        (("wirte", "x"), 2, "did you mean `write`"),
    ],
)
def test_what_cannot_be_done_is_one_line(
    keyword_palace: Palace, arguments: tuple[str, ...], code: int, said: str
) -> None:
    """What, and what to do; nothing on stdout."""
    keyword_palace.command("diary", "write", "there")
    ran = keyword_palace.command("diary", *arguments)
    assert (ran.code, ran.out) == (code, "")
    assert said in ran.err
    assert len(ran.err.splitlines()) == 1


def test_control_characters_do_not_reach_a_terminal(keyword_palace: Palace) -> None:
    """An entry is text, whatever a person pasted into the file."""
    keyword_palace.write(FILE, "## 10:00\n\n\x1b[31mred\ttab\n")
    ran = keyword_palace.command("diary", "read")
    assert "\\x1b[31mred" in ran.out and "\x1b" not in ran.out


def test_two_agents_write_at_once(keyword_palace: Palace) -> None:
    """Separate processes, one file: no entry is lost, none is there twice."""
    root = str(keyword_palace.root)
    environment = {**os.environ, "XDG_CONFIG_HOME": "/nonexistent"}
    running = [
        subprocess.Popen(
            [sys.executable, str(SCRIPTS / "palace.py"), "diary", "write", f"entry {n}", "--root",
             root],
            env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for n in range(4)
    ]  # fmt: skip
    for process in running:
        out, err = process.communicate()
        assert process.returncode == 0, (out, err)
    ran = keyword_palace.command("diary", "read", "--format", "jsonl")
    assert sorted(json.loads(line)["text"] for line in ran.out.splitlines()) == [
        f"entry {n}" for n in range(4)
    ]


def test_a_closed_stdin_is_told(keyword_palace: Palace) -> None:
    """As `<&-` leaves it, Python has none."""
    command = [sys.executable, str(SCRIPTS / "palace.py"), "diary", "write", "-"]
    ran = subprocess.run(
        ["sh", "-c", 'exec "$@" <&-', "sh", *command, "--root", str(keyword_palace.root)],
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout) == (2, "")
    assert ran.stderr == "error: stdin is closed: give the text, or write it to stdin\n"


def test_in_a_clients_shell_it_is_the_clients_diary(
    keyword_palace: Palace, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless somebody said who writes."""
    monkeypatch.setenv("CLAUDECODE", "1")
    assert keyword_palace.command("diary", "write", "by name").out == f"wrote {FILE} 12:00\n"
    monkeypatch.delenv("PALACE_IDENTITY")
    ran = keyword_palace.command("diary", "write", "by the shell")
    assert ran.out == f"wrote {FILE.replace('/cli/', '/claude-code/')} 12:00\n"
    assert "by the shell" in keyword_palace.command("diary", "read").out
