"""``palace consolidate``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_palace.cli import common
from memory_palace.cli.common import now, root_option, runnable, say
from memory_palace.core.problems import printable
from memory_palace.files import roots, tree

if TYPE_CHECKING:
    from memory_palace.embed.registry import Choice


@click.command(epilog="Example: palace consolidate --all")
@click.option("--all", "always", is_flag=True, help="Also where the report is not nearly full.")
@root_option
def consolidate(always: bool, root: str | None) -> int:
    """What to merge or archive, so that the report fits its budget.

    From 80 % of the budget on, or where entries do not fit: those that say nearly the same, cold
    ones, the ones that do not fit, the weakest of each category, each with the commands to run.
    It changes nothing.
    """
    from memory_palace.memory.alike import Entries
    from memory_palace.session import consolidate as consolidating

    place = roots.find(root)
    tree.look(place)
    entries = Entries(place, _choice(place))
    found = consolidating.consolidate(place, now(), entries, always)
    failed = common.report(found.state.problems)
    level = f"the report is at {found.report.percent} % of {found.report.budget:,} tokens"
    if not found.advice:
        click.echo(f"{level}: nothing to do")
        return 1 if failed else 0
    click.echo(level)

    for advice in found.advice:
        click.echo(f"\n{advice.why}:")
        for memory in advice.memories:
            where = f"{printable(memory.path)}:{memory.line}"
            standing = f"{memory.lifecycle} {memory.strength:.2f}"
            said = f"[{memory.category}] {printable(memory.text)} ^{memory.id}"
            click.echo(f"  {said} ({standing}, {where})")
        for command in advice.commands:
            click.echo(f"  $ {runnable(f'`{command}`').strip('`')}")
    return 1 if failed else 0


def _choice(root: Path) -> "Choice":
    """The embedder; one that is missing leaves words to compare by."""
    from memory_palace.core.errors import Missing
    from memory_palace.embed import registry
    from memory_palace.files import config

    try:
        return registry.choose(config.load(root))
    except Missing as error:
        say(f"only words are compared: {error}")
        return registry.Choice("none", "none", "")
