"""``palace topics``."""

import json
from datetime import datetime
from pathlib import Path

import click

from memory_palace.cli.common import count, format_option, now, report, root_option, say
from memory_palace.core import dates
from memory_palace.core.errors import BadInput
from memory_palace.core.memories import Memory
from memory_palace.core.problems import printable
from memory_palace.core.topics import CATEGORIES
from memory_palace.files import roots

_BAR = 16
_FULL = 2.0
"""The strength that fills a bar: explicit, with evidence 7, today."""
_COLOURS = {
    "active": "green",
    "provisional": None,
    "candidate": "yellow",
    "dropped": "bright_black",
}


@click.command(
    epilog="""\b
Examples:
  palace topics --category lesson
  palace topics --at 2027-03-01       how they would stand then
  palace topics --plot decay.svg"""
)
@click.option("--category", type=click.Choice(tuple(CATEGORIES)), multiple=True, help="Only these.")
@click.option("--archived", is_flag=True, help="The archived ones too.")
@click.option("--at", metavar="DATE", help="As they stood, or would stand, then.")
@click.option("--plot", metavar="FILE", help="Draw how they decay, as .png or .svg.")
@format_option("text", "jsonl")
@root_option
def topics(
    category: tuple[str, ...],
    archived: bool,
    at: str | None,
    plot: str | None,
    shape: str,
    root: str | None,
) -> int:
    """The memories of one line, with how strong each is.

    Strength is cue × exp(-days / half-life) × ln(1 + evidence), from the events and the clock.
    """
    from memory_palace.memory import state

    moment = _moment(at)
    if plot and Path(plot).suffix.lower() not in (".png", ".svg"):
        raise BadInput(f"--plot {plot}: name a file that ends in .png or .svg")
    found = state.load(roots.find(root), now(), moment)
    shown = [
        memory
        for memory in found.memories
        if (archived or not memory.archived) and (not category or memory.category in category)
    ]
    order = list(CATEGORIES)
    shown.sort(key=lambda m: (m.archived, order.index(m.category), -m.strength, m.id))
    if plot:
        from memory_palace.cli import plotting

        plotting.draw([memory for memory in shown if not memory.archived], found.at, Path(plot))
        say(f"drawn: {plot}")
    elif shape == "jsonl":
        for memory in shown:
            click.echo(json.dumps(as_json(memory), ensure_ascii=False))
    else:
        _table(shown, found.at)
    failed = report(found.problems)
    if not shown and not failed:
        say('no memories: `palace remember "…" --category lesson` makes one')
    return 1 if failed or not shown else 0


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    moment = dates.end_of(text)
    if moment is None:
        raise BadInput(f"--at {text!r}: write {dates.FORMS}")
    return moment


def as_json(memory: Memory) -> dict[str, object]:
    """What ``--format jsonl`` says of a memory."""
    return {
        "id": memory.id,
        "category": memory.category,
        "text": memory.text,
        "path": memory.path,
        "line": memory.line,
        "cue": memory.cue,
        "evidence": memory.evidence,
        "strength": round(memory.strength, 6),
        "lifecycle": memory.lifecycle,
        "pinned": memory.pinned,
        "enforced": memory.enforced,
        "created": dates.stamp(memory.created),
        "reinforced": dates.stamp(memory.reinforced),
        "archived": memory.archived,
    }


def _table(memories: list[Memory], at: datetime) -> None:
    category = ""
    for memory in memories:
        heading = CATEGORIES[memory.category].heading
        heading += " (archived)" if memory.archived else ""
        if heading != category:
            category = heading
            half_life = CATEGORIES[memory.category].half_life
            click.echo(f"{heading}, half-life {count(int(half_life), 'day')}")
        full = min(round(_BAR * memory.strength / _FULL), _BAR)
        bar = click.style("█" * full, fg=_COLOURS[memory.lifecycle]) + "·" * (_BAR - full)
        marks = "".join(f" *({mark})*" for mark in ("pinned", "enforced") if getattr(memory, mark))
        click.echo(
            f"  {bar} {memory.strength:4.2f} {memory.lifecycle:<11} "
            f"{memory.evidence:>3}x {_age(memory.days(at)):>6}  "
            f"{printable(memory.text)}{marks} ^{memory.id}"
        )


def _age(days: float) -> str:
    if days < 1:
        return "today" if days * 24 < 1 else f"{days * 24:.0f} h"
    return f"{days:.0f} d"
