"""``palace context``."""

import json
from math import isnan
from pathlib import Path
from typing import Any

import click

from memory_palace.cli.common import count, format_option, now, root_option, say
from memory_palace.core import dates, ledger_chunks, recent_work
from memory_palace.core.errors import BadInput
from memory_palace.core.recent_work import Session
from memory_palace.files import roots
from memory_palace.session import context as contexts
from memory_palace.session import wings


@click.command(
    epilog="""\b
Examples:
  palace context
  palace context --wing shop --hours 24
  palace context --budget 2000 --format jsonl"""
)
@click.option("--wing", metavar="WING", help="The project [that of the repository here, else all].")
@click.option(
    "--hours",
    type=click.FloatRange(0, 87_600, min_open=True),
    default=recent_work.HOURS,
    show_default=True,
    help="How far back.",
)
@click.option(
    "--budget",
    type=click.IntRange(1, 1_000_000),
    default=recent_work.BUDGET,
    show_default=True,
    help="Tokens of all of it (4 characters each).",
)
@format_option("text", "jsonl")
@root_option
def context(wing: str | None, hours: float, budget: int, shape: str, root: str | None) -> int:
    """What was done on a project in the last days, by session.

    Whole sessions, the newest first, as many as the budget has room for; what does not fit is
    counted. Exit 1 if there is nothing.
    """
    if isnan(hours):
        raise BadInput("--hours 'nan' is no number: write one from 0 to 87600")
    place = roots.find(root)
    name = wings.repository(Path.cwd()) if wing is None else wing
    found = contexts.recent(place, now(), name, hours)
    where = f" in {name}" if name else ""
    if not found.sessions:
        every = ": `--wing ''` shows all projects" if name else ""
        say(f"nothing was observed{where} in the last {hours:g} h{every}")
        if found.unread:
            say(f"{count(found.unread, 'ledger')} could not be read: `palace ledger check`")
        return 1
    title = contexts.title(name, hours)
    shown = recent_work.compose(found.sessions, title, budget, found.unread)
    if shape == "jsonl":
        for session in shown.sessions:
            click.echo(json.dumps(_as_dict(session), ensure_ascii=False))
    elif shown.text:
        click.echo(shown.text)
    if not shown.sessions:
        say(f"no session fits {count(budget, 'token')}: give a larger --budget")
    return 0 if shown.sessions else 1


def _as_dict(session: Session) -> dict[str, Any]:
    return {
        "session": session.name,
        "agent": session.agent,
        "wing": session.wing,
        "path": session.path,
        "summary": dict(session.summary),
        "records": [
            {
                "id": one.id,
                "time": dates.stamp(one.at),
                "type": one.type,
                "title": ledger_chunks.title(one),
                "read": one.read,
                "work": one.work,
            }
            for one in session.records
        ],
    }
