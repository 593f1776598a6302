"""The notes of sessions that a palace has: found by the session, whatever they are called now."""

import os
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import note, session_notes
from memory_palace.core.errors import BadInput
from memory_palace.core.links import TREE
from memory_palace.core.text import COLD_COMPONENT, nfc, slug
from memory_palace.files import read, repository, roots
from memory_palace.files.walk import walk

ROOMS = f"{TREE}project_rooms"
NOWHERE = "general"
"""The project of sessions that ran in no folder that is known."""

_HEAD = 8_192


class Part(NamedTuple):
    """A note of a session: its path, which part it is, from 1, and whether it is archived."""

    path: str
    part: int
    cold: bool


class Rooms:
    """All parts of all sessions by the session's id (see :func:`session_notes.session_id`)."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._parts: dict[str, dict[int, Part]] = defaultdict(dict)
        for path in notes_below(root, TREE.rstrip("/")):  # a person may move a note anywhere
            self._take(path)
        self._folders = {nfc(one).casefold(): one for one in _folders(root)}

    def _take(self, path: str) -> None:
        said = session_notes.named(path) or self._by_metadata(path)
        if said:
            key, part = said
            one = Part(path, part, COLD_COMPONENT in path.split("/"))
            there = self._parts[key].get(part)
            if there is None or there.cold:  # what is live counts, if both are there
                self._parts[key][part] = one

    def _by_metadata(self, path: str) -> tuple[str, int] | None:
        got = read.read_bytes(self._root, path)
        if isinstance(got, read.Unreadable):
            return None
        data = got[0]
        if b"\nsource_id:" not in data[:_HEAD]:
            return None
        found = note.parse(path, data[:_HEAD].decode("utf-8", "replace")).metadata
        client, session = found.get("client"), found.get("source_id")
        if found.get("type") != session_notes.TYPE or client is None or session is None:
            return None
        part = found.get("part", 1)
        agent = str(found.get("subagent") or "")
        key = session_notes.session_id(str(client), str(session), agent)
        return key, part if isinstance(part, int) else 1

    def parts(self, key: str) -> list[Part]:
        """The parts of a session, in order."""
        return [part for _, part in sorted(self._parts.get(key, {}).items())]

    def add(self, key: str, part: Part) -> None:
        """A part that was just written, or will be."""
        self._parts[key][part.part] = part
        if part.path.startswith(f"{ROOMS}/"):
            folder = part.path.split("/")[2]
            self._folders.setdefault(nfc(folder).casefold(), folder)

    def folder(self, project: str) -> str:
        """The folder of a project's sessions: that of the room which is called so, in any case."""
        there = self._folders.get(nfc(project).casefold())
        return f"{ROOMS}/{there or safe_name(project)}/{session_notes.FOLDER}"


def project_of(cwd: str, last: str) -> str:
    """The project of a session that ran in ``cwd``: the repository's name, else ``last``, else
    :data:`NOWHERE`."""
    return repository.name_of(cwd) or last or NOWHERE


def safe_name(project: str) -> str:
    """A room's name for a project: its own, where every system takes it and links can have it."""
    plain = nfc(project).strip(" .")
    odd = any(not one.isprintable() or one in '<>:"|?*\\/[]#^' for one in plain)
    if odd or not any(map(str.isalnum, plain)) or len(plain.encode("utf-8", "replace")) > 200:
        return slug(project)
    named = slug(plain)
    return named if named == f"{plain.lower()}-note" else plain  # a device of Windows


def _folders(root: Path) -> list[str]:
    try:
        with os.scandir(roots.inside(root, ROOMS)) as entries:
            return [one.name for one in entries if one.is_dir(follow_symlinks=False)]
    except (OSError, BadInput):
        return []


def notes_below(root: Path, top: str) -> Iterator[str]:
    """The Markdown files below ``top``, relative to the root; links are not followed."""
    try:
        place = roots.inside(root, top)
    except BadInput:
        return
    for folder, folders, names in walk(place, lambda _: None):  # the index tells what is closed
        folders[:] = sorted(one for one in folders if not one.startswith("."))
        for name in sorted(names):
            if name.lower().endswith(".md") and not name.startswith("."):
                yield (Path(folder) / name).relative_to(root).as_posix()
