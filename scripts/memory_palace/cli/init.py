"""``palace init``: a new palace."""

import shlex
from pathlib import Path

import click

from memory_palace.cli.common import runnable
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable
from memory_palace.files import starter


@click.command(epilog="Example: palace init ~/memory")
@click.argument("directory")
def init(directory: str) -> int:
    """Make a new palace in DIRECTORY: a git repository with the rooms and a starter identity.

    What is there already is left as it is.
    """
    if not directory:
        raise BadInput("DIRECTORY is empty: name a folder")
    made = starter.make(Path(directory))
    for path in made:
        click.echo(f"made {path}")
    if not made:
        click.echo("everything was there already")
    quoted = printable(shlex.quote(directory))
    click.echo(runnable(f'next: `palace --help`; `palace query --root {quoted} "identity"`'))
    return 0
