"""``palace archive``."""

import json
from collections.abc import Sequence
from dataclasses import replace

import click

from memory_palace.cli.common import (
    confirmed,
    count,
    format_option,
    now,
    reason_option,
    report,
    root_option,
    say,
    yes_option,
)
from memory_palace.core import dates
from memory_palace.core.archiving import Planned
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable
from memory_palace.files import roots

_MOST_TEXT = 40


@click.command(
    epilog="""\b
Examples:
  palace archive                       what would move, and why; asks first
  palace archive --yes                 move it
  palace archive --at 2027-03-01       what would move by then
  palace archive palace/project_rooms/demo/old-plan.md --yes --reason 'replaced'"""
)
@click.argument("names", metavar="[PATH|ID]...", nargs=-1)
@click.option("--dry-run", is_flag=True, help="Only show the plan; never ask.")
@click.option("--at", metavar="DATE", help="The plan as it would be on that day; moves nothing.")
@yes_option
@format_option("text", "jsonl")
@reason_option
@root_option
def archive(
    names: tuple[str, ...],
    dry_run: bool,
    at: str | None,
    yes: bool,
    shape: str,
    reason: str,
    root: str | None,
) -> int:
    """Move what went cold to archive_basement/.

    That is topics and memories that nothing reinforced for two half-lives, and forgotten ones; or
    the notes, topic files and memories that are named. Nothing is deleted: `palace restore` puts
    it back.
    """
    if at and yes:
        raise BadInput("--at only shows the plan of another day: leave out --yes, or --at")
    if dry_run and yes:
        raise BadInput("--dry-run moves nothing: leave out --yes, or --dry-run")
    moment = now()
    day = dates.end_of(at) if at else None
    if at and day is None:
        raise BadInput(f"--at is {at!r}: write a date such as {dates.FORMS}")
    place = roots.find(root)

    from memory_palace.memory import archive as archives
    from memory_palace.memory import pen
    from memory_palace.memory import state as states

    shown: tuple[Planned, ...] | None = None
    if not yes:
        state = states.load(place, moment, day)
        todo = archives.plan(place, state, moment, day, asked=names, reason=reason)
        _print(todo.items, shape, moved=False)
        failed = report(todo.left_out, every=True)
        if not todo.items or dry_run or at:
            return 1 if failed else 0
        for sweep in todo.sweeps:
            say(f"this takes {sweep}: look twice", "yellow")
        if not confirmed(False, f"Archive {_counted(todo.items)}?"):
            say("nothing was moved: `palace archive --yes` does it")
            return 1 if failed else 0
        shown = todo.items
    with pen.begin(place, moment, "palace archive", reason, say) as held:
        state = states.load(place, moment)
        todo = archives.plan(place, state, moment, asked=names, reason=reason)
        if shown is not None:  # what a person said yes to, and nothing that came up since
            agreed = {(item.id, item.source, item.target) for item in shown}
            kept = [i for i in todo.items if (i.id, i.source, i.target) in agreed]
            todo = replace(todo, items=tuple(kept))
        done = archives.run(held, todo, yes=True)
    _print(done.items, shape, moved=True)
    return 1 if report(done.problems, every=True) else 0


def _counted(items: Sequence[Planned]) -> str:
    kinds = {"topic": "topic file", "entry": "single memory", "note": "note"}
    many = {"single memory": "single memories"}
    parts = []
    for kind, name in kinds.items():
        number = sum(item.kind == kind for item in items)
        if number:
            parts.append(f"{number} {many.get(name, name + 's')}" if number > 1 else f"1 {name}")
    return ", ".join(parts)


def _print(items: Sequence[Planned], shape: str, moved: bool) -> None:
    if shape == "jsonl":
        for item in items:
            click.echo(json.dumps(_record(item, moved), ensure_ascii=False))
        return
    if not items:
        click.echo("nothing was moved" if moved else "nothing is cold")
        return
    rows = [("kind", "what", "age", "strength", "why"), *(_row(item) for item in items)]
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    for row, one in zip(rows, (None, *items), strict=True):
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
        click.echo(printable("  ".join(cells).rstrip()))
        if one is not None:
            click.echo(printable(f"       {one.source} -> {one.target}"))
    done = "moved" if moved else "would move"
    back = "; `palace restore PATH|ID` puts one back" if moved else ""
    click.echo(f"{_counted(items)} {done}{back}")


def _row(item: Planned) -> tuple[str, ...]:
    if item.kind == "entry":
        text = item.entries[0].text
        short = text if len(text) <= _MOST_TEXT else text[: _MOST_TEXT - 1] + "…"
        what = f"^{item.id} {short}"
    else:
        held = f" ({count(len(item.entries), 'entry')})"
        what = item.source.rsplit("/", 1)[-1] + (held if item.kind == "topic" else "")
    age = "" if item.days is None else f"{item.days:.0f} d"
    strength = "" if item.strength is None else f"{item.strength:.2f}"
    return item.kind, what, age, strength, item.reason


def _record(item: Planned, moved: bool) -> dict[str, object]:
    return {
        "kind": item.kind,
        "id": item.id,
        "from": item.source,
        "to": item.target,
        "reason": item.reason,
        "days": None if item.days is None else round(item.days, 1),
        "strength": None if item.strength is None else round(item.strength, 4),
        "entries": [memory.id for memory in item.entries],
        "moved": moved,
    }
