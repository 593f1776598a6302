"""``palace remember``."""

from pathlib import Path

import click

from memory_palace.cli.common import Terminal, now, reason_option, root_option, say
from memory_palace.cli.entries import line
from memory_palace.core.errors import Missing
from memory_palace.core.topics import CATEGORIES, CUES
from memory_palace.embed import registry
from memory_palace.files import config as configs
from memory_palace.files import roots
from memory_palace.memory.entries import Book, Said, clean


@click.command(
    epilog="""\b
Examples:
  palace remember "Run the migrations before the tests" --category lesson
  palace remember "Tabs, not spaces" --category preference --pin --source "[[style]]" """
)
@click.argument("text")
@click.option(
    "--category",
    type=click.Choice(tuple(CATEGORIES)),
    required=True,
    help="What kind of memory it is.",
)
@click.option(
    "--cue",
    type=click.Choice(tuple(CUES)),
    default="explicit",
    show_default=True,
    help="How it came up.",
)
@click.option("--pin", is_flag=True, help="It never decays.")
@click.option("--source", metavar="LINK", help="Where from: a [[link]], a file, a pull request.")
@reason_option
@root_option
def remember(
    text: str,
    category: str,
    cue: str,
    pin: bool,
    source: str | None,
    reason: str,
    root: str | None,
) -> int:
    """Remember one line, or reinforce what says the same.

    The same is an equal text of the same category, or one that is near in meaning (a cosine of
    at least 0.90). Private spans and secrets are taken out first.
    """
    from memory_palace.memory import alike, pen

    place = roots.find(root)
    clean(text)  # a bad text is told before a model is loaded
    vectors = alike.Entries(place, embedder(place), Terminal())
    with pen.begin(place, now(), "palace remember", reason, say) as held:
        done = Book(held).remember(Said(text, category, cue, pin, source), vectors)
    click.echo(line(done))
    if done.against:
        say(f"they may contradict: `palace conflict open {done.against} {done.memory.id}`")
    return 0


def embedder(root: Path) -> registry.Choice:
    """The embedder, its model loading already; one that is missing must not stop a memory."""
    try:
        return registry.ahead(registry.choose(configs.load(root)))
    except Missing as error:
        say(f"only equal texts are found: {error}")
        return registry.Choice("none", "none", "")
