"""``palace links``."""

import json
from dataclasses import asdict

import click

from memory_palace.cli.common import Terminal, format_option, root_option, say
from memory_palace.core.problems import printable
from memory_palace.files import roots
from memory_palace.search import linked
from memory_palace.search.linked import Broken, Linked


@click.command(
    epilog="""\b
Examples:
  palace links palace/topics/lessons.md
  palace links cold-zone
  palace links --format json cold-zone | jq '.back[].path'"""
)
@click.argument("name", metavar="PATH|NAME|ID")
@format_option("text", "json")
@root_option
def links(name: str, shape: str, root: str | None) -> int:
    """The links of a note: out, back, broken.

    As the files are now: keywords and links are refreshed first, vectors are left for
    `palace index`.
    """
    place = roots.find(root)
    found = linked.links(place, name, Terminal())
    if found.late:
        say(f"links {found.late}")
    if shape == "json":
        data = asdict(found)
        del data["late"]
        click.echo(json.dumps(data, ensure_ascii=False))
        return 0
    archived = "  (archived)" if found.archived else ""
    click.echo(f"{printable(found.path)}  {printable(found.title)}{archived}")
    for one in found.out:
        what = "" if one.status == "ok" else f"  ({_STATUS[one.status]})"
        click.echo(f"-> {_place(one)}  line {one.line}: {printable(one.text)}{what}")
    for one in found.back:
        what = "" if one.status == "ok" else f"  ({printable(one.text)} broken)"
        click.echo(f"<- {printable(one.path)}:{one.line}  {printable(one.title)}{what}")
    for bad in found.broken:
        click.echo(f"!! line {bad.line}: {printable(bad.text)} {_why(bad)}")
    if not (found.out or found.back or found.broken):
        say("no links: nothing leads from here or to here")
    return 0


_STATUS = {"archived": "archived", "file": "a file, no note"}


def _place(one: Linked) -> str:
    title = f"  {printable(one.title)}" if one.title else ""
    return f"{printable(one.path)}{title}"


def _why(bad: Broken) -> str:
    near = f"; did you mean {' or '.join(map(printable, bad.near))}?" if bad.near else ""
    return printable(f"{bad.status}: {bad.why}") + near
