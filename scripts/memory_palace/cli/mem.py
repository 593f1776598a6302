"""``palace mem``."""

import json
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from memory_palace.cli import mem_output
from memory_palace.cli.common import count, format_option, moment, now, root_option, say
from memory_palace.core import dates
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.problems import printable
from memory_palace.files import roots
from memory_palace.search import recent as recents
from memory_palace.session import mem as mems
from memory_palace.session import mem_around

if TYPE_CHECKING:
    from memory_palace.embed.registry import Choice
    from memory_palace.files.config import Config
    from memory_palace.search.searcher import Searcher

_F = TypeVar("_F", bound=Callable[..., Any])


@click.group(
    epilog="""\b
Examples:
  palace mem search "why did the build fail" --type bugfix --since 7d
  palace mem timeline 3bed715a9f79
  palace mem get 3bed715a9f79 df7e70e50215"""
)
def mem() -> None:
    """Search what happened in sessions: search, then timeline, then get.

    A search costs 50 to 100 tokens a result, with what reading all of it would cost.
    """


@mem.command(
    epilog="""\b
Examples:
  palace mem search "why did the build fail"
  palace mem search "token refresh" --type decision --type bugfix --wing shop
  palace mem search --type decision --since 7d --format jsonl"""
)
@click.argument("words", nargs=-1)
@click.option(
    "-t",
    "--type",
    "types",
    multiple=True,
    metavar="TYPE",
    help="Only of this type: decision, bugfix, feature, refactor, discovery, change, observation, "
    "reflection, summary.",
)
@click.option("--wing", metavar="WING", default="", help="Only of this project's sessions.")
@click.option("--since", metavar="DATE", help="Only of this time or later: a date, 7d, 24h.")
@click.option("--until", metavar="DATE", help="Only of this time or earlier.")
@click.option(
    "--limit", type=click.IntRange(1, 500), default=10, show_default=True, help="How many results."
)
@format_option("text", "jsonl")
@root_option
def search(
    words: tuple[str, ...],
    types: tuple[str, ...],
    wing: str,
    since: str | None,
    until: str | None,
    limit: int,
    shape: str,
    root: str | None,
) -> int:
    """Find what was observed, best first: an id, time, type and title each, and what it costs.

    Exit 1 if nothing matched.
    """
    place = roots.find(root)
    asked = mems.Asked(
        " ".join(words),
        types,
        wing,
        moment("--since", since),
        moment("--until", until, end=True),
        limit,
    )
    mems.check(asked)
    found = _searched(place, asked, now())
    for hit in found.hits:
        click.echo(mem_output.as_json(hit) if shape == "jsonl" else mem_output.as_text(hit))
    for line in found.said:
        say(line)
    if found.more and shape == "text":
        say(f"{count(found.more, 'more result')}: --limit {limit + found.more} shows them")
    return 0 if found.hits else 1


def _searched(root: Path, asked: mems.Asked, at: datetime) -> mems.Result:
    from memory_palace.serve.asking import Asker

    try:
        asker = Asker(root, (), bool(asked.text.strip()), _opened)
    except Missing as missing:
        found = mems.search(root, asked, at, None)
        if not found.said:
            found.said.append(str(missing))
        return found
    with asker:
        say(asker.embedder)
        found = mems.search(root, asked, at, lambda query: asker.ask(query, at))
        for line in asker.notes:
            say(line)
    return found


def _opened(root: Path, config: "Config", choice: "Choice") -> "Searcher":
    """The palace's searcher. Raises :class:`Missing` where there is no index: none is made."""
    if config.store == "milvus":
        from memory_palace.search.remote import RemoteSearcher

        return RemoteSearcher(root, config, choice)
    from memory_palace.search.searcher import Searcher

    return Searcher(root, config, choice)


@mem.command(
    epilog="""\b
Examples:
  palace mem timeline 3bed715a9f79
  palace mem timeline 2026-11-29T14:03:00Z --before 10 --after 0 --wing shop"""
)
@click.argument("anchor")
@click.option(
    "--before", type=click.IntRange(0, 1_000), default=5, show_default=True, help="How many before."
)
@click.option(
    "--after", type=click.IntRange(0, 1_000), default=5, show_default=True, help="How many after."
)
@click.option("--wing", metavar="WING", default="", help="Of this project [the anchor's own].")
@click.option("--all", "every", is_flag=True, help="Of all projects.")
@format_option("text", "jsonl")
@root_option
def timeline(
    anchor: str, before: int, after: int, wing: str, every: bool, shape: str, root: str | None
) -> int:
    """What was observed around ANCHOR, an id or a time, in all sessions of its project.

    Exit 1 if there is nothing.
    """
    if wing and every:
        raise BadInput("--wing and --all: leave one out")
    ago = recents.moment(anchor, now())
    anchor = dates.stamp(ago) if ago else anchor
    found = mem_around.timeline(roots.find(root), anchor, before, after, wing, every)
    for one in found.records:
        if shape == "jsonl":
            click.echo(json.dumps(mem_output.as_dict(one), ensure_ascii=False))
        else:
            mark = ">" if one.record.id == found.anchor else " "
            click.echo(f"{mark} {mem_output.line(one)}")
    if not found.records:
        say(f"nothing was observed{f' in {found.wing}' if found.wing else ''} yet")
    return 0 if found.records else 1


@mem.command(epilog="Example: palace mem get 3bed715a9f79 df7e70e50215")
@click.argument("ids", nargs=-1, required=True, metavar="ID...")
@format_option("text", "jsonl")
@root_option
def get(ids: tuple[str, ...], shape: str, root: str | None) -> int:
    """Records in full, with what each rests on: `palace recall ID` gives that word for word.

    Exit 1 if one is not known.
    """
    found, missing = mem_around.get(roots.find(root), ids)
    for number, one in enumerate(found):
        if shape == "jsonl":
            click.echo(json.dumps(mem_output.whole_as_dict(one), ensure_ascii=False))
        else:
            click.echo(("\n" if number else "") + mem_output.whole(one))
    for name in missing:
        say(f"no ledger has {printable(name)}: `palace mem search` finds records by words")
    return 1 if missing else 0
