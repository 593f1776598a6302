"""``palace kg extract``."""

import json
import sys
from pathlib import Path

import click

from memory_palace.cli.common import count, format_option, root_option, say
from memory_palace.core import extract as rules
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable
from memory_palace.files import roots

MOST_BYTES = 10 * 1024 * 1024


@click.command(
    epilog="""\b
Examples:
  palace kg extract palace/project_rooms/demo/design.md
  palace kg extract notes.md --least 0.7
  git log -5 --format=%B | palace kg extract - --subject demo"""
)
@click.argument("path", metavar="PATH|-")
@click.option(
    "--subject", metavar="NAME", default="", help="What the text is about [project, else title]."
)
@click.option(
    "--least",
    type=click.FloatRange(0, 1),
    default=rules.LEAST,
    show_default=True,
    metavar="0..1",
    help="Only proposals of this confidence or more.",
)
@format_option("text", "jsonl")
@root_option
def extract(path: str, subject: str, least: float, shape: str, root: str | None) -> int:
    """Propose facts that a text states; nothing is written.

    By rules, for English: metadata, sentences such as "X uses Y", tables, and Key: value lines.
    Each comes with its line, a confidence, and the command that adds it.
    """
    place = roots.find(root)
    name, text = _text(place, path)
    every = rules.extract(name, text, subject.strip())
    known = [one for one in every if one.confidence >= least]
    for one in known:
        command = rules.command(one, name)
        if shape == "jsonl":
            click.echo(json.dumps(rules.as_dict(one, name), ensure_ascii=False))
        else:
            click.echo(
                f"{one.line}: {printable(rules.sentence(one))}  "
                f"({one.rule}, confidence {one.confidence:g})\n   {printable(command)}"
            )
    if not known:
        where = printable(name or "the text")
        if every:
            most = max(one.confidence for one in every)
            few = count(len(every), "proposal")
            say(f"{where}: {few}, none of --least {least:g}; the surest has {most:g}")
        else:
            say(f"{where} states nothing that a rule knows")
    elif sys.stdout.isatty():
        say(f"{count(len(known), 'proposal')}: nothing was written")
    return 0 if known else 1


def _text(root: Path, path: str) -> tuple[str, str]:
    """The file's path as it is told (relative to the palace where it is inside), and its text."""
    if path == "-":
        if sys.stdin is None:
            raise BadInput("stdin is closed: name a file")
        return "", _decoded("stdin", sys.stdin.buffer.read(MOST_BYTES + 1))
    file = _file(root, path)
    try:
        if not file.is_file():
            raise BadInput(f"{path} is no file: give the path of a note or a text, or - for stdin")
        with file.open("rb") as opened:
            data = opened.read(MOST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "no path"
        raise BadInput(f"{path} cannot be read ({why}): name a text file") from None
    inside = file.resolve().is_relative_to(root)
    name = file.resolve().relative_to(root).as_posix() if inside else path
    return name, _decoded(path, data)


def _file(root: Path, path: str) -> Path:
    """As it is named from here, else from the palace's root."""
    try:
        return Path(path) if Path(path).exists() else root / path
    except (OSError, ValueError):
        return Path(path)


def _decoded(name: str, data: bytes) -> str:
    if len(data) > MOST_BYTES:
        raise BadInput(f"{name} is over {MOST_BYTES >> 20} MB: give it in parts")
    if b"\0" in data:
        raise BadInput(f"{name} is binary (a NUL byte): name a text file")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise BadInput(f"{name}:{line} is not UTF-8: save it as UTF-8") from None
