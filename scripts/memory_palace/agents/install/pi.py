"""pi: an extension, a block in ``AGENTS.md``."""

from collections.abc import Sequence
from pathlib import Path

from memory_palace.agents.install import shim
from memory_palace.agents.install.client import LOCAL, Client, block, first_there, without_block
from memory_palace.agents.install.plan import Change, Edit, read
from memory_palace.agents.install.site import Site
from memory_palace.agents.install.toolkit import Toolkit

NAME = "pi"
EXTENSION = "agents/pi/index.ts"


def _folder(site: Site) -> Path:
    return site.here / ".pi" if site.project else site.folder("PI_CODING_AGENT_DIR", ".pi", "agent")


def _extension(site: Site) -> Path:
    return _folder(site) / "extensions" / "memory-palace.ts"


def _readable(site: Site) -> list[Path]:
    """pi reads the first of these that is there: a new one must not hide another."""
    folder = site.here if site.project else _folder(site)
    return [folder / "AGENTS.md", folder / "CLAUDE.md"]


def _instructions(site: Site) -> Path:
    return first_there(_readable(site))


def _install(site: Site, kit: Toolkit) -> list[Edit]:
    extension = kit.plugin(EXTENSION)
    make = "{ default }"
    return [
        Edit(_extension(site), lambda text: shim.shimmed(text, make, extension, kit.pinned)),
        *block(_instructions(site), kit),
    ]


def _uninstall(site: Site) -> list[Edit]:
    return [Edit(_extension(site), shim.unshimmed), *without_block(*_readable(site))]


def _commands(site: Site) -> list[list[str]]:
    found = shim.command_of(read(_extension(site), ""))
    return [found] if found else []


def _notes(site: Site, changes: Sequence[Change]) -> list[str]:
    return [LOCAL] if site.project and changes else []


CLIENT = Client(
    name=NAME,
    label="pi",
    program="pi",
    oldest=(1, 6),
    folder=_folder,
    install=_install,
    uninstall=_uninstall,
    commands=_commands,
    instructions=_instructions,
    notes=_notes,
)
