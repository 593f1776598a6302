"""How a JSON text is laid out, and a new value laid out like it."""

import json
import re
from dataclasses import dataclass
from typing import Any

from memory_palace.agents.install.jsontext import Node

_INDENTED = re.compile(r"\n([ \t]+)\S")


@dataclass(frozen=True, slots=True)
class Style:
    """``unit`` is one step of indentation, None for a text on one line."""

    newline: str = "\n"
    unit: str | None = "  "
    colon: str = ": "
    comma: str = ", "


def style_of(text: str, root: Node) -> Style:
    """The style of ``text``, whose value is ``root``."""
    newline = "\r\n" if "\r\n" in text else "\n"
    if not root.members:
        return Style(newline)
    first = root.members[0]
    indented = _INDENTED.search(text, root.start, root.end)
    unit = indented.group(1) if indented else "  "
    if "\n" in text[root.start : first.start]:
        unit = indent_of(text, first.start)
    elif "\n" not in text[root.start : root.end]:
        tight = text[first.value.start - 1] == ":" if root.kind == "{" else False
        return Style(newline, None, ":" if tight else ": ", "," if tight else ", ")
    return Style(newline, unit)


def indent_of(text: str, place: int) -> str:
    """The spaces and tabs at the beginning of the line of ``place``."""
    start = text.rfind("\n", 0, place) + 1
    found = re.compile("\ufeff?([ \t]*)").match(text, start)
    return found.group(1) if found else ""


def laid_out(value: Any, style: Style, indent: str) -> str:
    """``value`` as text. ``indent`` is that of the line on which it begins.

    Space follows an opening bracket, on one line too: see :func:`.jsonedit.cut`.
    """
    if not isinstance(value, dict | list) or not value:
        return json.dumps(value, ensure_ascii=False)
    inner = indent if style.unit is None else indent + style.unit
    if isinstance(value, dict):
        opening, closing = "{}"
        parts = [named(key, part, style, inner) for key, part in value.items()]
    else:
        opening, closing = "[]"
        parts = [laid_out(part, style, inner) for part in value]
    if style.unit is None:
        return f"{opening} {style.comma.join(parts)} {closing}"
    line = style.newline + inner
    return opening + line + f",{line}".join(parts) + style.newline + indent + closing


def named(key: str | None, value: Any, style: Style, indent: str) -> str:
    """``"key": value``; the value alone without a key."""
    body = laid_out(value, style, indent)
    return body if key is None else json.dumps(key, ensure_ascii=False) + style.colon + body
