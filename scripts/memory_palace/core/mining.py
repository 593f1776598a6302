"""The rules of mining: which files of a project count, as what, in which room."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from memory_palace.core.text import MINED, is_device, is_mined, nfc

CODE = frozenset(
    "go py js ts tsx jsx rs java kt rb c h cpp hpp cs swift yaml yml toml json sql sh bash zsh"
    " proto".split()
)
DOCUMENTS = frozenset({"md", "txt"})
EXTENSIONS = CODE | DOCUMENTS
"""What is mined without anybody saying so; case does not count."""

PRUNED = frozenset({"node_modules", "vendor", "dist", "build", "target"})
"""Folders that hold what others wrote or a machine made. Those with a leading dot go too."""

MOST_BYTES = 512 * 1024
"""A larger file is made by a machine more often than not."""
NUL_WITHIN = 8_192
"""A NUL in that many first bytes marks a file that is no text."""

PRIORITY = "low"
"""Of a mined file: importance 3."""
GENERAL = "general"
"""The room of what stands in no folder."""

SKIPPED = {
    "kind": "other kinds of files",
    "folder": "folders that are never mined",
    "size": f"over {MOST_BYTES >> 10} KB",
    "binary": "not text",
    "link": "symbolic links",
    "special": "not regular files",
    "name": "names that no manifest can hold",
    "excluded": "excluded by mine.exclude",
    "palace": "folders of a palace",
    "project": "folders of other projects",
    "repository": "repositories that are not checked out",
    "unreadable": "unreadable",
    "twice": "other spellings of one file",
}
"""Why files, or whole folders, are left out: {reason: in words}."""

_FEW = 10
"""A tenth of a project's files, at their places, make a folder its own."""

_NAME = re.compile(r"\w[\w.+-]{0,79}")


@dataclass(frozen=True, slots=True)
class Line:
    """A file of a project. ``path`` is relative to the project's root, with ``/``; ``type`` is
    ``code`` or ``document``."""

    path: str
    type: str
    room: str
    priority: str = PRIORITY


def extension(path: str) -> str:
    """What a file's name ends with, in lower case without the dot; the whole name where it has no
    dot (``makefile``)."""
    name = path.rpartition("/")[2].lower()
    return name.rpartition(".")[2]


def is_wanted(path: str, more: Collection[str] = ()) -> bool:
    """True for a file of a kind that is mined; ``more`` are the user's own extensions, and names
    of files without one."""
    name = path.rpartition("/")[2]
    ending = extension(name)
    return ending in more or ("." in name and ending in EXTENSIONS)


def kind(path: str) -> str:
    """``document`` for prose, else ``code``."""
    return "document" if extension(path) in DOCUMENTS else "code"


def pruned(path: str) -> str:
    """The folder that a file is left out with (``web/node_modules``), else empty."""
    start = 0
    while (end := path.find("/", start)) >= 0:
        part = path[start:end]
        if part.startswith(".") or part in PRUNED:
            return path[:end]
        start = end + 1
    return ""


def above(path: str) -> Iterator[str]:
    """The folders that ``path`` lies in, the outermost first."""
    end = path.find("/")
    while end > 0:
        yield path[:end]
        end = path.find("/", end + 1)


def leaves(path: str) -> bool:
    """True for a path that could lead out of its project, here or on another system: absolute,
    with a drive (``c:x.py``), a backslash or NUL, or with a part that is empty, ``.`` or ``..``."""
    return (
        path.startswith("/")
        or path[1:2] == ":"
        or "\\" in path
        or "\0" in path
        or not {"", ".", ".."}.isdisjoint(path.split("/"))
    )


def room(
    path: str, matching: Mapping[str, Callable[[str], bool]], names: Collection[str] = ()
) -> str:
    """The room of a file: the first of ``matching`` (rooms with patterns, in their order) that
    says yes; else the first folder of its path that is called like a room, one of ``matching`` or
    ``names``; else its first folder; else :data:`GENERAL`."""
    for name, matches in matching.items():
        if matches(path):
            return name
    folders = path.split("/")[:-1]
    if not folders:
        return GENERAL
    known = {same(name): name for name in (*names, *matching)}
    return next((known[same(part)] for part in folders if same(part) in known), folders[0])


def same(name: str) -> str:
    """The form in which names of rooms and projects are compared."""
    return name.lower() if name.isascii() else nfc(nfc(name).casefold())


def is_text(data: bytes) -> bool:
    """False if ``data``, a file's beginning, has a NUL where no text has one."""
    return b"\0" not in data[:NUL_WITHIN]


def name_fault(name: str) -> str:
    """What is wrong with the name of a project; empty if nothing is."""
    if is_device(name):
        return f"{name!r} is a device on Windows: write another name"
    if _NAME.fullmatch(name) and not name.endswith("."):
        return ""
    return f"{name!r} names no project: write at most 80 letters, digits, `_`, `.`, `+` and `-`"


def as_name(text: str) -> str:
    """A folder's name as one of a project."""
    name = re.sub(r"[^\w.+-]+|^[^\w]+", "-", nfc(text)).strip("-.+")[:80].rstrip(".") or "project"
    return f"project-{name}"[:80].rstrip(".") if is_device(name) else name


def catalog_path(project: str, path: str) -> str:
    """What a mined file is called wherever the palace names it: ``project:demo/src/a.py``."""
    return f"{MINED}{project}/{path}"


def split(path: str) -> tuple[str, str] | None:
    """(project, path in it) of a path of the catalog; None for one of the palace itself."""
    if not is_mined(path):
        return None
    name, _, rest = path[len(MINED) :].partition("/")
    return (name, rest) if name and rest else None


def is_another(there: int, known: int) -> bool:
    """True if so few of the ``known`` files of a project are in its folder, and none as it was,
    that it is another folder, or a disk is not mounted there."""
    return there * _FEW < known


def by_room(lines: Sequence[Line]) -> dict[str, int]:
    """{room: files}, by name."""
    counted: dict[str, int] = {}
    for line in lines:
        counted[line.room] = counted.get(line.room, 0) + 1
    return dict(sorted(counted.items()))
