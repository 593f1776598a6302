"""Mining, written: the manifest of a project and of those around it, and where it is here."""

import contextlib
from collections.abc import Iterator

from memory_palace.core.errors import Missing
from memory_palace.files import local, mined, projects
from memory_palace.memory import mining
from memory_palace.memory.mining import Planned
from memory_palace.memory.pen import Pen


def write(pen: Pen, planned: Planned) -> bool:
    """Write the manifest of a project and where it is, and take its files out of those of the
    projects around it; True if its manifest differs now.

    Raises :class:`Refused` if there is nothing to mine, :class:`Changed` if the manifest moved on,
    :class:`Missing` if it cannot be written.
    """
    mining.check(planned)
    path = projects.manifest_path(planned.name)
    with _writing(local.PATH):
        local.put(pen.root, planned.name, planned.folder)
    with _writing(path):
        written = projects.save(pen.root, planned.name, planned.before, planned.lines)
    if written:
        pen.touched[path] = None
    planned.taken = {}
    for outer, listed, lines in mining.taken(pen.root, planned):
        path = projects.manifest_path(outer)
        lost = {line.path for line in lines}
        kept = [line for line in listed.lines.values() if line.path not in lost]
        with _writing(path):
            projects.save(pen.root, outer, listed, kept)
        pen.touched[path] = None
        planned.taken[outer] = len(lines)
    mined.keep(pen.root, planned.name, planned.seen, pen.now)
    return written


@contextlib.contextmanager
def _writing(path: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise Missing(
            f"{path} cannot be written ({error.strerror or error}): free disk space or mend that "
            "place, and run this again"
        ) from None


def forget(pen: Pen, name: str) -> None:
    """Remove a project's lines, and where it was; its files stay as they are. Raises
    :class:`Missing` if that cannot be written."""
    path = projects.manifest_path(name)
    with _writing(path):
        projects.remove(pen.root, name)
    pen.touched[path] = None
    with _writing(local.PATH):
        local.put(pen.root, name, None)
    mined.forget(pen.root, name)
