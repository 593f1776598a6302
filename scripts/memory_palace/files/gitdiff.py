"""What changed in the memory's files between two commits, or a commit and the files on the disk."""

import re
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core.errors import BadInput, Missing
from memory_palace.files import git, read, roots

MEMORY = ("palace", "manifests", roots.MARKER)
"""What belongs to the memory, below the root."""
MOST_BYTES = 256 * 1024 * 1024
"""A larger file is not compared: logs may grow past what a note may have."""

_SECONDS = 300.0
_RANGE = re.compile(r"(?P<first>.*?)(?P<dots>\.{2,3})(?P<second>.*)")
_LISTED = re.compile(rb"(\d+) (\w+) ([0-9a-f]+)\t(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Compared:
    """What is compared: ``base`` is a commit, empty where there is none yet; ``head`` the other
    one, None for the files on the disk."""

    base: str
    head: str | None = None


@dataclass(frozen=True, slots=True)
class Blob:
    """A file at a commit: git's id of its bytes, and its mode, such as ``100644``."""

    id: str
    mode: str


@dataclass(frozen=True, slots=True)
class Difference:
    """A path (relative to the root) with its bytes before and after, None where it is not there.

    ``fault`` says why the bytes on the disk could not be read.
    """

    path: str
    before: bytes | None
    after: bytes | None
    fault: str = ""


def compared(root: Path, said: str | None) -> Compared:
    """What ``said`` asks to be compared: a commit with the disk, ``A..B`` two commits, ``A...B``
    B with where it left A; an end that is left out is HEAD, and so is None.

    Raises :class:`Missing` without git, :class:`BadInput` for what names no commit.
    """
    _repository(root)
    found = _RANGE.fullmatch(said) if said else None
    if not found:
        if said:
            return Compared(commit(root, said))
        return Compared(git.head(root))
    first, second = (commit(root, found[end] or "HEAD") for end in ("first", "second"))
    if found["dots"] == "...":
        base = git.run(root, "merge-base", first, second)
        if not base:
            raise BadInput(f"{said}: the two have no commit in common: name them as A..B")
        first = base.decode().strip()
    return Compared(first, second)


def commit(root: Path, name: str) -> str:
    """The hash of the commit that ``name`` means. Raises :class:`BadInput` if there is none."""
    # A dash would be an option, and a colon means a file.
    odd = name.startswith("-") or "\0" in name or ":" in name
    found = None if odd else git.run(root, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if not found:
        raise BadInput(
            f"no commit `{name}`: name one that `git log` shows, or `git fetch` it first"
        )
    return found.decode().strip()


def _repository(root: Path) -> None:
    if not git.in_repository(root):
        raise Missing(f"{root} is in no git repository: run `git init` there and commit first")
    if git.run(root, "rev-parse", "--git-dir") is None:
        raise Missing(
            f"git is not there, or does not trust {root}: install it, or see `git status`"
        )


def files(root: Path, commit: str, *under: str) -> dict[str, Blob]:
    """{path: blob} of what a commit has below ``root``, in ``under`` (default: the memory)."""
    if not commit:
        return {}
    listed = git.run(root, "ls-tree", "-r", "-z", commit, "--", *(under or MEMORY))
    if listed is None:
        raise Missing(f"git cannot list commit {commit}: run `git fsck`")
    found = {}
    for row in listed.split(b"\0"):
        parts = _LISTED.fullmatch(row)
        if parts and parts[2] == b"blob":
            found[_text(parts[4])] = Blob(parts[3].decode(), parts[1].decode())
    return found


def blobs(root: Path, ids: Iterable[str]) -> dict[str, bytes]:
    """{id: bytes} of some blobs, read in one go; what git does not have is left out."""
    wanted = sorted(set(ids))
    if not wanted:
        return {}
    try:
        done = subprocess.run(
            git.command(root, ("cat-file", "--batch")),
            input="".join(f"{one}\n" for one in wanted).encode(),
            capture_output=True,
            timeout=_SECONDS,
            env=git.environment(),
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Missing(f"git cannot read what is committed ({error}): run `git fsck`") from None
    found: dict[str, bytes] = {}
    out, at = done.stdout, 0
    while at < len(out):
        end = out.index(b"\n", at)
        head, at = out[at:end].split(b" "), end + 1
        if len(head) == 3 and head[2].isdigit():
            size = int(head[2])
            found[head[0].decode()] = out[at : at + size]
            at += size + 1
    return found


def differences(root: Path, between: Compared) -> list[Difference]:
    """The files of the memory that differ, by path; on the disk staged or not, untracked ones too
    unless git ignores them."""
    before = files(root, between.base)
    if between.head is not None:
        after = files(root, between.head)
        paths = {p for p in {*before, *after} if before.get(p) != after.get(p)}
        texts = blobs(root, (side[p].id for side in (before, after) for p in paths if p in side))
        both = [
            Difference(path, _bytes(before, path, texts), _bytes(after, path, texts))
            for path in sorted(paths)
        ]
        return [one for one in both if one.before != one.after]
    paths = _touched(root, between.base)
    texts = blobs(root, (before[path].id for path in paths if path in before))
    found = []
    for path in sorted(paths):
        old = _bytes(before, path, texts)
        new, fault = on_disk(root, path)
        if fault or old != new:
            found.append(Difference(path, old, new, fault))
    return found


def _bytes(side: dict[str, Blob], path: str, texts: dict[str, bytes]) -> bytes | None:
    return texts.get(side[path].id) if path in side else None


def _touched(root: Path, base: str) -> set[str]:
    """Paths that may differ from ``base`` on the disk."""
    others = git.run(root, "ls-files", "-z", "--others", "--exclude-standard", "--", *MEMORY)
    if base:
        quiet = ("--no-ext-diff", "--no-textconv", "--no-renames", "--ignore-submodules")
        names = ("--name-only", "--relative", "-z", *quiet)
        known = git.run(root, "diff", *names, base, "--", *MEMORY, timeout=_SECONDS)
    else:
        known = git.run(root, "ls-files", "-z", "--cached", "--", *MEMORY)
    if others is None or known is None:
        raise Missing(f"git cannot compare {root}: see what `git status` says there")
    return {_text(name) for name in (others + b"\0" + known).split(b"\0") if name}


def on_disk(root: Path, path: str) -> tuple[bytes | None, str]:
    """The bytes of ``path``, None if it is not there; and why they cannot be read, if so."""
    place = root / path
    if not place.exists() and not place.is_symlink():
        return None, ""
    try:
        roots.inside(root, path)
    except BadInput as error:
        return None, str(error)
    got = read.read_bytes(root, path, MOST_BYTES, "a file of the memory")
    if isinstance(got, read.Unreadable):
        return None, got.problem.message
    return got[0], ""


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
