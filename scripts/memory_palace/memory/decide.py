"""Accept or reject what changed: commit a change, or put back what the last commit has.

Nothing that is rejected is lost: it is kept in git, under a ref of its own, before anything is
touched.
"""

import shlex
import stat
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_palace.core import privacy
from memory_palace.core.errors import BadInput, Changed, Refused
from memory_palace.files import commit as commits
from memory_palace.files import git, gitdiff, gitkeep, roots
from memory_palace.files.gitdiff import Blob, Compared
from memory_palace.memory import pen, review, review_logs

_FOLDERS = ("palace/", "manifests/")
_STAYS = ("secret", "lost-line", "unreadable", "merge")


@dataclass(frozen=True, slots=True)
class Accepted:
    """The commit that holds the change now."""

    commit: str
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Rejected:
    """What was done to each path: ``restored`` ones are as in HEAD, ``removed`` ones HEAD never
    had. ``ref`` keeps what was ``kept`` of them; empty if the change was to delete them."""

    restored: tuple[str, ...]
    removed: tuple[str, ...]
    kept: tuple[str, ...] = ()
    ref: str = ""
    staged: tuple[str, ...] = ()

    def undo(self, root: Path, here: Path) -> tuple[str, ...]:
        """The commands that bring the rejected versions back, to be run in ``here``."""
        if not self.ref:
            return ()
        place = "" if here == root else f" -C {shlex.quote(str(root))}"
        first = " ".join(shlex.quote(path) for path in self.kept)
        found = [f"git{place} restore --source {self.ref} -- {first}"] if self.kept else []
        if self.staged:
            second = " ".join(shlex.quote(path) for path in self.staged)
            found.append(f"git{place} restore --staged --source {self.ref}^2 -- {second}")
        return tuple(found)


def accept(
    root: Path,
    paths: Sequence[str],
    message: str,
    now: datetime,
    say: Callable[[str], None] = lambda _: None,
) -> Accepted:
    """Commit exactly ``paths``: added, edited or deleted ones, of a move both. Hooks run, and what
    else is staged stays staged.

    Raises :class:`Refused` for a path without a change, for secrets, lost lines of a log, marks of
    a merge and what cannot be read, and if git does not commit, :class:`BadInput` for what is no
    path of the memory or an empty message.
    """
    text = " ".join(privacy.redact(message).text.split())
    if not text:
        raise BadInput("an empty message: say with -m what the change is about")
    paths = _clean(paths)
    gitdiff.compared(root, None)
    _ready(root)
    with pen.begin(root, now, "palace review accept", text, say) as p:
        _changed(root, paths)
        _check(root, paths, now)
        why = commits.commit(root, paths, pen.message(p))
        if why:
            raise Refused(f"not committed: {why}; mend that and run this again")
        left = _differing(root, paths)
        if left:
            raise Changed(f"{left[0]} changed underneath: see `palace review` for what is left")
    return Accepted(git.head(root), tuple(paths))


def reject(
    root: Path,
    paths: Sequence[str],
    reason: str,
    now: datetime,
    say: Callable[[str], None] = lambda _: None,
) -> Rejected:
    """Put each path back to what HEAD has, on the disk and in the index, once git keeps what it
    is now; one that HEAD does not have goes away.

    Raises :class:`Refused` for a path without a change, a log and in a merge, :class:`BadInput`
    for what is no path of the memory, :class:`Changed` if a file changed meanwhile.
    """
    paths = _clean(paths)
    for path in paths:
        if review_logs.is_log(path):
            raise Refused(
                f"{path} is an append-only log, whose lines stay: to undo what one says, use the "
                "command that says the opposite (`palace forget`, `palace restore`, …)"
            )
    gitdiff.compared(root, None)
    _ready(root)
    with pen.begin(root, now, "palace review reject", privacy.redact(reason).text, say) as p:
        _changed(root, paths)
        head = git.head(root)
        known = gitdiff.files(root, head, *paths) if head else {}
        now_there = {path: one for path in paths if (one := _on_disk(root, path))}
        in_index = {
            path: one
            for path in paths
            if (one := gitkeep.staged(root, path)) and _is_apart(root, path, one, now_there, known)
        }
        ref = _keep(root, head, now_there, in_index, p) if now_there or in_index else ""
        for path, (data, _) in now_there.items():
            if gitdiff.on_disk(root, path)[0] != data:
                raise Changed(f"{path} changed underneath: nothing was put back; run this again")
        gitkeep.put_back(root, paths, [path for path in paths if path in known])
    return Rejected(
        tuple(path for path in paths if path in known),
        tuple(path for path in paths if path not in known),
        tuple(now_there),
        ref,
        tuple(in_index),
    )


def _keep(
    root: Path,
    head: str,
    files: dict[str, tuple[bytes, str]],
    staged: dict[str, tuple[bytes, str]],
    p: pen.Pen,
) -> str:
    """Keep both versions, as `git stash` does: the staged one is the second parent."""
    subject = " ".join(p.reason.split())
    listed = "\n".join(sorted({*files, *staged}))
    said = f"rejected: {subject or 'without a reason'}\n\n{listed}\n\nAgent: {p.by}\n"
    parents = [head] if head else []
    if staged:
        index = gitkeep.keep(root, staged, parents, f"staged, {said}", p.now)
        parents = [head or index, index]
    made = gitkeep.keep(root, files, parents, said, p.now)
    return gitkeep.name(root, made, p.now)


def _is_apart(
    root: Path,
    path: str,
    staged: tuple[bytes, str],
    files: dict[str, tuple[bytes, str]],
    known: dict[str, Blob],
) -> bool:
    """True if what is staged is neither what HEAD has nor what the file holds."""
    if path in files and files[path][0] == staged[0]:
        return False
    return (
        path not in known or gitdiff.blobs(root, [known[path].id]).get(known[path].id) != staged[0]
    )


def _on_disk(root: Path, path: str) -> tuple[bytes, str] | None:
    """The bytes of the file and git's mode for it; None if it is not there."""
    roots.inside(root, path)
    data, fault = gitdiff.on_disk(root, path)
    if fault:
        raise Refused(f"{path} cannot be kept ({fault}): put it back by hand")
    if data is None:
        return None
    return data, "100755" if (root / path).stat().st_mode & stat.S_IXUSR else "100644"


def _clean(paths: Sequence[str]) -> list[str]:
    """The paths, each once. Raises :class:`BadInput` for what is no path of a file of the memory:
    nothing is guessed."""
    for path in paths:
        parts = path.split("/")
        odd = not path.startswith(_FOLDERS) or "\\" in path or "\0" in path
        if odd or any(part in ("", ".", "..", ".git") for part in parts):
            raise BadInput(
                f"{path} is no path of the memory: write it as `palace review` shows it, such as "
                "palace/topics/lessons.md"
            )
    return list(dict.fromkeys(paths))


def _check(root: Path, paths: Sequence[str], now: datetime) -> None:
    """Refuse what no later commit mends: once it is in the history it stays there."""
    for path in paths:
        roots.inside(root, path)
    bad = [f for f in review.look(root, None, now).errors if f.path in paths and f.kind in _STAYS]
    if bad:
        place = bad[0].path if bad[0].line is None else f"{bad[0].path}:{bad[0].line}"
        more = f" (and {len(bad) - 1} more)" if bad[1:] else ""
        raise Refused(f"{place}: {bad[0].message}{more}; where it is meant, commit it with git")


def _ready(root: Path) -> None:
    why = commits.unready(root)
    if why and not why.startswith("HEAD"):
        raise Refused(f"{why}: finish it first (`git status` says how)")


def _changed(root: Path, paths: Sequence[str]) -> None:
    there = set(_differing(root, paths))
    for path in paths:
        if path in there:
            continue
        if (root / path).is_dir():
            raise Refused(f"{path} is a folder: name the files, as `palace review` shows them")
        raise Refused(f"{path} has no change: `palace review` shows what has")


def _differing(root: Path, paths: Sequence[str]) -> list[str]:
    """Those of ``paths`` that differ from HEAD, on the disk or in the index only."""
    found = {one.path for one in gitdiff.differences(root, Compared(git.head(root)))}
    return [path for path in paths if path in found or commits.is_changed(root, path)]
