"""Findings of code reviews: their record, checked key by key, and what later lines change of it."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from memory_palace.core import dates
from memory_palace.core.privacy import redact
from memory_palace.core.problems import Problem, printable
from memory_palace.core.text import did_you_mean, nfc, short_id

STATUSES = ("posted", "skipped")
RESOLUTIONS = ("resolved_fixed", "resolved_accepted", "resolved_bad_fix", "resolved_no_fix")
AROUND = 3
"""Lines on either side of a finding's own that its context is made of: 7 in all."""

_REPOSITORY = re.compile(r"\w[\w.-]{0,99}\Z")
_HALF = re.compile("[\ud800-\udfff]")
_HEX12 = re.compile(r"[0-9a-f]{12}\Z")


class Fault(ValueError):
    """What is wrong with one item, in one line that names the key."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding. Empty text and None stand for what is not known.

    ``line`` counts from 1; ``context`` is the :func:`context` of the code that it is about; a
    candidate has neither ``id`` nor ``at``. ``kind`` is what guidelines speak of.
    """

    repository: str
    path: str
    line: int
    body: str
    id: str = ""
    pull_request: int | None = None
    head: str = ""
    severity: str = ""
    kind: str = ""
    status: str = "posted"
    skip_reason: str = ""
    resolution: str = ""
    answer: str = ""
    context: str = ""
    at: str = ""
    by: str = ""

    @property
    def is_open(self) -> bool:
        """Posted, and nothing has come of it yet."""
        return self.status == "posted" and not self.resolution

    @property
    def place(self) -> str:
        return f"{self.path}:{self.line}"

    def key(self) -> str:
        """12 hex digits of the content: the same finding on the same commit is the same one."""
        pull = str(self.pull_request or "")
        return short_id(self.repository, pull, self.head, self.path, str(self.line), self.body)


def context(lines: Iterable[str]) -> str:
    """12 hex digits of the lines around a place; spaces at their ends do not count."""
    return short_id("\n".join(line.rstrip() for line in lines))


def around(lines: list[str], line: int) -> list[str]:
    """The lines that make the context of ``line`` (from 1); none if there is no such line."""
    return lines[max(0, line - 1 - AROUND) : line + AROUND] if line <= len(lines) else []


def _one_line(value: Any) -> str:
    text = _text(value)
    if "\n" in text or "\r" in text:
        raise Fault("has several lines: write one")
    return text


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise Fault(f"is {_shown(value)}: write text")
    if _HALF.search(value):
        raise Fault("has half a character (a lone surrogate): write it whole")
    return value.strip()


def _filled(value: Any) -> str:
    text = _text(value)
    if not text:
        raise Fault("is blank: write what it says")
    return text


def _number(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value < 1 << 53:
        raise Fault(f"is {_shown(value)}: write a whole number from 1")
    return value


def repository(value: Any) -> str:
    """A repository's name, if it is one safe path component. Raises :class:`Fault`."""
    name = nfc(value.strip()) if isinstance(value, str) else ""
    if not _REPOSITORY.match(name) or name.endswith("."):
        raise Fault(
            f"is {_shown(value)}: write its name alone (letters, digits, `-`, `_`, `.`), no owner"
        )
    return name


def _path(value: Any) -> str:
    path = value.strip() if isinstance(value, str) else ""
    path = path.removeprefix("./")
    parts = path.split("/")
    if not path.isprintable() or "\\" in path or set(parts) & {"", ".", ".."}:
        raise Fault(f"is {_shown(value)}: write a path relative to the repository, with `/`")
    return path


def _among(*words: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if value in ("", None):
            return ""
        if value not in words:
            hint = did_you_mean(value, words) if isinstance(value, str) else _listed(words)
            raise Fault(f"is {_shown(value)}{hint}")
        return str(value)

    return check


def _listed(words: Iterable[str]) -> str:
    return f": write one of {', '.join(words)}"


def _lines(value: Any) -> list[str]:
    lines = value.split("\n") if isinstance(value, str) else value
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        raise Fault("is no list of lines: write the 7 lines around the place")
    if not 1 <= len(lines) <= 2 * AROUND + 1:
        raise Fault(f"has {len(lines)} lines: write the 7 around the place, fewer at a file's ends")
    return lines


def _stamp(value: Any) -> str:
    moment = dates.parse(value) if isinstance(value, str) else None
    if moment is None:
        raise Fault(f"is {_shown(value)}: write {dates.FORMS}")
    return dates.stamp(moment)


def _key(value: Any) -> str:
    if not isinstance(value, str) or not _HEX12.match(value):
        raise Fault(f"is {_shown(value)}: write 12 hex digits, or leave it out")
    return value


_FIELDS: dict[str, Callable[[Any], Any]] = {
    "id": _key,
    "repository": repository,
    "pull_request": _number,
    "head": _one_line,
    "path": _path,
    "line": _number,
    "body": _filled,
    "severity": _one_line,
    "kind": _one_line,
    "status": _among(*STATUSES),
    "skip_reason": _text,
    "resolution": _among(*RESOLUTIONS),
    "answer": _text,
    "context": _one_line,
    "lines": _lines,
    "at": _stamp,
    "by": _one_line,
    "reason": _one_line,
}
_PROSE = ("head", "body", "severity", "kind", "skip_reason", "answer", "reason")
KEYS = tuple(_FIELDS)
"""All keys that an item may have."""
REQUIRED = ("repository", "path", "line", "body")


def fields(data: Any, stored: bool = False) -> dict[str, Any]:
    """What a JSON value says, checked and, unless it is ``stored``, with private spans and secrets
    taken out.

    A null is as good as nothing; ``lines`` becomes ``context``. Raises :class:`Fault` at the first
    thing wrong.
    """
    if not isinstance(data, dict):
        raise Fault(f"is {_shown(data)}: write a JSON object")
    found: dict[str, Any] = {}
    for key, value in data.items():
        if key not in _FIELDS:
            raise Fault(f"unknown key `{printable(str(key))[:40]}`{did_you_mean(key, _FIELDS)}")
        if value is not None:
            try:
                found[key] = _FIELDS[key](value)
            except Fault as fault:
                raise Fault(f"`{key}` {fault}") from None
    if not stored:
        found |= {key: redact(found[key]).text.strip() for key in _PROSE if key in found}
    lines = found.pop("lines", None)
    if lines is not None and not found.get("context"):
        found["context"] = context(lines)
    return found


def finding(given: Mapping[str, Any]) -> Finding:
    """The finding that checked fields make; its id is made where none is given.

    Raises :class:`Fault` if a key is missing, or a skipped one has no reason.
    """
    for key in REQUIRED:
        if key not in given:
            raise Fault(f"`{key}` is missing: write it")
    values = {key: value for key, value in given.items() if key in Finding.__dataclass_fields__}
    made = Finding(**{**values, "status": values.get("status") or "posted"})
    if made.status == "skipped" and not made.skip_reason:
        raise Fault("`skip_reason` is missing or blank: say why it was skipped")
    if made.status == "skipped" and made.resolution:
        raise Fault("`resolution` is of a finding that was skipped: only a posted one has one")
    return made


@dataclass(frozen=True, slots=True)
class Folded:
    """The findings of a store, oldest first, and what is wrong with its lines."""

    findings: tuple[Finding, ...]
    problems: tuple[Problem, ...]


def fold(path: str, lines: Iterable[tuple[int, dict[str, Any]]]) -> Folded:
    """The findings that (line number, object) pairs add up to, in whatever order they stand.

    Lines of one id are taken by their time; each changes the keys that it has.
    """
    problems: list[Problem] = []
    by_id: dict[str, list[tuple[str, int, dict[str, Any]]]] = {}
    for number, data in lines:
        try:
            found = fields(data, stored=True)
            if "id" not in found or "at" not in found:
                missing = "id" if "id" not in found else "at"
                raise Fault(f"`{missing}` is missing: write it, or remove the line")
        except Fault as fault:
            problems.append(Problem(path, number, str(fault)))
            continue
        by_id.setdefault(found["id"], []).append((found["at"], number, found))
    findings = []
    for changes in by_id.values():
        whole: dict[str, Any] = {}
        for _, _, change in sorted(changes, key=lambda c: c[:2]):
            whole.update(change)
        try:
            findings.append(finding(whole))
        except Fault as fault:
            problems.append(Problem(path, changes[-1][1], str(fault)))
    findings.sort(key=lambda one: (one.at, one.id))
    return Folded(tuple(findings), tuple(problems))


def _shown(value: Any) -> str:
    text = repr(value) if not isinstance(value, dict | list) else f"a {type(value).__name__}"
    return printable(text if len(text) <= 60 else text[:57] + "…")
