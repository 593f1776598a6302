"""``palace rules``."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from memory_palace.cli.common import format_option, now, report, root_option, say
from memory_palace.core import rules as core
from memory_palace.core import shell
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable
from memory_palace.core.rules import Call, Hits, Rule
from memory_palace.files import roots
from memory_palace.session import calls, regexes, ruletable
from memory_palace.session.events import Event
from memory_palace.session.ruletable import Table

LIMITS = (
    "the same act under another name, in a script, an alias or a Makefile",
    "what a command puts together while it runs: variables, the output of another command",
    "a file that a shell command changes: `file_modified` sees the tools that edit",
    "a session whose client does not run this palace's hooks, and people",
)
"""What rules cannot stop."""

_MOST_SHOWN = 20


def call_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The flags that pretend a tool call."""
    function = click.option(
        "--file", "files", metavar="PATH", multiple=True, help="A file that the tool changes."
    )(function)
    function = click.option("--command", metavar="TEXT", help="The shell command.")(function)
    return click.option(
        "--tool", metavar="NAME", help="The tool's name [Bash with --command, Edit with --file]."
    )(function)


@click.group(
    epilog="""\b
Examples:
  palace rules list
  palace rules add --trigger "bash_contains git push --force" --action block \\
    --reason "Merge first" --name "No forced push"
  palace rules test --command "cd x && sudo git push origin --force"
  palace rules explain --file src/api/users.py"""
)
def rules() -> None:
    """Rules: what must not run, what to warn of, what a turn has to do."""


@rules.command(name="list", epilog="Example: palace rules list --format jsonl")
@format_option("text", "jsonl")
@root_option
def list_(shape: str, root: str | None) -> int:
    """All rules that count, and what is wrong with the others.

    Exit 1 if one does not count, or there is none.
    """
    place = roots.find(root)
    table = ruletable.load(place, look=True)
    may = _allowed(place) if any(rule.run_after for rule in table.rules) else ()
    if shape == "jsonl":
        for rule in table.rules:
            click.echo(json.dumps(_as_json(rule, may), ensure_ascii=False))
    else:
        _table(table.rules, may)
    failed = report(table.problems)
    if not table.rules and not failed:
        say("no rules: `palace rules add --trigger … --action …` makes one")
    return 1 if failed or not table.rules else 0


def _allowed(root: Path) -> tuple[str, ...]:
    from memory_palace.session import run_after

    may, why = run_after.allowed(root)
    if why:
        say(f"what may run afterwards is not known: {why}")
    return may


def _as_json(rule: Rule, may: tuple[str, ...]) -> dict[str, object]:
    keys: dict[str, object] = {
        "name": rule.title,
        "trigger": rule.trigger or None,
        "action": rule.action or None,
        "verifier": rule.verifier or None,
        "reason": rule.reason,
        "path": rule.path,
        "line": rule.line,
        "link": rule.link,
    }
    if rule.run_after:
        keys["allowed"] = rule.run_after in may
    return keys


def _table(rules: tuple[Rule, ...], may: tuple[str, ...]) -> None:
    rows = []
    for rule in rules:
        action = rule.action
        if rule.run_after and rule.run_after not in may:
            action += " (not allowed)"
        if rule.trigger:
            rows.append((rule.title, rule.trigger, action, rule.where))
        if rule.verifier:
            rows.append((rule.title, rule.verifier, "retry", rule.where))
    shown = [tuple(map(printable, row)) for row in rows]
    widths = [min(max((len(row[at]) for row in shown), default=0), 44) for at in range(3)]
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row[:3], widths, strict=True)]
        click.echo("  ".join([*cells, row[3]]))


@rules.command(
    epilog="""\b
Examples:
  palace rules add --trigger "bash_contains git push --force" --action block --reason "Merge first"
  palace rules add --trigger "file_modified src/api/**" --action warn --reason "Public interface"
  palace rules add --verifier "tool_called Read before git commit" --name "Read first" """
)
@click.option(
    "--trigger",
    metavar="TEXT",
    default="",
    help="bash_contains, bash_regex, tool_name or file_modified, and what it looks for.",
)
@click.option("--action", metavar="TEXT", default="", help="block, warn or run_after COMMAND.")
@click.option("--verifier", metavar="TEXT", default="", help="tool_called TOOL before COMMAND.")
@click.option(
    "--reason", metavar="TEXT", default="", help="Why: told to the agent, kept in the event."
)
@click.option("--name", metavar="TEXT", default="", help="The note's title [what it looks for].")
@root_option
def add(root: str | None, **given: str) -> int:
    """Write a rule as a note, with a trigger and an action, a verifier, or both."""
    from memory_palace.memory import rule_notes

    place = roots.find(root)
    if not given["trigger"] and not given["verifier"]:
        raise BadInput("give --trigger and --action, or --verifier")
    known = ruletable.load(place, look=True).rules
    rule = rule_notes.add(place, now(), rule_notes.Wanted(**given), known)
    click.echo(f"added {rule.where}")
    if rule.run_after and rule.run_after not in _allowed(place):
        say(
            f"`{printable(rule.run_after)}` will not run: your own configuration does not allow "
            "it; add that text to `rules: {run_after: [...]}` there"
        )
    return 0


@rules.command(
    epilog="""\b
Examples:
  palace rules test --command "git push --force"
  palace rules test --file src/api/users.py
  palace rules test --tool WebFetch"""
)
@call_options
@root_option
def test(tool: str | None, command: str | None, files: tuple[str, ...], root: str | None) -> int:
    """Run a pretended tool call through the rules; nothing else is run.

    Exit 1 if it would be blocked.
    """
    _, _, found = _judged(tool, command, files, root)
    return _said(found, roots.find(root))


@rules.command(
    epilog="""\b
Examples:
  palace rules explain --command "bash -c 'git push --force'"
  palace rules explain"""
)
@call_options
@root_option
def explain(tool: str | None, command: str | None, files: tuple[str, ...], root: str | None) -> int:
    """Say which rule decides a tool call, how its command is read, and what rules cannot catch.

    Without a call only the last. Exit 1 if the call would be blocked.
    """
    code = 0
    if any((tool, command, *files)):
        table, call, found = _judged(tool, command, files, root)
        _parsed(call.command)
        for name, paths in call.files.items():
            click.echo(f"file  {printable(name)}  seen as {printable(', '.join(paths))}")
        code = _said(found, roots.find(root))
        others = len(table.rules) - len(found.rules)
        click.echo(f"{others} of {len(table.rules)} rules are not about this call")
    click.echo("Rules cannot catch:")
    for line in LIMITS:
        click.echo(f"- {line}")
    return code


def _judged(
    tool: str | None, command: str | None, files: tuple[str, ...], root: str | None
) -> tuple[Table, Call, Hits]:
    """All rules, the pretended call, and those that it triggers, run_after ones too."""
    if not any((tool, command, *files)):
        raise BadInput("give --command, --file or --tool")
    place = roots.find(root)
    table = ruletable.load(place, look=True)
    name = tool or ("Bash" if command else "Edit")
    event = Event("palace", "before_tool", cwd=str(Path.cwd()), tool=name)
    call = calls.of(place, event._replace(command=command or "", files=files))
    found = core.hits(table.rules, call, regexes.search)
    report(table.problems)
    for rule in found.given_up:
        say(f"{rule.where}: its regular expression took too long and was given up")
    return table, call, found


def _said(found: Hits, root: Path) -> int:
    """What would come of the call."""
    block = found.block
    if block:
        why = f": {block.reason}" if block.reason else ""
        click.echo(printable(f"blocked by {block.link} {block.where} ({block.trigger}){why}"))
        return 1
    may = _allowed(root) if any(rule.run_after for rule, _ in found.rules) else ()
    for rule, file in found.rules:
        about = f" {file}" if file else ""
        verb = "warned" if rule.action == "warn" else f"followed by `{rule.run_after}`"
        if rule.run_after and rule.run_after not in may:
            verb += " (not allowed)"
        why = f": {rule.reason}" if rule.reason else ""
        click.echo(printable(f"{verb}{about} by {rule.link} {rule.where} ({rule.trigger}){why}"))
    if not found.rules:
        click.echo("allowed: no rule is about it")
    return 0


def _parsed(command: str) -> None:
    if not command:
        return
    parsed = shell.parse(command)
    for simple in parsed.commands[:_MOST_SHOWN]:
        beside = " ".join(map(_quoted, simple.beside))
        words = " ".join(map(_quoted, simple.words))
        click.echo(f"command  {words}{f'  beside it {beside}' if beside else ''}")
    if len(parsed.commands) > _MOST_SHOWN:
        click.echo(f"{len(parsed.commands) - _MOST_SHOWN} more commands")
    for text in parsed.plain:
        click.echo(f"plain text, for it could not be parsed  {_quoted(text[:200])}")


def _quoted(word: str) -> str:
    word = printable(word)
    return word if word and not set(word) & set(" '\"") else f"'{word}'"
