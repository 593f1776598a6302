"""``palace ledger``."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any, TypeVar

import click

from memory_palace.cli.common import count, format_option, report, root_option, say
from memory_palace.cli.ledger_import import import_command
from memory_palace.core import dates, ledger_branch, ledger_text
from memory_palace.core import ledger as ledgers
from memory_palace.core.errors import BadInput, Missing, PalaceError
from memory_palace.core.ledger import Entry, Observation, Reflection
from memory_palace.core.ledger_status import Stage, Status, status
from memory_palace.core.problems import Problem, printable
from memory_palace.files import ledgers as files
from memory_palace.files import left_out, roots
from memory_palace.files.ledgers import Loaded
from memory_palace.session import ledgers as chosen
from memory_palace.session import marks

SHOWN = 10
LINES = 50
_F = TypeVar("_F", bound=Callable[..., Any])


def which_options(function: _F) -> _F:
    """``--session`` and ``--agent``: which ledger."""
    session = click.option(
        "--session", metavar="ID", default="", help="The session's id, or how it begins."
    )
    agent = click.option(
        "--agent", metavar="NAME", default="", help="The client whose sessions: claude-code, pi."
    )
    return session(agent(function))


def limit_option(default: int, what: str) -> Callable[[_F], _F]:
    """``--limit N``."""
    return click.option(
        "--limit",
        type=click.IntRange(min=0),
        metavar="N",
        default=default,
        show_default=True,
        help=f"{what}; 0: all.",
    )


@click.group(
    epilog="""\b
Examples:
  palace ledger status
  palace ledger show --session 5e1f
  palace ledger fold --budget 2000
  palace ledger check"""
)
def ledger() -> None:
    """A session's ledger: what is due, what it holds, what a fold makes of it.

    Without --session it is the newest of the project at hand, else the newest of all.
    """


ledger.add_command(import_command)


@ledger.command(
    "status",
    epilog="""\b
Examples:
  palace ledger status
  palace ledger status --agent pi --format jsonl""",
)
@which_options
@limit_option(SHOWN, "How many ledgers")
@format_option("text", "jsonl")
@root_option
def status_command(session: str, agent: str, limit: int, shape: str, root: str | None) -> int:
    """What each ledger has, newest first, and what is due in it."""
    place = roots.find(root)
    found = chosen.listed(place, session, agent)
    shown = found[:limit] if limit else found
    backoff = marks.read(place, marks.BACKOFF)
    unread = 0
    for one in shown:
        try:
            loaded = files.load(place, one.path)
        except PalaceError as error:
            unread += 1
            say(str(error), "red")
            continue
        tell_problems(loaded)
        figures = status(loaded.ledger, backoff.get(one.path))
        if shape == "jsonl":
            click.echo(json.dumps(_names(loaded) | _figures(figures), ensure_ascii=False))
        else:
            click.echo(printable(_title(loaded)))
            click.echo(f"  {_told(figures)}")
            click.echo(f"  {'; '.join(map(_stage, figures.stages))}")
    if len(found) > len(shown):
        say(f"{count(len(found) - len(shown), 'older ledger')} not shown: --limit 0")
    if not found:
        say("no ledger yet: sessions make one, or `palace ledger import` does")
    return 0 if found and not unread else 1


def tell_problems(loaded: Loaded) -> None:
    """Say that lines of a ledger do not count."""
    if loaded.problems:
        number = count(len(loaded.problems), "line")
        say(f"{loaded.path}: {number} left out: `palace ledger check` says why", "yellow")


def _title(loaded: Loaded) -> str:
    names = _names(loaded)
    at = [str(names["at"])[:16].replace("T", " ")] if names["at"] else []
    words = [names["agent"], names["session"], *([names["wing"]] if names["wing"] else []), *at]
    return "  ".join(words)


def _names(loaded: Loaded) -> dict[str, Any]:
    newest = max((one.at for one in loaded.ledger.entries.values()), default=None)
    return {
        "path": loaded.path,
        "agent": files.names(loaded.path)[0],
        "session": loaded.session,
        "wing": loaded.ledger.wing,
        "at": dates.stamp(newest) if newest else None,
    }


def _figures(figures: Status) -> dict[str, Any]:
    data = asdict(figures)
    return data | {"stages": [asdict(one) for one in figures.stages]}


def _told(figures: Status) -> str:
    pending = f" ({figures.pending_tokens:,} pending)" if figures.pending else ""
    dropped = f" (and {figures.dropped} dropped)" if figures.dropped else ""
    elsewhere = f"; {figures.elsewhere} on other branches" if figures.elsewhere else ""
    return (
        f"{_entries(figures.entries)}, {figures.tokens:,} tokens{pending}; "
        f"{count(figures.observations, 'observation')}{dropped}, "
        f"{count(figures.reflections, 'reflection')}, {count(figures.folds, 'fold')}{elsewhere}"
    )


def _entries(number: int) -> str:
    return f"{number:,} {'entry' if number == 1 else 'entries'}"


def _stage(one: Stage) -> str:
    reached = one.tokens >= one.threshold
    after = ": due" if one.due else f": {one.waits}" if reached and one.waits else ""
    return f"{one.name} {one.tokens:,} of {one.threshold:,}{after}"


@ledger.command(
    epilog="""\b
Examples:
  palace ledger show
  palace ledger show --session 5e1f --entries --limit 0"""
)
@which_options
@click.option("--entries", is_flag=True, help="What was said and done too, a line each.")
@limit_option(LINES, "How many of each, the newest")
@format_option("text", "jsonl")
@root_option
def show(session: str, agent: str, entries: bool, limit: int, shape: str, root: str | None) -> int:
    """What a ledger holds on its current branch: reflections, observations.

    `palace recall ID` shows what a line rests on.
    """
    loaded = _find(root, session, agent)
    here = ledger_branch.of(loaded.ledger, ledgers.branch(loaded.ledger))
    gone = here.dropped()
    sections: list[tuple[str, Sequence[Entry | Observation | Reflection]]] = [
        ("Reflections", [one for _, one in here.reflections]),
        ("Observations", [one for _, one in here.observations]),
        *([("Entries", here.entries)] if entries else []),
    ]
    if shape == "text":
        click.echo(printable(_title(loaded)))
    for heading, records in sections:
        shown = records[-limit:] if limit else records
        if shown and shape == "text":
            click.echo(f"\n## {heading}")
        for one in shown:
            click.echo(_record(one, one.id in gone, shape))
        if len(shown) < len(records):
            say(f"{heading}: {len(records) - len(shown)} earlier not shown: --limit 0")
    if not any(records for _, records in sections):
        say(f"nothing is observed yet; {_told(status(loaded.ledger))}")
        return 1
    return 0


def _record(one: Entry | Observation | Reflection, dropped: bool, shape: str) -> str:
    if shape == "text":
        if isinstance(one, Entry):
            return printable(ledger_text.entry_line(one))
        return printable(ledger_text.record_line(one, dropped))
    kind = type(one).__name__.lower()
    data = {"kind": kind, **asdict(one), "at": dates.stamp(one.at), "tokens": one.tokens}
    return json.dumps(data | ({} if kind == "entry" else {"dropped": dropped}), ensure_ascii=False)


def _find(root: str | None, session: str, agent: str) -> Loaded:
    loaded = chosen.find(roots.find(root), session, agent, roots.current())
    tell_problems(loaded)
    return loaded


@ledger.command(
    epilog="""\b
Examples:
  palace ledger fold
  palace ledger fold --budget 2000
  palace ledger fold --window 200000 --format json"""
)
@which_options
@click.option(
    "--window", type=click.IntRange(min=1), metavar="N", help="The client's window, in tokens."
)
@click.option(
    "--budget", type=click.IntRange(min=1), metavar="N", help="At most so many tokens, best first."
)
@click.option(
    "--first-kept", metavar="ID", default="", help="The first entry that the client keeps as it is."
)
@format_option("text", "json")
@root_option
def fold(
    session: str,
    agent: str,
    window: int | None,
    budget: int | None,
    first_kept: str,
    shape: str,
    root: str | None,
) -> int:
    """What a fold makes of a session now: reflections and observations, with ids.

    Nothing is written. What no record covers yet would stay as it is.
    """
    from memory_palace.core import fold as folds
    from memory_palace.core import folded_lines

    loaded = _find(root, session, agent)
    try:
        made = folds.fold(loaded.ledger, ledgers.branch(loaded.ledger), first_kept)
    except ValueError as error:
        raise BadInput(f"{error}: `palace ledger show --entries` lists the entries") from None
    text = folded_lines.fitted(made, budget) if budget else made.text
    due = status(loaded.ledger, window=window).stages[-1]
    raw = sum(one.tokens for one in made.raw)
    if shape == "json":
        data = _names(loaded) | {
            "text": text,
            "full": made.full,
            "reflections": [one.id for one in made.reflections],
            "observations": [one.id for one in made.observations],
            "raw": [one.id for one in made.raw],
            "raw_tokens": raw,
            "due": due.due,
            "tokens": due.tokens,
            "threshold": due.threshold,
        }
        click.echo(json.dumps(data, ensure_ascii=False))
    else:
        for line in text.split("\n") if text else ():
            click.echo(printable(line))
        kind = "full" if made.full else "normal"
        if made.text and not text:
            say(f"no line fits {count(budget or 0, 'token')}: give a larger --budget")
        elif not text:
            say("nothing to fold: no record covers what is before the first entry that is kept")
        say(f"{kind} fold; raw: {_entries(len(made.raw))} ({raw:,} tokens); {_stage(due)}")
    return 0 if text else 1


@ledger.command(epilog="Example: palace ledger check")
@which_options
@root_option
def check(session: str, agent: str, root: str | None) -> int:
    """What is wrong with the ledgers, line by line; exit 1 if anything is.

    Lines that do not count, broken parents, sources that are not there.
    """
    from memory_palace.core import ledger_check

    place = roots.find(root)
    problems = [] if session or agent else left_out.of_ledgers(place)
    found = sorted(one.path for one in chosen.listed(place, session, agent))
    for path in found:
        try:
            loaded = files.load(place, path)
        except (BadInput, Missing) as error:
            problems.append(Problem(path, None, str(error).removeprefix(f"{path}: ")))
            continue
        problems += [*loaded.problems, *ledger_check.check(path, loaded.ledger)]
    report(problems, every=True)
    click.echo(f"{count(len(found), 'ledger')}, {count(len(problems), 'problem')}")
    return 1 if problems else 0
