"""Claude Code: hooks in ``settings.json``, the MCP server, a block in ``CLAUDE.md``."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from memory_palace.agents.install import entries, jsonedit
from memory_palace.agents.install.client import LOCAL, Client, block, without_block
from memory_palace.agents.install.jsontext import value_of
from memory_palace.agents.install.plan import Change, Edit, read
from memory_palace.agents.install.site import Site
from memory_palace.agents.install.toolkit import Toolkit
from memory_palace.core.errors import Refused

NAME = "claude-code"
EVENTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PreToolUse": 5,
    "PostToolUse": 70,
    "PostToolUseFailure": 5,
    "Stop": 15,
    "SubagentStop": 15,
    "PreCompact": 5,
    "SessionEnd": 2,
}
"""Seconds that each may take. After a tool a rule may run a command, for 60."""

_SERVER = ("mcpServers", "palace")
_IN_PLACE = Path("skills/memory-palace/.claude-plugin/plugin.json")


def _folder(site: Site) -> Path:
    return site.here / ".claude" if site.project else site.folder("CLAUDE_CONFIG_DIR", ".claude")


def _files(site: Site) -> tuple[Path, Path, Path]:
    """Settings, MCP servers, instructions."""
    folder = _folder(site)
    if site.project:
        return folder / "settings.json", site.here / ".mcp.json", site.here / "CLAUDE.md"
    # The file of servers lies beside the folder, unless the folder was named.
    beside = folder if site.environment.get("CLAUDE_CONFIG_DIR") else site.home
    return folder / "settings.json", beside / ".claude.json", folder / "CLAUDE.md"


def in_place(site: Site) -> Path | None:
    """The toolkit where Claude Code loads it as a plugin, None if it is not there."""
    for folder in (_folder(site), site.folder("CLAUDE_CONFIG_DIR", ".claude")):
        if (folder / _IN_PLACE).is_file():
            return folder / _IN_PLACE.parents[1]
    return None


def turned_off(site: Site) -> bool:
    """True if the settings turn all hooks off. Raises :class:`TextFault`."""
    text = read(_files(site)[0])
    node = jsonedit.find(text, ("disableAllHooks",))
    return node is not None and value_of(text, node) is True


def _install(site: Site, kit: Toolkit) -> list[Edit]:
    if site.project and (site.here / ".claude-plugin" / "plugin.json").is_file():
        raise Refused(
            "this folder is a plugin, whose .mcp.json goes to all who use it: run this in a "
            "project's folder, or without --project"
        )
    plugin = in_place(site)
    if plugin:
        raise Refused(
            f"{site.shown(plugin)} is the toolkit as a plugin, with hooks and MCP server of its "
            "own, and each would run twice: leave it at that, or move that folder away"
        )
    settings, servers, instructions = _files(site)
    program, arguments = kit.server()
    command = partial(kit.hook, NAME)
    server = {"type": "stdio", "command": program, "args": arguments}
    return [
        Edit(settings, lambda text: entries.hooked(text, NAME, command, EVENTS)),
        Edit(servers, lambda text: entries.served(text, _SERVER, server)),
        *block(instructions, kit),
    ]


def _uninstall(site: Site) -> list[Edit]:
    settings, servers, instructions = _files(site)
    return [
        Edit(settings, lambda text: entries.unhooked(text, NAME)),
        Edit(servers, lambda text: entries.unserved(text, _SERVER)),
        *without_block(instructions),
    ]


def _commands(site: Site) -> list[list[str]]:
    settings, servers, _ = _files(site)
    server = entries.server_in(read(servers), _SERVER)
    return [*entries.commands_in(read(settings), NAME), *([server] if server else [])]


def _instructions(site: Site) -> Path:
    return _files(site)[2]


def _notes(site: Site, changes: Sequence[Change]) -> list[str]:
    if not (site.project and changes):
        return []
    return [
        LOCAL,
        "Claude Code asks once whether it may start the server of .mcp.json",
    ]


CLIENT = Client(
    name=NAME,
    label="Claude Code",
    program="claude",
    oldest=(2, 1),
    folder=_folder,
    install=_install,
    uninstall=_uninstall,
    commands=_commands,
    instructions=_instructions,
    notes=_notes,
)
