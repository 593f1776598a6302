"""``palace ledger import``."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from memory_palace.cli.common import NamedPath, Terminal, count, now, root_option, say
from memory_palace.core.errors import BadInput, PalaceError
from memory_palace.core.problems import printable
from memory_palace.core.transcripts import CLIENTS
from memory_palace.files import roots, transcripts
from memory_palace.session import imports
from memory_palace.session.imports import AUTO, Imported


@click.command(
    "import",
    epilog="""\b
Examples:
  palace ledger import ~/.claude/projects/-home-me-demo/5e1f….jsonl
  palace ledger import ~/.codex/sessions --dry-run
  palace ledger import session.jsonl --client pi --observe""",
)
@click.argument("paths", metavar="TRANSCRIPT...", nargs=-1, required=True, type=NamedPath())
@click.option(
    "--client",
    type=click.Choice([AUTO, *CLIENTS]),
    default=AUTO,
    show_default=True,
    help="Who wrote it.",
)
@click.option("--agent", metavar="NAME", default="", help="Whose chamber [the client's].")
@click.option("--dry-run", is_flag=True, help="Say what would be added; write nothing.")
@click.option("--observe", is_flag=True, help="Then observe all that is new.")
@root_option
def import_command(
    paths: tuple[Path, ...], client: str, agent: str, dry_run: bool, observe: bool, root: str | None
) -> int:
    """Build a session's ledger from a client's transcript, or add what it is missing.

    TRANSCRIPT is a file, or a folder: all *.jsonl files in and below it. What hooks captured, or
    an import brought before, is there once. A file that is no transcript is named; of several, the
    rest goes on.
    """
    place = roots.find(root)
    files, failed = _files(paths)
    for file in files:
        try:
            done = imports.import_transcript(
                place, file, now(), client, agent, dry_run=dry_run, progress=Terminal()
            )
            click.echo(printable(_told(done, dry_run)))
            if observe and not dry_run and done.added + done.there:
                failed |= _observe(place, done.path)
        except BadInput as error:
            if len(files) == 1 and not failed:
                raise
            failed = True
            say(str(error), "red")
    return int(failed)


def _files(paths: Sequence[Path]) -> tuple[list[Path], bool]:
    """All files that are named, each once; True if some cannot be had."""
    found: dict[Path, None] = {}
    failed = False
    for path in paths:
        try:
            found |= dict.fromkeys(transcripts.found(path))
        except BadInput as error:
            if len(paths) == 1:
                raise
            failed = True
            say(str(error), "red")
    return list(found), failed


def _told(done: Imported, dry_run: bool) -> str:
    """What came of one transcript, in a line."""
    if done.added:
        verb = "would be added" if dry_run else "added"
        entries = "entry" if done.added == 1 else "entries"
        line = f"{done.added} {entries} {verb} to {done.path}, {done.there} there already"
    elif done.there:
        line = f"nothing new for {done.path}: {done.there} there already"
    else:
        line = f"nothing for {done.path}: nobody says anything in it"
    return f"{line}{_passed(done.passed)}"


def _passed(passed: Mapping[str, int]) -> str:
    named = sorted(passed.items(), key=lambda one: (-one[1], one[0]))
    told = ", ".join(f"{number} {why}" for why, number in named if number)
    return f"; passed over: {told}" if told else ""


def _observe(root: Path, path: str) -> bool:
    """Observe what is new in a ledger; True if something went wrong."""
    from memory_palace.session import observing

    try:
        ran = observing.run(root, path, now(), flush=True, say=say)
    except PalaceError as error:
        say(str(error), "red")
        return True
    for fault in ran.faults:
        say(fault, "red")
    told = [count(len(ran.observations), "observation"), count(len(ran.reflections), "reflection")]
    click.echo(f"observed: {', '.join(told)}")
    return bool(ran.faults)
