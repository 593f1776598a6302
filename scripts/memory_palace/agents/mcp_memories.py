"""The tools of ``--tools all`` for what happened in sessions: recorded, searched, traced."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

from memory_palace.agents.mcp_desk import Desk
from memory_palace.agents.mcp_schema import Said
from memory_palace.core import dates, ledger_due, ledger_text
from memory_palace.core import ledger as forms
from memory_palace.core.errors import BadInput
from memory_palace.core.fence import fenced
from memory_palace.core.ledger import Entry, Summary
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable
from memory_palace.files import config as configs
from memory_palace.files import identity, roots
from memory_palace.files import ledgers as files
from memory_palace.session import ledgers

MOST_SHOWN = 40_000
"""Characters of stored text that one answer shows."""

WAIT_SECONDS = 2.0
"""For whoever else drains the queue, before entries are shown or cited."""

Session = Annotated[
    str, Field(description="A session's id or its beginning; empty: the project's newest.")
]


class Source(BaseModel):
    """An entry that something rests on."""

    id: str
    role: str
    at: str


class Trace(NamedTuple):
    """What an id leads to; ``result`` as ``core/ledger_recall`` has it."""

    text: str
    result: str
    sources: tuple[Source, ...]


class Seen(BaseModel):
    """An observation that an agent has made."""

    model_config = ConfigDict(extra="forbid")

    content: str = Field(description="One line, true by itself.")
    sources: list[str] = Field(description="Ids of the entries that say so.")
    relevance: Literal["low", "medium", "high", "critical"] = Field(
        default="medium", description="How much it matters later."
    )
    type: Literal["", "decision", "bugfix", "feature", "refactor", "discovery", "change"] = Field(
        default="", description="What it is of."
    )


class Concluded(BaseModel):
    """A reflection that an agent has drawn."""

    model_config = ConfigDict(extra="forbid")

    content: str = Field(description="One line: what lasts.")
    supports: list[str] = Field(description="Ids of the observations behind it.")


class Observed(Said):
    """What `observe` answers: ids that were recorded, and those that were there already."""

    ledger: str
    ids: list[str]
    skipped: list[str]
    pending: int


class Summed(Said):
    """What `summarize` answers: the parts as they are kept."""

    ledger: str
    parts: dict[str, str]


class Sessions:
    """The tools; see the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def observe(
        self,
        observations: Annotated[list[Seen], Field(description="What happened.")] = [],  # noqa: B006
        reflections: Annotated[list[Concluded], Field(description="What follows from it.")] = [],  # noqa: B006
        drops: Annotated[list[str], Field(description="Observations that no longer matter.")] = [],  # noqa: B006
        covers_up_to: Annotated[
            str, Field(description="The last entry that was read; `tip`: all of them.")
        ] = "",
        session: Session = "",
    ) -> Observed:
        desk = self._desk
        given: dict[str, Any] = {
            "observations": [one.model_dump(exclude_defaults=True) for one in observations],
            "reflections": [one.model_dump() for one in reflections],
            "drops": drops,
            "covers_up_to": covers_up_to,
        }
        data = {key: value for key, value in given.items() if value}
        for one in data.get("observations", ()):
            one.setdefault("relevance", "medium")
        path, faults = self._ledger(session)
        if not data:
            return self._pending(path, faults)
        from memory_palace.session import observing

        by = identity.who(configs.load(desk.root).identity)
        done = observing.record(desk.root, path, data, desk.now(), by)
        desk.source.wrote()
        lines = [f"{what} {key}" for what, key, _ in done.made]
        lines += [f"there already: {key}" for key in done.skipped]
        lines += [*done.said, *faults]
        return Observed(
            text="\n".join(map(printable, [f"in {path}", *lines])),
            ledger=path,
            ids=list(done.ids),
            skipped=list(done.skipped),
            pending=len(self._waiting(path)),
        )

    def summarize(
        self,
        request: Annotated[str, Field(description="What was asked for.")] = "",
        investigated: Annotated[str, Field(description="What was looked at.")] = "",
        learned: Annotated[str, Field(description="What turned out.")] = "",
        completed: Annotated[str, Field(description="What is done.")] = "",
        next_steps: Annotated[str, Field(description="What is left.")] = "",
        session: Session = "",
    ) -> Summed:
        from memory_palace.session import summary

        desk = self._desk
        given = {
            "request": request,
            "investigated": investigated,
            "learned": learned,
            "completed": completed,
            "next_steps": next_steps,
        }
        parts = {key: value for key, value in given.items() if value.strip()}
        path, faults = self._ledger(session)
        made: Summary | None
        if parts:
            by = identity.who(configs.load(desk.root).identity)
            made = summary.write(desk.root, path, parts, desk.now(), by)
        else:
            made = summary.by_rules(desk.root, path, desk.now())
        desk.source.wrote()
        kept = dict(made.parts) if made else {}
        lines = [f"{key.replace('_', ' ')}: {value}" for key, value in kept.items()]
        head = f"summed up in {path}" if made else f"nothing new to sum up in {path}"
        text = fenced("\n".join(map(printable, lines)), "summary")
        said = [printable(head), text, *map(printable, faults)]
        return Summed(text="\n".join(part for part in said if part), ledger=path, parts=kept)

    def _ledger(self, session: str) -> tuple[str, Sequence[str]]:
        """The session's ledger, once what hooks saw is in it, and what went wrong with that."""
        from memory_palace.session import drain

        root, now = self._desk.root, self._desk.now()
        faults = drain.drain(root, now, wait_seconds=WAIT_SECONDS).faults
        return ledgers.find(root, session, cwd=roots.current()).path, faults

    def _waiting(self, path: str) -> Sequence[Entry]:
        found = files.load(self._desk.root, path).ledger
        return ledger_due.pending(found, forms.branch(found))

    def _pending(self, path: str, faults: Sequence[str]) -> Observed:
        """The entries that no observation covers yet, as many as fit."""
        waiting = self._waiting(path)
        shown = list(_fitting(map(_in_full, waiting), MOST_SHOWN // 2))
        head = f"{len(waiting)} entries of {printable(path)} are not observed yet"
        more = len(waiting) - len(shown)
        parts = [head, fenced("\n\n".join(shown), "entries", MOST_SHOWN)]
        if more:
            last = waiting[len(shown) - 1].id
            parts.append(f"{more} more: observe these first, with covers_up_to={last}")
        parts += map(printable, faults)
        return Observed(
            text="\n".join(part for part in parts if part),
            ledger=path,
            ids=[],
            skipped=[],
            pending=len(waiting),
        )


def trace(root: Path, id: str) -> Trace:
    """What the 12 hex digits ``id`` lead to, as ``#id`` and ``[id]`` too: what it says, and the
    entries that it rests on.

    Raises :class:`BadInput` for anything else than such an id.
    """
    id = id.strip().removeprefix("#").removeprefix("[").removesuffix("]")
    found = ledgers.recall(root, id, cwd=roots.current())
    recalled = found.recalled
    if recalled.result == "invalid_id":
        raise BadInput(f"`{printable(id)[:40]}` is no id: {'; '.join(recalled.gaps)}")
    where = printable(found.loaded.path) if found.loaded else "in no ledger"
    if found.summary:
        return Trace(
            f"{id} is a summary, in {printable(found.summary)}: `mem_get` shows it",
            recalled.result,
            (),
        )
    lines = [
        f"{id}: {recalled.result.replace('_', ' ')}, {where}",
        fenced(hidden(ledger_text.recalled(recalled)), "recall", MOST_SHOWN)
        if recalled.record
        else "",
        *(() if recalled.record else map(printable, recalled.gaps)),
        *(f"also in {printable(path)}" for path in found.others),
    ]
    return Trace(
        "\n".join(line for line in lines if line),
        recalled.result,
        tuple(Source(id=one.id, role=one.role, at=dates.stamp(one.at)) for one in recalled.sources),
    )


def _in_full(one: Entry) -> str:
    return f"{ledger_text.entry_head(one)}\n{hidden(one.text)}"


def _fitting(texts: Iterable[str], most: int) -> Iterator[str]:
    """The first of ``texts`` that have room; one at least."""
    left = most
    for text in texts:
        left -= len(text)
        if left < 0 and left + len(text) < most:
            return
        yield text
