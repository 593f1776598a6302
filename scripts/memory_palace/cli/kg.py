"""``palace kg``: facts in time."""

import json
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

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
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable

if TYPE_CHECKING:
    from memory_palace.core.fact import Fact
    from memory_palace.core.facts import Facts

MOST_SHOWN = 100
"""Facts or entities that are shown without --limit."""


class _Kg(click.Group):
    """The group, with the command that lives in a file of its own."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted([*super().list_commands(ctx), "extract"])

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name == "extract":
            from memory_palace.cli.kg_extract import extract

            return extract
        return super().get_command(ctx, cmd_name)


def _limit_option(function: "click.decorators.FC") -> "click.decorators.FC":
    return click.option(
        "--limit",
        type=click.IntRange(1, 1_000_000),
        default=MOST_SHOWN,
        show_default=True,
        help="Lines at most.",
    )(function)


@click.group(
    cls=_Kg,
    epilog="""\b
Examples:
  palace kg add Ann works_at Acme --from 2026-11-20 --source card-7
  palace kg query Ann --as-of 2026-11-25
  palace kg invalidate Ann works_at Acme --ended 2026-11-28
  palace kg check""",
)
def kg() -> None:
    """Facts in time: what held when, and what ended it."""


@kg.command(
    epilog="""\b
Examples:
  palace kg add Ann works_at Acme
  palace kg add "the API" is_served_by gateway-2 --from 2026-11-20 --confidence 0.8"""
)
@click.argument("subject")
@click.argument("predicate")
@click.argument("object_", metavar="OBJECT")
@click.option("--from", "start", metavar="D", help="When it begins, a day or a time [now].")
@click.option("--source", metavar="TEXT", default="", help="Where it is known from.")
@click.option("--confidence", type=float, metavar="0..1", help="How sure it is.")
@reason_option
@root_option
def add(
    subject: str,
    predicate: str,
    object_: str,
    start: str | None,
    source: str,
    confidence: float | None,
    reason: str,
    root: str | None,
) -> int:
    """Add a fact that holds from --from on, until it is ended.

    One that holds already is shown, not added again. Of a predicate in `facts.one_valued` the
    value before is closed, or a conflict is opened, as `facts.on_new` says.
    """
    from memory_palace.core import facts_text
    from memory_palace.files import roots
    from memory_palace.memory import facts, pen

    begins = _moment("--from", start)
    place, moment = roots.find(root), now()
    with pen.begin(place, moment, "palace kg add", reason, say) as held:
        done = facts.add(
            held, subject, predicate, object_, start=begins, confidence=confidence, source=source
        )
    _tell("added" if done.new else "there already:", [done.fact], moment)
    _tell("closed", done.closed, moment)
    for path in done.opened:
        click.echo(printable(f"opened {path}"))
    if done.fact.begins > moment:
        say(f"it begins in the future: it holds from {facts_text.moment(done.fact.begins)} on")
    if not done.new and begins and begins < done.fact.begins:
        say(f"it began on {facts_text.moment(done.fact.begins)}: an earlier start is not written")
    if not done.new and done.fact.valid_to:
        until = facts_text.moment(done.fact.valid_to)
        say(f"it ends on {until}: `--from {until}` adds it again from then on")
    return 0


@kg.command(
    epilog="""\b
Examples:
  palace kg invalidate Ann works_at Acme --ended 2026-11-28 --reason "she left"
  palace kg invalidate 3f9ac2d41b7e"""
)
@click.argument("names", nargs=-1, metavar="SUBJECT PREDICATE OBJECT | ID")
@click.option("--ended", metavar="D", help="The first day or time at which it does not hold [now].")
@reason_option
@root_option
def invalidate(names: tuple[str, ...], ended: str | None, reason: str, root: str | None) -> int:
    """End a fact, by its three names or its id.

    The line stays, and so does its past. A fact that has not begun yet is taken back. With an ID,
    --ended may shorten one that ended.
    """
    from memory_palace.files import roots
    from memory_palace.memory import facts, pen

    if len(names) not in (1, 3):
        raise BadInput("name SUBJECT PREDICATE OBJECT (quote each with spaces), or one ID")
    end = _moment("--ended", ended)
    place, moment = roots.find(root), now()
    with pen.begin(place, moment, "palace kg invalidate", reason, say) as held:
        if len(names) == 3:
            done = facts.invalidate(held, *names, ended=end)
        else:
            done = facts.invalidate_id(held, names[0], ended=end)
    for fact in done:
        _tell("took back" if fact.taken_back else "ended", [fact], moment)
    return 0


@kg.command(
    epilog="""\b
Examples:
  palace kg query Ann
  palace kg query Acme --direction object --as-of 2026-11-25
  palace kg query Ann --history --format jsonl"""
)
@click.argument("entity")
@click.option("--as-of", metavar="D", help="What held then; a day is its end, UTC [now].")
@click.option(
    "--direction",
    type=click.Choice(("subject", "object", "both")),
    default="both",
    show_default=True,
    help="The place of ENTITY in the fact.",
)
@click.option("--history", is_flag=True, help="Also what does not hold any more, or not yet.")
@_limit_option
@format_option("text", "jsonl")
@root_option
def query(
    entity: str,
    as_of: str | None,
    direction: str,
    history: bool,
    limit: int,
    shape: str,
    root: str | None,
) -> int:
    """The facts of ENTITY that hold, now or as of a day.

    A line has the id, the fact, its period, and where it is from.
    """
    from memory_palace.core import facts as core
    from memory_palace.files import facts, roots

    _check_named(entity)
    if history and as_of is not None:
        raise BadInput("--history shows all times: leave out --as-of, or --history")
    at = _moment("--as-of", as_of, end=True) or now()
    place = roots.find(root)
    known = facts.load(place, [entity])
    way = next(one for one in core.DIRECTIONS if one == direction)
    found = known.about(entity, way, None if history else at)
    failed = report(known.problems)
    if not found:
        ever = known.about(entity)
        if not ever:
            _unknown(facts.load(place), entity)
        elif others := len(known.about(entity, way)):
            when = f"as of {as_of}" if as_of else "now"
            say(f"no fact of {entity} holds {when}: --history shows {others}")
        else:
            say(f"no fact has {entity} as {way}: --direction both --history shows {len(ever)}")
        return 1
    _show(found, at, limit, shape)
    return int(failed)


@kg.command(epilog="Example: palace kg timeline Ann")
@click.argument("entity")
@_limit_option
@format_option("text", "jsonl")
@root_option
def timeline(entity: str, limit: int, shape: str, root: str | None) -> int:
    """Every fact that ENTITY was ever in, by start."""
    from memory_palace.files import facts, roots

    _check_named(entity)
    place = roots.find(root)
    known = facts.load(place, [entity])
    found = known.timeline(entity)
    failed = report(known.problems)
    if not found:
        _unknown(facts.load(place), entity)
        return 1
    _show(found, now(), limit, shape)
    return int(failed)


@kg.command(epilog="Example: palace kg entities gate")
@click.argument("prefix", default="")
@_limit_option
@format_option("text", "jsonl")
@root_option
def entities(prefix: str, limit: int, shape: str, root: str | None) -> int:
    """The names that facts have.

    All, or those that begin with PREFIX: how often as subject, as object, and how many of their
    facts hold.
    """
    from memory_palace.files import facts, roots

    known = facts.load(roots.find(root))
    found = known.entities(prefix, now())
    failed = report(known.problems)
    for one in found[:limit]:
        if shape == "jsonl":
            click.echo(json.dumps(one._asdict(), ensure_ascii=False))
        else:
            places = f"{one.as_subject} as subject, {one.as_object} as object"
            click.echo(printable(f"{one.name}  {places}, {one.holding} now"))
    if len(found) > limit:
        say(f"{len(found) - limit} more of {len(found)}: raise --limit, or write more of the name")
    if not found:
        if prefix:
            _unknown(known, prefix, "no name begins with")
        else:
            say("no facts: `palace kg add` adds one")
    return int(failed or not found)


@kg.command(epilog="Example: palace kg stats")
@format_option("text", "json")
@root_option
def stats(shape: str, root: str | None) -> int:
    """How many facts there are, and of which predicates."""
    from memory_palace.cli import kg_stats
    from memory_palace.files import config as configs
    from memory_palace.files import facts, roots

    place = roots.find(root)
    known = facts.load(place)
    counted = kg_stats.counted(known, configs.load(place).one_valued, now())
    if shape == "json":
        click.echo(json.dumps(counted, ensure_ascii=False, indent=1))
    else:
        for line in kg_stats.lines(counted):
            click.echo(printable(line))
    return int(report(known.problems))


@kg.command(epilog="Example: palace kg check")
@root_option
def check(root: str | None) -> int:
    """Look the facts over for what is wrong.

    Contradictions, inverted dates, lines that do not count. Exit 1 if something is wrong. A last
    line that was cut off is only named.
    """
    from memory_palace.core import facts_check
    from memory_palace.files import config as configs
    from memory_palace.files import facts, roots

    place = roots.find(root)
    known = facts.load(place)
    found = facts_check.check(known, configs.load(place).one_valued)
    failed = report(found, every=True)
    wrong = f"{count(len(found), 'problem')}" if found else "nothing is wrong"
    click.echo(f"{count(len(known.found), 'fact')}: {wrong}")
    return int(failed)


def _moment(flag: str, text: str | None, end: bool = False) -> datetime | None:
    if text is None:
        return None
    found = dates.end_of(text) if end else dates.parse(text)
    if found is None:
        raise BadInput(f"{flag} {text!r} is no date: write {dates.FORMS}")
    return found


def _check_named(entity: str) -> None:
    if not entity.strip():
        raise BadInput("ENTITY is blank: write a name, as `palace kg entities` lists them")


def _unknown(known: "Facts", entity: str, said: str = "no fact names") -> None:
    near = known.near(entity)
    hint = f"did you mean {', '.join(near)}?" if near else "`palace kg entities` lists the names"
    say(f"{said} {entity}: {hint}")


def _tell(word: str, facts: Iterable["Fact"], moment: datetime) -> None:
    from memory_palace.core import facts_text

    for fact in facts:
        click.echo(printable(f"{word} {facts_text.line(fact, moment)}"))


def _show(facts: Sequence["Fact"], moment: datetime, limit: int, shape: str) -> None:
    """The last ``limit`` facts, and how many there were before."""
    from memory_palace.core import facts_text

    told = min(moment, now())  # of what begins after now it is not said that it holds "now"
    for fact in facts[-limit:]:
        if shape == "jsonl":
            click.echo(json.dumps(facts_text.as_dict(fact, moment), ensure_ascii=False))
        else:
            click.echo(printable(facts_text.line(fact, told)))
    if len(facts) > limit:
        say(f"{len(facts) - limit} older of {len(facts)} left out: raise --limit")
