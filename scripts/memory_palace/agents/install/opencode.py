"""OpenCode: the MCP server in ``opencode.json``, a plugin, a block in ``AGENTS.md``."""

from collections.abc import Sequence
from pathlib import Path

from memory_palace.agents.install import entries, shim
from memory_palace.agents.install.blocks import has_block
from memory_palace.agents.install.client import LOCAL, Client, block, first_there, without_block
from memory_palace.agents.install.plan import Change, Edit, read
from memory_palace.agents.install.site import Site
from memory_palace.agents.install.toolkit import Toolkit

NAME = "opencode"
PLUGIN = "agents/opencode/memory-palace.ts"
_SERVER = ("mcp", "palace")
_CLAUDE = (".claude", "CLAUDE.md")
"""Read by OpenCode as long as it has no AGENTS.md of its own."""


def _folder(site: Site) -> Path:
    """Of the user, or of the project: there the plugins only."""
    if site.project:
        return site.here / ".opencode"
    return site.folder("XDG_CONFIG_HOME", ".config") / "opencode"


def _settings(site: Site) -> tuple[Path, Path]:
    folder = site.here if site.project else _folder(site)
    return folder / "opencode.jsonc", folder / "opencode.json"


def _plugin(site: Site) -> Path:
    return _folder(site) / "plugins" / "memory-palace.js"


def _readable(site: Site) -> list[Path]:
    """OpenCode reads the first of these that is there: a new one must not hide another."""
    if site.project:
        return [site.here / "AGENTS.md", site.here / "CLAUDE.md"]
    return [_folder(site) / "AGENTS.md"]


def _hides(site: Site) -> bool:
    """True if a new AGENTS.md would keep OpenCode from reading Claude Code's instructions."""
    there = any(path.exists() for path in _readable(site))
    return not (there or site.project) and site.home.joinpath(*_CLAUDE).exists()


def _instructions(site: Site) -> Path | None:
    return None if _hides(site) else first_there(_readable(site))


def _install(site: Site, kit: Toolkit) -> list[Edit]:
    commented, plain = _settings(site)
    program, arguments = kit.server()
    server = {"type": "local", "command": [program, *arguments]}
    plugin = kit.plugin(PLUGIN)
    settings, other = (commented, plain) if commented.exists() else (plain, commented)
    return [
        Edit(other, lambda text: entries.unclaimed(text, _SERVER, comments=True)),
        Edit(settings, lambda text: entries.served(text, _SERVER, server, comments=True)),
        Edit(_plugin(site), lambda text: shim.shimmed(text, "*", plugin, kit.pinned)),
        *block(_instructions(site), kit),
    ]


def _uninstall(site: Site) -> list[Edit]:
    return [
        *(
            Edit(path, lambda text: entries.unserved(text, _SERVER, comments=True))
            for path in _settings(site)
        ),
        Edit(_plugin(site), shim.unshimmed),
        *without_block(*_readable(site)),
    ]


def _commands(site: Site) -> list[list[str]]:
    texts = [read(path) for path in _settings(site)]
    servers = [entries.server_in(text, _SERVER, comments=True) for text in texts]
    return [words for words in (*servers, shim.command_of(read(_plugin(site), ""))) if words]


def _notes(site: Site, changes: Sequence[Change]) -> list[str]:
    if site.project and changes:
        return [LOCAL]
    if _hides(site) and not has_block(read(site.home.joinpath(*_CLAUDE), "")):
        return [
            "no AGENTS.md was made: OpenCode would stop reading ~/.claude/CLAUDE.md; "
            "`palace install claude-code` puts the block there"
        ]
    return []


CLIENT = Client(
    name=NAME,
    label="OpenCode",
    program="opencode",
    oldest=(1, 18),
    folder=_folder,
    install=_install,
    uninstall=_uninstall,
    commands=_commands,
    instructions=_instructions,
    notes=_notes,
)
