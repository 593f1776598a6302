"""Each client's files: what an install makes of them, and that an uninstall leaves nothing."""

import json
import shlex
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from memory_palace.agents.install import claude_code, codex, plan
from memory_palace.agents.install.blocks import BEGIN
from memory_palace.agents.install.clients import CLIENTS, installing, uninstalling
from memory_palace.agents.install.site import Site
from memory_palace.agents.install.toolkit import Toolkit, here, is_hook, is_server
from memory_palace.core.errors import BadInput, Missing, Refused
from support.palaces import REPOSITORY

NAMES = [*CLIENTS]


@pytest.fixture
def kit(tmp_path: Path) -> Toolkit:
    """A checkout whose folder has a name that needs quoting."""
    folder = tmp_path / "tool kit's"
    for name in ("scripts/hook.sh", "agents/pi/index.ts", "agents/opencode/memory-palace.ts"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    return Toolkit(folder, "/usr/bin/python3")


@pytest.fixture
def site(tmp_path: Path) -> Site:
    """The settings of a user who has none yet."""
    (tmp_path / "home").mkdir()
    (tmp_path / "project").mkdir()
    return Site(tmp_path / "home", tmp_path / "project", {})


def in_project(site: Site) -> Site:
    """The settings of the project in the same place."""
    return Site(site.home, site.here, site.environment, project=True)


def files(folder: Path) -> dict[str, bytes]:
    """All files below ``folder``."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def install(site: Site, name: str, kit: Toolkit) -> list[plan.Change]:
    """Do it; the changes."""
    changes = installing(site, CLIENTS[name], kit)
    plan.apply(site, changes)
    return changes


def uninstall(site: Site, name: str) -> list[plan.Change]:
    """Do it; the changes."""
    changes = uninstalling(site, CLIENTS[name])
    plan.apply(site, changes)
    return changes


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("project", [False, True], ids=["user", "project"])
def test_installed_twice_and_uninstalled_twice(
    name: str, project: bool, site: Site, kit: Toolkit
) -> None:
    """The second run has nothing to change; what was made is gone, with its folders."""
    site = in_project(site) if project else site
    assert install(site, name, kit)
    assert install(site, name, kit) == []
    assert CLIENTS[name].commands(site)
    assert bool(files(site.here)) == project
    assert uninstall(site, name)
    assert uninstall(site, name) == []
    assert [*site.home.iterdir(), *site.here.iterdir()] == []


def test_files_that_were_there_come_back(site: Site, kit: Toolkit) -> None:
    """All clients in a home with settings of a person, and out again: the same bytes."""
    for path, text in {
        ".claude/settings.json": '{\n\t"model": "opus",\n\t"hooks": {"Stop": []}\n}',
        ".claude.json": '{"numStartups": 3,"mcpServers":{}}',
        ".claude/CLAUDE.md": "Be brief.",
        ".codex/config.toml": 'model = "x"\r\n',
        ".codex/AGENTS.md": "# Mine\n\n",
        ".config/opencode/opencode.jsonc": '{\n  // mine\n  "theme": "x",\n}\n',
        ".config/opencode/AGENTS.md": "",
        ".pi/agent/CLAUDE.md": "pi\n",
    }.items():
        (site.home / path).parent.mkdir(parents=True, exist_ok=True)
        (site.home / path).write_bytes(text.encode())
    before = files(site.home)
    for name in NAMES:
        install(site, name, kit)
    during = files(site.home)
    assert before.keys() < during.keys()
    assert all(during[path] != data for path, data in before.items())
    for name in NAMES:
        uninstall(site, name)
    assert files(site.home) == before


def test_claude_code_gets_hooks_a_server_and_a_block(site: Site, kit: Toolkit) -> None:
    """Each hook is one shell command that finds the toolkit, whatever its folder is called."""
    install(site, "claude-code", kit)
    said = json.loads((site.home / ".claude/settings.json").read_text())
    assert said["hooks"].keys() == claude_code.EVENTS.keys()
    hook = said["hooks"]["Stop"][0]["hooks"][0]
    assert kit.folder is not None
    script = str(kit.folder / "scripts/hook.sh")
    assert shlex.split(hook["command"]) == ["sh", script, "Stop", "--client", "claude-code"]
    server = json.loads((site.home / ".claude.json").read_text())["mcpServers"]["palace"]
    assert server["args"] == [str(kit.folder / "scripts/palace.py"), "mcp"]
    assert "palace-memory" in (site.home / ".claude/CLAUDE.md").read_text()


def test_the_plugin_in_place_has_the_same_hooks() -> None:
    """What is loaded from the checkout itself is what an install would write."""
    said = json.loads((REPOSITORY / "hooks/hooks.json").read_text())["hooks"]
    seconds = {event: groups[0]["hooks"][0]["timeout"] for event, groups in said.items()}
    assert seconds == claude_code.EVENTS


def test_a_palace_can_be_pinned(site: Site, kit: Toolkit, tmp_path: Path) -> None:
    """With a root every command, server and plugin names it; without one again it is gone."""
    pinned = Toolkit(kit.folder, kit.python, pinned=tmp_path / "my palace")
    for name in NAMES:
        install(site, name, pinned)
        commands = CLIENTS[name].commands(site)
        assert commands and all(words[-2:] == ["--root", str(pinned.pinned)] for words in commands)
        install(site, name, kit)
        assert not any("--root" in words for words in CLIENTS[name].commands(site))


@pytest.mark.parametrize(
    ("name", "variable", "made"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", {"settings.json", ".claude.json", "CLAUDE.md"}),
        ("codex", "CODEX_HOME", {"config.toml", "hooks.json", "AGENTS.md"}),
        ("pi", "PI_CODING_AGENT_DIR", {"extensions/memory-palace.ts", "AGENTS.md"}),
    ],
)
def test_a_folder_of_the_environment_is_used(
    name: str, variable: str, made: set[str], site: Site, kit: Toolkit
) -> None:
    """The variable by which the client itself finds its folder, with `~` in it too."""
    elsewhere = Site(site.home, site.here, {variable: "~/else where"})
    install(elsewhere, name, kit)
    assert files(site.home).keys() == {f"else where/{path}" for path in made}


def test_opencode_settings_follow_xdg_and_keep_comments(site: Site, kit: Toolkit) -> None:
    """A commented file is edited rather than a second one made."""
    place = Site(site.home, site.here, {"XDG_CONFIG_HOME": str(site.home / "x")})
    (site.home / "x/opencode").mkdir(parents=True)
    settings = site.home / "x/opencode/opencode.jsonc"
    settings.write_text('{\n  // mine\n  "theme": "x",\n}\n')
    install(place, "opencode", kit)
    assert not settings.with_suffix(".json").exists()
    assert '  // mine\n  "theme": "x",\n  "mcp": {\n' in settings.read_text()


def test_the_toolkit_as_a_plugin_refuses_hooks_of_their_own(site: Site, kit: Toolkit) -> None:
    """Each hook would run twice. Other clients are not concerned, nor is an uninstall."""
    manifest = site.home / ".claude/skills/memory-palace/.claude-plugin/plugin.json"
    install(site, "claude-code", kit)
    manifest.parent.mkdir(parents=True)
    manifest.write_text("{}")
    for place in (site, in_project(site)):
        with pytest.raises(Refused, match=r"~/\.claude/skills/memory-palace is the toolkit"):
            installing(place, CLIENTS["claude-code"], kit)
    assert installing(site, CLIENTS["codex"], kit)
    assert uninstall(site, "claude-code")


@pytest.mark.parametrize("name", NAMES)
def test_a_project_of_a_user_who_has_it_everywhere(name: str, site: Site, kit: Toolkit) -> None:
    """Both would run: refused, with the way out."""
    install(site, name, kit)
    with pytest.raises(Refused, match=f"run `palace uninstall {name}` first"):
        installing(in_project(site), CLIENTS[name], kit)


def test_a_new_file_never_hides_one_that_is_read(site: Site, kit: Toolkit) -> None:
    """Clients read the first of several files of instructions: the block goes into that one."""
    (site.home / ".claude").mkdir()
    (site.home / ".claude/CLAUDE.md").write_text("Mine.\n")
    changes = install(site, "opencode", kit)
    assert not any(change.path.name == "AGENTS.md" for change in changes)
    assert "stop reading ~/.claude/CLAUDE.md" in CLIENTS["opencode"].notes(site, changes)[0]
    (site.home / ".codex").mkdir()
    (site.home / ".codex/AGENTS.override.md").write_text("Mine.\n")
    assert "AGENTS.override.md" in {c.path.name for c in install(site, "codex", kit)}
    uninstall(site, "opencode")
    project = in_project(site)
    (site.here / "CLAUDE.md").write_text("Mine.\n")
    for name in ("opencode", "pi"):
        assert "AGENTS.md" not in {c.path.name for c in install(project, name, kit)}


def test_a_block_that_two_clients_read_goes_with_the_second(site: Site, kit: Toolkit) -> None:
    """In a project AGENTS.md is Codex's and pi's."""
    project = in_project(site)
    install(project, "codex", kit)
    assert {c.path.name for c in install(project, "pi", kit)} == {"memory-palace.ts"}
    uninstall(project, "codex")
    assert files(site.here).keys() == {"AGENTS.md", ".pi/extensions/memory-palace.ts"}
    uninstall(project, "pi")
    assert files(site.here) == {}


def test_a_block_behind_a_link_stays_for_the_client_that_reads_it(site: Site, kit: Toolkit) -> None:
    """CLAUDE.md as a link to AGENTS.md: one block, which goes with the last client."""
    project = in_project(site)
    (site.here / "AGENTS.md").write_text("mine\n")
    (site.here / "CLAUDE.md").symlink_to("AGENTS.md")
    for name in ("claude-code", "pi"):
        install(project, name, kit)
    uninstall(project, "claude-code")
    assert BEGIN in (site.here / "AGENTS.md").read_text()
    uninstall(project, "pi")
    assert (site.here / "AGENTS.md").read_text() == "mine\n"


@pytest.mark.parametrize("name", NAMES)
def test_a_project_in_the_home_is_refused(name: str, site: Site, kit: Toolkit) -> None:
    """Some of its files would be those of all sessions, and some not."""
    there = Site(site.home, site.home, {}, project=True)
    for edit in (lambda: installing(there, CLIENTS[name], kit), lambda: uninstall(there, name)):
        with pytest.raises(Refused, match="leave --project out"):
            edit()


def test_a_user_whose_settings_are_broken_is_told_so(site: Site, kit: Toolkit) -> None:
    """And not that the palace is in them."""
    (site.home / ".claude").mkdir()
    (site.home / ".claude/settings.json").write_text("{,")
    with pytest.raises(BadInput, match=r"~/\.claude/settings\.json:1: not JSON"):
        installing(in_project(site), CLIENTS["claude-code"], kit)


def test_the_toolkits_own_files_are_not_a_projects(site: Site, kit: Toolkit) -> None:
    """The plugin's `.mcp.json` is neither an install, nor renewed, nor taken out."""
    for name in (".mcp.json", ".claude-plugin/plugin.json"):
        (site.here / name).parent.mkdir(exist_ok=True)
        shutil.copy(REPOSITORY / name, site.here / name)
    project = in_project(site)
    client = CLIENTS["claude-code"]
    assert client.commands(project) == [] and uninstalling(project, client) == []
    with pytest.raises(Refused, match="this folder is a plugin"):
        installing(project, client, kit)


def test_somebody_elses_server_in_the_other_file_of_opencode(site: Site, kit: Toolkit) -> None:
    """OpenCode reads both files: ours would take its place."""
    folder = site.home / ".config/opencode"
    folder.mkdir(parents=True)
    (folder / "opencode.jsonc").write_text("{}")
    (folder / "opencode.json").write_text('{"mcp": {"palace": {"command": ["npx", "game"]}}}')
    with pytest.raises(BadInput, match=r"opencode\.json:1: mcp\.palace is another server"):
        installing(site, CLIENTS["opencode"], kit)


def test_a_server_that_a_person_turned_off_stays_off(site: Site, kit: Toolkit) -> None:
    """In OpenCode that is a key of our own entry."""
    install(site, "opencode", kit)
    path = site.home / ".config/opencode/opencode.json"
    path.write_text(path.read_text().replace('"local",', '"local", "enabled": false,'))
    assert installing(site, CLIENTS["opencode"], kit) == []


@pytest.mark.parametrize(
    ("name", "path", "text", "said"),
    [
        ("claude-code", ".claude.json", '{\n "a": 1,\n}', r"~/\.claude\.json:3: not JSON"),
        ("claude-code", ".claude/settings.json", "{\n// x\n}", r"settings\.json:2: a comment"),
        ("claude-code", ".claude/CLAUDE.md", "a\nb\udcff", r"~/\.claude/CLAUDE\.md:2: not UTF-8"),
        ("codex", ".codex/config.toml", "a = 1\na = 2\n", r"~/\.codex/config\.toml:2: not TOML"),
        ("opencode", ".config/opencode/opencode.json", "[]", "json:1: the file is not an object"),
        ("pi", ".pi/agent/extensions/memory-palace.ts", "mine", "ts:1: is not as `palace install`"),
    ],
)
def test_one_file_that_cannot_be_edited_stops_all(
    name: str, path: str, text: str, said: str, site: Site, kit: Toolkit
) -> None:
    """One line with path and line, and not one file is written."""
    (site.home / path).parent.mkdir(parents=True, exist_ok=True)
    (site.home / path).write_bytes(text.encode(errors="surrogateescape"))
    before = files(site.home)
    with pytest.raises(BadInput, match=said) as error:
        install(site, name, kit)
    assert "\n" not in str(error.value)
    assert files(site.home) == before


def test_a_toolkit_without_a_checkout(site: Site) -> None:
    """Hooks and servers run the console script; plugins of the checkout are not there."""
    kit = Toolkit(None, "/usr/bin/python3", "/opt/my tools/palace")
    assert kit.hook("codex", "Stop") == "'/opt/my tools/palace' hook Stop --client codex"
    assert kit.server() == ("/opt/my tools/palace", ["mcp"])
    install(site, "codex", kit)
    with pytest.raises(Missing, match="clone it"):
        installing(site, CLIENTS["pi"], kit)


def test_paths_of_windows_are_written_for_any_shell() -> None:
    """Forward slashes and double quotes."""
    kit = Toolkit(None, "C:\\py\\python.exe", "C:\\My Tools\\palace.exe", windows=True)
    command = kit.hook("claude-code", "Stop")
    assert command == '"C:/My Tools/palace.exe" hook Stop --client claude-code'
    assert is_hook(command, "claude-code")
    assert is_server(["C:\\My Tools\\palace.exe", "mcp"])


def test_a_path_that_no_file_can_hold_is_refused(tmp_path: Path) -> None:
    """A name that is not UTF-8, or has a line break."""
    for name in ("a\udcff", "a\nb"):
        with pytest.raises(BadInput, match="give it another name"):
            Toolkit(tmp_path / name, "python3").hook("codex", "Stop")


def test_a_toolkit_that_lacks_the_plugin_says_so(site: Site, tmp_path: Path) -> None:
    """A checkout from before it had one."""
    with pytest.raises(Missing, match="bring the toolkit's repository up to date"):
        installing(site, CLIENTS["pi"], Toolkit(tmp_path, "python3"))


def test_this_toolkit_is_found() -> None:
    """The checkout of the code that runs."""
    kit = here()
    assert kit.folder == REPOSITORY
    assert kit.python == sys.executable


def test_codex_trust_is_read_from_its_settings(site: Site, kit: Toolkit) -> None:
    """A hook is trusted once Codex noted a hash for its place in hooks.json."""
    install(site, "codex", kit)
    assert codex.untrusted(site) == [*codex.EVENTS]
    settings = site.home / ".codex/config.toml"
    with settings.open("a") as file:
        for event in ("session_start", "user_prompt_submit"):
            key = f"{site.home}/.codex/hooks.json:{event}:0:0"
            file.write(f'[hooks.state."{key}"]\ntrusted_hash = "sha256:0"\n')
    assert codex.untrusted(site) == [*codex.EVENTS][2:]
    tomllib.loads(settings.read_text())
    elsewhere = Site(site.home, site.here, {"CODEX_HOME": str(site.here)})
    shutil.copytree(site.home / ".codex", site.here, dirs_exist_ok=True)
    assert codex.untrusted(elsewhere) == [*codex.EVENTS]
    assert CLIENTS["codex"].notes(site, []) == [codex.UNTRUSTED]


def test_a_hook_is_run_by_a_shell_as_it_is_written(site: Site, kit: Toolkit) -> None:
    """`sh -c` finds the script in a folder with a space and a quote, and hands on what is said."""
    assert kit.folder is not None
    script = kit.folder / "scripts/hook.sh"
    script.write_text('#!/bin/sh\necho "$@"\n')
    script.chmod(0o644)  # a copy may lose its mode
    pinned = Toolkit(kit.folder, kit.python, pinned=Path("/my $HOME `x`"))
    ran = subprocess.run(
        ["sh", "-c", pinned.hook("codex", "Stop")], capture_output=True, text=True, check=True
    )
    assert ran.stdout == "Stop --client codex --root /my $HOME `x`\n"
