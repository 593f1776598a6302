"""The text of a note that is written whole or in parts: its line feeds, its metadata."""

from collections.abc import Sequence
from datetime import datetime

from memory_palace.core import frontmatter, markdown, note, topics
from memory_palace.core.errors import BadInput, Refused

_MOST_LINES = 10


def like(before: str, text: str) -> str:
    """``text`` with the line feeds, the byte order mark and the last line feed of ``before``."""
    if _is_crlf(before):
        text = _crlf(text)
    if before.startswith("\ufeff") and not text.startswith("\ufeff"):
        text = "\ufeff" + text
    if before.endswith("\n") and text and not text.endswith("\n"):
        text += "\r\n" if _is_crlf(before) else "\n"
    return text


def _is_crlf(text: str) -> bool:
    """True if every line of ``text`` ends with CRLF."""
    feeds = text.count("\n")
    return feeds > 0 and text.count("\r\n") == feeds


def _crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def replaced(path: str, before: str, old: str, new: str) -> str:
    """``before`` with ``new`` where ``old`` stands, which is once.

    Raises :class:`BadInput` for an empty ``old``, :class:`Refused` if it is not there once.
    """
    if not old:
        raise BadInput(f"{path}: there is no text to replace: use insert, or name it")
    if old not in before and "\r\n" in before:
        old = _crlf(old)
    found = _lines_of(before, old)
    if not found:
        raise Refused(f"{path}: the text to replace is not in it: read it again; case counts")
    if len(found) > 1:
        shown = ", ".join(map(str, found[:_MOST_LINES]))
        more = f" and {len(found) - _MOST_LINES} more" if len(found) > _MOST_LINES else ""
        raise Refused(
            f"{path}: the text to replace is there {len(found)} times, in lines {shown}{more}: "
            "take in more of what stands around it"
        )
    at = before.index(old)
    crlf = _is_crlf(before) or "\r\n" in old
    return before[:at] + (_crlf(new) if crlf else new) + before[at + len(old) :]


def _lines_of(text: str, part: str) -> list[int]:
    """The lines, from 1, in which ``part`` begins; overlapping places count."""
    found, line, last = [], 1, 0
    at = text.find(part)
    while at >= 0:
        line += text.count("\n", last, at)
        found.append(line)
        last = at
        at = text.find(part, at + 1)
    return found


def inserted(path: str, before: str, line: int, text: str) -> str:
    """``before`` with ``text`` as lines of their own after line ``line`` (0: on top).

    Raises :class:`BadInput` if there is no such line, or nothing to insert.
    """
    lines = before.split("\n")
    total = len(lines) - (lines[-1] == "")
    if not text:
        raise BadInput(f"{path}: there is no text to insert")
    if not 0 <= line <= total:
        raise BadInput(f"{path} has {total} lines: insert after line 0 (the top) to {total}")
    ending = "\r\n" if "\r\n" in before else "\n"
    text = text.replace("\r\n", "\n").removesuffix("\n").replace("\n", ending)
    bom = "\ufeff" if before.startswith("\ufeff") else ""
    body = before[len(bom) :]
    at = sum(len(one) + 1 for one in body.split("\n")[:line])
    if at > len(body):  # the last line has no line feed, and none is added but for a blank line
        return f"{before}{ending}{text}" + (ending if not text or text.endswith("\n") else "")
    return f"{bom}{body[:at]}{text}{ending}{body[at:]}"


def introduced(path: str, text: str, now: datetime, by: str) -> tuple[str, list[str]]:
    """A new note with what it lacks of title (without a block only), `created` and `agent`, and a
    line that says so. Topic files get a title at most.

    Raises :class:`BadInput` if the block there cannot be changed safely.
    """
    ending = "\r\n" if _is_crlf(text) else "\n"
    text = text if text.endswith("\n") else text + ending
    found = note.parse(path, text)
    values: dict[str, str] = {}
    if not found.has_metadata:
        heading = markdown.read(found.body, found.body_line).first_heading
        values["title"] = note.note_title(found, heading)
    if not path.startswith(topics.FOLDER):
        values |= {"created": now.date().isoformat(), "agent": by}
    missing = {key: value for key, value in values.items() if key not in found.metadata}
    if not missing:
        return text, []
    try:
        return frontmatter.change(text, missing), [f"added to its metadata: {', '.join(missing)}"]
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def updated(path: str, before: str, text: str, now: datetime) -> tuple[str, list[str]]:
    """``text`` with today as `updated`, if the note says when it was written and the writer said
    nothing of it; and a line that says so if lines moved.

    Without this the note would keep the age of its first day.
    """
    was, found = note.parse(path, before), note.parse(path, text)
    day = now.date().isoformat()
    says = found.created or found.updated
    told = found.metadata.get("updated") != was.metadata.get("updated")
    if path.startswith(topics.FOLDER) or not says or told or says.date() == now.date():
        return text, []
    if found.updated and found.updated.date() == now.date():
        return text, []
    try:
        changed = frontmatter.change(text, {"updated": day})
    except BadInput:
        return text, []
    moved = changed.count("\n") - text.count("\n")
    said = f"`updated` is {day} now" + ("; lines below it moved down by 1" if moved else "")
    return changed, [said]


def with_aliases(path: str, text: str, names: Sequence[str]) -> str:
    """``text`` with more aliases. Raises :class:`BadInput` if its metadata cannot be changed."""
    if not names:
        return text
    found = note.parse(path, text)
    if found.metadata.get("aliases") and not found.aliases:
        raise BadInput(f"{path}: its `aliases` are no list of words: mend them first")
    try:
        return frontmatter.change(text, {"aliases": [*found.aliases, *names]})
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None
