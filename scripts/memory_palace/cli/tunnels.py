"""``palace tunnels``."""

import json

import click

from memory_palace.cli import rooms_output
from memory_palace.cli.common import Terminal, count, format_option, root_option, say
from memory_palace.core import rooms_graph
from memory_palace.files import roots
from memory_palace.search import rooms


@click.command(
    epilog="""\b
Examples:
  palace tunnels
  palace tunnels demo garden
  palace tunnels --format jsonl | jq -r '.room'"""
)
@click.argument("wings", metavar="[WING WING]", nargs=-1)
@format_option("text", "jsonl")
@root_option
def tunnels(wings: tuple[str, ...], shape: str, root: str | None) -> int:
    """Rooms that several wings share.

    A room's name that stands in two projects or agents, or more; with two WINGs those that both
    have. At most 50, those in most wings first. As the files are now: keywords are refreshed first.
    """
    place = roots.find(root)
    shared, found = rooms.tunnels(place, wings, Terminal())
    rooms_output.faults(found)
    for room in shared[: rooms_graph.MOST]:
        if shape == "jsonl":
            click.echo(json.dumps(rooms_output.record(room), ensure_ascii=False))
        else:
            click.echo(rooms_output.head(room))
    more = len(shared) - rooms_graph.MOST
    if more > 0:
        say(f"{count(more, 'more room')}: name two wings")
    elif not shared:
        say("no room is shared: a folder of one name in two projects or agents is a tunnel")
    return 0 if shared else 1
