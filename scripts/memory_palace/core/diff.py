"""What changed between two sorted lists of files: the disk now, and the catalog."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

FRESH_NS = 2_000_000_000
"""A file touched less than two seconds before it was read may change again unseen."""


@dataclass(frozen=True, slots=True)
class FileStat:
    """A file as the disk shows it. ``path`` is relative to the root, ``mtime_ns`` nanoseconds."""

    path: str
    size: int
    mtime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class Known:
    """A file as the catalog knows it. ``settled`` is False if the file was so fresh when it was
    read that a later edit could have left size and time as they are."""

    path: str
    size: int
    mtime_ns: int
    inode: int
    sha256: str
    settled: bool = True


@dataclass(frozen=True, slots=True)
class Compared:
    """Paths by what their stat says. ``suspect`` files are known, and have to be hashed."""

    new: tuple[str, ...]
    suspect: tuple[str, ...]
    same: tuple[str, ...]
    gone: tuple[str, ...]


def compare(seen: Sequence[FileStat], known: Sequence[Known], verify: bool = False) -> Compared:
    """Merge the two lists, each sorted by path and without repeats.

    ``verify`` makes every known file suspect.
    """
    new: list[str] = []
    suspect: list[str] = []
    same: list[str] = []
    gone: list[str] = []
    s = k = 0
    while s < len(seen) or k < len(known):
        if k == len(known) or (s < len(seen) and seen[s].path < known[k].path):
            new.append(seen[s].path)
            s += 1
        elif s == len(seen) or known[k].path < seen[s].path:
            gone.append(known[k].path)
            k += 1
        else:
            now, then = seen[s], known[k]
            equal = (now.size, now.mtime_ns, now.inode) == (then.size, then.mtime_ns, then.inode)
            trusted = equal and then.settled and not verify
            (same if trusted else suspect).append(now.path)
            s, k = s + 1, k + 1
    return Compared(tuple(new), tuple(suspect), tuple(same), tuple(gone))


def is_settled(mtime_ns: int, now_ns: int) -> bool:
    """True if a file of that time, read now, cannot change and keep it. A time that lies ahead is
    none that the clock gives now, whoever set it."""
    return abs(now_ns - mtime_ns) > FRESH_NS


def moves(
    new: Iterable[str], gone: Iterable[str], hashes: Mapping[str, str], old: Mapping[str, str]
) -> dict[str, str]:
    """{new path: old path} for files that went away in one place and came up in another.

    ``hashes`` has the content hash of each new file, ``old`` that of each gone one.
    """
    waiting: dict[str, list[str]] = defaultdict(list)
    for path in sorted(gone, reverse=True):
        waiting[old[path]].append(path)
    found = {}
    for path in sorted(new):
        if path in hashes and waiting.get(hashes[path]):
            found[path] = waiting[hashes[path]].pop()
    return found


def too_many_gone(gone: int, known: int) -> bool:
    """True if so many known files would go that a person should say so first."""
    return gone >= 20 and gone > 0.3 * known
