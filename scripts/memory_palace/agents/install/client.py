"""What every client has: its files, and how they are edited."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_palace.agents.install import blocks
from memory_palace.agents.install.plan import Change, Edit
from memory_palace.agents.install.site import Site
from memory_palace.agents.install.toolkit import Toolkit


@dataclass(frozen=True, slots=True)
class Client:
    """One client. ``program`` is its command; ``oldest`` the version that this was tried with
    first; ``folder`` where its settings lie.

    ``install`` and ``uninstall`` give the edits of its files; ``commands`` what our entries run
    now, each as words; ``instructions`` the Markdown file that gets the block, None for none;
    ``notes`` what a person should know after an install, which changed these files.
    """

    name: str
    label: str
    program: str
    oldest: tuple[int, ...]
    folder: Callable[[Site], Path]
    install: Callable[[Site, Toolkit], list[Edit]]
    uninstall: Callable[[Site], list[Edit]]
    commands: Callable[[Site], list[list[str]]]
    instructions: Callable[[Site], Path | None]
    notes: Callable[[Site, Sequence[Change]], list[str]]


LOCAL = "these files name folders of this machine: keep them out of commits that others get"
"""Said of a project's files."""


def block(path: Path | None, kit: Toolkit) -> list[Edit]:
    """The block in the file of instructions at ``path``, if there is to be one."""
    if path is None:
        return []
    body = blocks.about(kit.command(), kit.root())
    return [Edit(path, lambda text: blocks.blocked(text, body), shared=True)]


def without_block(*paths: Path) -> list[Edit]:
    """The files of instructions without it."""
    return [Edit(path, blocks.unblocked, shared=True) for path in paths]


def first_there(paths: Sequence[Path]) -> Path:
    """The first that exists, else the first."""
    return next((path for path in paths if path.exists()), paths[0])
