"""``palace reinforce``, ``pin``, ``unpin``, ``forget`` and ``edit``: one memory by its id."""

from collections.abc import Callable

import click

from memory_palace.cli.common import now, reason_option, root_option, say
from memory_palace.core.problems import printable
from memory_palace.core.topics import CUES
from memory_palace.files import roots
from memory_palace.memory.entries import Book, Done


@click.command(epilog="Example: palace reinforce 3f9ac2d41b7e --reason 'came up in a review'")
@click.argument("identity", metavar="ID")
@click.option(
    "--cue",
    type=click.Choice(tuple(CUES)),
    default="recurrence",
    show_default=True,
    help="How it came up again.",
)
@click.option("--source", metavar="LINK", help="Where: a [[link]], a file, a pull request.")
@reason_option
@root_option
def reinforce(identity: str, cue: str, source: str | None, reason: str, root: str | None) -> int:
    """One more piece of evidence for a memory."""
    return _one(root, "reinforce", reason, lambda book: book.reinforce(identity, cue, source))


@click.command(epilog="Example: palace pin 3f9ac2d41b7e")
@click.argument("identity", metavar="ID")
@reason_option
@root_option
def pin(identity: str, reason: str, root: str | None) -> int:
    """Keep a memory for good: it never decays."""
    return _one(root, "pin", reason, lambda book: book.pin(identity))


@click.command(epilog="Example: palace unpin 3f9ac2d41b7e")
@click.argument("identity", metavar="ID")
@reason_option
@root_option
def unpin(identity: str, reason: str, root: str | None) -> int:
    """Let a pinned memory decay again."""
    return _one(root, "unpin", reason, lambda book: book.unpin(identity))


@click.command(epilog="Example: palace forget 3f9ac2d41b7e --reason 'no longer so'")
@click.argument("identity", metavar="ID")
@reason_option
@root_option
def forget(identity: str, reason: str, root: str | None) -> int:
    """Let a memory go: its strength is 0 from now on.

    The line stays until `palace archive` moves it; reinforcing the memory brings it back.
    """
    return _one(root, "forget", reason, lambda book: book.forget(identity))


@click.command(epilog="Example: palace edit 3f9ac2d41b7e 'Run the migrations before the tests'")
@click.argument("identity", metavar="ID")
@click.argument("text")
@reason_option
@root_option
def edit(identity: str, text: str, reason: str, root: str | None) -> int:
    """Change what a memory says; it keeps its evidence."""
    return _one(root, "edit", reason, lambda book: book.edit(identity, text))


def _one(root: str | None, name: str, reason: str, act: Callable[[Book], Done]) -> int:
    from memory_palace.memory import pen

    with pen.begin(roots.find(root), now(), f"palace {name}", reason, say) as held:
        done = act(Book(held))
    click.echo(line(done))
    return 0


def line(done: Done) -> str:
    """What was done, to which memory, how it stands now, and why."""
    memory = done.memory
    why = f" ({done.why})" if done.why else ""
    return printable(
        f"{done.what} ^{memory.id} in {memory.path}:{memory.line}{why}: "
        f"evidence {memory.evidence}, strength {memory.strength:.2f}, {memory.lifecycle}"
    )
