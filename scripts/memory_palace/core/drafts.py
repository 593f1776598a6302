"""The pages that approval writes, drafted from what the memory holds.

A draft says only what is known. What nobody has recorded yet is named as such, for whoever
approves to fill in.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from memory_palace.core import frontmatter, topics
from memory_palace.core.mechanical import Form
from memory_palace.core.promotion import FOLDERS, WING
from memory_palace.core.proposals import Evidence
from memory_palace.core.text import short_id, slug

SKILLS = f"{WING}skills/"
SKILL = "SKILL.md"
LONGEST_TITLE = 60
LONGEST_DESCRIPTION = 1024
"""Characters that a skill's description may have."""
LONGEST_NAME = 64

_LINK = re.compile(r"[ ,]*(?:\(?\bsee )?!?\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]\)?")
_CLAUSE = re.compile(r"[;:—–]|\.(?:\s|\Z)|,\s")
_SHORTEST_CLAUSE = 12


@dataclass(frozen=True, slots=True)
class Material:
    """What a page is made of. ``source`` is the link to the proposal, ``day`` a date; without
    ``title`` the text gives one. ``category`` is that of a line in a topic file."""

    destination: str
    text: str
    reason: str
    evidence: tuple[Evidence, ...]
    source: str
    day: str
    agent: str
    form: Form | None = None
    title: str = ""
    category: str = "preference"


def title_of(text: str) -> str:
    """A title for what ``text`` says: its first clause, without marks, at most 60 characters."""
    plain = " ".join(re.sub(r"[`*_\"]+", "", _LINK.sub("", text)).split())
    for cut in _CLAUSE.finditer(plain):
        if cut.start() >= _SHORTEST_CLAUSE:
            plain = plain[: cut.start()]
            break
    if len(plain) > LONGEST_TITLE:
        plain = plain[: LONGEST_TITLE + 1].rsplit(" ", 1)[0][:LONGEST_TITLE]
    plain = plain.strip(" .,;:-—–") or "Untitled"
    return plain[0].upper() + plain[1:]


def first_paragraph(body: str) -> str:
    """The first paragraph of a note's body that is no heading, on one line; empty for none."""
    for part in re.split(r"\n[ \t\r]*\n", body):
        lines = [line for line in part.splitlines() if line.strip() and not line.startswith("#")]
        if lines:
            return " ".join(" ".join(lines).split())
    return ""


def page_path(destination: str, title: str) -> str:
    """Where the page of a destination goes. Project rules and topics have no page of their own."""
    if destination == "skill":
        return f"{SKILLS}{skill_name(title)}/{SKILL}"
    return f"{WING}{FOLDERS[destination]}/{slug(title)}.md"


def other_name(destination: str, path: str) -> str:
    """The page's path where another note has its name: links by name would not know which."""
    kind = "rule" if destination == "enforcement" else destination.rsplit("_", 1)[-1]
    return f"{path.removesuffix('.md')}-{kind}.md"


def skill_name(title: str) -> str:
    """A skill's name: ``a-z``, ``0-9`` and single hyphens, at most 64 characters."""
    name = re.sub(r"[^a-z0-9]+", "-", slug(title)[:LONGEST_NAME]).strip("-")
    return name or f"skill-{short_id(title)}"


def draft(material: Material) -> str:
    """The whole page; for a project rule the line that joins the room's rules, for a topic the line
    that joins its topic file."""
    if material.destination == "topic":
        return f"{topics.render(topics.Entry('', 0, material.category, material.text))}\n"
    if material.destination == "project_rule":
        where = f" ({material.evidence[0].link})" if material.evidence else ""
        return f"- {material.text}{where}\n"
    title = material.title or title_of(material.text)
    if material.destination == "skill":
        return _skill(material, title)
    head = {
        "title": title,
        "type": "rule" if material.destination == "enforcement" else material.destination,
        "priority": "high" if material.destination == "enforcement" else "medium",
        "created": material.day,
        "agent": material.agent,
    }
    if material.destination == "constitution_candidate":
        head["status"] = "proposed"
    if material.form:
        head |= {"trigger": material.form.trigger, "action": material.form.action}
        head["reason"] = material.text
    lines = [f"{key}: {_scalar(key, value)}" for key, value in head.items() if value]
    lines.append(f"source: {frontmatter.scalar(material.source)}")
    if material.evidence:
        lines.append("evidence:")
        lines += [f"  - {frontmatter.scalar(evidence.link)}" for evidence in material.evidence]
    body = _BODIES[material.destination](material)
    return "\n".join(["---", *lines, "---", f"# {title}", "", *body]) + "\n"


def _scalar(key: str, value: str) -> str:
    # Always in quotes: YAML would cut a trigger at a `#`.
    return (
        frontmatter.scalar(value, '"')
        if key in ("trigger", "reason")
        else frontmatter.scalar(value)
    )


def _rule(material: Material) -> list[str]:
    assert material.form is not None
    kind, _, what = material.form.trigger.partition(" ")
    caught = {
        "bash_contains": f"The words `{what}` in one command, in this order.",
        "bash_regex": f"A command that matches `{what}`.",
        "tool_name": f"A call of the tool `{what}`.",
        "file_modified": f"A change to a file that matches `{what}`.",
    }
    return [
        material.text,
        "",
        "## What it catches",
        "",
        caught[kind],
        "",
        "## What it does not catch",
        "",
        "The same act under another name or inside a script.",
    ]


def _principle(material: Material) -> list[str]:
    limit = ["", "## Its limit", "", "None is recorded yet."]
    return [material.text, *_origin(material, "Where it comes from"), *limit]


def _kernel(material: Material) -> list[str]:
    return ["```text", material.text, "```", *_origin(material, "Why these lines")]


def _failure(material: Material) -> list[str]:
    return [
        "## What it looks like",
        "",
        material.text,
        *_origin(material, "Where it was seen"),
        "",
        "## Recovery",
        "",
        "None is recorded yet.",
    ]


def _path(material: Material) -> list[str]:
    return [f"1. {material.text}", *_origin(material, "Where it comes from")]


def _candidate(material: Material) -> list[str]:
    return [
        "## Proposed article",
        "",
        material.text,
        *_origin(material, "Why it should be permanent"),
        "",
        "## What speaks against it",
        "",
        "Nothing is recorded yet.",
    ]


_BODIES = {
    "enforcement": _rule,
    "principle": _principle,
    "prompt_kernel": _kernel,
    "failure_pattern": _failure,
    "thinking_path": _path,
    "constitution_candidate": _candidate,
}


def _origin(material: Material, heading: str) -> list[str]:
    reason = material.reason[:1].upper() + material.reason[1:]
    return ["", f"## {heading}", "", f"{reason}.", "", *listed(material.evidence)]


def listed(evidence: Sequence[Evidence]) -> list[str]:
    """The evidence as list items, each link with its day."""
    return [f"- {e.link}, {e.day}" if e.day else f"- {e.link}" for e in evidence]


def _skill(material: Material, title: str) -> str:
    description = " ".join(_LINK.sub(lambda m: f" {m[2] or m[1]}", material.text).split())
    head = {"name": skill_name(title), "description": description[:LONGEST_DESCRIPTION]}
    lines = [f"{key}: {frontmatter.scalar(value)}" for key, value in head.items()]
    body = [
        f"# {title}",
        "",
        material.text,
        *_origin(material, "Where it comes from"),
        f"- {material.source}",
    ]
    return "\n".join(["---", *lines, "---", *body]) + "\n"
