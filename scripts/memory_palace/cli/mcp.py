"""``palace mcp``."""

import importlib.util

import click

from memory_palace.cli.common import now, root_option, say
from memory_palace.core.errors import Missing
from memory_palace.files import roots


@click.command(
    epilog="""\b
Examples:
  palace mcp                     as a client's configuration starts it
  palace mcp --tools all --root ~/memory"""
)
@click.option(
    "--tools",
    type=click.Choice(["basic", "all"]),
    default="basic",
    show_default=True,
    help="Which tools are offered.",
)
@root_option
def mcp(tools: str, root: str | None) -> int:
    """Serve the palace over MCP, on stdin and stdout.

    A client starts it and ends it by closing stdin. Nothing but the protocol goes to stdout.
    """
    if importlib.util.find_spec("mcp") is None:
        raise Missing(
            "the MCP packages are not installed: run `make setup-mcp` in a clone of the toolkit, "
            "or `pip install 'memory-palace[mcp]'`"
        )
    place = roots.find(root)
    now()  # a bad $PALACE_NOW is told before a client waits
    from memory_palace.agents import mcp_server

    mcp_server.serve(place, tools, now, say)
    return 0
