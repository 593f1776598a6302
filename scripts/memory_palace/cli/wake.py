"""``palace wake``."""

from pathlib import Path

import click

from memory_palace.cli.common import now, root_option, say
from memory_palace.files import roots, tree


@click.command(
    epilog="""\b
Examples:
  palace wake                          of the repository at hand, else of the whole palace
  palace wake --wing memory-palace --budget 800"""
)
@click.option("--wing", metavar="W", help="A project or an agent [that of this repository].")
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="N", help="Tokens of 4 characters, in all."
)
@root_option
def wake(wing: str | None, budget: int | None, root: str | None) -> int:
    """What an agent should know at the start of a session.

    The identity, the essential story of the wing, what is in the mailbox, and faults of hooks.
    What is empty is left out; the same palace gives the same text.
    """
    from memory_palace.session import wake as wakes

    place = roots.find(root)
    tree.look(place)
    found = wakes.wake(place, now(), wing, budget, Path.cwd())
    for line in found.said:
        say(line)
    if found.text:
        click.echo(found.text)
        return 0
    if budget is None:
        say("nothing to tell yet: write palace/grand_hall/identity.md, or a note in a project room")
    else:
        say("nothing fits: give a larger --budget")
    return 1
