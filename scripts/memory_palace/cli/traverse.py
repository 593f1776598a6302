"""``palace traverse``."""

import json

import click

from memory_palace.cli import rooms_output
from memory_palace.cli.common import Terminal, count, format_option, root_option, say
from memory_palace.core import rooms_graph
from memory_palace.core.rooms_graph import Edges, Reached
from memory_palace.files import roots
from memory_palace.search import rooms

_FARTHEST = 50


@click.command(
    epilog="""\b
Examples:
  palace traverse backend
  palace traverse project_rooms/demo --hops 1
  palace traverse topics --edges links
  palace traverse --format jsonl demo/sessions | jq -r '.room'"""
)
@click.argument("room", metavar="ROOM")
@click.option(
    "--hops",
    type=click.IntRange(1, _FARTHEST),
    default=rooms_graph.HOPS,
    show_default=True,
    help="How far from ROOM.",
)
@click.option(
    "--edges",
    type=click.Choice(["wings", "links", "both"]),
    default="both",
    show_default=True,
    help="What joins rooms: a wing that they share, links between their notes.",
)
@format_option("text", "jsonl")
@root_option
def traverse(room: str, hops: int, edges: Edges, shape: str, root: str | None) -> int:
    """The rooms that can be reached from a room.

    ROOM is a room's name, its folder, or WING/ROOM. Nearest rooms come first, ROOM itself with
    0 hops; at most 50. As the files are now: keywords and links are refreshed first.
    """
    place = roots.find(root)
    walk, found = rooms.traverse(place, room, hops, edges, Terminal())
    rooms_output.faults(found)
    for reached in walk.rooms:
        click.echo(_line(reached, shape))
    if walk.more:
        say(
            f"{count(walk.more, 'more room')} within {count(hops, 'hop')}: fewer --hops, or --edges"
        )
    elif len(walk.rooms) == 1:
        say("nothing is reached: no room shares a wing with it or has links with its notes")
    return 0


def _line(reached: Reached, shape: str) -> str:
    if shape == "jsonl":
        row = {"hops": reached.hops, **rooms_output.record(reached.room)}
        row["by_wings"] = [{"wing": by.wing, "room": by.room} for by in reached.wings]
        row["by_links"] = [{"room": by.room, "links": by.links} for by in reached.links]
        return json.dumps(row, ensure_ascii=False)
    ways = f"  {rooms_output.way(reached)}" if reached.hops else ""
    return f"{reached.hops}  {rooms_output.head(reached.room)}{ways}"
