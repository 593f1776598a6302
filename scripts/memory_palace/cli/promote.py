"""``palace promote``: the queue in which memories grow up."""

import json
import re
from pathlib import Path
from typing import Any

import click

from memory_palace.cli.common import (
    count,
    format_option,
    now,
    reason_option,
    report,
    root_option,
    say,
)
from memory_palace.core import dates
from memory_palace.core.errors import Refused
from memory_palace.core.problems import Problem, printable
from memory_palace.core.proposals import STATUSES, Proposal
from memory_palace.core.text import stem
from memory_palace.files import roots

_ID = re.compile(r"[0-9a-f]{12}")
_MOST = 1000
_SHOWN_EVIDENCE = 10

_by_option = click.option("--by", "who", metavar="NAME", default="", help="Who decides [you].")
_required_reason = click.option(
    "--reason", metavar="TEXT", required=True, help="Why: kept in the note, the event, the commit."
)


@click.group(
    epilog="""\b
Examples:
  palace promote scan --dry-run
  palace promote approve 3f9ac2d41b7e --by Ann --reason "seen in three projects\""""
)
def promote() -> None:
    """The queue in which memories grow up.

    A scan proposes what enough evidence speaks for; a person or an agent judges each proposal.
    """


@promote.command(epilog="Example: palace promote scan --dry-run")
@click.option("--dry-run", is_flag=True, help="Show what would be proposed; write nothing.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, _MOST),
    default=20,
    show_default=True,
    help="How many are proposed and listed at most.",
)
@format_option("text", "jsonl")
@reason_option
@root_option
def scan(dry_run: bool, limit: int, shape: str, reason: str, root: str | None) -> int:
    """Propose what is ready, and list what is to be judged, with its evidence."""
    from memory_palace.memory import pen as pens
    from memory_palace.memory import proposals, state
    from memory_palace.memory.evidence import Shelf

    place, moment = roots.find(root), now()
    if dry_run:
        from memory_palace.files import config, identity

        settings = config.load(place)
        by = identity.who(settings.identity)
        queue = proposals.load(place)
        shelf = Shelf(place, settings.exclude)
        known = state.load(place, moment)
        found = proposals.plan(shelf, known, queue, moment, by, limit)
    else:
        with pens.begin(place, moment, "palace promote scan", reason, say) as pen:
            queue = proposals.load(place)
            shelf = Shelf(place, pen.config.exclude)
            known = state.load(place, moment)
            found = proposals.plan(shelf, known, queue, moment, pen.by, limit)
            proposals.scan(pen, found)
    waiting = [*found.new, *queue.open]
    for one in waiting[:limit]:
        _show_work(one, shape, new=one in found.new, written=not dry_run)
    verb = "would be proposed" if dry_run else "proposed"
    say(f"{len(found.new)} {verb}, {count(len(queue.open), 'proposal')} waited already")
    left = len(waiting[limit:])
    if left:
        say(f"{left} more to judge: `palace promote list --status proposed`")
    if found.more:
        say(f"{found.more} more ready: judge these, then scan again")
    return 1 if report([*shelf.problems, *known.problems, *queue.problems]) else 0


@promote.command("list", epilog="Example: palace promote list --status proposed")
@click.option("--status", type=click.Choice(STATUSES), help="Only proposals of this status.")
@format_option("text", "jsonl")
@root_option
def list_(status: str | None, shape: str, root: str | None) -> int:
    """The proposals, one line each, and the articles that wait for a person."""
    from memory_palace.memory import constitution, proposals, wishes

    place = roots.find(root)
    queue = proposals.load(place)
    shown = [one for one in queue.proposals if status in (None, one.status)]
    for one in shown:
        if shape == "jsonl":
            _line(_keys(one))
        else:
            sure = f" ({one.confidence})" if one.confidence else ""
            click.echo(printable(f"{one.id}  {one.status:<8}  {one.destination}{sure}  {one.text}"))
    waiting = constitution.waiting(place) if status in (None, "proposed") else []
    for note in waiting:
        title = note.title or stem(note.path)
        if shape == "jsonl":
            _line(
                {
                    "id": note.path,
                    "status": "proposed",
                    "destination": "constitution",
                    "text": title,
                }
            )
        else:
            click.echo(printable(f"{note.path}  proposed  constitution  {title}"))
    faulty = report(queue.problems)
    if status in (None, "proposed") and (left := wishes.left_out(place)):
        say(f"{count(left, 'wish').replace('wishs', 'wishes')} not proposed: too many wait")
    if not shown and not waiting:
        say("no proposal: `palace promote scan` makes them")
    return 1 if faulty or not (shown or waiting) else 0


@promote.command(epilog="Example: palace promote show 3f9ac2d41b7e")
@click.argument("id")
@root_option
def show(id: str, root: str | None) -> None:
    """One proposal as its file has it, with the page that approval would write."""
    from memory_palace.files import read
    from memory_palace.memory import proposals

    place = roots.find(root)
    one = proposals.find(proposals.load(place), id)
    got = read.read(place, one.path)
    if isinstance(got, read.Unreadable):
        raise Refused(f"{one.path}: {got.problem.message}")
    click.echo(got.text, nl=False)


@promote.command(
    epilog="""\b
Examples:
  palace promote approve 3f9ac2d41b7e --by Ann --reason "seen in three projects"
  palace promote approve no-hit-without-evidence --by Ann --reason "measured"   an article"""
)
@click.argument("id")
@_by_option
@_required_reason
@click.option("--project", metavar="NAME", default="", help="The room of a project rule.")
@click.option("--yes", is_flag=True, help="Go on although evidence no longer resolves.")
@root_option
def approve(id: str, who: str, reason: str, project: str, yes: bool, root: str | None) -> int:
    """Write the page of a proposal, or the article of a constitution candidate (its path or name).

    An article needs --by: only a person changes the constitution.
    """
    from memory_palace.memory import approval, constitution, proposals, state
    from memory_palace.memory import pen as pens
    from memory_palace.memory.evidence import Shelf

    place, moment = roots.find(root), now()
    with pens.begin(place, moment, "palace promote approve", reason, say) as pen:
        queue, shelf = proposals.load(place), Shelf(place, pen.config.exclude)
        candidate = None if _ID.fullmatch(id) else constitution.find(place, id)
        if candidate:
            article = constitution.approve(pen, shelf, candidate, who, reason)
            click.echo(printable(f"article {article.number}. {article.title}"))
            click.echo(printable(f"  from {candidate.path}, approved by {article.who}"))
            return 0
        if not _ID.fullmatch(id):
            _no_such(place, queue, id)
        known = state.load(place, moment)
        choice = approval.Choice(reason, who, project, yes)
        vectors = _vectors(place) if _is_topic(queue, id) else None
        done = approval.approve(pen, known, queue, shelf, id, choice, vectors)
    return _tell(done)


def _is_topic(queue: Any, id: str) -> bool:
    return any(one.id == id and one.destination == "topic" for one in queue.open)


def _vectors(place: Path) -> Any:
    """What finds a memory that says nearly the same."""
    from memory_palace.cli.common import Terminal
    from memory_palace.cli.remember import embedder
    from memory_palace.memory import alike

    return alike.Entries(place, embedder(place), Terminal())


@promote.command(epilog='Example: palace promote reject 3f9ac2d41b7e --reason "holds once only"')
@click.argument("id")
@_by_option
@_required_reason
@root_option
def reject(id: str, who: str, reason: str, root: str | None) -> None:
    """Decide against a proposal, or a constitution candidate (its path or name).

    Its file stays, and it is never proposed again.
    """
    from memory_palace.memory import constitution, proposals
    from memory_palace.memory import pen as pens

    place = roots.find(root)
    with pens.begin(place, now(), "palace promote reject", reason, say) as pen:
        candidate = None if _ID.fullmatch(id) else constitution.find(place, id)
        if not (candidate or _ID.fullmatch(id)):
            _no_such(place, proposals.load(place), id)
        if candidate:
            constitution.reject(pen, candidate, who, reason)
            click.echo(printable(f"rejected {candidate.path}"))
            return
        one = proposals.reject(pen, id, who, reason)
        click.echo(printable(f"rejected {one.id}  {one.destination}  {one.text}"))


@promote.command(epilog="Example: palace promote apply")
@reason_option
@root_option
def apply(reason: str, root: str | None) -> int:
    """Apply the rules of high confidence that may be applied without a person.

    Only where your own configuration says `promote: {auto_apply: true}`.
    """
    from memory_palace.memory import approval, proposals, state
    from memory_palace.memory import pen as pens
    from memory_palace.memory.evidence import Shelf

    place, moment = roots.find(root), now()
    why = reason or "a mechanical form of high confidence"
    problems: list[Problem] = []
    with pens.begin(place, moment, "palace promote apply", why, say) as pen:
        if not pen.config.auto_apply:
            raise Refused(
                "nothing is applied without a person: write `promote: {auto_apply: true}` into "
                "your own configuration, or approve each proposal"
            )
        queue, shelf = proposals.load(place), Shelf(place, pen.config.exclude)
        ready = approval.may_apply(state.load(place, moment), shelf, queue)
        for one in ready:
            known = state.load(place, moment)
            try:
                done = approval.approve(pen, known, queue, shelf, one.id, approval.Choice(why))
            except Refused as error:  # a page that is there: the others are not held up by it
                problems.append(Problem(one.path, None, str(error)))
                continue
            _tell(done)
        problems += queue.problems
    if not ready:
        say("nothing may be applied without a person: `palace promote list` shows what waits")
    return 1 if report(problems) else 0


def _no_such(place: Path, queue: Any, name: str) -> None:
    """Raises :class:`Refused` for what is neither an id nor a candidate, naming the nearest."""
    from memory_palace.memory import constitution, proposals

    proposals.find(queue, name, [stem(one.path) for one in constitution.waiting(place)])


def _tell(done: Any) -> int:
    one = done.proposal
    click.echo(printable(f"applied {one.id}  {one.destination}  {done.page}"))
    for path in done.linked:
        click.echo(printable(f"  linked {path}"))
    if done.enforced:
        click.echo(f"  enforced ^{done.enforced}")
    if done.remembered:
        click.echo(f"  remembered ^{done.remembered}")
    for line in done.said:
        say(line)
    return 1 if report(done.problems) else 0


def _show_work(one: Proposal, shape: str, new: bool, written: bool) -> None:
    if shape == "jsonl":
        _line(_keys(one) | {"new": new})
        return
    sure = f" ({one.confidence})" if one.confidence else ""
    mark = "new" if new else "waits"
    click.echo(printable(f"{one.id}  {mark}  {one.destination}{sure}  {one.text}"))
    click.echo(printable(f"  {one.reason}"))
    for evidence in one.evidence[:_SHOWN_EVIDENCE]:
        click.echo(printable(f"  {evidence.link}{'  ' if evidence.day else ''}{evidence.day}"))
    if len(one.evidence) > _SHOWN_EVIDENCE:
        more = len(one.evidence) - _SHOWN_EVIDENCE
        click.echo(f"  and {more} more" + (f": {one.path}" if written else ""))
    if written:
        click.echo(printable(f"  -> {one.path}"))


def _keys(one: Proposal) -> dict[str, Any]:
    """The stable keys of a proposal."""
    return {
        "id": one.id,
        "status": one.status,
        "destination": one.destination,
        "category": one.category,
        "text": one.text,
        "confidence": one.confidence,
        "created": dates.stamp(one.created),
        "reason": one.reason,
        "evidence": [{"link": e.link, "day": e.day} for e in one.evidence],
        "path": one.path,
        "page": one.page,
        "decided_by": one.decided_by,
        "decided": one.decided,
        "decision_reason": one.decision_reason,
    }


def _line(data: dict[str, Any]) -> None:
    click.echo(json.dumps(data, ensure_ascii=False))
