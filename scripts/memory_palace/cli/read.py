"""``palace read``."""

import json
import re

import click

from memory_palace.cli.common import Terminal, count, format_option, root_option
from memory_palace.core.problems import printable
from memory_palace.files import roots
from memory_palace.search import reading
from memory_palace.search.reading import Passage

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@click.command(
    epilog="""\b
Examples:
  palace read palace/topics/lessons.md
  palace read topics/lessons:7-9
  palace read cold-zone --section 'How a note gets there'
  palace read '#3f9ac2d41b7e'          a hit of `palace query`
  palace read ^920258aa6398            a memory, and the lines around it
  palace read --format json cold-zone  with the digest of the file"""
)
@click.argument("name", metavar="PATH|NAME|ID[:START[-END]]")
@click.option("--section", metavar="HEADING", default="", help="Only this section: B, or A > B.")
@click.option(
    "--all",
    "everything",
    is_flag=True,
    help=f"Also beyond {reading.MOST_LINES:,} lines and {reading.MOST_CHARACTERS:,} characters.",
)
@format_option("text", "json")
@root_option
def read(name: str, section: str, everything: bool, shape: str, root: str | None) -> int:
    """Print a note, or a part of it, with line numbers.

    A path may be written without palace/ and .md, and a note named as a link names it.
    """
    place = roots.find(root)
    lines = None if everything else reading.MOST_LINES
    characters = None if everything else reading.MOST_CHARACTERS
    found = reading.read(place, name, section, lines, characters, Terminal())
    if shape == "json":
        click.echo(json.dumps(_as_dict(found), ensure_ascii=False))
        return 0
    archived = ", archived" if found.archived else ""
    lines_shown = f"{found.start}-{found.end}" if found.lines else "0"
    click.echo(
        f"{printable(found.path)}:{lines_shown}  {printable(found.heading or found.title)}  "
        f"({count(found.total, 'line')}{archived})"
    )
    width = len(str(found.end))
    for number, line in enumerate(found.lines, start=found.start):
        click.echo(f"{number:>{width}}  {_shown(line)}" if line else f"{number:>{width}}")
    if found.cut:
        click.echo(f"… {found.cut:,} more characters in line {found.start}: --all")
    if found.left:
        click.echo(f"… {count(found.left, 'more line')}: {printable(found.path)}:{_rest(found)}")
    return 0


def _rest(found: Passage) -> str:
    return f"{found.end + 1}-{found.last}"


def _shown(line: str) -> str:
    """``line`` as it is, but for what a terminal would obey."""
    return _CONTROL.sub(lambda found: f"\\x{ord(found[0]):02x}", line)


def _as_dict(found: Passage) -> dict[str, object]:
    return {
        "path": found.path,
        "title": found.title,
        "heading": found.heading,
        "start": found.start,
        "end": found.end,
        "total": found.total,
        "left": found.left,
        "cut": found.cut,
        "archived": found.archived,
        "digest": found.digest,
        "text": "\n".join(found.lines),
    }
