"""Our MCP server in Codex's ``config.toml``: one table, at the end, between two markers.

Codex writes this file too, and moves comments when it does: tables of its own come to stand
between the markers, and a marker may be lost. So what is taken out is the table and the marker
lines, never what else lies between them.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

from memory_palace.agents.install.blocks import joined
from memory_palace.agents.install.entries import Edited, words_of
from memory_palace.agents.install.jsontext import TextFault, line_of
from memory_palace.agents.install.toolkit import is_server

BEGIN = "# memory-palace:begin"
END = "# memory-palace:end"
WHAT = ("MCP server mcp_servers.palace",)
_HEADER = re.compile(r"""^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*["']?palace["']?[ \t]*\]""", re.M)
_ANY_HEADER = re.compile(r"^[ \t]*\[", re.M)
_PARTS = re.compile(r"""^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*["']?palace["']?[ \t]*\.""", re.M)
_MARK = re.compile(rf"^[ \t]*({re.escape(BEGIN)}|{re.escape(END)})[ \t]*(?:\r?\n|\Z)", re.M)
_AT_LINE = re.compile(r"\(at (?:line (\d+), column \d+|end of document)\)")


def tabled(text: str | None, wanted: Mapping[str, Any]) -> Edited:
    """``text`` with the server ``wanted`` (strings, numbers, lists of strings).

    Raises :class:`TextFault`, also for a server of this name that is not ours.
    """
    made, text = text is None, text or ""
    found = server_of(text)
    if found is not None:
        if not is_server(words_of(found)):
            message = "mcp_servers.palace is another server: give it another name"
            raise TextFault(_line(text), message)
        if wanted.items() <= found.items():
            return text, ()
        start, end = _table(text)
        new = _renewed(text[start:end], wanted, _newline(text))
        return _checked(text[:start] + new + text[end:], text), (f"{WHAT[0]} renewed",)
    rest = _unmarked(text)
    newline = _newline(text)
    block = newline.join((BEGIN, _lines(wanted, newline) + END))
    if made:
        return block + newline, WHAT
    # Without a line feed at its end before, it has none after: it is easily told apart.
    ends = not rest or rest.endswith("\n")
    added = newline + block + newline if ends else newline * 2 + block
    return _checked(rest + added, text), WHAT


def untabled(text: str | None) -> Edited:
    """``text`` without our server; None if we made the file and nothing else is in it.

    Raises :class:`TextFault`.
    """
    if text is None:
        return None, ()
    if not is_server(words_of(server_of(text))):
        return text, ()
    rest = text
    while part := _first(_PARTS, rest):  # without the table above it, Codex reads nothing at all
        start, end = _span(rest, part)
        rest = rest[:start] + rest[end:]
    start, end = _table(rest)
    newline = _newline(text)
    before, after = rest[:start], rest[end:]
    if before.endswith(BEGIN + newline) and after.lstrip().startswith(END):
        before = before.removesuffix(BEGIN + newline)
        after = after.lstrip().removeprefix(END)
        left = joined(before, after, newline)
        made = not before and not after.strip()
        return (None if made else _checked(left, text)), WHAT
    return _checked(_unmarked(before + after), text), WHAT


def server_of(text: str) -> dict[str, Any] | None:
    """The entry of this name, whoever's it is. Raises :class:`TextFault` for broken TOML."""
    servers = parsed(text).get("mcp_servers")
    found = servers.get("palace") if isinstance(servers, dict) else None
    return found if isinstance(found, dict) else None


def parsed(text: str) -> dict[str, Any]:
    """What the file says. Raises :class:`TextFault` for broken TOML."""
    try:
        return tomllib.loads(text.removeprefix("\ufeff").replace("\r\n", "\n"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        said = str(error)
        found = _AT_LINE.search(said)
        line = (
            int(found.group(1)) if found and found.group(1) else line_of(text, len(text.rstrip()))
        )
        raise TextFault(line, f"not TOML: {_AT_LINE.sub('', said).strip()}: mend it") from None


def _checked(text: str, old: str) -> str:
    """``text``, which has to say the same as ``old`` but for our server."""
    try:
        if _others(text) == _others(old):
            return text
    except TextFault:  # a table cannot be added to everything
        pass
    message = "mcp_servers cannot be edited as it is: write it as tables, [mcp_servers.NAME]"
    raise TextFault(_line(old), message)


def _others(text: str) -> str:
    """All that the file says, without our server; ``nan`` is the same as ``nan``."""
    said = parsed(text)
    servers = said.get("mcp_servers")
    if isinstance(servers, dict):
        servers.pop("palace", None)
        if not servers:
            del said["mcp_servers"]
    return json.dumps(said, sort_keys=True, default=repr)


def _first(pattern: re.Pattern[str], text: str, place: int = 0) -> re.Match[str] | None:
    """The first match behind ``place`` that is not inside a string or a list."""
    return next((m for m in pattern.finditer(text, place) if _between(text, m.start())), None)


def _between(text: str, place: int) -> bool:
    try:
        parsed(text[:place])
    except TextFault:
        return False
    return True


def _table(text: str) -> tuple[int, int]:
    """Where our table is, without its own tables. Raises :class:`TextFault`."""
    header = _first(_HEADER, text)
    if not header:
        message = "mcp_servers.palace is ours, but written otherwise: remove it"
        raise TextFault(_line(text), message)
    return _span(text, header)


def _span(text: str, header: re.Match[str]) -> tuple[int, int]:
    """From the header of a table to behind its last line with a value."""
    following = _first(_ANY_HEADER, text, header.end())
    end = following.start() if following else len(text)
    lines = text[header.start() : end].splitlines(keepends=True)
    while lines and (not lines[-1].strip() or lines[-1].lstrip().startswith("#")):
        lines.pop()
    return header.start(), header.start() + sum(map(len, lines))


def _unmarked(text: str) -> str:
    while mark := _first(_MARK, text):
        text = text[: mark.start()] + text[mark.end() :]
    return text


def _lines(server: Mapping[str, Any], newline: str) -> str:
    rows = ["[mcp_servers.palace]", *(_row(key, value) for key, value in server.items())]
    return newline.join(rows) + newline


def _row(key: str, value: Any) -> str:
    return f"{key} = {json.dumps(value, ensure_ascii=False)}"


def _renewed(table: str, wanted: Mapping[str, Any], newline: str) -> str:
    """``table`` with the values ``wanted``; what a person wrote into it besides stays."""
    header, *lines = table.splitlines(keepends=True)
    missing = dict(wanted)
    rows, row = [header], ""
    for line in lines:
        row += line
        if not _between(row, len(row)):  # a list or a string of several lines
            continue
        key = next(iter(parsed(row)), "")
        if key in missing:
            value = missing.pop(key)
            row = row if parsed(row)[key] == value else _row(key, value) + newline
        rows.append(row)
        row = ""
    if not rows[-1].endswith("\n"):
        rows[-1] += newline
    return "".join((*rows, row, *(_row(*entry) + newline for entry in missing.items())))


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line(text: str) -> int:
    header = _first(_HEADER, text)
    return line_of(text, header.start() if header else max(text.find("mcp_servers"), 0))
