"""Chambers, ``palace/chambers/<agent>/``: one for each agent, whatever way its name is spelled."""

import os
from pathlib import Path

from memory_palace.core.errors import BadInput
from memory_palace.core.links import TREE
from memory_palace.core.problems import printable
from memory_palace.core.text import slug
from memory_palace.files import roots

FOLDER = f"{TREE}chambers/"


def agents(root: Path) -> tuple[str, ...]:
    """The names of all chambers' folders, sorted; none where there are no chambers, or a symbolic
    link in their place."""
    try:
        with os.scandir(roots.inside(root, FOLDER.rstrip("/"))) as entries:
            return tuple(
                sorted(
                    entry.name
                    for entry in entries
                    if entry.name[0] != "." and entry.is_dir(follow_symlinks=False)
                )
            )
    except (OSError, BadInput):
        return ()


def name(root: Path, agent: str) -> str:
    """The folder's name for ``agent``: that of a chamber whose name reads the same (`Claude Code`,
    `claude_code` and `claude-code` do), else the name in lower case, joined by hyphens.

    Raises :class:`BadInput` for a name without letters and digits.
    """
    said = agent.split("@", 1)[0]
    if not any(map(str.isalnum, said)):
        raise BadInput(f"agent {printable(agent)!r}: write a name, as in claude-code")
    wanted = slug(said)
    return next((one for one in agents(root) if slug(one) == wanted), wanted)


def folder(root: Path, agent: str) -> str:
    """The chamber of ``agent``, relative to the root, with ``/`` at the end; it need not exist.
    Raises as :func:`name` does."""
    return f"{FOLDER}{name(root, agent)}/"


def have_ledgers(root: Path) -> bool:
    """True if an agent's chamber has a folder for ledgers."""
    return any((root / f"{FOLDER}{agent}/ledger").is_dir() for agent in agents(root))
