"""Folders below a folder, however deep: :func:`os.walk` ends at Python's depth of calls."""

import os
from collections.abc import Callable, Iterator


def walk(
    top: str | os.PathLike[str], onerror: Callable[[OSError], None] = lambda _: None
) -> Iterator[tuple[str, list[str], list[str]]]:
    """As ``os.walk(top, onerror=onerror)``: ``(folder, folders, names)``, a folder before those in
    it; take out of ``folders`` what is not to be walked. Links to folders are not followed."""
    waiting = [os.fspath(top)]
    while waiting:
        folder = waiting.pop()
        folders: list[str] = []
        names: list[str] = []
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    (folders if _is_dir(entry) else names).append(entry.name)
        except OSError as error:
            onerror(error)
            continue
        yield folder, folders, names
        below = (os.path.join(folder, name) for name in reversed(folders))
        waiting += [place for place in below if not os.path.islink(place)]


def _is_dir(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:  # a link that leads to itself
        return False
