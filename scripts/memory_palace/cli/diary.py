"""``palace diary``."""

import json
import shlex
import sys
from typing import Any

import click

from memory_palace.cli.common import (
    count,
    format_option,
    moment,
    now,
    reason_option,
    report,
    root_option,
    say,
)
from memory_palace.core import dates
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable
from memory_palace.files import roots

_SHOWN = 10
_MOST = 1000


@click.group(
    epilog="""\b
Examples:
  palace diary write "The parser is done; what is left is the cache" --topic parser
  palace diary read --last 3
  palace diary read --agent claude-code --since 2026-11-28"""
)
def diary() -> None:
    """An agent's diary: a file a day, written and read.

    palace/chambers/AGENT/diary/YYYY-MM-DD.md, days and times in UTC. Claude Code, claude_code
    and claude-code are one agent.
    """


@diary.command(
    epilog="""\b
Examples:
  palace diary write "The parser is done; what is left is the cache" --topic parser
  palace diary write - --agent pi < entry.md"""
)
@click.argument("text")
@click.option("--agent", metavar="NAME", default="", help="Whose diary [the writer's].")
@click.option("--topic", metavar="TEXT", default="", help="What it is about: joins the heading.")
@reason_option
@root_option
def write(text: str, agent: str, topic: str, reason: str, root: str | None) -> int:
    """Add an entry to today's file; - reads it from stdin.

    Private spans and secrets are taken out first. The same text within a minute is one entry.
    """
    from memory_palace.memory import diary as diaries

    place = roots.find(root)
    done = diaries.write(place, now(), _text(text), agent, topic, reason, say)
    for line in done.said:
        say(line)
    where = f"{done.path} {done.entry.at.strftime('%H:%M')}"
    click.echo(printable(f"wrote {where}" if done.new else f"there already: {where}"))
    return 0


@diary.command(
    epilog="""\b
Examples:
  palace diary read --last 3
  palace diary read --agent claude-code --since 2026-11-28 --until 2026-11-29"""
)
@click.option("--agent", metavar="NAME", default="", help="Whose diary [the reader's].")
@click.option(
    "--last",
    metavar="N",
    type=click.IntRange(1, _MOST),
    default=_SHOWN,
    show_default=True,
    help="How many entries at most: the latest.",
)
@click.option("--since", metavar="DATE", help="Only of this time or later: a date, 7d, 24h.")
@click.option("--until", metavar="DATE", help="Only of this time or earlier; a day is all of it.")
@format_option("text", "jsonl")
@root_option
def read(
    agent: str, last: int, since: str | None, until: str | None, shape: str, root: str | None
) -> int:
    """The latest entries of a diary, oldest first."""
    from memory_palace.memory import diary as diaries

    place = roots.find(root)
    whose = agent or diaries.own(place)
    start = moment("--since", since)
    end = moment("--until", until, end=True)
    if start and end and start > end:
        raise BadInput("--since is after --until: swap them")
    found = diaries.find(place, whose, start, end, last)
    for page in found.pages:
        if shape == "jsonl":
            click.echo(json.dumps(_as_dict(page), ensure_ascii=False))
        else:
            click.echo("\n".join(_as_text(page)))
    if found.more:
        more = count(found.more, "earlier entry")
        whom = f" --agent {shlex.quote(agent)}" if agent else ""
        say(f"{more}: `palace diary read{whom} --last {min(found.more + last, _MOST)}`")
    faulty = report(found.problems)
    if not found.pages:
        say(f"{printable(whose)} wrote nothing in that time")
    return 1 if faulty or not found.pages else 0


def _text(given: str) -> str:
    if given != "-":
        return given
    if sys.stdin is None:
        raise BadInput("stdin is closed: give the text, or write it to stdin")
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadInput(f"stdin is not UTF-8 (byte {error.start + 1}): write it as UTF-8") from None


def _as_text(page: Any) -> list[str]:
    one = page.entry
    topic = f"  {one.topic}" if one.topic else ""
    by = f"  {one.by}" if one.by else ""
    head = f"{one.at.strftime('%Y-%m-%d %H:%M')}{topic}{by}  {page.path}:{one.start}-{one.end}"
    said = [printable(line.expandtabs(4)) for line in one.text.split("\n")]
    return [printable(head), *(f"  {line}" if line else "" for line in said)]


def _as_dict(page: Any) -> dict[str, Any]:
    """An entry with the keys that ``--format jsonl`` promises."""
    one = page.entry
    return {
        "at": dates.stamp(one.at),
        "agent": page.agent,
        "by": one.by,
        "topic": one.topic,
        "text": one.text,
        "path": page.path,
        "start": one.start,
        "end": one.end,
    }
