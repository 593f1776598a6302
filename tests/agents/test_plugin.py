"""The clone is a plugin: its manifests say what is there, and what they name runs."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

from agents.hooks import sent
from memory_palace import __version__
from memory_palace.agents import dialects, hook
from support.palaces import REPOSITORY

ROOT = "${CLAUDE_PLUGIN_ROOT}"


def read(path: str) -> Any:
    """A manifest of the repository."""
    return json.loads((REPOSITORY / path).read_text())


def commands() -> dict[str, tuple[str, int]]:
    """{event: (command, seconds)} of the shipped hooks."""
    found = {}
    for name, groups in read("hooks/hooks.json")["hooks"].items():
        ((one,),) = [group["hooks"] for group in groups]
        assert one["type"] == "command"
        found[name] = (one["command"], one["timeout"])
    return found


def test_the_plugin_is_named_as_its_folder_and_has_the_toolkits_version() -> None:
    """The name is what a clone's folder is called in the first install path."""
    plugin = read(".claude-plugin/plugin.json")
    assert plugin["name"] == "memory-palace"
    assert plugin["version"] == __version__
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert plugin["name"] == project["name"]


def test_every_event_that_is_answered_is_hooked() -> None:
    """Those of the dialect table, no other, each under its own name."""
    found = commands()
    assert set(found) == set(dialects.EVENTS)
    for name, (command, _) in found.items():
        assert command == f'sh "{ROOT}"/scripts/hook.sh {name} --client claude-code'


def test_an_agent_can_run_the_command_that_it_is_told(tmp_path: Path) -> None:
    """A plugin's `bin/` is on the path of the client's shells: `palace` is there, set up or not."""
    copy = tmp_path / "memory-palace"
    (copy / "bin").mkdir(parents=True)
    shutil.copy2(REPOSITORY / "bin/palace", copy / "bin")
    (copy / "scripts").symlink_to(REPOSITORY / "scripts")
    here = {"PATH": f"{copy / 'bin'}{os.pathsep}{os.environ['PATH']}", "VENV": sys.prefix}
    for environment in (None, sys.prefix):
        if environment:
            (copy / ".venv").symlink_to(environment)
        ran = subprocess.run(
            ["palace", "--version"], env=here, cwd=tmp_path, capture_output=True, text=True
        )
        assert (ran.returncode, ran.stderr) == (0, "")
        assert ran.stdout == f"palace, version {__version__}\n"


def test_the_client_waits_longer_than_a_hook_takes() -> None:
    """A hook ends by itself, with a line of health, before the client ends it."""
    for name, (_, seconds) in commands().items():
        assert seconds > hook.SECONDS.get(name, hook.OTHERS_SECONDS)


def test_tools_of_any_name_are_looked_at() -> None:
    """Rules are about any tool."""
    for name, groups in read("hooks/hooks.json")["hooks"].items():
        matchers = [group["matcher"] for group in groups if "matcher" in group]
        assert matchers == (["*"] if "ToolUse" in name else [])


def test_what_the_manifests_name_is_there(tmp_path: Path) -> None:
    """The hook's script can be executed; the server is started by a script that finds its
    environment."""
    script = REPOSITORY / "scripts/hook.sh"
    assert os.access(script, os.X_OK)
    server = read(".mcp.json")["mcpServers"]["palace"]
    assert server == {"command": "python3", "args": [f"{ROOT}/scripts/palace.py", "mcp"]}
    assert (REPOSITORY / "scripts/palace.py").is_file()


def test_a_shipped_command_runs(tmp_path: Path) -> None:
    """As the client runs it: in a shell, in the session's folder, from a path with a space."""
    clone = tmp_path / "a clone"
    clone.symlink_to(REPOSITORY)
    root = tmp_path / "root"
    root.mkdir()
    (root / "palace.yaml").touch()
    command = commands()["Stop"][0].replace(" Stop ", " Dreamed ")
    done = subprocess.run(
        ["sh", "-c", command],
        input=sent("claude-code", "Stop", root),
        capture_output=True,
        cwd=root,
        env=os.environ | {"CLAUDE_PLUGIN_ROOT": str(clone)},
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert "claude-code event Dreamed" in (root / ".palace/health.json").read_text()


def test_the_shell_script_starts_no_other_process() -> None:
    """It becomes Python: no `dirname`, no subshell, nothing that is waited for."""
    text = (REPOSITORY / "scripts/hook.sh").read_text()
    code = [line for line in text.splitlines() if line and not line.startswith("#")]
    words = shlex.split("\n".join(code))
    assert words.count("exec") == 2
    assert not {"dirname", "cat", "readlink", "realpath"} & set(words)
    assert "$(" not in text
    assert "`" not in "\n".join(code)


def test_an_old_python_says_nothing_but_at_a_start(tmp_path: Path) -> None:
    """The script can be read by it, exits with 0, and the agent learns why it knows nothing."""
    text = (REPOSITORY / "scripts/hook.py").read_text()
    script = tmp_path / "scripts/hook.py"
    script.parent.mkdir()
    script.write_text(re.sub(r"OLDEST = .*", "OLDEST = (99, 1)", text))
    for event, said in (("Stop", False), ("SessionStart", True)):
        done = subprocess.run(
            [sys.executable, "-I", str(script), event],
            input=b"{}",
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0
        assert b"99.1 or newer is needed" in done.stderr
        assert (b"additionalContext" in done.stdout) is said
    compile(text, "hook.py", "exec", flags=0, dont_inherit=True)
    assert not re.search(r"^from __future__|match |f\"|: str|->", text, re.M)


def test_a_clone_with_line_ends_of_windows_can_be_run(tmp_path: Path) -> None:
    """`core.autocrlf`: a script that begins with `#!/bin/sh` and a carriage return cannot."""
    scripts = ("scripts/hook.sh", "bin/palace")
    for path in (".gitattributes", *scripts):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy2(REPOSITORY / path, tmp_path / path)
    (tmp_path / "other.txt").write_text("a line\n")
    git = ["git", "-C", str(tmp_path), "-c", "core.autocrlf=true"]
    for words in (["init", "-q"], ["add", "."]):
        subprocess.run([*git, *words], check=True, capture_output=True)
    for path in (*scripts, "other.txt"):
        (tmp_path / path).unlink()
    subprocess.run([*git, "checkout", "-q", "."], check=True, capture_output=True)
    assert b"\r" in (tmp_path / "other.txt").read_bytes()
    assert not [path for path in scripts if b"\r" in (tmp_path / path).read_bytes()]


def test_an_environment_of_windows_is_found(tmp_path: Path) -> None:
    """The client's shell there is Git's."""
    palace = tmp_path / ".venv/Scripts/palace.exe"
    palace.parent.mkdir(parents=True)
    palace.write_text('#!/bin/sh\necho "$@"\n')
    palace.chmod(0o755)
    (tmp_path / "bin").mkdir()
    shutil.copy2(REPOSITORY / "bin/palace", tmp_path / "bin")
    ran = subprocess.run([tmp_path / "bin/palace", "query", "a"], capture_output=True, check=False)
    assert ran.stdout == b"query a\n"
