"""Rules at work in a session: before a tool runs, after it ran, and when a turn ends.

What is wrong with a rule's file is told at the start and by the doctor, who look at the files: kept
anywhere else it would be told twice, and still when it is mended.
"""

import os
from collections.abc import Iterable
from pathlib import Path

from memory_palace.core import rules
from memory_palace.core.rules import Rule
from memory_palace.session import calls, ruletable, words
from memory_palace.session.events import Event, Reply

LONGEST_KEPT = 64_000
"""Characters of a command that the record keeps: what is cut, verifiers cannot parse."""

MOST_WARNINGS = 10


def at_start(root: Path) -> tuple[str, ...]:
    """A fresh look at all rules: what is wrong with those that do not count."""
    return tuple(map(words.faulty, ruletable.load(root, look=True).faults))


def before(root: Path, event: Event) -> Reply:
    """What the rules say of a tool call that is about to run: deny it, warn of it, or nothing.

    A warning of a file comes once a session, of a command or a tool once a turn.
    """
    here = [rule for rule in ruletable.load(root).rules if rule.action in ("block", "warn")]
    if not here:
        return Reply()
    from memory_palace.session import regexes

    call = calls.of(root, event)
    found = rules.hits(here, call, regexes.search)
    faults = tuple(map(words.given_up, found.given_up))
    blocking = found.block
    if blocking:
        return Reply(deny=words.denied(blocking), faults=faults)
    if not found.rules:
        return Reply(faults=faults)
    warned, more = _warn(root, event, found.rules)
    return Reply(context=warned, faults=faults + more)


def _warn(
    root: Path, event: Event, found: Iterable[tuple[Rule, str]]
) -> tuple[str, tuple[str, ...]]:
    """The warnings that are new, fenced, and what could not be noted."""
    from memory_palace.session import record

    key = _key(event)
    rows = record.read(root, key)
    known = record.shown(rows)
    this_turn = record.shown(record.this_turn(rows))
    told, added = [], []
    for rule, file in found:
        place = os.path.normpath(os.path.join(event.cwd or root, file)) if file else ""
        name, digest = f"rule {rule.link} {place}".strip(), words.digest(rule)
        if (known if file else this_turn).get(name) == digest:
            continue
        told.append(words.warned(rule, file))
        added.append({"k": "shown", "key": name, "digest": digest})
    if len(told) > MOST_WARNINGS:
        more = len(told) - MOST_WARNINGS
        told = [*told[:MOST_WARNINGS], f"{more} more: `palace rules test` lists all"]
    return words.fenced("\n".join(told)), record.noted(root, key, added)


def after(root: Path, event: Event) -> Reply:
    """Note a tool call in the session's record, and run what rules want to follow it.

    Only commands that the user's own configuration allows, by their exact text; their output comes
    back as data.
    """
    from memory_palace.session import record

    row = {"k": "tool", "tool": event.tool, "command": _kept(event.command)}
    faults = record.noted(root, _key(event), [row])
    if event.name == "tool_failed":
        return Reply(faults=faults)
    here = [rule for rule in ruletable.load(root).rules if rule.run_after]
    if not here:
        return Reply(faults=faults)
    from memory_palace.session import regexes

    found = rules.hits(here, calls.of(root, event), regexes.search)
    faults += tuple(map(words.given_up, found.given_up))
    if not found.rules:
        return Reply(faults=faults)
    said, more = _follow(root, event, [rule for rule, _ in found.rules])
    return Reply(context=words.fenced(said), faults=faults + more)


def _kept(command: str) -> str:
    """The command as a record may hold it: without secrets."""
    if not command:
        return ""
    from memory_palace.core import privacy

    return privacy.redact(command[:LONGEST_KEPT]).text


def _follow(root: Path, event: Event, wanted: list[Rule]) -> tuple[str, tuple[str, ...]]:
    """Run what may run; what came of it, and faults."""
    from memory_palace.session import record, run_after

    may, why = run_after.allowed(root)
    faults: tuple[str, ...] = (f"no command of a rule runs: {why}",) if why else ()
    told = []
    until = run_after.deadline()
    key = _key(event)
    asking: dict[str, Rule] = {}
    for rule in wanted:
        asking.setdefault(rule.run_after, rule)
    for command, rule in asking.items():
        if command in may:
            done = run_after.run(command, event.cwd or str(root), run_after.left(until))
            told.append(words.ran(rule, command, done.code, done.output))
            if done.code is None:
                faults += (words.not_ended(rule, command),)
            continue
        row = {"k": "shown", "key": f"run_after {command}", "digest": words.digest(rule)}
        if row in record.read(root, key):
            continue
        told.append(words.not_allowed(rule, command))
        faults += (words.not_allowed(rule, command), *record.noted(root, key, [row]))
    return "\n\n".join(told), faults


def at_stop(root: Path, event: Event) -> Reply:
    """What the turn that is about to end broke. It is kept going once, with the list."""
    here = [rule for rule in ruletable.load(root).rules if rule.verifier]
    if not here or event.again:
        return Reply()
    from memory_palace.session import record

    key = _key(event)
    turn = record.this_turn(record.read(root, key))
    if any(row.get("k") == "retried" for row in turn):
        return Reply()
    ran = [
        rules.Ran(str(row.get("tool", "")), str(row.get("command", "")))
        for row in turn
        if row.get("k") == "tool"
    ]
    broken = rules.violated(here, ran)
    if not broken:
        return Reply()
    faults = record.noted(root, key, [{"k": "retried"}])
    return Reply(retry=words.retried(broken), faults=faults)


def _key(event: Event) -> str:
    from memory_palace.session import record

    return record.key(event.client, event.session, event.agent)
