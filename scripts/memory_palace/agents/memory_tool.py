"""The file commands of the Anthropic API's memory tool (``memory_20250818``) over a palace.

``/memories/…`` stands for ``palace/…``. Everything is written by the guarded pen: a note is never
lost, ``delete`` moves it to the archive. Answers and errors have the wording that the tool's
documentation gives them; what only a palace refuses is said in its own words.
"""

import contextlib
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from memory_palace.agents.memory_tool_listing import files, rows
from memory_palace.core.archiving import WINGS
from memory_palace.core.errors import BadInput, PalaceError, Refused
from memory_palace.core.links import TREE
from memory_palace.core.private_spans import hidden
from memory_palace.core.problems import printable
from memory_palace.core.text import did_you_mean, is_cold, split_lines
from memory_palace.files import read, roots, tree
from memory_palace.memory import notes

TOP = "/memories"
MOST_LINES = 999_999
MOST_CHARACTERS = 100_000
"""Characters of a file that one ``view`` shows; ``view_range`` shows the rest."""

MOST_LISTED = 1_000
MOST_MOVED = 100
"""Notes of a folder that one ``delete`` or ``rename`` takes."""

_AROUND = 4
"""Lines shown before and after an edit."""

_COMMANDS: dict[str, tuple[tuple[str, type], ...]] = {
    "view": (("path", str),),
    "create": (("path", str), ("file_text", str)),
    "str_replace": (("path", str), ("old_str", str)),
    "insert": (("path", str), ("insert_line", int), ("insert_text", str)),
    "delete": (("path", str),),
    "rename": (("old_path", str), ("new_path", str)),
}


def _utc_now() -> datetime:
    return datetime.now(UTC)


class MemoryTool:
    """Carries out the tool's commands in the palace at ``root``.

    ``reason`` goes into each event and commit.
    """

    def __init__(
        self, root: Path, reason: str = "memory tool", now: Callable[[], datetime] = _utc_now
    ) -> None:
        self._root = root
        self._reason = reason
        self._now = now

    def call(self, input: Mapping[str, Any]) -> str:
        """The text of the tool's result for the tool use's ``input``.

        Raises :class:`PalaceError`, whose message is the result with ``is_error``.
        """
        command = input.get("command")
        if not isinstance(command, str) or command not in _COMMANDS:
            raise BadInput(f"Error: no command `{command}`{did_you_mean(str(command), _COMMANDS)}")
        for name, kind in _COMMANDS[command]:
            if type(input.get(name)) is not kind:
                what = "a whole number" if kind is int else "text"
                raise BadInput(f"Error: `{command}` needs `{name}`, which is {what}")
        for name, value in input.items():
            if isinstance(value, str) and not tree.is_text(value):
                raise BadInput(f"Error: `{name}` has halves of characters: write it as UTF-8")
        try:
            done: str = getattr(self, f"_{command}")(input)
        except OSError as error:
            raise BadInput(f"Error: {error.strerror or error}: check the palace") from None
        return done

    # -- view ---------------------------------------------------------------------------------

    def _view(self, given: Mapping[str, Any]) -> str:
        shown = str(given["path"])
        path = self._path(shown)
        if path is None or (self._root / path).is_dir():
            return self._listing(shown, path)
        lines = split_lines(hidden(self._text(shown, path)))
        if len(lines) > MOST_LINES:
            raise BadInput(f"File {shown} exceeds maximum line limit of 999,999 lines.")
        start, end = _range(given.get("view_range"), len(lines))
        numbered = _numbered(lines[start - 1 : end], start)
        if len(numbered) > MOST_CHARACTERS:
            kept = numbered[:MOST_CHARACTERS].rpartition("\n")[0] or numbered[:MOST_CHARACTERS]
            after = start + kept.count("\n") + 1
            numbered = f"{kept}\n[cut here: view_range [{after}, {end}] shows the rest]"
        return f"Here's the content of {shown} with line numbers:\n{numbered}"

    def _listing(self, shown: str, path: str | None) -> str:
        top = self._root / (path or TREE)
        if not top.is_dir() or is_cold(path or TREE):
            raise _missing(shown, "view")
        listed = list(rows(top, shown.rstrip("/"), 2))
        kept = listed[:MOST_LISTED]
        if len(kept) < len(listed):
            kept.append(f"[{len(listed) - MOST_LISTED} more: view one of the directories]")
        head = "Here're the files and directories up to 2 levels deep in"
        return "\n".join([f"{head} {shown}, excluding hidden items and node_modules:", *kept])

    # -- write --------------------------------------------------------------------------------

    def _create(self, given: Mapping[str, Any]) -> str:
        shown = str(given["path"])
        path = self._file(shown)
        if (self._root / path).exists():
            raise Refused(f"Error: File {shown} already exists")
        done = notes.write(self._root, self._now(), path, given["file_text"], None, self._reason)
        return _with_notes(f"File created successfully at: {shown}", done)

    def _str_replace(self, given: Mapping[str, Any]) -> str:
        shown, old, new = str(given["path"]), str(given["old_str"]), given.get("new_str", "")
        if not isinstance(new, str):
            raise BadInput("Error: `new_str` is text")
        path = self._file(shown)
        text = self._text(shown, path, "edit")
        places = _places(text, old)
        if not places:
            raise Refused(
                f"No replacement was performed, old_str `{old}` did not appear verbatim in {shown}."
            )
        if len(places) > 1:
            listed = ", ".join(map(str, places))
            raise Refused(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: "
                f"{listed}. Please ensure it is unique"
            )
        done = notes.replace(self._root, self._now(), path, old, new, self._reason)
        after = self._text(shown, path)
        grown = new.removesuffix("\n").count("\n")
        above = after.count("\n") - text.count("\n") - new.count("\n") + old.count("\n")
        first = places[0] + above  # metadata may have grown
        start = max(first - _AROUND, 1)
        lines = split_lines(after)[start - 1 : first + grown + _AROUND]
        return _with_notes(f"The memory file has been edited.\n{_numbered(lines, start)}", done)

    def _insert(self, given: Mapping[str, Any]) -> str:
        shown, line, added = str(given["path"]), given["insert_line"], given["insert_text"]
        path = self._file(shown)
        if is_cold(path) or not (self._root / path).is_file():
            raise BadInput(f"Error: The path {shown} does not exist")
        count = len(split_lines(self._text(shown, path)))
        if not 0 <= line <= count:
            raise BadInput(
                f"Error: Invalid `insert_line` parameter: {line}. It should be within the range of "
                f"lines of the file: [0, {count}]"
            )
        done = notes.insert(self._root, self._now(), path, line, added, self._reason)
        return _with_notes(f"The file {shown} has been edited.", done)

    def _delete(self, given: Mapping[str, Any]) -> str:
        shown = str(given["path"])
        found = self._below(shown)
        _each(found, lambda path: notes.archive(self._root, self._now(), path, self._reason))
        place = self._root / self._file(shown)
        _clear(place)
        if not found and place.exists():
            raise BadInput(f"Error: {shown} holds no note: leave it")
        return f"Successfully deleted {shown}"

    def _rename(self, given: Mapping[str, Any]) -> str:
        old, new = str(given["old_path"]), str(given["new_path"])
        source, target = self._file(old), self._file(new)
        found = self._below(old)
        if not found:
            raise BadInput(f"Error: {old} holds no note: leave it, or delete it")
        if (self._root / target).exists():
            raise Refused(f"Error: The destination {new} already exists")

        def move(path: str) -> None:
            place = target + path.removeprefix(source)
            notes.rename(self._root, self._now(), path, place, self._reason)

        _each(found, move)
        _clear(self._root / source)
        return f"Successfully renamed {old} to {new}"

    # -- paths --------------------------------------------------------------------------------

    def _path(self, shown: str) -> str | None:
        """The palace's path; None for the top. Raises :class:`BadInput` for one that leads out."""
        inside = shown.removeprefix(TOP)
        parts = [part for part in inside.split("/") if part]
        outside = inside == shown or (inside and not inside.startswith("/"))
        odd = any(part.startswith(".") or "\\" in part or "\0" in part for part in parts)
        if outside or odd:
            raise BadInput(
                f"Error: The path {printable(shown)} is not allowed: paths begin with {TOP}/, and "
                "no part of them with a dot"
            )
        if not parts:
            return None
        path = TREE + "/".join(parts)
        roots.inside(self._root, path)
        return path

    def _file(self, shown: str) -> str:
        path = self._path(shown)
        if path is None:
            raise Refused(f"Error: {TOP} itself stays as it is: name a file below it")
        return path

    def _text(self, shown: str, path: str, purpose: str = "view") -> str:
        if is_cold(path) or not (self._root / path).is_file():
            raise _missing(shown, purpose)
        got = read.read(self._root, path)
        if isinstance(got, read.Unreadable):
            raise BadInput(f"Error: {shown}: {got.problem.message}")
        return got.text.removeprefix("\ufeff").replace("\r\n", "\n")

    def _below(self, shown: str) -> list[str]:
        """The note, or the notes of the folder."""
        path = self._file(shown)
        place = self._root / path
        if is_cold(path) or not place.exists():
            raise BadInput(f"Error: The path {shown} does not exist")
        if not place.is_dir():
            return [path]
        parts = path.removeprefix(TREE).split("/")
        if len(parts) <= (2 if parts[0] in WINGS else 1):
            raise Refused(f"Error: {shown} is a room of the palace: name notes or folders in it")
        found = sorted(one for one in files(place))
        listed = [one.relative_to(self._root).as_posix() for one in found]
        if len(listed) > MOST_MOVED:
            raise Refused(
                f"Error: {shown} holds {len(listed)} files, of {MOST_MOVED} at most: take parts"
            )
        other = next((one for one in listed if not one.lower().endswith(".md")), None)
        if other:
            raise Refused(f"Error: {other} is no note: only notes (.md) are moved")
        return listed


def _each(paths: list[str], act: Callable[[str], object]) -> None:
    """Raises what ``act`` raises, with how far it came."""
    for number, path in enumerate(paths):
        try:
            act(path)
        except PalaceError as error:
            if not number:
                raise
            done = f"{number} of {len(paths)} notes were moved before"
            raise type(error)(f"{error} ({done})") from None


def _clear(folder: Path) -> None:
    """Take away a folder whose notes were moved, and the folders in it: as far as nothing is left
    in them. A model would see them, and take what it moved for still there."""
    if folder.is_dir():
        for place, _, _ in os.walk(folder, topdown=False):
            with contextlib.suppress(OSError):  # something is left
                os.rmdir(place)


def _with_notes(text: str, done: notes.Written) -> str:
    return "\n".join([text, *map(printable, done.said)])


def _missing(shown: str, purpose: str) -> PalaceError:
    error = "" if purpose == "view" else "Error: "
    return BadInput(f"{error}The path {shown} does not exist. Please provide a valid path.")


def _range(given: object, count: int) -> tuple[int, int]:
    if given is None:
        return 1, count
    pair = given if isinstance(given, list | tuple) else ()
    if len(pair) != 2 or any(type(one) is not int for one in pair):
        raise BadInput("Error: `view_range` is two whole numbers: the first line and the last")
    start, end = pair
    end = count if end == -1 else end
    if not 1 <= start <= max(count, 1) or end < start:
        raise BadInput(f"Error: Invalid `view_range`: {list(pair)}. The file has {count} lines")
    return start, min(end, count)


def _numbered(lines: list[str], first: int) -> str:
    return "\n".join(f"{n:6}\t{line}" for n, line in enumerate(lines, start=first))


def _places(text: str, wanted: str) -> list[int]:
    """The lines on which ``wanted`` begins."""
    found = []
    at = text.find(wanted) if wanted else -1
    while at >= 0:
        found.append(text.count("\n", 0, at) + 1)
        at = text.find(wanted, at + len(wanted))
    return found
