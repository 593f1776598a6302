"""``palace mine-sessions``."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_palace.cli.common import (
    NamedPath,
    Terminal,
    count,
    format_option,
    now,
    reason_option,
    root_option,
    say,
)
from memory_palace.core.errors import Changed
from memory_palace.core.problems import printable
from memory_palace.files import roots
from memory_palace.files.conversations import AUTO, CLIENTS

if TYPE_CHECKING:
    from memory_palace.memory.mine_sessions import Mined


@click.command(
    "mine-sessions",
    epilog="""\b
Examples:
  palace mine-sessions ~/.claude/projects ~/.codex/sessions --dry-run
  palace mine-sessions ~/.local/share/opencode/opencode.db
  palace mine-sessions chat.txt --client text --project demo""",
)
@click.argument("paths", metavar="PATH...", nargs=-1, required=True, type=NamedPath())
@click.option(
    "--client",
    type=click.Choice([AUTO, *CLIENTS]),
    default=AUTO,
    show_default=True,
    help="Who wrote them.",
)
@click.option(
    "--project", metavar="NAME", default="", help="The room of new notes [where the session ran]."
)
@click.option("--dry-run", is_flag=True, help="Say what would be filed; write nothing.")
@format_option("text", "jsonl")
@reason_option
@root_option
def mine_sessions(
    paths: tuple[Path, ...],
    client: str,
    project: str,
    dry_run: bool,
    shape: str,
    reason: str,
    root: str | None,
) -> int:
    """File conversations as notes, a note a session.

    PATH is a transcript, or a folder: all below it. A session that is there already gets what is
    new, at its end; what a person changed in its note stays.
    """
    from memory_palace.memory import mine_sessions as mining

    done = mining.run(
        roots.find(root),
        now(),
        paths,
        client,
        project,
        dry_run=dry_run,
        reason=reason,
        say=say,
        progress=Terminal(),
    )
    for one in done.mined:
        if shape == "jsonl":
            click.echo(json.dumps(_record(one), ensure_ascii=False))
        elif one.what not in ("unchanged", "empty", "failed"):
            click.echo(printable(_line(one, dry_run)))
    if not done.mined:
        say("no conversation found: PATH is a transcript, or a folder with some")
    elif shape == "text":
        click.echo(_summary(done.mined, dry_run))
    if done.others and shape == "jsonl":
        click.echo(json.dumps({"others": dict(done.others)}, ensure_ascii=False))
    elif done.others:
        say(f"passed over: {_reasons(done.others)}")
    for fault in done.faults:
        say(fault, "red")
    if done.changed:
        raise Changed("notes changed underneath: run this again")
    return 1 if done.faults or not done.mined else 0


def _line(one: "Mined", dry_run: bool) -> str:
    where = one.paths[0] if one.paths else ""
    more = f" and {count(len(one.paths) - 1, 'more part')}" if len(one.paths) > 1 else ""
    if one.what == "archived":
        return f"{where}  archived: left as it is; `palace restore {where}` puts it back"
    verb = "would be added" if dry_run else "added"
    kind = "new" if one.what == "filed" else "grown"
    shortened = f", {one.shortened} shortened" if one.shortened else ""
    return f"{where}{more}  {kind}: {count(one.added, 'turn')} {verb}{shortened}"


def _summary(mined: Sequence["Mined"], dry_run: bool) -> str:
    kinds = Counter(one.what for one in mined)
    passed: Counter[str] = Counter()
    for one in mined:
        passed.update(one.passed)
    words = ("filed", "grown", "unchanged", "empty", "archived", "failed")
    told = ", ".join(f"{kinds[word]} {word}" for word in words if kinds[word])
    would = " (nothing was written)" if dry_run else ""
    reasons = f"; in them passed over: {_reasons(passed)}" if passed else ""
    return printable(f"{count(len(mined), 'session')}: {told}{would}{reasons}")


def _reasons(numbers: Mapping[str, int]) -> str:
    named = sorted(numbers.items(), key=lambda one: (-one[1], one[0]))
    return ", ".join(f"{number} {why}" for why, number in named if number)


def _record(one: "Mined") -> dict[str, object]:
    return {
        "what": one.what,
        "client": one.client,
        "session": one.session,
        "source": one.source,
        "paths": list(one.paths),
        "added": one.added,
        "shortened": one.shortened,
        "passed": {why: number for why, number in one.passed.items() if number},
        "why": one.why,
    }
