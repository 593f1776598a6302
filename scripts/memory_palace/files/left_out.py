"""What stands where ledgers do and is not read: links, folders that nobody may list, no files.

Those who look for ledgers pass it over. It must not look as if there were none.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from memory_palace.core.problems import Problem
from memory_palace.files import chambers, ledgers

_LINK = "a symbolic link, left out: replace it by what it stands for"
_NO_FILE = "not a regular file, left out: move it away"


def of_ledgers(root: Path) -> list[Problem]:
    """A problem for each, by path; none where all is as it should be."""
    found: list[Problem] = []
    top = chambers.FOLDER.rstrip("/")
    for agent in _listed(root, top, found):
        if not agent.is_dir() or agent.name.startswith("."):
            continue
        chamber = f"{top}/{agent.name}"
        if agent.is_symlink():
            found.append(Problem(chamber, None, _LINK))
            continue
        folder = f"{chamber}/ledger"
        for entry in _listed(root, folder, found):
            path = f"{folder}/{entry.name}"
            if ledgers.is_ledger(path) and not entry.is_file(follow_symlinks=False):
                found.append(Problem(path, None, _LINK if entry.is_symlink() else _NO_FILE))
    return sorted(found, key=lambda one: one.path)


def _listed(root: Path, folder: str, found: list[Problem]) -> Iterator[os.DirEntry[str]]:
    """What is in a folder; a problem where it is a link, or cannot be listed."""
    if (root / folder).is_symlink():
        found.append(Problem(folder, None, _LINK))
        return
    try:
        with os.scandir(root / folder) as entries:
            yield from entries
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        what = f"cannot be read ({error.strerror}): check its permissions"
        found.append(Problem(folder, None, what))
