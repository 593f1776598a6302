"""What the doctor says of the clients of a machine."""

from pathlib import Path

import pytest

from memory_palace.agents.install import codex, plan
from memory_palace.agents.install.clients import CLIENTS, installing
from memory_palace.agents.install.found import Finding, findings
from memory_palace.agents.install.site import Site
from memory_palace.agents.install.toolkit import Toolkit, here
from support.palaces import REPOSITORY


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without clients, and nothing on the path but an empty `bin`."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "root").mkdir()
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    return home


def found(home: Path) -> list[Finding]:
    """The findings."""
    environment = {"PATH": str(home.parent / "bin")}
    return [*findings(home.parent / "root", environment)]


def brought_in(home: Path, name: str, kit: Toolkit | None = None, project: bool = False) -> None:
    """Install client ``name``."""
    site = Site(home, home.parent / "root", {}, project)
    plan.apply(site, installing(site, CLIENTS[name], kit or here()))


def command(home: Path, name: str, version: str) -> None:
    """A client on the path that tells its version."""
    path = home.parent / "bin" / name
    path.write_text(f"#!/bin/sh\necho {version}\n")
    path.chmod(0o755)


def test_a_machine_without_clients(home: Path) -> None:
    """Not a word."""
    assert found(home) == []


def test_a_client_is_found_by_its_folder_or_its_command(home: Path) -> None:
    """Each that is there and without us gets a line with what to run."""
    (home / ".claude").mkdir()
    command(home, "pi", "9.0.0")
    assert found(home) == [
        ("note", label, f"not installed: `palace install {name}` brings it in")
        for label, name in (("Claude Code", "claude-code"), ("pi", "pi"))
    ]


@pytest.mark.parametrize("name", ["claude-code", "pi"])
def test_installed(name: str, home: Path) -> None:
    """By this toolkit: that is all there is to say."""
    brought_in(home, name)
    assert found(home) == [("ok", CLIENTS[name].label, "installed")]


def test_installed_for_one_palace(home: Path) -> None:
    """A pinned palace is named, and is no difference."""
    (home / "palace").mkdir()
    brought_in(home, "claude-code", here(home / "palace"))
    assert found(home) == [("ok", "Claude Code", f"installed, for the palace {home}/palace")]


def test_installed_by_another_checkout_or_in_part(home: Path) -> None:
    """The files that would change are named, with the command that changes them."""
    brought_in(home, "claude-code", Toolkit(Path("/gone/toolkit"), "python3"))
    ((state, _, said),) = found(home)
    assert state == "note"
    assert "another checkout" in said
    assert "~/.claude/settings.json, ~/.claude.json, ~/.claude/CLAUDE.md" in said
    assert said.endswith("`palace install claude-code` brings it up to date")
    brought_in(home, "claude-code")
    (home / ".claude.json").unlink()
    assert "(~/.claude.json)" in found(home)[0][2]


def test_installed_for_the_project_at_the_root(home: Path) -> None:
    """A line of its own, with the flag in the command."""
    brought_in(home, "claude-code", Toolkit(Path("/gone/toolkit"), "python3"), project=True)
    ((_, what, said),) = found(home)
    assert what == "Claude Code, in this project"
    assert said.endswith("`palace install claude-code --project` brings it up to date")


def test_untrusted_hooks_of_codex(home: Path) -> None:
    """Codex says nothing of them: the doctor does."""
    brought_in(home, "codex")
    assert found(home) == [
        ("ok", "Codex", "installed"),
        ("note", "Codex", f"not trusted yet: {', '.join(codex.EVENTS)}. {codex.UNTRUSTED}"),
    ]


def test_hooks_that_codex_was_told_not_to_run(home: Path) -> None:
    """The setting is named."""
    brought_in(home, "codex")
    with (home / ".codex/config.toml").open("a") as file:
        file.write("[features]\nhooks = false\n")
    assert "take `hooks = false` out of [features]" in found(home)[1][2]


def test_hooks_that_claude_code_was_told_not_to_run(home: Path) -> None:
    """The same."""
    brought_in(home, "claude-code")
    path = home / ".claude/settings.json"
    path.write_text(path.read_text().replace("{", '{"disableAllHooks": true,', 1))
    assert found(home)[1:] == [
        ("note", "Claude Code", "its settings turn hooks off: take `disableAllHooks` out of them")
    ]


def test_the_home_is_no_project(home: Path) -> None:
    """What is in the user's settings is not told twice."""
    brought_in(home, "claude-code")
    environment = {"PATH": str(home.parent / "bin")}
    assert [*findings(home, environment)] == [("ok", "Claude Code", "installed")]


def test_the_toolkits_own_clone_is_no_project(home: Path) -> None:
    """A newcomer's palace is the clone itself, and its `.mcp.json` the plugin's."""
    brought_in(home, "claude-code")
    environment = {"PATH": str(home.parent / "bin")}
    assert [*findings(REPOSITORY, environment)] == [("ok", "Claude Code", "installed")]


def test_the_plugin_and_a_project(home: Path) -> None:
    """Twice, with the flag in the command."""
    brought_in(home, "claude-code", project=True)
    manifest = home / ".claude/skills/memory-palace/.claude-plugin/plugin.json"
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    (state, _, _), (other, what, said) = found(home)
    assert (state, other, what) == ("ok", "wrong", "Claude Code, in this project")
    assert "`palace uninstall claude-code --project`" in said


def test_the_toolkit_as_a_plugin(home: Path) -> None:
    """Installed; and wrong, if it is installed the other way as well."""
    brought_in(home, "claude-code")
    manifest = home / ".claude/skills/memory-palace/.claude-plugin/plugin.json"
    manifest.parent.mkdir(parents=True)
    manifest.touch()
    ((state, _, said),) = found(home)
    assert (state, "`palace uninstall claude-code`" in said) == ("wrong", True)
    (home / ".claude/settings.json").unlink()
    (home / ".claude.json").unlink()
    assert found(home) == [
        ("ok", "Claude Code", "installed as a plugin at ~/.claude/skills/memory-palace")
    ]


def test_an_old_version_is_said(home: Path) -> None:
    """Older than what this was tried with; a command that says nothing is passed over."""
    command(home, "codex", "codex-cli 0.9.1")
    command(home, "pi", "'?'")
    (codex_line, codex_version, pi_line) = found(home)
    assert codex_version == (
        "note",
        "Codex",
        "version 0.9.1 is older than 0.171, the first this was tried with: update it",
    )
    assert pi_line[2].startswith("not installed")
    assert codex_line[2].startswith("not installed")


def test_settings_that_cannot_be_read(home: Path) -> None:
    """Wrong, with the line; the other clients are still looked at."""
    (home / ".claude").mkdir()
    (home / ".claude/settings.json").write_text("{\n  x\n}")
    (home / ".codex").mkdir()
    (state, _, said), other = found(home)
    assert state == "wrong"
    assert said.startswith("~/.claude/settings.json:2: not JSON")
    assert other[1] == "Codex"


def test_a_folder_in_the_place_of_settings(home: Path) -> None:
    """An install would refuse it, so the doctor does not say to run one."""
    (home / ".claude/settings.json").mkdir(parents=True)
    ((state, _, said),) = found(home)
    assert state == "wrong" and "is not a regular file" in said
