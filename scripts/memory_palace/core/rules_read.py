"""Rules as they stand in files: notes of ``type: rule``, and enforced entries of topics."""

import re
import warnings
from collections.abc import Mapping
from typing import Any

from memory_palace.core import frontmatter, mechanical, rules_glob, rules_regex, topics
from memory_palace.core.links import TREE
from memory_palace.core.rules import Fault, Read, Rule, verifier_fault
from memory_palace.core.text import stem

KEYS = ("trigger", "action", "verifier")
LONGEST_TRIGGER = 1_000
"""Characters of a trigger: each call is held against it."""

_COVERS = re.compile(r"\^([0-9A-Za-z-]+)")


def of_note(path: str, text: str) -> Read:
    """The rule in a note that lies among rules, or was one when last read: what hides its type is
    a fault. A note of another type has none."""
    block = frontmatter.split(text)
    name = stem(path)
    if block.entries is None:
        what = f"rule `{name}` does not count: broken frontmatter ({block.fault}): mend the YAML"
        return Read(faults=(Fault(path, block.fault_line, what),))
    if not block.present and text.lstrip("\ufeff").startswith("---"):
        what = f"rule `{name}` does not count: its frontmatter has no end: close it with `---`"
        return Read(faults=(Fault(path, 1, what),))
    first: dict[str, Any] = {}
    for entry in block.entries:
        first.setdefault(entry.key, entry)
    values = {key: entry.value for key, entry in first.items()}
    kind = values.get("type")
    if kind != "rule":
        key = next((key for key in ("trigger", "verifier") if key in first), "")
        meant = "rule" in (kind if isinstance(kind, list) else [str(kind).strip().lower()])
        if not key or ("type" in values and not meant):
            return Read()
        what = f"its `type` is {kind!r}: write rule" if meant else "it has no `type: rule`"
        what = f"rule `{name}` does not count: {what}{'' if meant else ': add that line'}"
        return Read(faults=(Fault(path, first[key].key_start.line + 2, what),))
    lines = {key: entry.key_start.line + 2 for key, entry in first.items()}
    wrong = _cut(block.source, first) or _fault(values)
    if wrong:
        key, message = wrong
        at = lines.get(key, lines["type"])
        return Read(faults=(Fault(path, at, f"rule `{name}` does not count: {message}"),))
    trigger = values.get("trigger") or ""
    rule = Rule(
        path,
        lines.get("trigger", lines.get("verifier", 1)),
        _link(path),
        _text(values.get("title")) or name,
        _clean(trigger),
        values["action"].strip() if trigger else "",
        " ".join((values.get("verifier") or "").split()),
        _text(values.get("reason")),
        _needs(trigger),
    )
    evidence = values.get("evidence")
    linked = evidence if isinstance(evidence, list) else [evidence]
    covers = [key for one in linked if isinstance(one, str) for key in _COVERS.findall(one)]
    twice = [e for e in block.entries if e.key in KEYS and e is not first[e.key]]
    what = f"rule `{name}`: `%s` stands twice, the first counts: remove one"
    faults = tuple(Fault(path, e.key_start.line + 2, what % e.key) for e in twice)
    return Read((rule,), faults, tuple(covers))


def of_topic(path: str, text: str) -> Read:
    """The enforced entries of a topic file whose text has a mechanical form."""
    rules, keys = [], []
    for entry in topics.parse(path, text).entries:
        form = mechanical.read(entry.text) if entry.enforced else None
        if form is None or fault(form.trigger, form.action):
            continue
        link = _link(path) if not entry.block else f"{_link(path)[:-2]}#^{entry.block}]]"
        trigger = _clean(form.trigger)
        made = (path, entry.line, link, f"{stem(path)} ^{entry.key}", trigger, form.action)
        rules.append(Rule(*made, reason=entry.text, needs=_needs(trigger)))
        keys.append(entry.key)
    return Read(tuple(rules), entries=tuple(keys))


def fault(trigger: object, action: object) -> str:
    """What is wrong with a trigger and its action; empty if nothing is."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrong = mechanical.fault(trigger, action)
    name, _, what = str(trigger).partition(" ")
    if not wrong and len(what) > LONGEST_TRIGGER:
        return f"`trigger` looks for more than {LONGEST_TRIGGER:,} characters: shorten it"
    if not wrong and name == "file_modified" and (bad := rules_glob.fault(what.strip())):
        return f"`trigger` {bad}"
    return wrong


def _fault(values: Mapping[str, Any]) -> tuple[str, str] | None:
    """The key that is at fault, and what is wrong with it."""
    if "verifier" in values and (wrong := verifier_fault(values["verifier"])):
        return "verifier", wrong
    if "verifier" in values and "trigger" not in values and values.get("action") is None:
        return None
    wrong = fault(values.get("trigger"), values.get("action"))
    if not wrong:
        return None
    return ("action" if wrong.startswith("`action`") else "trigger"), wrong


def _cut(source: str, first: Mapping[str, Any]) -> tuple[str, str] | None:
    """A key whose value YAML ended at a ``#``."""
    lines = source.split("\n")
    for key in KEYS:
        entry = first.get(key)
        if entry is None or entry.style in ("'", '"', "|", ">"):
            continue
        line = lines[entry.key_start.line]
        if entry.value is None and re.search(r":\s+#", line):
            return key, f"`{key}` begins with `#`, which YAML takes for a comment: put it in quotes"
        end = lines[entry.end.line][entry.end.column :] if entry.end.line < len(lines) else ""
        if entry.value is not None and re.match(r"\s+#", end):
            return key, f"`{key}` is cut at ` #`, which YAML takes for a comment: put it in quotes"
    return None


def _clean(trigger: str) -> str:
    name, _, what = trigger.partition(" ")
    return f"{name} {what if name == 'bash_regex' else what.strip()}" if name else ""


def _needs(trigger: str) -> str:
    name, _, what = trigger.partition(" ")
    return rules_regex.literal(what) if name == "bash_regex" else ""


def _link(path: str) -> str:
    inner = path.removeprefix(TREE)
    return f"[[{inner[:-3] if inner.lower().endswith('.md') else inner}]]"


def _text(value: object) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
