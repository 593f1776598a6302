"""The tools about the palace as a whole: how it is, and what to know at the start."""

import sqlite3
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, Field

from memory_palace import __version__
from memory_palace.agents import mcp_instructions
from memory_palace.agents.mcp_desk import Desk
from memory_palace.agents.mcp_schema import Said
from memory_palace.core.errors import PalaceError
from memory_palace.core.fence import fenced
from memory_palace.core.problems import printable
from memory_palace.embed import registry
from memory_palace.files import config as configs
from memory_palace.files import roots
from memory_palace.index import catalog as catalogs
from memory_palace.index import fill, freshness
from memory_palace.serve import process


class Room(BaseModel):
    """A room or a wing, and how many live notes it has."""

    name: str
    notes: int


class Status(Said):
    """What `status` answers. ``changed`` counts files that the index does not know as they are,
    ``pending`` texts without a vector, ``errors`` faults in notes."""

    root: str
    version: str
    notes: int
    rooms: list[Room]
    index: str
    changed: int
    pending: int
    errors: int
    embedder: str
    server: bool
    health: list[str]


class Woken(Said):
    """What `wake` answers."""

    wing: str
    notes: list[str]
    more: int


class Palace:
    """The tools; see the module."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def status(self) -> Status:
        from memory_palace.session import wake

        root = self._desk.root
        places = mcp_instructions.counted(mcp_instructions.paths(root))
        config = configs.load(root)
        choice = registry.choose(config)
        state, changed, pending, errors = "up to date", 0, 0, 0
        try:
            folder = roots.index_folder(root)
            with catalogs.open_to_read(folder / catalogs.MAIN) as catalog:
                changed = freshness.changed_files(root, config, catalog)
                pending = (
                    fill.pending_count(folder, catalog, str(choice.fingerprint))
                    if choice.load
                    else 0
                )
                (errors,) = catalog.db.execute(
                    "SELECT count(*) FROM problems WHERE grade = 'error'"
                ).fetchone()
            state = f"{changed} files may have changed since" if changed else state
        except (PalaceError, sqlite3.Error) as fault:
            state = str(fault)
        health = wake.fault_lines(root, self._desk.now())
        made = Status(
            text="",
            root=str(root),
            version=__version__,
            notes=sum(places.values()),
            rooms=[Room(name=name, notes=count) for name, count in places.most_common()],
            index=state,
            changed=changed,
            pending=pending,
            errors=errors,
            embedder=str(choice).removeprefix("embedder: "),
            server=process.is_running(root),
            health=health,
        )
        return made.model_copy(update={"text": _text(made)})

    def wake(
        self,
        wing: Annotated[
            str, Field(description="A project or an agent; empty: that of the repository at hand.")
        ] = "",
        budget: Annotated[
            int, Field(ge=0, description="Tokens of 4 characters, in all; 0: no bound.")
        ] = 0,
    ) -> Woken:
        from memory_palace.session import wake

        found = wake.wake(
            self._desk.root, self._desk.now(), wing or None, budget or None, Path.cwd()
        )
        nothing = "nothing to tell yet: write palace/grand_hall/identity.md"
        text = fenced(found.text, "wake") or nothing
        return Woken(
            text="\n".join([text, *found.said]),
            wing=found.wing,
            notes=[told.path for told in found.notes],
            more=found.more,
        )


def _text(found: Status) -> str:
    rooms = ", ".join(f"{printable(room.name)} ({room.notes})" for room in found.rooms)
    lines = [
        f"palace: {found.root}, toolkit {found.version}",
        f"notes: {found.notes}; {rooms}" if rooms else "notes: none",
        f"index: {found.index}",
        f"texts without a vector: {found.pending}" if found.pending else "",
        f"notes with errors: {found.errors}, `palace doctor` lists them" if found.errors else "",
        f"embedder: {found.embedder}",
        f"warm server: {'running' if found.server else 'none'}",
        *(f"fault: {line}" for line in found.health),
    ]
    return "\n".join(printable(line) for line in lines if line)
