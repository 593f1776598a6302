"""What git knows, asked through its own command. A palace without git works too."""

import os
import subprocess
from pathlib import Path

from memory_palace.core.errors import Missing

_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# Set in a hook of git: they would lead to the repository that the hook is about.
_OF_A_HOOK = frozenset(
    {
        "GIT_DIR",
        "GIT_WORK_TREE",
        "GIT_INDEX_FILE",
        "GIT_COMMON_DIR",
        "GIT_OBJECT_DIRECTORY",
        "GIT_ALTERNATE_OBJECT_DIRECTORIES",
        "GIT_NAMESPACE",
        "GIT_PREFIX",
    }
)
# A repository's own configuration must not make a read run a program (checking a signature runs
# `gpg.program`), nor hide what its first commit brought.
_SAFE = (
    *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false", "-c", "log.showRoot=true"),
)


def run(root: Path, *arguments: str, timeout: float = 60.0) -> bytes | None:
    """The output of ``git -C root …``, or None if git is not there or says no."""
    environment = {k: v for k, v in os.environ.items() if k not in _OF_A_HOOK}
    try:
        done = subprocess.run(
            ["git", "-C", str(root), *_SAFE, *arguments],
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
            env=environment | _QUIET,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def head(root: Path) -> str:
    """The commit that ``root``'s repository is at; empty if there is none."""
    if not in_repository(root):
        return ""
    found = run(root, "rev-parse", "--verify", "--quiet", "HEAD")
    return found.decode().strip() if found else ""


def in_repository(root: Path) -> bool:
    """True if ``root`` or a folder above it holds a ``.git``; costs no process."""
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def commit_times(root: Path, wanted: set[str]) -> dict[str, int]:
    """{path: time of its last commit, in seconds} for those of the ``wanted`` paths git knows."""
    found: dict[str, int] = {}
    if not wanted or not in_repository(root):
        return found
    # No path that git names begins with a slash, so one marks a commit.
    output = run(
        root, "log", "-z", "--relative", "--name-only", "--format=/%ct", "--no-renames", "HEAD"
    )
    moment = 0
    for field in (output or b"").split(b"\0"):
        text = field.decode("utf-8", "surrogateescape").lstrip("\n")
        if text.startswith("/") and text[1:].isdecimal():
            moment = int(text[1:])
        elif text in wanted and text not in found:
            found[text] = moment
    return found


def main_worktree(folder: Path) -> Path | None:
    """For a folder in a linked worktree: the same folder in the main worktree, if it is there."""
    tops = worktrees(folder)
    there = tops[1] / folder.relative_to(tops[0]) if tops else None
    return there if there and there.is_dir() else None


def worktrees(folder: Path) -> tuple[Path, Path] | None:
    """For a folder in a linked worktree: the tops of that worktree and of the main one."""
    for top in (folder, *folder.parents):
        marker = top / ".git"
        if marker.is_dir():
            return None
        if marker.is_file():
            common = run(top, "rev-parse", "--path-format=absolute", "--git-common-dir")
            if not common:
                return None
            main = Path(common.decode("utf-8", "surrogateescape").rstrip("\n"))
            return (top, main.parent) if main.name == ".git" and main.parent != top else None
    return None


def init(folder: Path) -> None:
    """Make ``folder`` a repository. Raises :class:`Missing` without git."""
    if run(folder, "init", "--quiet") is None:
        raise Missing(f"`git init` failed in {folder}: install git, or run it there yourself")
