"""``palace recall``."""

import click

from memory_palace.cli.common import now, root_option, say
from memory_palace.files import roots, tree


@click.command(
    epilog="""\b
Examples:
  palace recall memory-palace               a project, or an agent
  palace recall memory-palace sessions      one room of it
  palace recall reflection_wing/principles  any room, by its path below palace/
  palace recall topics/lessons              the memories of a topic, strongest first"""
)
@click.argument("wing")
@click.argument("room", required=False)
@root_option
def recall(wing: str, room: str | None, root: str | None) -> int:
    """What a wing or a room knows: its weightiest notes.

    Ten of them by importance, then recency, 300 characters each, and how many more there are.
    """
    from memory_palace.session import recall as recalls

    place = roots.find(root)
    tree.look(place)
    found = recalls.recall(place, now(), wing, room)
    for line in found.said:
        say(line)
    if found.text:
        click.echo(found.text)
    else:
        say("nothing in there yet")
    return 0 if found.notes or found.memories else 1
