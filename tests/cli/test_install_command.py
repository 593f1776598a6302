"""`palace install` and `palace uninstall`: what they say, their exit codes, a person's files."""

import json
from pathlib import Path

import pytest

from memory_palace.agents.install.clients import CLIENTS
from support.palaces import Palace, Ran, command, script


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without any client, and a project to stand in."""
    for variable in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "PI_CODING_AGENT_DIR"):
        monkeypatch.delenv(variable, raising=False)
    home = tmp_path / "home"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(home / "project")
    return home


def files(folder: Path) -> set[str]:
    """All files below ``folder``."""
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("name", CLIENTS)
def test_a_dry_run_shows_all_and_writes_nothing(name: str, home: Path) -> None:
    """A diff for each file; the same run without the flag makes these files."""
    tried = command("install", name, "--project", "--dry-run")
    assert tried.code == 0
    assert files(home) == set()
    shown = {line.split(" ", 1)[1] for line in tried.out.splitlines() if line[:4] == "+++ "}
    assert command("install", name, "--project").code == 0
    assert {f"project/{path}" for path in shown} == files(home)
    tried = command("uninstall", name, "--project", "--dry-run")
    assert tried.out.count("+++ /dev/null") == len(shown)
    assert {f"project/{path}" for path in shown} == files(home)


@pytest.mark.parametrize("name", ["claude-code", "codex", "pi"])
def test_each_run_says_what_changed(name: str, home: Path) -> None:
    """A line a file, then nothing to change; after the uninstall nothing is left."""
    made = command("install", name)
    assert len(made.out.splitlines()) == len(files(home))
    assert all(line.startswith("made ~/.") for line in made.out.splitlines())
    assert command("install", name).out == "nothing to change\n"
    gone = command("uninstall", name)
    assert all(line.startswith("removed ~/.") for line in gone.out.splitlines())
    assert command("uninstall", name) == Ran(0, "nothing to change\n", "")
    assert [path.name for path in home.iterdir()] == ["project"]


def test_settings_that_are_no_json(home: Path) -> None:
    """One line with path and line, exit 2, and none of the other files is made."""
    (home / ".claude.json").write_text('{\n  "a": 1\n  "b": 2\n}\n')
    ran = command("install", "claude-code")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("error: ~/.claude.json:3: not JSON: unexpected")
    assert files(home) == {".claude.json"}


def test_a_pinned_palace_is_one_that_is_there(home: Path, keyword_palace: Palace) -> None:
    """Its absolute path goes into the settings; a folder that is no palace is refused."""
    assert command("install", "claude-code", "--root", ".").code == 2
    assert files(home) == set()
    assert command("install", "claude-code", "--root", str(keyword_palace.root)).code == 0
    server = json.loads((home / ".claude.json").read_text())["mcpServers"]["palace"]
    assert server["args"][1:] == ["mcp", "--root", str(keyword_palace.root)]


def test_the_palace_of_the_shell_is_not_pinned(home: Path, keyword_palace: Palace) -> None:
    """`$PALACE_ROOT` is the shell's: only the flag pins."""
    assert command("install", "codex", root=keyword_palace.root).code == 0
    assert "--root" not in (home / ".codex/hooks.json").read_text()


def test_a_folder_that_cannot_be_made(home: Path) -> None:
    """A fault of the disk is one line; what was written before it is taken back."""
    (home / ".claude").write_text("in the way")
    ran = command("install", "claude-code")
    assert ran.code == 2
    assert "~/.claude/settings.json" in ran.err
    assert "is not a folder: move it away" in ran.err
    assert files(home) == {".claude"}


def test_an_unknown_client_is_told_the_known_ones(home: Path) -> None:
    """In both commands."""
    for name in ("install", "uninstall"):
        ran = command(name, "vscode")
        assert ran.code == 2
        assert "there are claude-code, codex, opencode and pi" in ran.err


def test_the_doctor_tells_of_clients(home: Path, keyword_palace: Palace) -> None:
    """After all else it looked at, even where there is no palace."""
    command("install", "claude-code")
    settings = {"HOME": str(home), "PALACE_EMBEDDER": "none", "PATH": "/nonexistent"}
    ran = script("palace.py", "doctor", root=keyword_palace.root, **settings)
    assert ran.out.splitlines()[-1] == "ok    Claude Code: installed"
    ran = script("palace.py", "doctor", root=home, **settings)
    assert ran.out.splitlines()[-1] == "ok    Claude Code: installed"


@pytest.mark.parametrize("named", ["", "relative", "/nonexistent/home"])
def test_without_a_home(named: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is written to `/`, or into a home that is not there."""
    monkeypatch.setenv("HOME", named)
    ran = command("install", "pi")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "error: there is no home folder: set HOME to one\n"


def test_a_disk_that_takes_nothing(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that cannot be written to is named, and nothing is left of the run."""
    from memory_palace.files import atomic

    real = atomic.write

    def full(path: Path, data: bytes, expected: object = atomic.ANY) -> None:
        if path.name == ".claude.json":
            raise OSError(28, "No space left on device", str(path))
        real(path, data, expected)

    monkeypatch.setattr(atomic, "write", full)
    ran = command("install", "claude-code")
    assert ran.code == 3
    assert "No space left on device" in ran.err
    assert [path.name for path in home.iterdir()] == ["project"]
