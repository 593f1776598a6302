"""Sessions of OpenCode: its database, an export of one, or the JSON files of older versions."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from memory_palace.core import transcript_opencode as made
from memory_palace.core.errors import BadInput
from memory_palace.core.text import short_id
from memory_palace.core.transcript_turns import Record
from memory_palace.files import foreign, roots
from memory_palace.files.walk import walk

MOST_EXPORT = 200 * 1024 * 1024
MOST_JSON = 10 * 1024 * 1024
"""Bytes of an export, and of one message or part: a larger one is passed over."""

_HEAD = 4_096
_TABLES = {"session", "message", "part"}


class Session(NamedTuple):
    """A session: its ``id``, the ``mark`` that changes when it grows, when it was ``updated``
    (milliseconds), and its records."""

    path: Path
    id: str
    mark: str
    updated: int
    records: Callable[[], Iterable[Record]]


def in_database(path: Path) -> list[Session]:
    """The sessions of ``opencode.db``, oldest first; none if it is another database.

    Raises :class:`BadInput` if it cannot be read.
    """
    with _opened(path) as database:
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master")}
        if not tables >= _TABLES:
            return []
        rows = database.execute(
            "SELECT id, time_updated, (SELECT count(*) FROM part WHERE session_id = session.id),"
            " (SELECT max(time_updated) FROM part WHERE session_id = session.id)"
            " FROM session ORDER BY time_created, id"
        ).fetchall()
    return [
        Session(
            path,
            str(name),
            f"{count} {short_id(str(updated), str(last))}",
            updated if isinstance(updated, int) else 0,
            lambda name=name: _from_database(path, str(name)),  # type: ignore[misc]
        )
        for name, updated, count, last in rows
    ]


def _from_database(path: Path, session: str) -> Iterator[Record]:
    with _opened(path) as database:
        database.row_factory = sqlite3.Row
        one = database.execute("SELECT * FROM session WHERE id = ?", (session,)).fetchone()
        if one is None:
            return
        keys = set(one.keys())
        info = {name: one[key] for name, key in _COLUMNS.items() if key in keys}
        info["time"] = {"created": one["time_created"], "updated": one["time_updated"]}
        yield made.header(info)
        rows = database.execute(
            f"SELECT id, {_BOUNDED} FROM message WHERE session_id = ? ORDER BY time_created, id",
            (session,),
        )
        for name, data in rows:
            parts = database.execute(
                f"SELECT id, {_BOUNDED} FROM part WHERE message_id = ? ORDER BY id", (name,)
            )
            yield made.message(
                {**foreign.record(data), "id": name},
                [{**foreign.record(text), "id": own} for own, text in parts],
            )


_COLUMNS = {"id": "id", "parentID": "parent_id", "directory": "directory", "version": "version"}
_BOUNDED = f"CASE WHEN length(data) <= {MOST_JSON} THEN data ELSE '{{}}' END"


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    try:
        with foreign.opened(path, "name OpenCode's opencode.db") as database:
            yield database
    except (sqlite3.Error, OSError, OverflowError) as error:
        way = foreign.way_out(error, "`opencode export SESSION` gives a file that can")
        raise BadInput(f"{path} cannot be read ({error}): {way}") from None


def in_export(path: Path) -> list[Session]:
    """The session that ``opencode export`` wrote; none if it is another JSON file.

    Raises :class:`BadInput` if it cannot be read.
    """
    if not _begins_as_export(path):
        return []
    data = _loaded(path, MOST_EXPORT)
    info, messages = data.get("info"), data.get("messages")
    if not isinstance(info, dict) or not isinstance(messages, list) or not info.get("id"):
        return []
    updated = _updated(info)
    size = path.stat().st_size

    def records() -> Iterator[Record]:
        again = _loaded(path, MOST_EXPORT)
        yield made.header(_info(again))
        found = again.get("messages")
        for one in found if isinstance(found, list) else []:
            if isinstance(one, dict):
                parts = one.get("parts")
                yield made.message(_info(one), parts if isinstance(parts, list) else [])

    return [Session(path, str(info["id"]), f"{size} {short_id(str(updated))}", updated, records)]


def _begins_as_export(path: Path) -> bool:
    """False for most other JSON files, which may be large."""
    try:
        with open(path, "rb", opener=roots.unhindered) as file:
            head = file.read(_HEAD).lstrip()
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}): check it") from None
    return head.startswith(b"{") and b'"info"' in head


def is_storage(folder: Path) -> bool:
    """True for the folder in which older versions keep sessions, a JSON file each thing."""
    return all((folder / name).is_dir() for name in ("session", "message", "part"))


def in_storage(folder: Path, faults: list[str]) -> list[Session]:
    """The sessions in such a folder, by their files' names; ``faults`` gets what is broken."""
    found = []
    for path in _files(folder / "session"):
        try:
            info = _loaded(path, MOST_JSON)
        except BadInput as error:
            faults.append(str(error))
            continue
        name = path.stem  # the session's id: what the file says could lead elsewhere
        messages = _files(folder / "message" / name)
        parts = sum(len(_files(folder / "part" / one.stem)) for one in messages)
        mark = f"{parts} {short_id(str(_updated(info)), *(one.stem for one in messages[-1:]))}"
        read = _from_storage(folder, path, name)
        found.append(Session(path, name, mark, _updated(info), read))
    return found


def _from_storage(folder: Path, path: Path, name: str) -> Callable[[], Iterator[Record]]:
    def records() -> Iterator[Record]:
        yield made.header({**_loaded(path, MOST_JSON), "id": name})
        for one in _files(folder / "message" / name):
            parts = [_loaded(part, MOST_JSON) for part in _files(folder / "part" / one.stem)]
            yield made.message({**_loaded(one, MOST_JSON), "id": one.stem}, parts)

    return records


def _files(folder: Path) -> list[Path]:
    """The JSON files in a folder and below it, by name; links are left out."""
    if folder.is_symlink():
        return []
    return sorted(
        (
            Path(place) / name
            for place, _, names in walk(folder, lambda _: None)
            for name in names
            if name.endswith(".json") and not (Path(place) / name).is_symlink()
        ),
        key=lambda one: one.name,
    )


def _loaded(path: Path, most: int) -> dict[str, Any]:
    try:
        if not path.is_file():
            raise BadInput(f"{path} is no regular file: name OpenCode's export")
        if path.stat().st_size > most:
            raise BadInput(f"{path} is over {most >> 20} MB: name OpenCode's opencode.db instead")
        return foreign.record(path.read_bytes())
    except OSError as error:
        raise BadInput(f"{path} cannot be read ({error.strerror}): check it") from None


def _info(data: dict[str, Any]) -> dict[str, Any]:
    info = data.get("info")
    return info if isinstance(info, dict) else {}


def _updated(info: dict[str, Any]) -> int:
    time = info.get("time")
    updated = time.get("updated") if isinstance(time, dict) else None
    return updated if isinstance(updated, int) and not isinstance(updated, bool) else 0
