"""``palace init``: a new palace."""

from pathlib import Path

import click

from memory_palace.files import starter


@click.command(epilog="Example: palace init ~/memory")
@click.argument("directory", type=click.Path(path_type=Path))
def init(directory: Path) -> int:
    """Make a new palace in DIRECTORY: a git repository with the rooms and a starter identity.

    What is there already is left as it is.
    """
    made = starter.make(directory)
    for path in made:
        click.echo(f"made {path}")
    if not made:
        click.echo("everything was there already")
    click.echo(f'next: palace --help; palace query --root {directory} "identity"')
    return 0
