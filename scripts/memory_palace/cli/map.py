"""``palace map``."""

import click

from memory_palace.cli import rooms_output
from memory_palace.cli.common import Terminal, count, now, reason_option, root_option, say
from memory_palace.core.rooms_map import PATH
from memory_palace.files import roots
from memory_palace.memory import rooms_map


@click.command(
    "map",
    epilog="""\b
Examples:
  palace map --dry-run       print the map, write nothing
  palace map                 draw it into palace/grand_hall/README.md""",
)
@click.option("--dry-run", is_flag=True, help="Print the map; write nothing.")
@reason_option
@root_option
def map_(dry_run: bool, reason: str, root: str | None) -> int:
    """The map of rooms in the grand hall, brought up to date.

    A block between two marks in palace/grand_hall/README.md: a Mermaid graph and a table. All else
    in that note stays as it is; without marks the block comes to its end.
    """
    place = roots.find(root)
    if dry_run:
        drawn = rooms_map.plan(place, Terminal())
        faulty = rooms_output.faults(drawn.rooms)
        click.echo(drawn.block)
        would = "is up to date" if drawn.what == "unchanged" else f"would be {drawn.what}"
        say(f"{PATH} {would}; nothing was written")
        return 1 if faulty else 0
    drawn = rooms_map.draw(place, now(), reason, say, Terminal())
    faulty = rooms_output.faults(drawn.rooms)
    click.echo(f"{drawn.what}: {PATH}, {count(len(drawn.graph.rooms), 'room')}")
    return 1 if faulty else 0
