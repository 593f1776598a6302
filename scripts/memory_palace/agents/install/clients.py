"""The clients that the palace can be brought into."""

import os
from dataclasses import replace

from memory_palace.agents.install import claude_code, codex, opencode, pi
from memory_palace.agents.install.client import Client
from memory_palace.agents.install.jsontext import TextFault
from memory_palace.agents.install.plan import Change, plan
from memory_palace.agents.install.site import Site
from memory_palace.agents.install.toolkit import Toolkit
from memory_palace.core.errors import Refused

CLIENTS: dict[str, Client] = {
    client.name: client for client in (claude_code.CLIENT, codex.CLIENT, opencode.CLIENT, pi.CLIENT)
}


def installing(site: Site, client: Client, kit: Toolkit) -> list[Change]:
    """What an install would change. Raises :class:`~memory_palace.core.errors.PalaceError`."""
    _check_place(site)
    edits = client.install(site, kit)
    if site.project and _everywhere(replace(site, project=False), client):
        raise Refused(
            f"{client.label} has the palace in every session already, and here each hook would "
            f"run twice: run `palace uninstall {client.name}` first, or leave it at that"
        )
    return plan(site, edits)


def uninstalling(site: Site, client: Client) -> list[Change]:
    """What an uninstall would change: a block that another client reads too stays while that one
    is installed. Raises :class:`~memory_palace.core.errors.PalaceError`."""
    _check_place(site)
    blocks = [
        other.instructions(site)
        for other in CLIENTS.values()
        if other is not client and _installed(site, other)
    ]
    kept = {os.path.realpath(path) for path in blocks if path}  # one is often a link to another
    edits = client.uninstall(site)
    return plan(site, [e for e in edits if not (e.shared and os.path.realpath(e.path) in kept)])


def _check_place(site: Site) -> None:
    if site.project and site.at_home():
        raise Refused(
            "this folder is your home, whose settings are those of all sessions: leave --project "
            "out, or run this in a project's folder"
        )


def _everywhere(site: Site, client: Client) -> bool:
    """True if it is in the user's settings. Raises :class:`~memory_palace.core.errors.BadInput`
    with path and line if they cannot be read."""
    try:
        return bool(client.commands(site))
    except TextFault:
        return bool(uninstalling(site, client))


def _installed(site: Site, client: Client) -> bool:
    """A file that cannot be read may have us in it."""
    try:
        return bool(client.commands(site))
    except TextFault:
        return True
