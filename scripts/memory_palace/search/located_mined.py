"""Where a mined file is that a person or an agent names: only files that a manifest lists."""

from pathlib import Path

from memory_palace.core import mining
from memory_palace.core.errors import BadInput, PalaceError
from memory_palace.core.problems import printable
from memory_palace.core.text import MINED, did_you_mean, nearest
from memory_palace.files import project_text, projects


def is_there(root: Path, path: str) -> bool:
    """True if ``path`` (``project:<name>/<path>``) is listed and is on this machine."""
    parts = mining.split(path)
    if parts is None or parts[0] not in _names(root):
        return False
    if parts[0] not in project_text.folders(root) or parts[1] not in _listed(root, parts[0]):
        return False
    try:
        place = projects.place(root, path)
        return place is not None and place.is_file()
    except (BadInput, OSError):  # a link on the way; a folder that is closed to us
        return False


def why_not(root: Path, path: str) -> str:
    """Why there is no such file, and what is nearest."""
    name, _, inner = path[len(MINED) :].partition("/")
    shown, names = printable(path), _names(root)
    if name not in names:
        hint = did_you_mean(name, names) if names else ": `palace mine DIR` makes one"
        return f"no project {printable(name)}{hint}"
    if name not in project_text.folders(root):
        return (
            f"project {name} is not on this machine: "
            f"`palace mine DIR --name {name}` says where it is"
        )
    listed = _listed(root, name)
    if inner in listed:
        return f"{shown} is gone or cannot be read: `palace mine` looks again"
    near = nearest(inner, listed)
    search = f"`palace query` with --room {MINED}{name} searches it"
    hint = f"did you mean {MINED}{name}/{printable(near)}?" if near else search
    return f"no file {shown}: {hint}"


def meant(root: Path, name: str) -> list[str]:
    """The mined files that ``name`` is without its ``project:``, or without its project too."""
    name = name.strip().lstrip("/")
    try:
        listed = {one: _listed(root, one) for one in _names(root)}
    except PalaceError:
        return []  # the manifest's fault is told where mined files are asked for
    paths = (mining.catalog_path(one, name) for one, inner in listed.items() if name in inner)
    project, _, inner = name.partition("/")
    whole = [MINED + name] if inner in listed.get(project, ()) else []
    return [*whole, *sorted(paths)]


def _names(root: Path) -> list[str]:
    return [project.name for project in projects.every(root)]


def _listed(root: Path, name: str) -> set[str]:
    return {line.path for line in projects.listed(root, name)}
