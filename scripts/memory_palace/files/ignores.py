"""A walk that keeps to the ``.gitignore`` files on its way, where there is no git to ask."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory_palace.core import gitignore, mining
from memory_palace.core.gitignore import Pattern
from memory_palace.core.problems import Problem
from memory_palace.files import read
from memory_palace.files.gitlist import IGNORE, Entry

_MOST_BYTES = 1024 * 1024
UNLISTED = "cannot be listed ({}): its lines are kept as they were; check its permissions"
"""Said of a folder; ``{}`` is why."""


@dataclass(frozen=True, slots=True)
class _Rules:
    """The rules of one folder, last first, over those of the folders above."""

    folder: str
    patterns: tuple[Pattern, ...]
    above: "_Rules | None"

    def ignores(self, path: str, is_folder: bool) -> bool:
        """What the last pattern of the nearest file says that names ``path`` itself: git asks for
        each folder on the way, so those above do not count."""
        rest = path[len(self.folder) :]
        for pattern in self.patterns:
            if (is_folder or not pattern.folders) and pattern.regex.fullmatch(rest):
                return not pattern.negated
        return self.above.ignores(path, is_folder) if self.above else False


def walk(top: Path, start: str, problems: list[Problem]) -> Iterator[Entry]:
    """The files at and below ``start`` (relative to ``top``, with a slash at its end, or empty)
    that no ``.gitignore`` names; a folder with a ``.git`` of its own is an entry, and so is one
    that is never mined, which is not walked."""
    waiting: list[tuple[str, _Rules | None]] = [(start, None)]
    while waiting:
        folder, rules = waiting.pop()
        try:
            with os.scandir(top / folder) as entries:
                listed = sorted(entries, key=lambda entry: entry.name)
        except OSError as error:
            problems.append(
                Problem(folder.rstrip("/") or ".", None, UNLISTED.format(error.strerror))
            )
            continue
        if any(entry.name == IGNORE for entry in listed):
            rules = _read(top, folder, rules, problems) or rules
        for entry in listed:
            path = folder + entry.name
            is_folder = entry.is_dir(follow_symlinks=False)
            ignored = rules and rules.ignores(path, is_folder)
            if ignored or entry.name == ".git":
                continue
            if not is_folder:
                yield Entry(path, entry.is_symlink())
            elif mining.pruned(f"{path}/"):
                yield Entry(f"{path}/")
            elif os.path.lexists(top / path / ".git"):
                yield Entry(path, repository=True)
            else:
                waiting.append((f"{path}/", rules))


def _read(top: Path, folder: str, above: _Rules | None, problems: list[Problem]) -> _Rules | None:
    path = folder + IGNORE
    got = read.read_bytes(top, path, _MOST_BYTES, "a list of patterns")
    if isinstance(got, read.Unreadable):
        problems.append(got.problem)
        return None
    good: list[Pattern] = []
    for number, line in enumerate(got[0].decode("utf-8-sig", "replace").split("\n"), start=1):
        try:
            pattern = gitignore.pattern(line)
        except ValueError:
            said = f"the pattern {line[:40]!r} cannot be used: mend it"
            problems.append(Problem(path, number, said, "warning"))
            continue
        if pattern is not None:
            good.append(pattern)
    return _Rules(folder, tuple(reversed(good)), above)
