"""The metadata block on top of a note: split, read, and edited line by line.

Reading goes through python-frontmatter's handler interface, so that
``frontmatter.load(path, handler=Yaml12())`` works for anyone. Writing replaces only the lines of
the keys that change: comments, order, quoting, newlines and unknown keys stay as they are.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from frontmatter.default_handlers import BaseHandler

from memory_palace.core import yaml12
from memory_palace.core.errors import BadInput
from memory_palace.core.problems import printable

_OPEN = re.compile(r"---[ \t]*\r?\n")
_CLOSE = re.compile(r"^(?:---|\.\.\.)[ \t]*\r?$", re.MULTILINE)
_PLAIN_SAFE = re.compile(r"[A-Za-z0-9_/(][^\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff]*\Z")


@dataclass(frozen=True, slots=True)
class Block:
    """A note's text in three parts, and what the metadata says.

    ``head`` (BOM and opening fence), ``source`` (the YAML between the fences) and ``rest``
    (closing fence and body) put together are the text again. ``entries`` is None where the YAML
    is broken (then ``fault`` says how; ``fault_line`` counts from 1 in the text). ``body_at`` is
    the offset of the body in the text, ``body_line`` its line, from 1.
    """

    head: str
    source: str
    rest: str
    entries: tuple[yaml12.Entry, ...] | None
    body_at: int
    body_line: int
    fault: str = ""
    fault_line: int = 0

    @property
    def present(self) -> bool:
        """True if the text has a metadata block, even a broken one."""
        return self.head.endswith("\n")


def split(text: str) -> Block:
    """Take ``text`` apart.

    A text that only starts with ``---`` (no closing fence, or no mapping between the fences) has
    no metadata: it is all body.
    """
    bom = 1 if text.startswith("\ufeff") else 0
    bare = Block(text[:bom], "", text[bom:], (), bom, 1)
    opening = _OPEN.match(text, bom)
    closing = _CLOSE.search(text, opening.end()) if opening else None
    if not opening or not closing:
        return bare
    head, source = text[: opening.end()], text[opening.end() : closing.start()]
    body_at = min(closing.end() + 1, len(text))
    body_line = text.count("\n", 0, body_at) + 1
    try:
        found = yaml12.entries(source)
    except yaml12.BadYaml as error:
        return Block(
            head,
            source,
            text[closing.start() :],
            None,
            body_at,
            body_line,
            str(error),
            error.line + 2,
        )
    if found is None:
        return bare
    return Block(head, source, text[closing.start() :], tuple(found), body_at, body_line)


def change(text: str, values: Mapping[str, Any]) -> str:
    """``text`` with the given metadata keys set; a value of None removes the key (one without a
    value stays as it is).

    Only the lines of those keys change. New keys go to the end of the block, which is made if
    there is none. Raises :class:`BadInput` if the block there is broken.
    """
    block = split(text)
    if block.entries is None:
        raise BadInput(
            f"line {block.fault_line}: broken frontmatter ({block.fault}): mend it by hand first"
        )
    newline = "\r\n" if "\r\n" in (block.head if block.present else block.rest[:4096]) else "\n"
    values = {k: list(v) if isinstance(v, tuple) else v for k, v in values.items()}
    lines = block.source.split("\n")
    known = {entry.key: entry for entry in reversed(block.entries)}
    edits = [
        _edit(lines, known[key], value, newline)
        for key, value in values.items()
        if key in known and not _same(known[key].value, value)
    ]
    for first, last, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        lines[first:last] = new
    added = [key for key, value in values.items() if key not in known and value is not None]
    lines[-1:-1] = [_line(key, values[key], newline) for key in added]
    if not edits and not added:
        return text
    source = "\n".join(lines)
    if block.present:
        changed = block.head + source + block.rest
    else:
        changed = f"{block.head}---{newline}{source}---{newline}{block.rest}"
    _verify(block.entries, changed, values)
    return changed


def _same(old: Any, new: Any) -> bool:
    return type(old) is type(new) and bool(old == new)


def _verify(before: tuple[yaml12.Entry, ...], changed: str, values: Mapping[str, Any]) -> None:
    """Refuse a change that would alter the other keys (anchors, flow mappings and the like)."""
    wanted = {e.key: e.value for e in reversed(before)} | dict(values)
    after = split(changed).entries
    got = {e.key: e.value for e in reversed(after)} if after is not None else None
    removed = {key for key, value in values.items() if value is None}
    if got is None or _without(got, removed) != _without(wanted, removed):
        keys = ", ".join(values)
        raise BadInput(f"frontmatter too intricate to change {keys} safely: edit it by hand")


def _without(found: Mapping[str, Any], removed: set[str]) -> dict[str, Any]:
    return {k: v for k, v in found.items() if v is not None or k not in removed}


def _edit(
    lines: list[str], entry: yaml12.Entry, value: Any, newline: str
) -> tuple[int, int, list[str]]:
    """The lines from (inclusive) and to (exclusive) that ``entry`` gives way with, and the new."""
    first = entry.key_start.line
    last = _end_line(lines, entry)
    if value is None:
        return first, last, []
    ending = "\r" if newline == "\r\n" else ""
    on_one_line = entry.start.line == entry.end.line == first and entry.style not in (
        "|",
        ">",
        "block",
    )
    if on_one_line and entry.style != "alias":
        before, after = lines[first][: entry.start.column], lines[first][entry.end.column :]
        if entry.start == entry.end and not before.endswith((" ", "\t")):
            before += " "
        if after and not after.isspace() and not after.startswith((" ", "\t")):
            after = " " + after
        return first, last, [before + scalar(value, entry.style) + after]
    key = scalar(entry.key)
    if entry.style == "block" and isinstance(value, list) and value:
        indent = lines[entry.start.line][: entry.start.column]
        return first, last, [f"{key}:{ending}"] + [f"{indent}- {scalar(v)}{ending}" for v in value]
    return first, last, [f"{key}: {scalar(value)}{ending}"]


def _end_line(lines: list[str], entry: yaml12.Entry) -> int:
    """The first line after the value; blank and comment lines below a block stay outside it."""
    if entry.style not in ("|", ">", "block"):
        return max(entry.end.line, entry.key_start.line) + 1
    last = min(entry.end.line + (1 if entry.end.column else 0), len(lines))
    while last > entry.key_start.line + 1:
        line = lines[last - 1].strip()
        if line and not (entry.style == "block" and line.startswith("#")):
            break
        last -= 1
    return last


def _line(key: str, value: Any, newline: str) -> str:
    ending = "\r" if newline == "\r\n" else ""
    return f"{scalar(key)}: {scalar(value)}{ending}"


def scalar(value: Any, style: str = "plain") -> str:
    """``value`` on one line of YAML; text keeps ``style`` if that can hold it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if value is None:
        return "null"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, list | tuple):
        return "[" + ", ".join(scalar(item, "item") for item in value) + "]"
    text = str(value)
    if style == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    if style != '"' and _may_be_plain(text, in_flow=style == "item"):
        return text
    return printable(json.dumps(text, ensure_ascii=False))


def _may_be_plain(text: str, in_flow: bool) -> bool:
    if not _PLAIN_SAFE.match(text) or text != text.strip() or yaml12.plain(text) != text:
        return False
    if ": " in text or " #" in text or text.endswith(":") or text in ("---", "..."):
        return False
    return not (in_flow and any(c in text for c in ",[]{}:"))


class Yaml12(BaseHandler):  # type: ignore[misc]
    """python-frontmatter's handler for the YAML 1.2 block of a note."""

    FM_BOUNDARY = _OPEN
    START_DELIMITER = END_DELIMITER = "---"

    def detect(self, text: str) -> bool:
        return split(text).present

    def split(self, text: str) -> tuple[str, str]:
        block = split(text)
        if not block.present:
            raise ValueError("no frontmatter")
        return block.source, text[block.body_at :]

    def load(self, fm: str, **kwargs: object) -> Any:
        return yaml12.load(fm)

    def export(self, metadata: dict[str, object], **kwargs: object) -> str:
        return "\n".join(_line(key, value, "\n") for key, value in metadata.items())
