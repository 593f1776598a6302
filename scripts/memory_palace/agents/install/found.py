"""What ``palace doctor`` says of the clients on this machine."""

import os
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

from memory_palace.agents.install import claude_code, codex
from memory_palace.agents.install.client import Client
from memory_palace.agents.install.clients import CLIENTS, installing, uninstalling
from memory_palace.agents.install.jsontext import TextFault
from memory_palace.agents.install.site import Site, home_of
from memory_palace.agents.install.toolkit import here
from memory_palace.core.errors import PalaceError

Finding = tuple[str, str, str]
"""(``ok``, ``note`` or ``wrong``; the client; what was found and what to do)."""

_VERSION = re.compile(r"\d+(?:\.\d+)+")
_SECONDS = 5.0


def findings(root: Path | None, environment: Mapping[str, str] | None = None) -> Iterator[Finding]:
    """A line or two for each client that is on this machine: its folder or its command is there.

    Looked at are the user's settings, and those of a project at ``root`` (the current folder
    without one) if we are in them.
    """
    environment = os.environ if environment is None else environment
    home = home_of(environment)
    if home is None:
        return
    project_folder = root or Path.cwd()
    for client in CLIENTS.values():
        site = Site(home, project_folder, environment)
        program = program_of(client, environment)
        project = Site(home, project_folder, environment, project=True)
        for place in (site,) if site.at_home() else (site, project):
            yield from _of(place, client, there=not place.project and bool(program))
        if program:
            yield from _version(client, program)


def program_of(client: Client, environment: Mapping[str, str]) -> str | None:
    """The client's command on the path, None if it is not there."""
    return shutil.which(client.program, path=environment.get("PATH", ""))


def _of(site: Site, client: Client, there: bool) -> Iterator[Finding]:
    what = f"{client.label}, in this project" if site.project else client.label
    flag = " --project" if site.project else ""
    try:
        commands = client.commands(site)
        plugin = claude_code.in_place(site) if client.name == claude_code.NAME else None
        if plugin and (commands or not site.project):
            yield _plugin(site.shown(plugin), bool(commands), what, flag)
            yield from _off(site, client, what)
            return
        if not commands:
            if there or (not site.project and client.folder(site).is_dir()):
                uninstalling(site, client)  # finds the files that an install cannot edit
                yield "note", what, f"not installed: `palace install {client.name}` brings it in"
            return
        yield _standing(site, client, commands, what, flag)
        yield from _off(site, client, what)
        if client.name == codex.NAME:
            yield from _trust(site, what)
    except TextFault:
        yield from _unreadable(site, client, what)
    except (PalaceError, OSError) as error:
        yield "wrong", what, str(error)


def _unreadable(site: Site, client: Client, what: str) -> Iterator[Finding]:
    """The file, the line and the fault, as an uninstall would say them."""
    try:
        uninstalling(site, client)
    except PalaceError as error:
        yield "wrong", what, str(error)


def _off(site: Site, client: Client, what: str) -> Iterator[Finding]:
    if client.name == claude_code.NAME and claude_code.turned_off(site):
        yield "note", what, "its settings turn hooks off: take `disableAllHooks` out of them"
    if client.name == codex.NAME and codex.turned_off(site):
        yield "note", what, "its settings turn hooks off: take `hooks = false` out of [features]"


def _plugin(place: str, twice: bool, what: str, flag: str) -> Finding:
    if twice:
        uninstall = f"`palace uninstall claude-code{flag}` takes the other out"
        return "wrong", what, f"installed twice, and as a plugin at {place}: {uninstall}"
    return "ok", what, f"installed as a plugin at {place}"


def _standing(
    site: Site, client: Client, commands: list[list[str]], what: str, flag: str
) -> Finding:
    pinned = next((c[c.index("--root") + 1] for c in commands if "--root" in c[:-1]), None)
    changes = installing(site, client, here(Path(pinned) if pinned else None))
    root = f" --root {shlex.quote(pinned)}" if pinned else ""
    if not changes:
        return "ok", what, f"installed{', for the palace ' + pinned if pinned else ''}"
    files = ", ".join(site.shown(change.path) for change in changes)
    again = f"`palace install {client.name}{flag}{root}` brings it up to date"
    return "note", what, f"installed by another checkout, or in part ({files}): {again}"


def _trust(site: Site, what: str) -> Iterator[Finding]:
    events = codex.untrusted(site)
    if events and not codex.turned_off(site):
        yield "note", what, f"not trusted yet: {', '.join(events)}. {codex.UNTRUSTED}"


def _version(client: Client, program: str) -> Iterator[Finding]:
    try:
        ran = subprocess.run(
            [program, "--version"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return
    found = _VERSION.search(ran.stdout.decode(errors="replace"))
    if found and tuple(map(int, found.group().split("."))) < client.oldest:
        oldest = ".".join(map(str, client.oldest))
        said = f"version {found.group()} is older than {oldest}, the first this was tried with"
        yield "note", client.label, f"{said}: update it"
