"""``palace conflict``: contradictions, found, recorded, decided."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from memory_palace.cli.common import (
    Terminal,
    count,
    format_option,
    now,
    reason_option,
    report,
    root_option,
    runnable,
    say,
)
from memory_palace.core import dates
from memory_palace.core.contradiction import KINDS, MOST_PROPOSED
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable

if TYPE_CHECKING:
    from memory_palace.core.conflicts import Record
    from memory_palace.memory.conflict_scan import Proposal

_SHOWN = 100


@click.group(
    epilog="""\b
Examples:
  palace conflict scan
  palace conflict open 3f9ac2d41b7e 0f8ef1f672cb
  palace conflict resolve mtime-or-written-date --winner b --reason "it survives a clone\""""
)
def conflict() -> None:
    """Contradictions: find them, record them, decide them."""


@conflict.command(
    "open",
    epilog="""\b
Examples:
  palace conflict open 3f9ac2d41b7e topics/old-habit --evidence compound-score
  palace conflict open --merge palace/topics/lessons.md""",
)
@click.argument("a", required=False)
@click.argument("b", required=False)
@click.option("--merge", metavar="PATH[:LINE]", help="The merge left in this note.")
@click.option("--kind", type=click.Choice(KINDS[:-1]), help="How they contradict [what is found].")
@click.option("--evidence", multiple=True, metavar="LINK", help="What bears on it; repeatable.")
@click.option("--title", metavar="TEXT", help="What to call it [the first words of both].")
@reason_option
@root_option
def open_(
    a: str | None,
    b: str | None,
    merge: str | None,
    kind: str | None,
    evidence: tuple[str, ...],
    title: str | None,
    reason: str,
    root: str | None,
) -> int:
    """Record that A and B contradict: both claims, their sources, and what bears on it.

    A and B are entries by id, notes by path or exact name, or PATH:LINE of a topic line or a
    fact. With --merge the two sides are those of a merge that git left in a note, word for word;
    the note stays as it is.
    """
    from memory_palace.files import roots
    from memory_palace.memory import conflicts, pen

    if merge is not None and (a or kind or evidence):
        raise BadInput("--merge takes both sides from the note: leave out A, B, --kind, --evidence")
    if merge is None and not (a and b):
        raise BadInput("name both sides: palace conflict open A B, or use --merge PATH")
    place = roots.find(root)
    with pen.begin(place, now(), "palace conflict open", reason, say) as held:
        if merge is not None:
            made = conflicts.open_merge(held, merge, title)
        else:
            made = [conflicts.open_pair(held, str(a), str(b), kind, evidence, title)]
    for record in made:
        click.echo(printable(f"opened {record.path} ({record.kind})"))
    return 0


@conflict.command("list", epilog="Example: palace conflict list --open")
@click.option("--open", "only_open", is_flag=True, help="Only those that are not decided.")
@format_option("text", "jsonl")
@root_option
def list_conflicts(only_open: bool, shape: str, root: str | None) -> int:
    """The records, open ones first: status, kind, title, path, and what was decided."""
    from memory_palace.files import roots
    from memory_palace.memory import conflicts

    records, problems = conflicts.load(roots.find(root))
    shown = [record for record in records if record.is_open or not only_open]
    shown.sort(key=lambda record: (not record.is_open, record.path))
    for record in shown:
        if shape == "jsonl":
            click.echo(json.dumps(as_dict(record), ensure_ascii=False))
        else:
            click.echo("\n".join(printable(line) for line in as_text(record)))
    failed = report(problems)
    if not shown:
        say("no conflict is open" if only_open else "no conflict: `palace conflict scan` looks")
    return 0 if shown and not failed else 1


@conflict.command(
    epilog="""\b
Example:
  palace conflict resolve mtime-or-written-date --winner b --by Ann \\
    --reason "it survives a clone\""""
)
@click.argument("name")
@click.option(
    "--winner", required=True, metavar="a|b", help="The side that holds; or its id, path."
)
@click.option("--by", metavar="NAME", help="Who decided [git's user.name, else who writes].")
@reason_option
@root_option
def resolve(name: str, winner: str, by: str | None, reason: str, root: str | None) -> int:
    """Decide the conflict NAME for one side; --reason is required.

    The record gets the decision. A note that lost gets superseded_by, one that won supersedes; an
    entry that lost counts as forgotten, and its line stays.
    """
    from memory_palace.files import roots
    from memory_palace.memory import conflicts, pen

    place = roots.find(root)
    with pen.begin(place, now(), "palace conflict resolve", reason, say) as held:
        done = conflicts.resolve(held, name, winner, by, reason)
    record = done.record
    won = record.winner or f"claim {done.letter}"
    click.echo(printable(f"decided {record.path}: {won}, by {record.decided_by}"))
    for path in done.marked:
        click.echo(printable(f"marked {path}"))
    for line in done.left:
        say(line)
    return 0


@conflict.command(
    epilog="""\b
Examples:
  palace conflict scan
  palace conflict scan --limit 5 --format jsonl"""
)
@click.option(
    "--limit",
    type=click.IntRange(1, 1000),
    default=MOST_PROPOSED,
    show_default=True,
    help="Pairs at most.",
)
@format_option("text", "jsonl")
@root_option
def scan(limit: int, shape: str, root: str | None) -> int:
    """Propose pairs that may contradict, best first, each with the command that records it.

    Looks at entries of one category, facts with one-valued predicates, notes of one title, and
    merges that git left in notes. It only proposes: a person or an agent decides.
    """
    from memory_palace.embed import registry
    from memory_palace.files import config as configs
    from memory_palace.files import roots
    from memory_palace.memory import conflict_scan
    from memory_palace.memory import state as states
    from memory_palace.memory.alike import Entries

    place = roots.find(root)
    config = configs.load(place)
    choice = registry.choose(config)
    say(str(choice))
    vectors = Entries(place, choice, Terminal())
    state = states.load(place, now())
    embed = vectors.of if vectors.usable else None
    found = conflict_scan.scan(place, config, state, limit, embed)
    for one in found.proposals:
        if shape == "jsonl":
            click.echo(json.dumps(asdict(one), ensure_ascii=False))
        else:
            click.echo("\n".join(proposed(one)))
    failed = report(found.problems)
    if found.more:
        say(f"{count(found.more, 'pair')} more: raise --limit, or decide these first")
    if not found.proposals:
        say("nothing that may contradict was found")
    return 0 if found.proposals and not failed else 1


def as_text(record: "Record") -> list[str]:
    """A record in a line; a decided one has another for who took what."""
    lines = [f"{record.status:8} {record.kind or '-':10} {record.title}  {record.path}"]
    if not record.is_open and record.winner:
        lines.append(
            f"{'':20}{record.winner}, by {record.decided_by} {record.decided[:10]}".rstrip()
        )
    return lines


def as_dict(record: "Record") -> dict[str, Any]:
    """A record with the keys that ``--format jsonl`` promises."""
    return {
        "path": record.path,
        "title": record.title,
        "status": record.status,
        "kind": record.kind,
        "created": dates.stamp(record.created) if record.created else None,
        "agent": record.agent,
        "a": {"source": record.a.source, "text": record.a.text},
        "b": {"source": record.b.source, "text": record.b.text},
        "evidence": list(record.evidence),
        "winner": record.winner,
        "loser": record.loser,
        "decided_by": record.decided_by,
        "decided": record.decided,
    }


def proposed(one: "Proposal") -> list[str]:
    """A pair in four lines: kind and why, both sides, what to run."""
    lines = [f"{one.kind}: {one.why}", f"  {one.a}  {_cut(one.a_text)}"]
    lines.append(f"  {one.b}  {_cut(one.b_text)}")
    if one.record:
        lines.append(f"  recorded in {one.record}")
    if one.command:
        lines.append(runnable(f"  `{one.command}`").replace("`", ""))
    return [printable(line) for line in lines]


def _cut(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else f"{line[: _SHOWN - 1].rstrip()}…"
