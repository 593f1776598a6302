"""``palace observe``."""

import json
from pathlib import Path
from typing import Any

import click

from memory_palace.cli import json_input
from memory_palace.cli.common import count, format_option, now, root_option, say
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable
from memory_palace.files import roots

MOST_BYTES = 4 << 20


@click.command(
    epilog="""\b
Examples:
  palace observe --pending                what nobody has read yet, with ids, as JSON
  palace observe found.json               record what you found in it
  palace observe - < found.json
  palace observe --auto                   let the worker read what is due
  palace observe --auto --flush --session 0b5f2c

\b
found.json:
  {"observations": [{"content": "The build needs Node 22", "relevance": "high",
                     "sources": ["3f9ac2d41b7e"], "type": "discovery"}],
   "reflections": [{"content": "…", "supports": ["0d1e2f3a4b5c"]}],
   "drops": ["5c4b3a2f1e0d"], "covers_up_to": "tip"}"""
)
@click.argument("file", required=False)
@click.option("--session", metavar="S", default="", help="Its id, or the beginning of it.")
@click.option("--agent", metavar="A", default="", help="Whose sessions, as in claude-code.")
@click.option("--auto", is_flag=True, help="Drain the queue, and let the worker read what is due.")
@click.option("--flush", is_flag=True, help="With --auto: also read what is not due yet.")
@click.option("--pending", is_flag=True, help="Print what nobody has read yet, the oldest first.")
@click.option("--dry-run", is_flag=True, help="Say what would be recorded; write nothing.")
@format_option("text", "jsonl")
@root_option
def observe(
    file: str | None,
    session: str,
    agent: str,
    auto: bool,
    flush: bool,
    pending: bool,
    dry_run: bool,
    shape: str,
    root: str | None,
) -> int:
    """Record what a session taught, or let the rules do it.

    FILE is JSON; - is stdin. All of it is recorded or nothing. Without --session it is about the
    newest session of the project at hand; --auto is about all.
    """
    if (file is not None) + auto + pending != 1:
        raise BadInput("give one of FILE, --auto and --pending: see `palace observe --help`")
    if flush and not auto:
        raise BadInput("--flush goes with --auto")
    place = roots.find(root)
    if auto:
        return _auto(place, session, agent, flush, dry_run, shape)
    if pending:
        return _pending(place, session, agent, dry_run)
    data = json_input.read(file or "-", MOST_BYTES)
    return _record(place, session, agent, data, dry_run, shape)


def _auto(root: Path, session: str, agent: str, flush: bool, dry_run: bool, shape: str) -> int:
    from memory_palace.session import upkeep

    if not (session or agent):
        done = upkeep.run(root, now(), flush=flush, dry_run=dry_run, say=say)
    else:
        path = _found(root, session, agent, dry_run)
        done = upkeep.run(root, now(), path=path, flush=flush, dry_run=dry_run, say=say)
    for ran in done.ran:
        made = [("observed", one.id, one.content) for one in ran.observations]
        made += [("reflected", one.id, one.content) for one in ran.reflections]
        made += [("dropped", one, "") for one in ran.drops]
        for what, key, content in made:
            _show(shape, ran.path, what, key, content)
        if made:
            say(f"recorded {count(len(made), 'line')} in {ran.path}" if not dry_run else ran.path)
    if done.left:
        say(f"{done.left:,} bytes wait in the queue: somebody else is at it, or it has a fault")
    for fault in done.faults:
        say(fault, "red")
    if not (done.faults or any(ran.observations or ran.reflections for ran in done.ran)):
        say("nothing new to record" if flush else "nothing new to record in what is due")
    return 1 if done.faults else 0


def _pending(root: Path, session: str, agent: str, dry_run: bool) -> int:
    from memory_palace.session import pending

    shown = pending.shown(root, _found(root, session, agent, dry_run))
    click.echo(json.dumps(shown, ensure_ascii=False, indent=1))
    if not shown["entries"]:
        say("nothing is pending: all has been read")
    return 0 if shown["entries"] else 1


def _record(root: Path, session: str, agent: str, data: Any, dry_run: bool, shape: str) -> int:
    from memory_palace.files import config, identity
    from memory_palace.session import observing

    path = _found(root, session, agent, dry_run)
    by = identity.who(config.load(root).identity)
    done = observing.record(root, path, data, now(), by, dry_run=dry_run)
    for what, key, content in done.made:
        _show(shape, path, what, key, content)
    for key in done.skipped:
        _show(shape, path, "known", key, "")
    for line in done.said:
        say(line)
    say(f"{'would record' if dry_run else 'recorded'} {count(len(done.made), 'line')} in {path}")
    return 0


def _found(root: Path, session: str, agent: str, dry_run: bool) -> str:
    """The ledger that is meant, once what hooks saw is in it."""
    from memory_palace.session import drain, ledgers

    if not dry_run:
        for fault in drain.drain(root, now(), wait_seconds=2.0).faults:
            say(fault, "red")
    return ledgers.find(root, session, agent, roots.current()).path


def _show(shape: str, path: str, what: str, key: str, content: str) -> None:
    if shape == "jsonl":
        row = {"ledger": path, "what": what, "id": key} | ({"content": content} if content else {})
        click.echo(json.dumps(row, ensure_ascii=False))
    else:
        click.echo(printable(f"{what:9} {key}  {content}".rstrip()))
