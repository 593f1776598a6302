"""``palace metabolism``."""

import click

from memory_palace.cli.common import (
    confirmed,
    format_option,
    now,
    reason_option,
    report,
    root_option,
    say,
    yes_option,
)
from memory_palace.core import dates
from memory_palace.core.errors import BadInput
from memory_palace.files import roots

_MOST = 1000


@click.command(
    epilog="""\b
Examples:
  palace metabolism --dry-run                    what is due, and nothing is written
  palace metabolism --dry-run --at 2027-03-01    what will be due by then
  palace metabolism                              propose and strike; asks before it moves
  palace metabolism --yes --reason 'end of the month'"""
)
@click.option("--dry-run", is_flag=True, help="Only report: write nothing, ask nothing.")
@click.option("--at", metavar="DATE", help="With --dry-run: the report of that day.")
@yes_option
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, _MOST),
    default=10,
    show_default=True,
    help="How much of each section is shown; the rest is counted.",
)
@format_option("text", "jsonl", "md")
@reason_option
@root_option
def metabolism(
    dry_run: bool,
    at: str | None,
    yes: bool,
    limit: int,
    shape: str,
    reason: str,
    root: str | None,
) -> int:
    """The whole cycle: scan, propose, demote, archive, in one report.

    Proposals and strikes are written. Notes move only with --yes, or if a person on a terminal
    says so: reflections and candidates with two strikes against them go one tier down, what is
    cold or of low value goes to the archive. What takes judgement is listed with its evidence
    and the commands that decide.
    """
    if dry_run and yes:
        raise BadInput("--dry-run moves nothing: leave out --yes, or --dry-run")
    if at and not dry_run:
        raise BadInput("--at only shows another day: add --dry-run, or leave out --at")
    moment = now()
    day = dates.end_of(at) if at else None
    if at and day is None:
        raise BadInput(f"--at is {at!r}: write a date such as {dates.FORMS}")
    place = roots.find(root)

    from memory_palace.cli.metabolism_report import show
    from memory_palace.memory import metabolism as cycles
    from memory_palace.memory import pen

    if dry_run:
        cycle = cycles.look(place, moment, day)
        show(cycle, limit, shape)
        return 1 if report(cycle.problems) else 0
    with pen.begin(place, moment, "palace metabolism", reason, say) as held:
        cycle = cycles.run(held, yes)
    show(cycle, limit, shape)
    failed = report(cycle.problems)
    if not yes and cycle.movable:
        cycles.check_sweeps(cycle, yes)
        if not confirmed(False, f"Demote and archive ({cycle.movable} in all)?"):
            say("nothing was moved: `palace metabolism --yes` does it")
            return 1 if failed else 0
        with pen.begin(place, moment, "palace metabolism", reason, say) as held:
            cycle = cycles.agreed(held, cycle, yes)
        show(cycle, limit, shape, only=("demotion", "archive"))
    if cycle.moved:
        failed = report(cycle.moved.problems, every=True) or failed
    return 1 if failed else 0
