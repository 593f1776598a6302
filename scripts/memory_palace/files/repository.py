"""Which repository a folder is of, asked of the file system alone."""

import os
from pathlib import Path


def name_of(folder: str) -> str:
    """The name of the repository that ``folder`` is in: of its main worktree, whatever worktree
    this is; empty where there is none, or no such folder here."""
    top = top_of(folder)
    if not top:
        return ""
    marker = Path(top) / ".git"
    try:
        if marker.is_file():
            from memory_palace.files import git  # asks git, only in a linked worktree

            tops = git.worktrees(Path(top))
            return (tops[1] if tops else Path(top)).name
    except (OSError, ValueError):
        return ""
    return Path(top).name


def top_of(folder: str) -> str:
    """The worktree that ``folder`` is in; empty where there is none."""
    if not folder or "\0" in folder or not os.path.isabs(folder):
        return ""
    here = os.path.normpath(folder)
    while not os.path.exists(os.path.join(here, ".git")):
        above = os.path.dirname(here)
        if above == here:
            return ""
        here = above
    return here
