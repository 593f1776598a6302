"""``palace index``, also ``scripts/build_index_bge.py``."""

import click

from memory_palace.cli.common import Terminal, count, only_asks, report, root_option, runnable, say
from memory_palace.core.errors import Missing
from memory_palace.core.links import TREE
from memory_palace.embed import registry
from memory_palace.files import config as configs
from memory_palace.files import roots
from memory_palace.index import run
from memory_palace.index.build import Indexed, Options


@click.command(
    epilog="""\b
Examples:
  palace index             what changed since the last run
  palace index --check     exit 1 if the index is stale; writes nothing
  palace index --force     everything anew"""
)
@click.option("--force", is_flag=True, help="Read and embed everything anew.")
@click.option("--check", is_flag=True, help="Compare without writing; exit 1 if stale.")
@click.option("--verify", is_flag=True, help="Hash every file, also where size and time agree.")
@click.option("--yes", is_flag=True, help="Go on although many files are gone.")
@click.option("--no-sync", is_flag=True, help="Leave the manifest as it is.")
@root_option
def index(
    force: bool, check: bool, verify: bool, yes: bool, no_sync: bool, root: str | None
) -> int:
    """Bring the index up to date with the notes. Never writes to a note.

    Keywords come first and are searchable at once; vectors follow, and an interrupted run goes
    on where it stopped.
    """
    place = roots.find(root)
    config = configs.load(place)
    if only_asks(place):
        raise Missing(
            f"this machine only asks: index.store is milvus and {place} has no {TREE}: "
            f"run `palace index` where the notes are, or restore {TREE} if they belong here"
        )
    choice = registry.choose(config)
    say(str(choice))
    options = Options(force=force, verify=verify, sync_manifest=not no_sync, yes=yes)
    if check:
        return _check(run.check(place, config, choice, options))
    done = run.index(place, config, choice, options, Terminal())
    click.echo(summary(done))
    return 1 if report(done.problems) else 0


def summary(done: Indexed) -> str:
    """One line on what a run did."""
    parts = [
        f"{done.changes.summary()}: {_files(done)}, "
        f"{count(done.chunks, 'chunk')} "
        f"in {done.keyword_seconds:.2f} s"
    ]
    if done.cold.any or done.cold.unchanged:
        parts.append(f"archive: {done.cold.summary()}")
    if done.vectors:
        rate = done.vectors / max(done.vector_seconds, 1e-6)
        made = count(done.vectors, "vector")
        parts.append(f"{made} in {done.vector_seconds:.1f} s ({rate:.0f}/s)")
    if done.pending:
        parts.append(f"{count(done.pending, 'vector')} to come: run `palace index`")
    if done.pushed:
        parts.append(f"Milvus: {done.pushed.written} written, {done.pushed.removed} removed")
    if done.manifest_written:
        synced = done.synced
        parts.append(
            f"manifest: {len(synced.added)} added, {len(synced.updated)} updated, "
            f"{len(synced.removed)} removed"
        )
    return runnable("; ".join(parts))


def _files(done: Indexed) -> str:
    parts = [count(done.files - done.ledgers - done.mined, "note")]
    parts += [count(done.ledgers, "ledger")] if done.ledgers else []
    parts += [count(done.mined, "mined file")] if done.mined else []
    return ", ".join(parts)


def _check(checked: run.Checked) -> int:
    parts = [checked.changes.summary()]
    if checked.cold.any:
        parts.append(f"archive: {checked.cold.summary()}")
    if checked.pending:
        parts.append(f"{count(checked.pending, 'text')} without a vector")
    if checked.manifest_differs:
        parts.append("manifest out of step")
    state = "stale: run `palace index`" if checked.stale else "up to date"
    click.echo(runnable(f"{state}; " + "; ".join(parts)))
    failed = report(checked.problems, every=True)
    return 1 if checked.stale or failed or checked.problems else 0
