"""``palace serve``."""

import time
from pathlib import Path

import click

from memory_palace.cli.common import root_option, runnable, say
from memory_palace.core.errors import BadInput, Missing, Refused
from memory_palace.core.problems import printable
from memory_palace.files import roots
from memory_palace.serve import client, place, process, start

WAIT_SECONDS = 20.0


@click.command(
    epilog="""\b
Examples:
  palace serve                # keep model and index in memory, in the background
  palace serve --status
  palace serve --stop"""
)
@click.option(
    "--idle",
    metavar="MINUTES",
    type=click.FloatRange(0.01, 100_000),
    default=start.IDLE_MINUTES,
    help="End after so long without a question [30].",
)
@click.option("--status", is_flag=True, help="Say whether one runs, and how it is.")
@click.option("--stop", is_flag=True, help="End the one that runs.")
@click.option("--foreground", is_flag=True, help="Serve in this process, until Control-C.")
@root_option
def serve(idle: float, status: bool, stop: bool, foreground: bool, root: str | None) -> int:
    """Keep model and index in memory, so that questions are answered at once."""
    if status + stop + foreground > 1:
        raise BadInput("--status, --stop and --foreground: give one of them")
    where = roots.find(root)
    if status:
        return _status(where)
    if stop:
        ended = process.stop(where)
        click.echo("ended" if ended else "no server runs")
        return 0
    _look_for_a_use(where)
    if foreground:
        process.serve(where, idle, say)
        return 0
    return _start(where, idle)


def _look_for_a_use(root: Path) -> None:
    """Raises :class:`Refused` where questions are answered from Milvus."""
    from memory_palace.files import config as configs  # not for --status and --stop

    if configs.load(root).store == "milvus":
        raise Refused(
            "with index.store milvus a server has nothing to keep: just run `palace query`"
        )


def _start(root: Path, idle: float) -> int:
    if process.is_running(root):
        return _status(root)
    start.in_background(root, idle, by_hand=True)
    end = time.monotonic() + WAIT_SECONDS
    while time.monotonic() < end:
        found = _found(root)
        if found:
            return _tell(found)
        time.sleep(0.05)
    raise Missing(f"the server did not start: see {place.folder(root) / place.LOG}")


def _found(root: Path) -> client.Status | None:
    where = place.address(root)
    if where is None:
        return None
    try:
        with client.Client(root, where) as connection:
            return connection.status()
    except client.Gone:
        return None


def _status(root: Path) -> int:
    found = _found(root)
    if found:
        return _tell(found)
    if process.is_running(root):
        click.echo(runnable("a server runs and does not answer: `palace serve --stop` ends it"))
    else:
        click.echo("no server runs")
    return 1


def _tell(found: client.Status) -> int:
    lines = [
        f"running: process {found.pid}, toolkit {found.version}, protocol {found.protocol}",
        f"root: {found.root}",
        f"state: {found.state}",
        f"embedder: {found.embedder.removeprefix('embedder: ') or 'none open'}",
        f"index: generation {found.generation or 'none'}",
        f"questions: {found.questions}",
        f"idle: {found.idle_seconds / 60:.1f} of {found.idle_limit_seconds / 60:g} minutes",
    ]
    other = client.unlike(found)
    if other:
        lines.append(f"another {other} than here: commands here answer by themselves")
    for line in lines:
        click.echo(runnable(printable(line)))
    return 0
