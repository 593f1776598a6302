"""``palace install`` and ``palace uninstall``: the palace in a client's sessions, and out again."""

import os
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

from memory_palace.agents.install import plan
from memory_palace.agents.install.clients import CLIENTS, installing, uninstalling
from memory_palace.agents.install.plan import Change
from memory_palace.agents.install.site import Site, home_of
from memory_palace.agents.install.toolkit import here
from memory_palace.cli.common import say
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.problems import printable
from memory_palace.files import roots

_F = TypeVar("_F", bound=Callable[..., Any])


def _known(_ctx: click.Context, _argument: click.Parameter, name: str) -> str:
    if name not in CLIENTS:
        *most, last = CLIENTS
        raise BadInput(f"no client `{name}`: there are {', '.join(most)} and {last}")
    return name


def _options(function: _F) -> _F:
    """What both commands take."""
    for option in (
        click.option("--dry-run", is_flag=True, help="Show the changes, and write nothing."),
        click.option("--project", is_flag=True, help="For sessions in the current folder only."),
        click.argument("client", metavar="CLIENT", callback=_known),
    ):
        function = option(function)
    return function


@click.command(epilog="Example: palace install claude-code --dry-run")
@_options
@click.option("--root", metavar="DIR", help="Use this palace, wherever a session is started.")
def install(client: str, project: bool, dry_run: bool, root: str | None) -> int:
    """Bring the palace into a client's sessions.

    CLIENT is claude-code, codex, opencode or pi. Edits its settings: hooks or a plugin, the MCP
    server, a block of instructions. What else is in them stays as it is. Running it again brings
    it up to date.
    """
    site = _site(project)
    kit = here(roots.find(root) if root else None)
    changes = installing(site, CLIENTS[client], kit)
    _carry_out(site, changes, dry_run)
    for note in CLIENTS[client].notes(site, changes):
        say(f"note: {note}")
    return 0


@click.command(epilog="Example: palace uninstall claude-code --dry-run")
@_options
def uninstall(client: str, project: bool, dry_run: bool) -> int:
    """Take out of a client what `palace install` put in.

    CLIENT is claude-code, codex, opencode or pi. What a person wrote in the same files stays, and
    so does the palace.
    """
    site = _site(project)
    _carry_out(site, uninstalling(site, CLIENTS[client]), dry_run, "took out ")
    return 0


def _site(project: bool) -> Site:
    home = home_of(os.environ)
    if home is None:
        raise Missing("there is no home folder: set HOME to one")
    return Site(home, roots.current(), os.environ, project)


def _carry_out(site: Site, changes: Sequence[Change], dry_run: bool, did: str = "") -> None:
    if not changes:
        click.echo("nothing to change")
        return
    if dry_run:
        for change in changes:
            click.echo(plan.diff(site, change))
        say("nothing was written: this was a dry run")
        return
    plan.apply(site, changes)
    for change in changes:
        done = "made" if change.before is None else "changed"
        done = "removed" if change.after is None else done
        what = "; ".join(change.what)
        click.echo(printable(f"{done} {site.shown(change.path)}: {did}{what}"))
