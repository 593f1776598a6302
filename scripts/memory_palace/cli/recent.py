"""``palace recent``."""

import json

import click

from memory_palace.cli.common import Terminal, count, format_option, moment, root_option, say
from memory_palace.core import dates
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable
from memory_palace.files import roots
from memory_palace.search import recent as recents
from memory_palace.search.query import Query
from memory_palace.search.recent import Recent


@click.command(
    epilog="""\b
Examples:
  palace recent
  palace recent --since 7d --room project_rooms/demo
  palace recent --since yesterday --type session
  palace recent -k 3 --format files"""
)
@click.option("--since", metavar="DATE", help="Only of this time or later: a date, 7d, 24h.")
@click.option("--until", metavar="DATE", help="Only of this time or earlier.")
@click.option("--room", "rooms", multiple=True, metavar="FOLDER", help="Only below palace/FOLDER.")
@click.option(
    "-t", "--type", "types", multiple=True, metavar="TYPE", help="Only notes of this type."
)
@click.option(
    "-k",
    "--top-k",
    type=click.IntRange(1, 10_000),
    default=20,
    show_default=True,
    help="How many notes.",
)
@format_option("text", "jsonl", "files")
@root_option
def recent(
    since: str | None,
    until: str | None,
    rooms: tuple[str, ...],
    types: tuple[str, ...],
    top_k: int,
    shape: str,
    root: str | None,
) -> int:
    """The notes that changed last.

    A note's time is what it says (updated, else created), else its last commit, else that of its
    file. As the files are now: keywords are refreshed first.
    """
    place = roots.find(root)
    asked = Query(
        types=types,
        rooms=rooms,
        since=moment("--since", since),
        until=moment("--until", until, end=True),
        top_k=top_k,
    )
    if asked.since and asked.until and asked.since > asked.until:
        raise BadInput(f"--since {since} is after --until {until}: swap them")
    found = recents.recent(place, asked, Terminal())
    if found.late:
        say(f"notes {found.late}")
    for one in found.notes:
        click.echo(_line(one, shape))
    if not found.notes:
        say(found.nothing)
    elif found.more and shape == "text":
        say(f"{count(found.more, 'older note')} not shown: -k {top_k + found.more} shows all")
    return 0 if found.notes else 1


def _line(one: Recent, shape: str) -> str:
    if shape == "files":
        return printable(one.path)
    if shape == "jsonl":
        return json.dumps(
            {
                "path": one.path,
                "title": one.title,
                "date": dates.stamp(one.date) if one.date else None,
                "source": one.source,
                "type": one.type,
                "priority": one.priority,
                "tags": list(one.tags),
            },
            ensure_ascii=False,
        )
    day = dates.local_day(one.date) if one.date else " " * 10
    return f"{day}  {printable(one.path)}  {printable(one.title)}"
