"""The tools that write to the memory."""

from typing import Annotated, Literal

from pydantic import Field

from memory_palace.agents.mcp_desk import Desk, Reason
from memory_palace.agents.mcp_schema import Said
from memory_palace.core import privacy
from memory_palace.core.errors import BadInput
from memory_palace.memory import alike, notes, notes_checks, pen
from memory_palace.memory import entries as memories

_KINDS = "What it is; pattern: how things are done here, done: work that is finished."
_Category = Literal["preference", "lesson", "pattern", "decision", "done", "mistake"]


class Noted(Said):
    """What `remember` answers."""

    what: str
    id: str
    path: str
    line: int
    why: str
    contradicts: str


class Written(Said):
    """What `write` answers."""

    what: str
    path: str
    digest: str
    notes: list[str]


class Writing:
    """The tools that write to the memory."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def remember(
        self,
        text: Annotated[str, Field(description="One line, true by itself.")],
        category: Annotated[_Category, Field(description=_KINDS)],
        pin: Annotated[bool, Field(description="It never decays.")] = False,
        source: Annotated[
            str, Field(description="Where from: a [[link]], a file, a pull request.")
        ] = "",
        reason: Reason = "",
    ) -> Noted:
        memories.clean(text)  # a bad text is told before a model is loaded
        said = memories.Said(text, category, pin=pin, source=source or None)
        told: list[str] = []
        desk = self._desk
        vectors = alike.Entries(desk.root, desk.source.choice())
        with pen.begin(desk.root, desk.now(), "palace remember", reason, told.append) as held:
            done = memories.Book(held).remember(said, vectors)
        desk.source.wrote()
        memory = done.memory
        lines = [f"{done.what} ^{memory.id} in {memory.path}:{memory.line}", done.why, *told]
        lines += notes_checks.taken_out(privacy.redact(text))
        if done.against:
            lines.append(f"it may contradict ^{done.against}")
        return Noted(
            text="\n".join(line for line in lines if line),
            what=done.what,
            id=memory.id,
            path=memory.path,
            line=memory.line,
            why=done.why,
            contradicts=done.against,
        )

    def write(
        self,
        path: Annotated[str, Field(description="palace/ROOM/…/NAME.md")],
        text: Annotated[str, Field(description="The whole note, or what replaces `old`.")],
        reason: Reason,
        base: Annotated[
            str, Field(description="The digest that `read` gave; empty makes a new note.")
        ] = "",
        old: Annotated[
            str, Field(description="Replace only this text, which stands in the note once.")
        ] = "",
    ) -> Written:
        desk, told = self._desk, list[str]()
        if not reason.strip():
            raise BadInput("`reason` is blank: say why, for those who read the event")
        if old:
            if not base:
                raise BadInput(f"{path}: `read` it first, and give its digest as `base`")
            done = notes.replace(desk.root, desk.now(), path, old, text, reason, told.append, base)
        else:
            done = notes.write(desk.root, desk.now(), path, text, base or None, reason, told.append)
        desk.source.wrote()
        said = [*done.said, *told]
        return Written(
            text="\n".join([f"{done.what} {done.path}, digest {done.digest}", *said]),
            what=done.what,
            path=done.path,
            digest=done.digest,
            notes=said,
        )
