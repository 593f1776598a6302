"""``palace session``."""

import json
from typing import Any

import click

from memory_palace.cli import json_input
from memory_palace.cli.common import count, format_option, now, root_option, say
from memory_palace.core import dates
from memory_palace.core.errors import BadInput
from memory_palace.core.ledger import SUMMARY
from memory_palace.core.problems import printable
from memory_palace.files import roots

MOST_BYTES = 1024 * 1024
_SHOWN = 10
_MOST = 1000


@click.group(
    epilog="""\b
Examples:
  palace session list --wing shop
  palace session show 5e1f
  palace session summarize --completed "The parser reads tabs" --next-steps "Measure it\""""
)
def session() -> None:
    """Sessions: what each was about, in a few lines.

    request, investigated, learned, completed, next_steps: by rules when a session ends, or by the
    agent itself. They stand in the session's ledger.
    """


@session.command(
    epilog="""\b
Examples:
  palace session summarize                       by rules, of the newest session
  palace session summarize --json - < summary.json
  palace session summarize --request "Read tabs" --completed "The parser reads tabs\""""
)
@click.option("--session", "name", metavar="ID", default="", help="Its id, or how it begins.")
@click.option("--agent", metavar="NAME", default="", help="The client whose session it is.")
@click.option("--json", "file", metavar="FILE", help="The parts as a JSON object; - is stdin.")
@click.option("--request", metavar="TEXT", help="What was asked for.")
@click.option("--investigated", metavar="TEXT", help="What was read, searched and run.")
@click.option("--learned", metavar="TEXT", help="What was found out.")
@click.option("--completed", metavar="TEXT", help="What is done.")
@click.option("--next-steps", metavar="TEXT", help="What is left.")
@root_option
def summarize(
    name: str, agent: str, file: str | None, root: str | None, **parts: str | None
) -> int:
    """Sum up a session: in your own words, or by rules where none are given.

    Without --session it is the newest of the project at hand. Each part is at most 500
    characters; private spans and secrets are taken out first.
    """
    from memory_palace.files import config, identity
    from memory_palace.session import ledgers, sessions, summary

    given = {key: text for key, text in parts.items() if text is not None}
    if file is not None and given:
        raise BadInput("--json has all the parts: leave the other options out")
    place = roots.find(root)
    wanted = summary.checked(_object(file) if file is not None else given) if file or given else {}
    loaded = ledgers.find(place, name, agent, roots.current())
    if wanted:
        by = identity.who(config.load(place).identity)
        summary.write(place, loaded.path, wanted, now(), by)
    elif summary.by_rules(place, loaded.path, now()) is None:
        if summary.newest(loaded.ledger) is None:
            say(f"{loaded.path} says nothing to sum up")
            return 1
        say("summed up already, and nobody said anything since")
    _show(sessions.about(ledgers.find(place, name, agent, roots.current())))
    return 0


@session.command(
    "list",
    epilog="""\b
Examples:
  palace session list --limit 3
  palace session list --wing shop --format jsonl""",
)
@click.option("--wing", metavar="NAME", default="", help="Only sessions of this project.")
@click.option("--agent", metavar="NAME", default="", help="Only sessions of this client.")
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, _MOST),
    default=_SHOWN,
    show_default=True,
    help="How many at most.",
)
@format_option("text", "jsonl")
@root_option
def list_(wing: str, agent: str, limit: int, shape: str, root: str | None) -> int:
    """The sessions, newest first: date, client, project, entries, what was asked for."""
    from memory_palace.session import sessions

    found = sessions.listed(roots.find(root), wing, agent, limit)
    for one in found.sessions:
        if shape == "jsonl":
            click.echo(json.dumps(_as_dict(one), ensure_ascii=False))
        else:
            click.echo(printable(_head(one)))
            if one.request:
                click.echo(f"  {printable(one.request)}")
        _tell_problems(one)
    for fault in found.faults:
        say(fault, "red")
    if found.more:
        say(f"{count(found.more, 'older session')} not shown: --limit {limit + found.more}")
    if not found.sessions and not found.faults:
        say("no session yet: a client's hooks make one, or `palace ledger import` does")
    return 0 if found.sessions and not found.faults else 1


@session.command(
    epilog="""\b
Examples:
  palace session show           the newest of the project at hand
  palace session show 5e1f"""
)
@click.argument("name", metavar="SESSION", required=False, default="")
@click.option("--session", metavar="ID", default="", help="The same as SESSION.")
@click.option("--agent", metavar="NAME", default="", help="The client whose session it is.")
@format_option("text", "jsonl")
@root_option
def show(name: str, session: str, agent: str, shape: str, root: str | None) -> int:
    """What a session was about: its newest summary.

    SESSION is its id, or how it begins.
    """
    from memory_palace.session import ledgers, sessions

    if name and session and name != session:
        raise click.UsageError("SESSION and --session name two sessions: leave one out")
    name = name or session
    one = sessions.about(ledgers.find(roots.find(root), name, agent, roots.current()))
    if shape == "jsonl":
        click.echo(json.dumps(_as_dict(one), ensure_ascii=False))
    else:
        _show(one)
    _tell_problems(one)
    if one.summary is None:
        say(f"not summed up yet: `palace session summarize --session {printable(one.session)}`")
    return 0 if one.summary else 1


def _object(file: str) -> dict[str, Any]:
    """The JSON object in a file, or stdin."""
    found = json_input.read(file, MOST_BYTES)
    if not isinstance(found, dict):
        raise BadInput(f"the JSON is no object: write an object with {', '.join(SUMMARY)}")
    return found


def _show(one: Any) -> None:
    click.echo(printable(_head(one)))
    if one.summary:
        for key in SUMMARY:
            if one.summary.parts.get(key):
                click.echo(printable(f"{key.replace('_', ' ')}: {one.summary.parts[key]}"))
    elif one.request:
        click.echo(printable(f"request: {one.request}"))


def _head(one: Any) -> str:
    at = one.ended.strftime("%Y-%m-%d %H:%M") if one.ended else "no entries"
    words = [at, one.agent, one.wing, one.session, count(one.entries, "entry")]
    if one.summary:
        words.append(f"summed up by {one.summary.by}")
    return "  ".join(word for word in words if word)


def _tell_problems(one: Any) -> None:
    if one.problems:
        number = count(one.problems, "line")
        say(f"{one.path}: {number} left out: `palace ledger check` says why", "yellow")


def _as_dict(one: Any) -> dict[str, Any]:
    """A session with the keys that ``--format jsonl`` promises."""
    parts = one.summary.parts if one.summary else {}
    return {
        "session": one.session,
        "agent": one.agent,
        "wing": one.wing,
        "began": dates.stamp(one.began) if one.began else None,
        "ended": dates.stamp(one.ended) if one.ended else None,
        "entries": one.entries,
        "path": one.path,
        "summarized": dates.stamp(one.summary.at) if one.summary else None,
        "by": one.summary.by if one.summary else "",
        **{key: parts.get(key, "") for key in SUMMARY},
    }
