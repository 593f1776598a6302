"""``palace card``."""

import json
from typing import Any

import click

from memory_palace.cli.common import format_option, now, reason_option, report, root_option, say
from memory_palace.core import dates
from memory_palace.core.cards import STATUSES, Card
from memory_palace.core.kinds import PRIORITIES
from memory_palace.core.problems import printable
from memory_palace.files import roots


@click.group(
    epilog="""\b
Examples:
  palace card new "Measure the floor" --check "A hundred questions are asked"
  palace card list --status active
  palace card done measure-the-floor"""
)
def card() -> None:
    """Cards: one task each, with checks that say when it is done."""


@card.command(
    epilog="""\b
Example:
  palace card new "Measure the floor" --goal "It rests on a measurement" \\
    --input "[[compound-score]]" --output "the floor" \\
    --check "A hundred questions are asked" --next "Write the questions" """
)
@click.argument("title")
@click.option("--goal", metavar="TEXT", help="What is so when it is done.")
@click.option("--input", "inputs", multiple=True, metavar="TEXT", help="What it starts from.")
@click.option("--output", "outputs", multiple=True, metavar="TEXT", help="What it leaves behind.")
@click.option("--check", "checks", multiple=True, metavar="TEXT", help="What must hold at its end.")
@click.option("--next", "next_action", metavar="TEXT", help="What to do first.")
@click.option("--priority", type=click.Choice(PRIORITIES), help="How much it matters.")
@reason_option
@root_option
def new(
    title: str,
    goal: str | None,
    inputs: tuple[str, ...],
    outputs: tuple[str, ...],
    checks: tuple[str, ...],
    next_action: str | None,
    priority: str | None,
    reason: str,
    root: str | None,
) -> int:
    """Open a card: a new file, named after its title.

    --input, --output and --check may be repeated. Private spans and secrets are taken out first.
    """
    from memory_palace.memory import cards, pen

    place = roots.find(root)
    wanted = cards.draft(title, goal, inputs, outputs, checks, next_action, priority)
    with pen.begin(place, now(), "palace card new", reason, say) as held:
        made = cards.new(held, wanted)
    click.echo(printable(f"opened {made.path}"))
    if not made.checks:
        say("without acceptance checks it cannot be completed: write some into it")
    return 0


@card.command("list", epilog="Example: palace card list --status blocked")
@click.option("--status", type=click.Choice(STATUSES), help="Only cards of this status.")
@format_option("text", "jsonl")
@root_option
def list_cards(status: str | None, shape: str, root: str | None) -> int:
    """The cards, active ones first: status, checks that hold, title, path, next action."""
    from memory_palace.memory import cards

    found = cards.load(roots.find(root))
    shown = [one for one in found.cards if status is None or one.status == status]
    for one in shown:
        if shape == "jsonl":
            click.echo(json.dumps(as_dict(one), ensure_ascii=False))
        else:
            click.echo("\n".join(as_text(one)))
    failed = report(found.problems)
    if not shown:
        say(f"no {status} card" if status else 'no card: `palace card new "Title"` opens one')
    return 0 if shown and not failed else 1


def as_text(one: Card) -> list[str]:
    """A card in a line, and its next action in another unless it is completed."""
    holding = f"{len(one.checks) - len(one.open_checks)}/{len(one.checks)}"
    status = one.status or "?"
    title = click.style(printable(one.title), bold=True)
    lines = [f"{status:9}  {holding:>5}  {title}  {printable(one.path)}"]
    action = printable(" ".join(one.next_action.split()))
    if action and one.status != "completed":
        lines.append(f"{'':18}next: {action}")
    return lines


def as_dict(one: Card) -> dict[str, Any]:
    """A card with the keys that ``--format jsonl`` promises."""
    return {
        "path": one.path,
        "title": one.title,
        "status": one.status,
        "priority": one.priority,
        "created": dates.stamp(one.created) if one.created else None,
        "updated": dates.stamp(one.updated) if one.updated else None,
        "goal": one.goal,
        "inputs": list(one.inputs),
        "outputs": list(one.outputs),
        "checks": [{"line": c.line, "done": c.done, "text": c.text} for c in one.checks],
        "next": one.next_action,
    }


@card.command(epilog="Example: palace card done measure-the-floor")
@click.argument("name")
@click.option("--next", "next_action", metavar="TEXT", help='What follows, in place of "None.".')
@reason_option
@root_option
def done(name: str, next_action: str | None, reason: str, root: str | None) -> int:
    """Complete the card NAME, if it has acceptance checks and all hold.

    NAME is the file's exact name without .md, or its path. Nothing else in the file changes.
    """
    from memory_palace.memory import cards, pen

    place = roots.find(root)
    after = "" if next_action is None else cards.clean(next_action, "--next")
    try:
        with pen.begin(place, now(), "palace card done", reason, say) as held:
            made = cards.done(held, name, after)
    except cards.NotDone as error:
        for problem in error.problems:
            where = problem.path if problem.line is None else f"{problem.path}:{problem.line}"
            say(f"{where}: {problem.message}")
        raise
    number = len(made.checks)
    checks = "its check holds" if number == 1 else f"all {number} checks hold"
    click.echo(printable(f"completed {made.path}: {checks}"))
    return 0
