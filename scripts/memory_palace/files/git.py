"""What git knows, asked through its own command. A palace without git works too."""

import os
from collections.abc import Sequence
from pathlib import Path

from memory_palace.core.errors import Missing

_QUIET = {
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
}
# Objects that a partial clone lacks are not fetched: its configuration says by which program.
_AT_HOME = {"GIT_ALLOW_PROTOCOL": "none", "GIT_NO_LAZY_FETCH": "1"}
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
_GUARD = (
    # A clone may hold a bare repository in a folder: its configuration is a stranger's.
    *("-c", "safe.bareRepository=explicit"),
    *("-c", "core.fsmonitor=false"),
)
_SAFE = (
    *("-c", "core.hooksPath=/dev/null"),
    *("-c", "log.showSignature=false", "-c", "log.showRoot=true"),
)


def run(root: Path, *arguments: str, timeout: float = 60.0) -> bytes | None:
    """The output of ``git -C root …``, or None if git is not there or says no."""
    import subprocess  # takes longer to import than a hook of a client has to spare

    try:
        done = subprocess.run(
            command(root, arguments),
            capture_output=True,
            stdin=subprocess.DEVNULL,
            timeout=timeout,
            env=environment(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None


def command(root: Path, arguments: Sequence[str], hooks: bool = False) -> list[str]:
    """A git command in ``root``, as every one of ours is run: with the user's own hooks or none."""
    return ["git", "-C", str(root), *_GUARD, *(() if hooks else _SAFE), *arguments]


def environment(hooks: bool = False) -> dict[str, str]:
    """What a git command of ours is run with; the user's own hooks may talk to a remote."""
    kept = {k: v for k, v in os.environ.items() if k not in _OF_A_HOOK}
    return kept | _QUIET | ({} if hooks else _AT_HOME)


def head(root: Path) -> str:
    """The commit that ``root``'s repository is at; empty if there is none."""
    if not in_repository(root):
        return ""
    found = run(root, "rev-parse", "--verify", "--quiet", "HEAD")
    return found.decode().strip() if found else ""


def in_repository(root: Path) -> bool:
    """True if ``root`` or a folder above it holds a ``.git``; costs no process."""
    return any((folder / ".git").exists() for folder in (root, *root.parents))


def line_times(root: Path, path: str, timeout: float = 60.0) -> dict[int, int]:
    """{line, from 1: seconds of the commit that wrote it} for the lines of ``path`` that are
    committed as they stand; empty without git."""
    if not in_repository(root):
        return {}
    said = run(root, "blame", "--porcelain", "--no-textconv", "--", path, timeout=timeout)
    found: dict[int, int] = {}
    moments: dict[bytes, int] = {}
    commit, number = b"", 0
    for line in (said or b"").split(b"\n"):
        if line.startswith(b"\t"):
            if commit.strip(b"0"):
                found[number] = moments.get(commit, 0)
        elif line.startswith(b"committer-time "):
            moments[commit] = int(line.split()[1])
        else:
            words = line.split()
            if len(words) >= 3 and len(words[0]) >= 40:
                commit, number = words[0], int(words[2])
    return found


class Times(dict[str, int]):
    """{path: seconds}. ``whole`` is False if git failed or took too long: then a path that is not
    here may have a time all the same, so ask again next time."""

    whole = True


def commit_times(root: Path, wanted: set[str], timeout: float = 60.0, since: str = "") -> Times:
    """{path: time of its last commit, in seconds} for those of the ``wanted`` paths that the
    current commit has. History is read only as far back as they are found, and to the commit
    ``since``."""
    found = Times()
    if not wanted or not in_repository(root):
        return found
    listed = run(root, "ls-tree", "-r", "-z", "--name-only", "HEAD", timeout=timeout)
    if listed is None:
        found.whole = False
        return found
    missing = wanted.intersection(_text(name) for name in listed.split(b"\0"))
    if missing:
        found.whole = _read_log(root, missing, found, timeout, since)
    return found


def _read_log(root: Path, missing: set[str], found: Times, timeout: float, since: str) -> bool:
    """Move paths from ``missing`` to ``found``, newest commit first; True if git was through with
    its history, or nothing was missing any more."""
    import subprocess
    import threading

    # No path that git names begins with a slash, so one marks a commit.
    range_ = f"{since}..HEAD" if since else "HEAD"
    log = (
        *("log", "-z", "--relative", "--name-only", "--format=/%ct", "--no-renames"),
        *(range_, "--"),
    )
    try:
        process = subprocess.Popen(
            command(root, log),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment(),
        )
    except OSError:
        return False
    assert process.stdout is not None
    timer = threading.Timer(timeout, process.kill)
    timer.start()
    try:
        moment, rest = 0, b""
        while missing:
            block = process.stdout.read1(1 << 16)  # type: ignore[attr-defined]
            fields = (rest + block).split(b"\0")
            rest = fields.pop() if block else b""
            for field in fields:
                text = _text(field).lstrip("\n")
                if text.startswith("/") and text[1:].isdecimal():
                    moment = int(text[1:])
                elif text in missing:
                    missing.remove(text)
                    found[text] = moment
            if not block:
                return process.wait() == 0
        return True
    finally:
        timer.cancel()
        process.kill()
        process.stdout.close()
        process.wait()


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")


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
