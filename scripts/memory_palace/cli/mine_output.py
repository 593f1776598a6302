"""What ``palace mine`` prints."""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from memory_palace.cli.common import count, say
from memory_palace.core import code_tree, mining
from memory_palace.core.mining import Line
from memory_palace.core.problems import printable

if TYPE_CHECKING:
    from memory_palace.files.projects import Project
    from memory_palace.memory.mining import Planned

_SHOWN = 20
"""Files of one room that are named in text; all are in jsonl."""

_MARKS = {"added": "+", "changed": "~", "moved": ">", "removed": "-", "kept": "="}
_NAMED = 3
_KINDS = 5


def mined(planned: "Planned", shape: str, dry_run: bool) -> None:
    """What mining a project did, or would do."""
    if shape == "jsonl":
        for record in _records(planned, dry_run):
            click.echo(json.dumps(record, ensure_ascii=False))
        return
    would = "would mine" if dry_run else "mined"
    click.echo(printable(f"{would} {planned.name}  {planned.folder}"))
    if dry_run:
        _rooms(planned)
    click.echo(printable(f"{count(len(planned.lines), 'file')}: {_changes(planned)}"))
    rooms = mining.by_room(planned.lines)
    if rooms and not dry_run:
        click.echo(printable("rooms: " + ", ".join(f"{room} {n}" for room, n in rooms.items())))
    for line in _skipped(planned):
        click.echo(printable(f"left out, {line}"))
    if planned.odd:
        named = _some(planned.odd, _NAMED)
        click.echo(
            printable(f"not UTF-8, other bytes read as U+FFFD: {len(planned.odd)} ({named})")
        )


def taken(planned: "Planned", dry_run: bool) -> None:
    """Say which files this project takes over from those around it."""
    for outer, files in planned.taken.items():
        are = "would be" if dry_run else "are"
        say(
            f"{count(files, 'file')} of {outer} {are} {planned.name}'s alone: if {planned.name} is "
            f"forgotten, the next `palace mine` brings them back to {outer}"
        )


def grammars(done: "Iterable[Planned]") -> None:
    """Say how code is cut where the grammars are not here, and something was mined anew."""
    anew = (line.path for one in done for line in (*one.added, *one.changed))
    if not code_tree.installed() and any(map(code_tree.language_of, anew)):
        say(f"code is cut at blank lines, without symbols: `{code_tree.SETUP}` brings its grammars")


def _changes(planned: "Planned") -> str:
    parts = [f"{len(getattr(planned, name))} {name}" for name in ("added", "changed", "removed")]
    if planned.moved:
        parts.append(f"{len(planned.moved)} to another room")
    if planned.kept:
        named = _some([line.path for line in planned.kept], _NAMED)
        parts.append(f"{len(planned.kept)} kept that could not be looked at ({named})")
    return ", ".join(parts)


def _rooms(planned: "Planned") -> None:
    """What would be added, changed and removed, by room."""
    by_room: dict[str, list[tuple[str, Line]]] = {}
    for name, mark in _MARKS.items():
        for line in getattr(planned, name):
            by_room.setdefault(line.room, []).append((mark, line))
    for room, marked in sorted(by_room.items()):
        counted = Counter(mark for mark, _ in marked)
        words = [f"{counted[mark]} {name}" for name, mark in _MARKS.items() if counted[mark]]
        click.echo(printable(f"{room}: {', '.join(words)}"))
        for mark, line in marked[:_SHOWN]:
            click.echo(printable(f"  {mark} {line.path}"))
        if len(marked) > _SHOWN:
            click.echo(f"  … {len(marked) - _SHOWN} more: --format jsonl lists all")


def _skipped(planned: "Planned") -> Iterable[str]:
    """``symbolic links: 2 (a.py, b.py)``."""
    for reason, words in mining.SKIPPED.items():
        paths = planned.skipped.get(reason)
        if not paths:
            continue
        named = _some(sorted(paths), _NAMED)
        if reason == "kind":
            counted = Counter(_ending(path) for path in paths)
            kinds = sorted(counted, key=lambda kind: (-counted[kind], kind))
            named = _some([f"{kind} {counted[kind]}" for kind in kinds], _KINDS)
        yield f"{words}: {len(paths)} ({named})"


def _ending(path: str) -> str:
    name = path.rpartition("/")[2]
    return f".{mining.extension(path)}" if "." in name else "without an extension"


def _some(paths: Iterable[str], most: int) -> str:
    named = list(paths)
    return ", ".join(named[:most]) + (", …" if len(named) > most else "")


def _records(planned: "Planned", dry_run: bool) -> Iterable[dict[str, object]]:
    """A record of the project; in a dry run one of each file before it."""
    if dry_run:
        for name in _MARKS:
            for line in getattr(planned, name):
                yield {
                    "kind": "file",
                    "project": planned.name,
                    "path": line.path,
                    "room": line.room,
                    "change": name,
                }
        for reason, paths in sorted(planned.skipped.items()):
            for path in sorted(paths):
                yield {
                    "kind": "skipped",
                    "project": planned.name,
                    "path": path,
                    "reason": reason,
                }
    yield {
        "kind": "project",
        "project": planned.name,
        "place": str(planned.folder),
        "files": len(planned.lines),
        **{name: len(getattr(planned, name)) for name in _MARKS},
        "not_utf8": len(planned.odd),
        "rooms": mining.by_room(planned.lines),
        "skipped": {reason: len(paths) for reason, paths in sorted(planned.skipped.items())},
        "dry_run": dry_run,
    }


def forgotten(project: "Project", files: int, shape: str, done: bool) -> None:
    """What forgetting a project takes out of the memory, or took."""
    if shape == "jsonl":
        place = str(project.root) if project.root else None
        record = {"kind": "forgotten", "project": project.name, "place": place, "files": files}
        click.echo(json.dumps({**record, "done": done}, ensure_ascii=False))
        return
    where = str(project.root or "not on this machine")
    said = "forgot" if done else "would forget"
    click.echo(printable(f"{said} {project.name}  {where}  {count(files, 'file')}"))


def listing(root: Path, shape: str) -> int:
    """The known projects; 1 if there is none."""
    from memory_palace.files import mined as reads
    from memory_palace.files import projects

    every = projects.every(root)
    if not every:
        say("no project is known: `palace mine DIR` makes one")
        return 1
    shown = []
    for project in every:
        lines = projects.listed(root, project.name)
        rooms = mining.by_room(lines)
        newest = reads.newest(root, project.name)
        if shape == "jsonl":
            record = {
                "project": project.name,
                "place": str(project.root) if project.root else None,
                "files": len(lines),
                "rooms": rooms,
                "mined": newest or None,
            }
            click.echo(json.dumps(record, ensure_ascii=False))
            continue
        where = str(project.root or "not on this machine")
        when = f"mined {newest}" if newest else "never mined here"
        files = f"{count(len(lines), 'file')} in {count(len(rooms), 'room')}"
        shown.append(tuple(printable(cell) for cell in (project.name, where, files, when)))
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
    for row in shown:
        cells = (cell.ljust(width) for cell, width in zip(row, widths, strict=True))
        click.echo("  ".join(cells).rstrip())
    return 0
