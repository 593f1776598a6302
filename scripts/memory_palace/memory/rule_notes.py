"""Writes a rule as a note."""

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_palace.core import drafts, frontmatter, privacy, rules_read
from memory_palace.core.errors import BadInput, Refused
from memory_palace.core.rules import FOLDER, Rule
from memory_palace.core.text import sha256, slug
from memory_palace.memory import pen

_CAUGHT = {
    "bash_contains": "Commands that hold the words `{}`, also behind `sudo`, in a list or a group.",
    "bash_regex": "Commands in which `{}` is found.",
    "tool_name": "Calls of the tool `{}`.",
    "file_modified": "Changes to files that `{}` names.",
}


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a rule is to say. ``name`` becomes title and file name; empty: what it looks for."""

    trigger: str = ""
    action: str = ""
    verifier: str = ""
    reason: str = ""
    name: str = ""


def add(root: Path, now: datetime, wanted: Wanted, known: tuple[Rule, ...]) -> Rule:
    """Write the note, and give the rule as it is read back.

    Raises :class:`BadInput` for what is no rule, :class:`Refused` if one of ``known`` says the same
    or the note is there already.
    """
    given = [wanted.trigger, wanted.action, wanted.verifier, wanted.reason, wanted.name]
    for text in given:
        if privacy.redact(text).text != text:
            raise BadInput("a secret, or a private span, stands in the rule: leave it out")
    with pen.begin(root, now, "palace rules add", wanted.reason) as held:
        title = " ".join((wanted.name or _title(wanted)).split())
        path = f"{FOLDER}/{slug(title)}.md"
        text = _note(wanted, title, now.date().isoformat(), held.by)
        read = rules_read.of_note(path, text)
        if read.faults:
            raise BadInput(read.faults[0].message.partition(" does not count: ")[2])
        rule = read.rules[0]
        for one in known:
            if (one.trigger, one.action, one.verifier) == (
                rule.trigger,
                rule.action,
                rule.verifier,
            ):
                raise Refused(f"{one.where} says the same: change that note")
        if held.read(path) is not None:
            raise Refused(f"{path} is there already: give this rule another --name")
        held.put(path, text)
        held.log("noted", path, path=path, digest=sha256(text))
        return rule


def _title(wanted: Wanted) -> str:
    verb = wanted.action.partition(" ")[0]
    return f"{verb} {wanted.trigger.partition(' ')[2]}" if wanted.trigger else wanted.verifier


def _note(wanted: Wanted, title: str, day: str, agent: str) -> str:
    head = {"title": title, "type": "rule", "priority": "high", "created": day, "agent": agent}
    lines = [f"{key}: {frontmatter.scalar(value)}" for key, value in head.items()]
    for key in ("trigger", "action", "verifier", "reason"):
        value = getattr(wanted, key)
        if value:
            style = '"' if key in ("trigger", "reason") else "plain"
            lines.append(f"{key}: {frontmatter.scalar(value, style)}")
    name, _, what = wanted.trigger.partition(" ")
    tool, _, command = wanted.verifier.removeprefix("tool_called ").partition(" before ")
    body = [wanted.reason or drafts.title_of(title), "", "## What it catches", ""]
    if wanted.trigger:
        body.append(_CAUGHT.get(name, "{}").format(what.strip()))
    if wanted.verifier:
        body.append(f"A turn in which `{command}` runs and {tool} was not called before it.")
    body += ["", "## What it does not catch", "", "The same act under another name or in a script."]
    return "\n".join(["---", *lines, "---", f"# {title}", "", *body]) + "\n"
