"""Which palace a command is about."""

import os
from pathlib import Path

from memory_palace.core.errors import BadInput
from memory_palace.files import git

MARKER = "palace.yaml"
DERIVED = ".palace"


def find(given: str | None = None, start: Path | None = None) -> Path:
    """The palace root: ``given``, else ``$PALACE_ROOT``, else the nearest folder at or above
    ``start`` (the current directory) with a ``palace.yaml``, else the toolkit's own repository.

    In a linked git worktree it is the same place in the main worktree, if that has one. Raises
    :class:`BadInput` if there is none.
    """
    named = given or os.environ.get("PALACE_ROOT")
    if named:
        root = Path(named).expanduser()
        if not (root / MARKER).is_file():
            raise BadInput(
                f"{root} is not a palace root (no {MARKER}): "
                f"run `palace init {root}`, or name another"
            )
        return _canonical(root)
    here = (start or Path.cwd()).absolute()
    toolkit = Path(__file__).resolve().parents[3]
    main = git.main_worktree(here)
    elsewhere = (main, *main.parents) if main else ()
    for folder in (here, *here.parents, *elsewhere, toolkit):
        if (folder / MARKER).is_file():
            return _canonical(folder)
    raise BadInput(
        f"no {MARKER} in {here} or above: run `palace init DIR`, or name a palace with --root"
    )


def _canonical(root: Path) -> Path:
    root = root.resolve()
    main = git.main_worktree(root)
    return main if main and (main / MARKER).is_file() else root


def index_folder(root: Path) -> Path:
    """Where the derived index of ``root`` lies."""
    return root / DERIVED / "index"
