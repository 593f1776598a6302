"""A tool call as rules see it: the names by which a glob may know its files."""

import os
from pathlib import Path

from memory_palace.core.rules import Call
from memory_palace.session.events import Event

MOST_FILES = 100
"""Files of one call that are looked at."""


def of(root: Path, event: Event) -> Call:
    """The call in a ``before_tool`` or ``after_tool`` event."""
    if not event.files:
        return Call(event.tool, event.command)
    here = event.cwd or str(root)
    bases = _bases(here, str(root))
    files = {name: _names(os.path.join(here, name), bases) for name in event.files[:MOST_FILES]}
    return Call(event.tool, event.command, files)


def _bases(here: str, root: str) -> list[str]:
    """The folders that a glob may count from: the session's, its project's, the palace's root."""
    project = here
    while not os.path.exists(os.path.join(project, ".git")):
        above = os.path.dirname(project)
        if above == project:
            project = here
            break
        project = above
    found = [here, project, root]
    return list(dict.fromkeys([*map(os.path.normpath, found), *map(os.path.realpath, found)]))


def _names(place: str, bases: list[str]) -> tuple[str, ...]:
    """``place`` relative to each base that it lies in. One that lies in none keeps its full path,
    which only a glob that is a name, or begins with ``**``, fits."""
    found: list[str] = []
    try:
        places = dict.fromkeys([os.path.normpath(place), os.path.realpath(place)])
    except (OSError, ValueError):
        places = dict.fromkeys([os.path.normpath(place)])
    for full in places:
        for base in bases:
            if full.startswith(base.rstrip(os.sep) + os.sep):
                found.append(full[len(base.rstrip(os.sep)) + 1 :].replace(os.sep, "/"))
    if not found:
        found = [full.replace(os.sep, "/") for full in places]
    return tuple(dict.fromkeys(found))
