"""``palace mine --watch``: manifest and index follow what changes in projects."""

import time
from pathlib import Path
from typing import TYPE_CHECKING

from memory_palace.cli import mine_output
from memory_palace.cli.common import now, report, say, to_the_end
from memory_palace.cli.watch import alone, say_at, until_terminated
from memory_palace.core.errors import PalaceError
from memory_palace.files import mined, projects
from memory_palace.files.projects import Project

if TYPE_CHECKING:
    from memory_palace.core.problems import Problem
    from memory_palace.index.watch import Keeper
    from memory_palace.memory.mining import Planned

LOOK_SECONDS = 2.0
"""How often the projects are looked at: git is asked, and each file's stat. No event can be missed,
and the system's limit of watched folders does not count."""

_LOOK_SHARE = 20.0  # a look waits until this many times its own duration has passed


def follow(root: Path, names: list[str], shape: str = "text") -> int:
    """Look at the projects again and again, until it is interrupted. In the ``shape`` ``jsonl``
    stdout gets an object of each project that has changed, once it is in the index."""
    from memory_palace.index.watch import Keeper

    ended: list[int] = []
    try:
        mine = alone(root, "palace mine --watch", "mine", "follows projects of")
        with mine, until_terminated(ended):
            follower = Follower(root, names, Keeper(root, say_at), shape)
            say(f"watching {', '.join(names)}; {follower.keeper.choice}")
            while not ended:
                started = time.monotonic()
                to_the_end(follower.look)
                passed = time.monotonic() - started
                time.sleep(max(LOOK_SECONDS, _LOOK_SHARE * passed))
    except KeyboardInterrupt:
        if ended:
            return 0
        raise
    return 0


class Follower:
    """Keeps manifests and index in line with some projects, a :meth:`look` at a time."""

    def __init__(self, root: Path, names: list[str], keeper: "Keeper", shape: str = "text") -> None:
        self.keeper = keeper
        self._shape = shape
        self._root = root
        self._names = names
        self._again = False
        self._said: set[str] = set()

    def look(self) -> None:
        """Compare each project with its manifest; where one differs, write it and index."""
        heard, self._said = self._said, set()
        differs = self._again
        self._again = False
        changed: list[Planned] = []
        known: dict[str, Project] = {}
        try:
            known = {project.name: project for project in projects.every(self._root)}
        except PalaceError as error:
            self._once(str(error), heard)
        for name in self._names if not self._said else ():
            project = known.get(name)
            if project is None:
                self._once(f"{name}: no project now", heard)
                continue
            if project.root is None:
                self._once(f"{name}: not on this machine now, its lines are kept", heard)
                continue
            try:
                changed += self._mine(project, heard)
            except PalaceError as error:
                self._once(str(error), heard)
        if differs or changed or self.keeper.news():
            young, self._again = self._again, True  # if this ends in between
            ran = self.keeper.refresh()
            self._again = young or ran.again
            if ran.line:
                say_at(ran.line)
            report(ran.problems)
        for planned in changed if self._shape == "jsonl" else ():
            mine_output.mined(planned, self._shape, dry_run=False)

    def _mine(self, project: Project, heard: set[str]) -> "list[Planned]":
        """What was done, if there was something to do."""
        from memory_palace.memory import mining, mining_writing, pen

        planned = mining.plan(self._root, project, self.keeper.config)
        for problem in planned.problems:
            self._tell(problem, heard)
        mining.guard(planned)
        # A file so young that it may change unseen is looked at once more.
        self._again |= any(
            not seen.settled and seen.what != mined.UNREADABLE for seen in planned.seen.values()
        )
        if not (planned.added or planned.changed or planned.moved or planned.removed):
            mined.keep(self._root, project.name, planned.seen)
            return []
        with pen.begin(self._root, now(), "palace mine", f"mine {project.name}", say) as held:
            mining_writing.write(held, planned)
        return [planned]

    def _tell(self, problem: "Problem", heard: set[str]) -> None:
        self._once(str(problem), heard)

    def _once(self, line: str, heard: set[str]) -> None:
        """Say what is wrong when it comes up, not at each look."""
        if line not in heard:
            say(line, "yellow")
        self._said.add(line)
