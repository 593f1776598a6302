"""The tools of ``--tools all``: the layers above single notes, and the review store."""

import contextlib
from typing import Annotated, Literal

from pydantic import BaseModel, Field

from memory_palace.agents.mcp_desk import Desk, Listed, Reason
from memory_palace.agents.mcp_memories import Source, trace
from memory_palace.agents.mcp_schema import Said
from memory_palace.core import privacy
from memory_palace.core.errors import BadInput, Missing
from memory_palace.core.fence import fenced
from memory_palace.core.findings import Fault, Finding
from memory_palace.core.problems import printable
from memory_palace.memory import alike, notes_checks, pen
from memory_palace.memory import findings as stores


class Recalled(Said):
    """What `recall` answers: the paths of the notes shown, and how many more there are; of an id
    ``result``, how far it leads (empty for a wing), and the entries that it rests on."""

    notes: list[str]
    more: int
    result: str
    sources: list[Source]


class Reported(Said):
    """What `report` answers: tokens used, of how many, and the class of the prompt."""

    used: int
    budget: int
    kind: str


class Found(BaseModel):
    """A finding of a review."""

    id: str
    repository: str
    path: str
    line: int
    status: str
    resolution: str
    severity: str
    at: str


class Kept(Said):
    """What `findings` answers."""

    findings: list[Found]
    more: int


class Added(Said):
    """What `add_finding` answers."""

    what: str
    id: str


class Layers:
    """What is known of more than one note at once."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def recall(
        self,
        wing: Annotated[
            str, Field(description="A project, an agent, or a room below palace/.")
        ] = "",
        room: Annotated[str, Field(description="A room of the wing; empty: all of it.")] = "",
        id: Annotated[
            str, Field(description="Instead: 12 hex digits, as in a session's fold.")
        ] = "",
    ) -> Recalled:
        if bool(wing) == bool(id) or (id and room):
            raise BadInput("give `wing`, and `room` perhaps, or `id` alone")
        if id:
            found = trace(self._desk.root, id)
            return Recalled(
                text=found.text, notes=[], more=0, result=found.result, sources=list(found.sources)
            )
        from memory_palace.session import recall

        known = recall.recall(self._desk.root, self._desk.now(), wing, room or None)
        text = fenced(known.text, "recall") or "nothing in there yet"
        return Recalled(
            text="\n".join([text, *known.said]),
            notes=[told.path for told in known.notes],
            more=known.more,
            result="",
            sources=[],
        )

    def report(
        self,
        prompt: Annotated[str, Field(description="What is to be done.")] = "",
        files: Annotated[list[str], Field(description="Files at hand, 10 at most.")] = [],  # noqa: B006
    ) -> Reported:
        from memory_palace.session import report

        desk = self._desk
        vectors = None
        if prompt.strip() or files:
            with contextlib.suppress(Missing):  # then words are compared
                vectors = alike.Entries(desk.root, desk.source.choice())
        found = report.compose(desk.root, desk.now(), prompt, files, entries=vectors)
        return Reported(
            text=fenced(found.text, "report") or "nothing to report: no memory yet",
            used=found.used,
            budget=found.budget,
            kind=found.kind.name,
        )


class Findings:
    """The review store."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def findings(
        self,
        repository: Annotated[
            str, Field(description="Its name, without the owner; empty: every one.")
        ] = "",
        path: Annotated[str, Field(description="Only findings on this file.")] = "",
        unresolved: Annotated[
            bool, Field(description="Only posted ones without a resolution.")
        ] = False,
        most: Listed = 50,
    ) -> Kept:
        root = self._desk.root
        names = [stores.named(repository)] if repository else stores.repositories(root)
        found: list[Finding] = []
        said: list[str] = []
        for name in names:
            store = stores.load(root, name)
            said += map(str, store.problems)
            found += [
                one
                for one in store.findings
                if (not path or one.path == path) and (one.is_open or not unresolved)
            ]
        more = max(len(found) - most, 0)
        lines = [_line(one) for one in found[:most]] or ["no finding"]
        lines += [f"{more} more"] if more else []
        text = fenced("\n".join(lines), "findings")
        return Kept(
            text="\n".join([text, *said]), findings=[_row(one) for one in found[:most]], more=more
        )

    def add_finding(
        self,
        repository: Annotated[str, Field(description="Its name, without the owner.")],
        path: Annotated[str, Field(description="The file, relative to the repository.")],
        line: Annotated[int, Field(ge=1, description="The line, from 1.")],
        body: Annotated[str, Field(description="What the finding says.")],
        severity: Annotated[str, Field(description="How bad it is, in the review's words.")] = "",
        kind: Annotated[str, Field(description="What guidelines call it.")] = "",
        pull_request: Annotated[int, Field(ge=0, description="Its number; 0: none.")] = 0,
        head: Annotated[str, Field(description="The commit that was reviewed.")] = "",
        status: Annotated[
            Literal["posted", "skipped"], Field(description="Posted, or skipped and why.")
        ] = "posted",
        skip_reason: Annotated[str, Field(description="Why it was skipped.")] = "",
        reason: Reason = "",
    ) -> Added:
        given = {
            "repository": stores.named(repository),
            "path": path,
            "line": line,
            "body": body,
            "severity": severity or None,
            "kind": kind or None,
            "pull_request": pull_request or None,
            "head": head or None,
            "status": status,
            "skip_reason": skip_reason or None,
        }
        try:
            one = stores.candidate(given, {})
        except Fault as fault:
            raise BadInput(str(fault)) from None
        told: list[str] = []
        desk = self._desk
        with pen.begin(desk.root, desk.now(), "palace findings add", reason, told.append) as held:
            (word,) = stores.add(held, [one])
        text = printable(f"{word} {one.id}  {one.place}")
        told += notes_checks.taken_out(privacy.redact(body))
        return Added(text="\n".join([text, *told]), what=word, id=one.id)


def _line(one: Finding) -> str:
    came = one.resolution.removeprefix("resolved_") or one.status
    body = one.body.split("\n", 1)[0].rstrip("\r")
    return printable(f"{one.id}  {came}  {one.repository}  {one.place}  {body}")


def _row(one: Finding) -> Found:
    return Found(
        id=one.id,
        repository=one.repository,
        path=one.path,
        line=one.line or 0,
        status=one.status,
        resolution=one.resolution or "",
        severity=one.severity or "",
        at=str(one.at or ""),
    )
