"""``palace report``."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_palace.cli import common
from memory_palace.cli.common import format_option, now, root_option, say
from memory_palace.core.errors import BadInput
from memory_palace.core.report_near import MOST_FILES
from memory_palace.files import roots, tree

if TYPE_CHECKING:
    from memory_palace.memory.alike import Entries

MOST_PROMPT = 1 << 20
"""Characters of a prompt that are looked at."""


@click.command(
    epilog="""\b
Examples:
  palace report
  palace report --prompt "why does the build fail?" --explain
  palace report --files scripts/build.py tests/test_build.py"""
)
@click.argument("others", metavar="", nargs=-1)
@click.option("--prompt", metavar="TEXT", default="", help="What the agent is asked to do.")
@click.option("--files", metavar="FILE...", multiple=True, help="Files at hand, 10 at most.")
@click.option(
    "--system-tokens",
    type=click.IntRange(min=0),
    default=0,
    metavar="N",
    help="Tokens of the system prompt that the report is added to: told in it.",
)
@click.option("--explain", is_flag=True, help="The class and why, each section's budget, the cuts.")
@format_option("text", "json")
@root_option
def report(
    others: tuple[str, ...],
    prompt: str,
    files: tuple[str, ...],
    system_tokens: int,
    explain: bool,
    shape: str,
    root: str | None,
) -> int:
    """The situation report: what the memory says now, within a budget.

    1,700 tokens of active and provisional memories, strongest first. A prompt decides which
    sections come first and have more room; pinned memories are always there.
    """
    from memory_palace.core import report_text
    from memory_palace.memory import state
    from memory_palace.session import report as reports

    if others and not files:
        raise BadInput(f"`{others[0]}` stands alone: write --prompt TEXT, or --files FILE...")
    files += others
    place = roots.find(root)
    tree.look(place)
    if len(files) > MOST_FILES:
        say(f"{len(files) - MOST_FILES} files are left out: a report looks at {MOST_FILES}")
    moment = now()
    loaded = state.load(place, moment)
    vectors = _vectors(place) if (prompt.strip() or files) and loaded.live else None
    found = reports.compose(
        place, moment, prompt[:MOST_PROMPT], files, system_tokens, vectors, state=loaded
    )
    if shape == "json":
        click.echo(json.dumps(report_text.as_dict(found, system_tokens), ensure_ascii=False))
    elif explain:
        click.echo(report_text.explained(found))
    elif found.text:
        click.echo(found.text)
    failed = common.report(loaded.problems)
    if not found.text and not failed:
        say('nothing to report: `palace remember "…" --category lesson` makes a memory')
    return 1 if failed or not found.text else 0


def _vectors(place: Path) -> "Entries | None":
    """What compares texts, its model loading already; None where there is no model."""
    from memory_palace.core.errors import Missing
    from memory_palace.embed import registry
    from memory_palace.files import config
    from memory_palace.memory.alike import Entries

    try:
        choice = registry.ahead(registry.choose(config.load(place)))
    except Missing as error:
        say(f"only words are compared: {error}")
        return None
    return Entries(place, choice)
