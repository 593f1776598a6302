"""``palace import``."""

import json
import shlex
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_palace.cli.common import (
    NamedPath,
    confirmed,
    count,
    format_option,
    now,
    reason_option,
    root_option,
    say,
    yes_option,
)
from memory_palace.core.errors import BadInput, Changed
from memory_palace.core.imported import KINDS
from memory_palace.core.problems import printable
from memory_palace.files import roots

if TYPE_CHECKING:
    from memory_palace.memory.imports.facts import Written
    from memory_palace.memory.imports.run import Imported

_MOST_ODD = 20


@click.command(
    "import",
    epilog="""\b
Examples:
  palace import claude-memory ~/.claude              what would come in; asks first
  palace import basic-memory ~/basic-memory --yes    bring it in
  palace import mempalace ~/.mempalace --dry-run""",
)
@click.argument("kind", metavar="KIND", type=click.Choice(KINDS))
@click.argument("path", type=NamedPath())
@click.option("--dry-run", is_flag=True, help="Only show the plan; never ask.")
@yes_option
@format_option("text", "jsonl")
@reason_option
@root_option
def import_(
    kind: str, path: Path, dry_run: bool, yes: bool, shape: str, reason: str, root: str | None
) -> int:
    """Bring in what another tool remembers, as notes that say where they are from.

    KIND is claude-memory, codex-memories, openclaw, basic-memory or mempalace, PATH its folder or a
    file of it, which is only read. Notes go to project_rooms/imports/KIND;
    importing again brings what is new or changed. A note that a person edited stays as it is.
    """
    if dry_run and yes:
        raise BadInput("--dry-run writes nothing: leave out --yes, or --dry-run")
    place, moment = roots.find(root), now()

    from memory_palace.memory.imports import facts, run

    if not yes:
        done = run.run(place, moment, kind, path, write=False)
        told = facts.plan(place, done.triples) if done.triples else None
        new = sum(item.what in ("new", "changed") for item in done.items) + (
            told.new if told else 0
        )
        _print(done, told, shape, written=False)
        if dry_run or not new:
            return _code(done, told)
        if not confirmed(False, f"Import {count(new, 'piece')}?"):
            again = f"palace import {kind} {shlex.quote(str(path))} --yes"
            say(f"nothing was written: `{again}` does it")
            return _code(done, told)
    done = run.run(place, moment, kind, path, write=True, reason=reason, say=say)
    told = None
    if done.triples:
        told = facts.write(place, moment, done.triples, run.COMMAND, reason, say)
    _print(done, told, shape, written=True)
    if done.changed:
        raise Changed("notes changed underneath: run this again")
    return _code(done, told)


def _code(done: "Imported", told: "Written | None") -> int:
    return 1 if done.faults or not (done.items or told) else 0


def _print(done: "Imported", told: "Written | None", shape: str, written: bool) -> None:
    for item in done.items:
        if shape == "jsonl":
            row = {**item._asdict(), "said": list(item.said), "written": written}
            click.echo(json.dumps(row, ensure_ascii=False))
        elif item.what != "unchanged":
            click.echo(printable(f"{item.what:9}  {item.original} -> {item.path}"))
            if item.what != "failed":
                for line in item.said:
                    click.echo(printable(f"           {line}"))
    if not done.items and not told:
        say("nothing to import: PATH is the tool's folder, or a file of it")
    elif shape == "text":
        click.echo(printable(_summary(done, told, written)))
    elif told:
        row = {"facts": told.new, "there": told.there, "written": written}
        click.echo(json.dumps(row, ensure_ascii=False))
    odd = [*done.odd, *(told.odd if told else ())]
    if done.others:
        say(f"passed over: {_numbers(done.others)}")
    for line in odd[:_MOST_ODD]:
        say(f"not understood: {line}", "yellow")
    if len(odd) > _MOST_ODD:
        say(f"not understood: {len(odd) - _MOST_ODD} more")
    for fault in done.faults:
        say(fault, "red")


def _summary(done: "Imported", told: "Written | None", written: bool) -> str:
    kinds = Counter(item.what for item in done.items)
    words = ("new", "changed", "unchanged", "edited", "archived", "failed")
    parts = [f"{kinds[word]} {word}" for word in words if kinds[word]]
    line = f"{count(len(done.items), 'note')}: {', '.join(parts)}" if done.items else "no notes"
    if told:
        line += f"; {count(told.new, 'fact')} new, {told.there} there already"
    things = ", ".join(count(number, thing) for thing, number in done.counts.items() if number)
    found = f" (found: {things})" if things else ""
    return f"{line}{found}" + ("" if written else "; nothing is written yet")


def _numbers(numbers: Mapping[str, int]) -> str:
    named = sorted(numbers.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{number} {why}" for why, number in named if number)
