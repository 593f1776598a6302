"""``palace manifest``: the list of what is indexed."""

import click

from memory_palace.cli.common import report, root_option
from memory_palace.core.problems import printable
from memory_palace.embed import registry
from memory_palace.files import config as configs
from memory_palace.files import roots
from memory_palace.index import run
from memory_palace.index.build import Options


@click.group(epilog="Example: palace manifest sync")
def manifest() -> None:
    """The manifest: one JSON line a file that is indexed."""


@manifest.command(epilog="Example: palace manifest sync")
@click.option("--yes", is_flag=True, help="Go on although many files are gone.")
@root_option
def sync(yes: bool, root: str | None) -> int:
    """Bring manifests/watchdog_manifest_v1.jsonl in line with the notes.

    Every index run does this too. Keywords are refreshed on the way; vectors are left alone.
    """
    place = roots.find(root)
    config = configs.load(place)
    nothing = registry.Choice("none", "none", "")
    done = run.index(place, config, nothing, Options(yes=yes))
    for word, paths in (
        ("added", done.synced.added),
        ("updated", done.synced.updated),
        ("removed", done.synced.removed),
    ):
        for path in paths:
            click.echo(printable(f"{word} {path}"))
    if not done.manifest_written:
        click.echo("in line with the notes")
    return 1 if report(done.problems) else 0
