"""Codex: hooks in ``hooks.json``, the MCP server in ``config.toml``, a block in ``AGENTS.md``."""

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from memory_palace.agents.install import entries, tomlblock
from memory_palace.agents.install.client import LOCAL, Client, block, without_block
from memory_palace.agents.install.plan import Change, Edit, read
from memory_palace.agents.install.site import Site
from memory_palace.agents.install.toolkit import Toolkit, is_server

NAME = "codex"
EVENTS = {
    "SessionStart": 10,
    "UserPromptSubmit": 5,
    "PreToolUse": 5,
    "PostToolUse": 70,
    "Stop": 15,
    "SubagentStop": 15,
    "PreCompact": 5,
    "SessionEnd": 3,
}
"""Seconds that each may take; Codex has no event for a tool that failed, and cuts the last at 3."""

UNTRUSTED = (
    "Codex skips hooks that were not trusted, without a word: start `codex` and trust them when "
    "it says that hooks need review, or later in `/hooks`; after each change anew"
)


def _folder(site: Site) -> Path:
    return site.here / ".codex" if site.project else site.folder("CODEX_HOME", ".codex")


def _readable(site: Site) -> tuple[Path, Path]:
    """The files of instructions that Codex reads the first of."""
    folder = site.here if site.project else _folder(site)
    return folder / "AGENTS.override.md", folder / "AGENTS.md"


def _instructions(site: Site) -> Path:
    override, usual = _readable(site)
    return override if override.exists() else usual


def _install(site: Site, kit: Toolkit) -> list[Edit]:
    folder = _folder(site)
    program, arguments = kit.server()
    command = partial(kit.hook, NAME)
    # A palace without an index, on a slow disk, with the libraries not yet in memory.
    server = {"command": program, "args": arguments, "startup_timeout_sec": 30}
    return [
        Edit(folder / "config.toml", lambda text: tomlblock.tabled(text, server)),
        Edit(folder / "hooks.json", lambda text: entries.hooked(text, NAME, command, EVENTS)),
        *block(_instructions(site), kit),
    ]


def _uninstall(site: Site) -> list[Edit]:
    folder = _folder(site)
    return [
        Edit(folder / "config.toml", tomlblock.untabled),
        Edit(folder / "hooks.json", lambda text: entries.unhooked(text, NAME)),
        *without_block(*_readable(site)),
    ]


def _commands(site: Site) -> list[list[str]]:
    folder = _folder(site)
    found = entries.commands_in(read(folder / "hooks.json"), NAME)
    server = entries.words_of(tomlblock.server_of(read(folder / "config.toml", "")))
    return [*found, *([server] if is_server(server) else [])]


def untrusted(site: Site) -> list[str]:
    """The events whose hook of ours Codex has never been told to trust.

    It keeps that in the user's settings, by file and place. Raises :class:`TextFault`.
    """
    hooks = _folder(site) / "hooks.json"
    said = _settings(site).get("hooks")
    state = said.get("state") if isinstance(said, dict) else None
    trusted = {
        key
        for key, row in (state if isinstance(state, dict) else {}).items()
        if isinstance(row, dict) and row.get("trusted_hash")
    }
    names = {str(hooks), os.path.realpath(hooks)}
    return [
        place[0]
        for place in entries.places(read(hooks), NAME)
        if trusted.isdisjoint(f"{name}:{_key(*place)}" for name in names)
    ]


def turned_off(site: Site) -> bool:
    """True if the user's settings turn all hooks off. Raises :class:`TextFault`."""
    features = _settings(site).get("features")
    return isinstance(features, dict) and features.get("hooks") is False


def _settings(site: Site) -> dict[str, Any]:
    return tomlblock.parsed(read(_folder(replace(site, project=False)) / "config.toml", ""))


def _key(event: str, group: int, number: int) -> str:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", event).lower()
    return f"{name}:{group}:{number}"


def _notes(site: Site, changes: Sequence[Change]) -> list[str]:
    if not (untrusted(site) or any(c.path.name == "hooks.json" for c in changes)):
        return []
    if site.project and changes:
        return [
            UNTRUSTED,
            "Codex reads .codex/ only in a folder that it was told to trust",
            LOCAL,
        ]
    return [UNTRUSTED]


CLIENT = Client(
    name=NAME,
    label="Codex",
    program="codex",
    oldest=(0, 171),
    folder=_folder,
    install=_install,
    uninstall=_uninstall,
    commands=_commands,
    instructions=_instructions,
    notes=_notes,
)
