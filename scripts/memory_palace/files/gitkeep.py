"""Keep what is about to be put back: as a commit under a ref of its own, out of everyone's way."""

import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from memory_palace.core import dates
from memory_palace.core.errors import Missing, Refused
from memory_palace.core.problems import printable
from memory_palace.files import git

REFS = "refs/palace/rejected/"

_SECONDS = 120.0
_NOBODY = {
    f"GIT_{role}_{what}": value
    for role in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "palace"), ("EMAIL", "palace@localhost"))
}


def keep(
    root: Path,
    contents: Mapping[str, tuple[bytes, str]],
    parents: Sequence[str],
    message: str,
    now: datetime,
) -> str:
    """A commit of the tree of ``parents[0]`` with these files ({path: (bytes, mode)}) in it.

    Touches neither HEAD nor the index nor a file. Returns the commit's hash, after every file was
    read back from it. Raises :class:`Missing` if git does not do it.
    """
    prefix = _say(root, "rev-parse", "--show-prefix").removesuffix("\n")
    with tempfile.TemporaryDirectory() as folder:
        index = {"GIT_INDEX_FILE": os.path.join(folder, "index")}
        if parents:
            _say(root, "read-tree", parents[0], environment=index)
        rows = []
        for path, (data, mode) in contents.items():
            made = _say(root, "hash-object", "-w", "--stdin", data=data).strip()
            rows.append(f"{mode} {made}\t{prefix}{path}\0")
        listed = "".join(rows).encode("utf-8", "surrogateescape")
        _say(root, "update-index", "-z", "--index-info", data=listed, environment=index)
        tree = _say(root, "write-tree", environment=index).strip()
    moment = f"{int(now.timestamp())} +0000"
    when = {"GIT_AUTHOR_DATE": moment, "GIT_COMMITTER_DATE": moment}
    on = [word for parent in parents for word in ("-p", parent)]
    text = message.encode("utf-8", "surrogateescape")
    made = _say(root, "commit-tree", tree, *on, data=text, environment=_NOBODY | when).strip()
    for path, (data, _) in contents.items():
        if git.run(root, "cat-file", "blob", f"{made}:./{path}") != data:
            raise Missing(f"git did not keep {path}: nothing was put back; run `git fsck`")
    return made


def name(root: Path, commit: str, now: datetime) -> str:
    """Give a kept commit its ref, ``refs/palace/rejected/20261129T201503Z-1``, so that git never
    collects it; a ref that is there is never moved."""
    stamp = dates.stamp(now).replace("-", "").replace(":", "")
    for number in range(1, 1000):
        ref = f"{REFS}{stamp}-{number}"
        if git.run(root, "rev-parse", "--verify", "--quiet", ref) is not None:
            continue
        _say(root, "update-ref", "--create-reflog", ref, commit, "0" * len(commit))
        back = git.run(root, "rev-parse", "--verify", "--quiet", ref)
        if back is None or back.decode().strip() != commit:
            raise Missing(f"git did not keep {ref}: nothing was put back; run `git fsck`")
        return ref
    raise Refused(f"a thousand rejections at {stamp}: wait a second and run this again")


def staged(root: Path, path: str) -> tuple[bytes, str] | None:
    """The bytes and mode of ``path`` in the index, None if it has none."""
    listed = git.run(root, "ls-files", "--stage", "-z", "--", f":(literal){path}")
    if not listed:
        return None
    mode, found = listed.split(b"\t", 1)[0].split(b" ")[:2]
    data = git.run(root, "cat-file", "blob", found.decode())
    if data is None or not mode.startswith(b"100"):
        raise Refused(f"{path} is staged as something else than a file: put it back by hand")
    return data, mode.decode()


def put_back(root: Path, paths: Sequence[str], known: Sequence[str]) -> None:
    """Make ``paths`` what HEAD has, on the disk and in the index; those that are not ``known``
    there go away. Raises :class:`Missing` with what git said."""
    literal = {path: f":(literal){path}" for path in paths}
    there = [literal[path] for path in paths if path in set(known)]
    if there:
        _say(root, "restore", "--source=HEAD", "--staged", "--worktree", "--", *there)
    for path in paths:
        if path in set(known):
            continue
        _say(root, "rm", "--cached", "--force", "--quiet", "--ignore-unmatch", "--", literal[path])
        (root / path).unlink(missing_ok=True)


def _say(
    root: Path, *arguments: str, data: bytes = b"", environment: Mapping[str, str] | None = None
) -> str:
    try:
        done = subprocess.run(
            git.command(root, arguments, hooks=True),
            input=data,
            capture_output=True,
            timeout=_SECONDS,
            env=git.environment(hooks=True) | dict(environment or {}),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"git {arguments[0]} cannot be run ({error}): mend it") from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        why = printable(said[-1]) if said else "nothing"
        raise Missing(f"git {arguments[0]} said: {why}: mend that and run this again")
    return done.stdout.decode("utf-8", "surrogateescape")
