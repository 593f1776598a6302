"""Which palace a command is about."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from memory_palace.core.errors import BadInput
from memory_palace.files import git

MARKER = "palace.yaml"
DERIVED = ".palace"
MEMORY = f"{DERIVED}/memory"
"""What is derived of memories: counts, vectors, and the lock of who writes."""


def find(given: str | None = None, start: Path | None = None) -> Path:
    """The palace root: ``given``, else ``$PALACE_ROOT``, else the nearest folder at or above
    ``start`` (the current directory) with a ``palace.yaml``, else the toolkit's own repository.

    In a linked git worktree it is the same place in the main worktree, if that has one. Raises
    :class:`BadInput` if there is none.
    """
    named = given or os.environ.get("PALACE_ROOT")
    if named:
        root = Path(os.path.expanduser(named))
        if not (root / MARKER).is_file():
            raise BadInput(
                f"{root} is not a palace root (no {MARKER}): "
                f"run `palace init {root}`, or name another"
            )
        return _canonical(root)
    here = (start or current()).absolute()
    for folder in (*_above(here), toolkit()):
        if (folder / MARKER).is_file():
            return _canonical(folder)
    raise BadInput(
        f"no {MARKER} in {here} or above: run `palace init DIR`, or name a palace with --root"
    )


def toolkit() -> Path:
    """The repository that this library stands in."""
    return Path(__file__).resolve().parents[3]


def is_borrowed(root: Path, start: Path) -> bool:
    """True where ``root`` is only taken because there is no other, and what is written there may be
    lost: a copy of the toolkit, no repository, which its next update replaces; for a folder with
    no palace at or above it, while ``$PALACE_ROOT`` names none."""
    if root != toolkit() or os.environ.get("PALACE_ROOT") or (root / ".git").exists():
        return False
    return not any((folder / MARKER).is_file() for folder in _above(start.absolute()))


def current() -> Path:
    """The current directory. Raises :class:`BadInput` if it was removed."""
    try:
        return Path.cwd()
    except FileNotFoundError:
        raise BadInput("the current folder is gone: go to another one and run this again") from None


def _above(here: Path) -> Iterator[Path]:
    """``here`` and the folders above it; in a linked worktree each with its place in the main
    one, and what lies around the main one before what lies around the linked one."""
    tops = git.worktrees(here)
    for folder in (here, *here.parents):
        yield folder
        if tops and folder.is_relative_to(tops[0]):
            main = tops[1] / folder.relative_to(tops[0])
            yield from (main, *main.parents) if folder == tops[0] else (main,)


def _canonical(root: Path) -> Path:
    root = root.resolve()
    main = git.main_worktree(root)
    return main if main and (main / MARKER).is_file() else root


def inside(root: Path, path: str) -> Path:
    """``root / path``, which is written. Raises :class:`BadInput` if a part of ``path`` is a
    symbolic link: a stranger's repository could lead the write anywhere."""
    place = root
    for part in path.split("/"):
        place = place / part
        if place.is_symlink():
            shown = place.relative_to(root).as_posix()
            raise BadInput(
                f"{shown} in {root} is a symbolic link: replace it by what it stands for"
            )
    return place


def too_wide(folder: Path) -> str:
    """What is wrong with ``folder`` as a project's: the file system's root, the user's home, or
    what holds it; empty for any other folder."""
    real = folder.resolve()
    if real == real.parent:
        what = "is the root of a file system"
    else:
        try:
            home = Path.home().resolve()
        except (RuntimeError, OSError):  # nobody's
            return ""
        if not home.is_relative_to(real):
            return ""
        what = "is your home folder" if home == real else "holds your home folder"
    return f"{folder} {what}, no project: name a project's folder in it"


def unhindered(path: str, flags: int) -> int:
    """An opener for :func:`open`: a pipe in the file's place must not hang who reads."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def index_folder(root: Path) -> Path:
    """Where the derived index of ``root`` lies. Raises :class:`BadInput` if a symbolic link leads
    it, or a file in it, elsewhere."""
    place = f"{DERIVED}/index"
    folder = inside(root, place)
    with contextlib.suppress(OSError):  # whoever uses it says what is wrong with it
        for name in os.listdir(folder):
            inside(root, f"{place}/{name}")
    return folder
