"""What a folder of the palace holds, as the memory tool lists it: sizes and paths."""

import os
from collections.abc import Iterator
from pathlib import Path

from memory_palace.core.text import is_cold


def _visible(folder: Path) -> Iterator[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        listed = sorted(entries, key=lambda entry: entry.name)
    for entry in listed:
        hidden = entry.name.startswith(".") or entry.name == "node_modules"
        if not hidden and not entry.is_symlink() and not is_cold(entry.name):
            yield entry


def files(folder: Path) -> Iterator[Path]:
    """The files at any depth, in order: none that is hidden, archived or a symbolic link."""
    for entry in _visible(folder):
        if entry.is_dir():
            yield from files(Path(entry.path))
        else:
            yield Path(entry.path)


def rows(folder: Path, shown: str, deep: int) -> Iterator[str]:
    """``size<tab>path`` of the folder, which is called ``shown``, and of ``deep`` levels in it."""
    yield f"{_size(sum(one.stat().st_size for one in files(folder)))}\t{shown}"
    for entry in _visible(folder):
        path = f"{shown}/{entry.name}"
        if entry.is_dir():
            if deep > 1:
                yield from rows(Path(entry.path), path, deep - 1)
            else:
                total = sum(one.stat().st_size for one in files(Path(entry.path)))
                yield f"{_size(total)}\t{path}"
        else:
            yield f"{_size(entry.stat().st_size)}\t{path}"


def _size(size: float) -> str:
    for unit in ("", "K", "M"):
        if size < 1024:
            return f"{size:.1f}{unit}" if unit else f"{size:.0f}"
        size /= 1024
    return f"{size:.1f}G"
