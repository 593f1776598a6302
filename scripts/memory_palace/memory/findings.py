"""The review store of a repository: ``reviews.jsonl`` and ``review_guidelines.md`` of its room."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from memory_palace.core import dates, findings, raising
from memory_palace.core.errors import BadInput, Changed, Missing, Refused
from memory_palace.core.findings import Fault, Finding
from memory_palace.core.problems import Problem
from memory_palace.core.raising import Cosines, Decision, Guideline
from memory_palace.core.text import nearest
from memory_palace.files import jsonl, read, roots
from memory_palace.memory.pen import Pen

FOLDER = "palace/project_rooms"
STORE = "reviews.jsonl"
GUIDELINES = "review_guidelines.md"
_KEPT = (
    *("repository", "pull_request", "head", "path", "line", "body", "severity", "kind"),
    *("status", "skip_reason", "resolution", "answer", "context"),
)


@dataclass(frozen=True, slots=True)
class Store:
    """A repository's findings, oldest first, its guidelines, and what is wrong in its files."""

    repository: str
    findings: tuple[Finding, ...]
    guidelines: tuple[Guideline, ...]
    problems: tuple[Problem, ...]


def named(repository: str) -> str:
    """``repository`` if it is one safe path component. Raises :class:`BadInput`."""
    try:
        return findings.repository(repository)
    except Fault as fault:
        raise BadInput(f"the repository {fault}") from None


def repositories(root: Path) -> list[str]:
    """The repositories that have a store, by name."""
    return sorted(place.parent.name for place in (root / FOLDER).glob(f"*/{STORE}"))


def load(root: Path, repository: str) -> Store:
    """The store of one repository; a missing one is empty.

    A half-written last line is left out with a warning. Raises :class:`BadInput` for what is no
    readable UTF-8 file, :class:`Missing` if it cannot be reached.
    """
    path = f"{FOLDER}/{repository}/{STORE}"
    text = _read(root, path)
    lines = _read(root, f"{FOLDER}/{repository}/{GUIDELINES}")
    folded = _parsed(path, text)
    return Store(repository, folded.findings, raising.guidelines(lines), folded.problems)


def _read(root: Path, path: str) -> str:
    place = roots.inside(root, path)
    if not place.exists():
        return ""
    got = read.read(root, path)
    if isinstance(got, read.Unreadable):
        raise (BadInput if got.content else Missing)(f"{path}: {got.problem.message}")
    return got.text


def _parsed(path: str, text: str) -> findings.Folded:
    lines, problems = jsonl.parse_log(path, text)
    whole = ((line.number, line.data) for line in lines if line.data is not None)
    folded = findings.fold(path, whole)
    return findings.Folded(folded.findings, (*problems, *folded.problems))


def items(text: str) -> Iterator[Any]:
    """The items of a JSON array, of one object, or of JSONL; a :class:`Fault` for a bad line.

    Raises :class:`BadInput` if it is meant as an array and is none.
    """
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        if text.lstrip().startswith("["):
            raise BadInput(f"the input is no JSON array ({_first(error)}): mend it") from None
        for line in text.split("\n"):
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as fault:
                    yield Fault(f"is no JSON ({_first(fault)}): write one object a line")
        return
    yield from whole if isinstance(whole, list) else [whole]


def _first(error: Exception) -> str:
    return str(error).splitlines()[0]


def candidate(item: Any, defaults: Mapping[str, Any], source: Path | None = None) -> Finding:
    """The finding that a foreign ``item`` describes; ``defaults`` fill keys that it lacks.

    Its context is read below ``source`` where it brings none. Raises :class:`Fault`.
    """
    if isinstance(item, Fault):
        raise item
    given = findings.fields(item)
    if named_ := {"id", "at", "by"} & set(given):
        raise Fault(f"`{min(named_)}` is set by the store: leave it out")
    made = findings.finding({**defaults, **given})
    if source is not None and not made.context:
        made = replace(made, context=read_context(source, made))
    return replace(made, id=made.key())


def read_context(source: Path, one: Finding) -> str:
    """The context of a finding in a working tree; empty if its place is not there."""
    try:
        roots.inside(source, one.path)
    except BadInput:
        return ""
    got = read.read(source, one.path)
    lines = [] if isinstance(got, read.Unreadable) else got.text.split("\n")
    near = findings.around(lines, one.line)
    return findings.context(near) if near else ""


def check(
    root: Path, candidates: Iterable[tuple[int, Finding]], cosines: Cosines
) -> tuple[list[tuple[int, Decision]], list[Problem]]:
    """For each numbered candidate, whether to raise it; and what is wrong in the stores."""
    stores: dict[str, Store] = {}
    raised: list[tuple[int, Finding]] = []
    result = []
    for number, one in candidates:
        if one.repository not in stores:
            stores[one.repository] = load(root, one.repository)
        store = stores[one.repository]
        twin = next((n for n, other in raised if _is_twin(one, other)), None)
        if twin is not None:
            decision = Decision(False, f"the same as item {twin}")
        else:
            decision = raising.decide(one, store.findings, store.guidelines, cosines)
            if decision.raised:
                raised.append((number, one))
        result.append((number, decision))
    return result, [problem for store in stores.values() for problem in store.problems]


def _is_twin(one: Finding, other: Finding) -> bool:
    return (one.repository, one.path, one.line) == (
        other.repository,
        other.path,
        other.line,
    ) and raising.overlap(one.body, other.body) >= raising.OVERLAP


def add(p: Pen, several: Iterable[Finding]) -> list[str]:
    """Keep findings; of each, ``added``, ``updated`` (another answer, …) or ``unchanged``.

    One whose code is other than when it was resolved is open again. Raises :class:`Refused`, and
    nothing is written, if a skipped one is given a resolution.
    """
    open_: dict[str, _Open] = {}
    words = []
    for one in several:
        if one.repository not in open_:
            open_[one.repository] = _Open(p, one.repository)
        words.append(open_[one.repository].add(one))
    for store in open_.values():
        store.put()
    return words


def resolve(p: Pen, known: Finding, resolution: str, answer: str) -> Finding:
    """Record what came of a posted finding, and the author's answer.

    Raises :class:`Refused` if it was skipped.
    """
    store = _Open(p, known.repository)
    made = store.change(
        known.id, findings.fields({"resolution": resolution, "answer": answer or None})
    )
    store.put()
    return made


class _Open:
    """A store that is written: lines are added to its text, which is put once."""

    def __init__(self, p: Pen, repository: str) -> None:
        self._pen = p
        self._path = f"{FOLDER}/{repository}/{STORE}"
        self._text = p.read(self._path) or ""
        self._known = {one.id: one for one in _parsed(self._path, self._text).findings}

    def add(self, one: Finding) -> str:
        new = {key: getattr(one, key) for key in _KEPT if getattr(one, key) not in ("", None)}
        before = self._known.get(one.id)
        if before is None:
            self._append(one.id, new)
            self._known[one.id] = replace(one, at=dates.stamp(self._pen.now))
            return "added"
        changed = {key: value for key, value in new.items() if getattr(before, key) != value}
        if not changed:
            return "unchanged"
        if "context" in changed and before.resolution and not one.resolution:
            changed["resolution"] = ""
        self.change(one.id, changed)
        return "updated"

    def change(self, key: str, changed: dict[str, Any]) -> Finding:
        before = self._known.get(key)
        if before is None:
            raise Changed(f"{self._path} has no finding {key} any more: look and run it again")
        changed = {name: value for name, value in changed.items() if getattr(before, name) != value}
        moment, last = self._pen.now, dates.parse(before.at)
        if last and last >= moment.replace(microsecond=0):
            # Lines are taken by their time: a change must come after what it changes.
            moment = last + timedelta(seconds=1)
        after = replace(before, **{**changed, "at": dates.stamp(moment)})
        if after.status == "skipped" and after.resolution:
            raise Refused(f"{key} was skipped: only a posted finding has a resolution")
        if changed:
            self._append(key, changed, moment)
            self._known[key] = after
        return after

    def _append(self, key: str, data: dict[str, Any], at: datetime | None = None) -> None:
        """One more line; a cut-off last one is ended first, and stays."""
        p = self._pen
        line = {"at": dates.stamp(at or p.now), "by": p.by, "id": key, **data}
        if p.reason:
            line["reason"] = " ".join(p.reason.split())
        gap = "" if not self._text or self._text.endswith("\n") else "\n"
        self._text += f"{gap}{jsonl.dump(line)}\n"

    def put(self) -> None:
        if self._text:
            self._pen.put(self._path, self._text)


def find(root: Path, key: str, repository: str | None = None) -> Finding:
    """The finding with this id. Raises :class:`Refused` if none has it."""
    known = {
        one.id: one
        for name in ([repository] if repository else repositories(root))
        for one in load(root, name).findings
    }
    key = key.strip()
    if key not in known:
        near = nearest(key, known)
        hint = f": did you mean {near}?" if near else ": `palace findings list` lists them"
        raise Refused(f"no finding has the id {key}{hint}")
    return known[key]


def add_guideline(p: Pen, repository: str, kind: str, reason: str) -> tuple[str, bool]:
    """Write ``- Do not flag <kind> — <reason>``; the line's place, and False if it was there.

    Raises :class:`BadInput` for text that makes no such line, :class:`Refused` if the kind is
    there with another reason.
    """
    line = f"- Do not flag {kind} — {reason}"
    made = raising.guidelines(line)
    if not (kind and reason and made and made[0].kind == kind and "\n" not in line):
        raise BadInput("kind and reason are one line of text each, a kind without a dash: reword")
    path = f"{FOLDER}/{repository}/{GUIDELINES}"
    text = p.read(path)
    known = raising.covering(kind, raising.guidelines(text or ""))
    if known:
        if known.reason != reason:
            raise Refused(f"{path}:{known.line} has another reason ({known.reason}): edit it there")
        return f"{path}:{known.line}", False
    if text is None:
        day = dates.stamp(p.now)[:10]
        text = f"---\ncreated: {day}\nagent: {json.dumps(p.by)}\n---\n"
        text += f"# Review guidelines of {repository}\n\n"
    end = "\r\n" if "\r\n" in text else "\n"
    text += "" if not text or text.endswith("\n") else end
    p.put(path, f"{text}{line}{end}")
    return f"{path}:{text.count(chr(10)) + 1}", True
