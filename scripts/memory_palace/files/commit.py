"""What a write command asks of git: moves, and commits of its own paths only."""

import subprocess
from collections.abc import Sequence
from pathlib import Path

from memory_palace.core.problems import printable
from memory_palace.files import git

_SECONDS = 120.0


def is_tracked(root: Path, path: str) -> bool:
    """True if git has ``path``, staged or committed."""
    return git.in_repository(root) and bool(git.run(root, "ls-files", "-z", "--", _literal(path)))


def is_changed(root: Path, path: str) -> bool:
    """True if the tracked file ``path`` differs from the last commit, staged or not."""
    if not git.in_repository(root):
        return False
    found = git.run(
        root, "status", "--porcelain", "-z", "--untracked-files=no", "--", _literal(path)
    )
    return bool(found)


def changed(root: Path) -> set[str]:
    """The tracked files that differ from the last commit, staged or not, relative to ``root``."""
    if not git.in_repository(root):
        return set()
    names = ("--name-only", "--relative", "--no-renames", "--no-ext-diff", "-z")
    found = git.run(root, "diff", *names, "HEAD", "--")
    if found is None:  # no commit yet: all that is staged
        found = git.run(root, "ls-files", "-z") or b""
    return {name.decode("utf-8", "surrogateescape") for name in found.split(b"\0") if name}


def show(root: Path, revision: str, path: str) -> bytes | None:
    """The bytes of ``path`` (relative to ``root``) at a commit, None if it has no such file."""
    return git.run(root, "show", f"{revision}:./{path}")


def move(root: Path, source: str, target: str) -> bool:
    """``git mv`` of a tracked file; False if git says no, and nothing has moved."""
    # Names as they are: `git mv` knows no pathspecs.
    return git.run(root, "mv", "--", source, target) is not None


def commit(root: Path, paths: Sequence[str], message: str) -> str:
    """Commit exactly ``paths``, hooks and all; what else is staged stays staged.

    Empty if it is done (or there was nothing to commit), else why not, as half a sentence.
    """
    if not git.in_repository(root):
        return "there is no git repository"
    if git.run(root, "rev-parse", "--git-dir") is None:
        return "git is not there, or does not trust this folder"
    why = unready(root)
    if why:
        return why
    known = [path for path in dict.fromkeys(paths) if _is_known(root, path) or _in_head(root, path)]
    if not known:
        return ""
    places = [_literal(path) for path in known]
    # What `git mv` moved is out of the index already, which `git add` takes for a fault.
    there = [_literal(path) for path in known if _is_known(root, path)]
    said = _run(root, "add", "-A", "--", *there) if there else ""
    if not said:
        if git.run(root, "diff", "--cached", "--quiet", "--", *places) is not None:
            return ""
        said = _run(root, "commit", "--quiet", "--only", "-m", message, "--", *places)
    return said


def unready(root: Path) -> str:
    """Why the repository takes no commit of ours now; empty if it does."""
    for ref, what in (
        ("MERGE_HEAD", "a merge"),
        ("CHERRY_PICK_HEAD", "a cherry-pick"),
        ("REVERT_HEAD", "a revert"),
    ):
        if git.run(root, "rev-parse", "--verify", "--quiet", ref):
            return f"{what} is in progress"
    for folder in ("rebase-merge", "rebase-apply"):
        place = git.run(root, "rev-parse", "--path-format=absolute", "--git-path", folder)
        if place and Path(place.decode("utf-8", "surrogateescape").rstrip("\n")).is_dir():
            return "a rebase is in progress"
    if git.run(root, "symbolic-ref", "--quiet", "HEAD") is None:
        return "HEAD is detached, and a commit there is easily lost"
    return ""


def _is_known(root: Path, path: str) -> bool:
    return (root / path).exists() or is_tracked(root, path)


def _in_head(root: Path, path: str) -> bool:
    return git.run(root, "cat-file", "-e", f"HEAD:./{path}") is not None


def _literal(path: str) -> str:
    # A note's name may hold `*` or begin with `:`.
    return f":(literal){path}"


def _run(root: Path, *arguments: str) -> str:
    """Run a git command with the user's own hooks; empty, or the last line of what it said."""
    try:
        done = subprocess.run(
            git.command(root, arguments, hooks=True),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=_SECONDS,
            env=git.environment(hooks=True),
            check=False,
        )
    except subprocess.TimeoutExpired:
        return f"git {arguments[0]} took over {_SECONDS:.0f} s"
    except OSError as error:
        return f"git cannot be run ({error.strerror})"
    if done.returncode == 0:
        return ""
    said = (done.stderr or done.stdout).decode("utf-8", "replace").strip().splitlines()
    return f"git {arguments[0]} said: {printable(said[-1])}" if said else "git said no"
