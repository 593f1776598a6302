"""JSON as text: what it says, and where each part of it stands."""

import json
import re
from dataclasses import dataclass
from typing import Any

_DEEPEST = 200
_SPACE = re.compile(r"[ \t\r\n]*+")
_GAP = re.compile(r"(?:[ \t\r\n]++|//[^\r\n]*+|/\*(?s:.*?)\*/)*+")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]++|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_OTHER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null")


class TextFault(Exception):
    """A text that cannot be edited: ``line`` counts from 1, the message says what to do."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(message)
        self.line = line


class Commented(TextFault):
    """A comment in a text whose reader takes none."""


@dataclass(frozen=True, slots=True)
class Node:
    """One value: ``text[start:end]``. ``kind`` is ``{``, ``[`` or empty for everything else."""

    kind: str
    start: int
    end: int
    members: tuple["Member", ...] = ()


@dataclass(frozen=True, slots=True)
class Member:
    """One entry of an object or a list. It begins at ``start`` (of the key, if there is one);
    ``comma`` is where the comma behind it stands, None without one."""

    key: str | None
    start: int
    value: Node
    comma: int | None


def line_of(text: str, place: int) -> int:
    """The line of ``place``, counted from 1."""
    return text.count("\n", 0, place) + 1


def parse(text: str, comments: bool = False) -> Node:
    """The value that ``text`` holds, after a byte order mark if there is one.

    ``comments`` reads over comments and commas at the end of a list. Raises :class:`TextFault`.
    """
    reader = _Reader(text, _GAP if comments else _SPACE, comments)
    start = reader.gap(1 if text.startswith("\ufeff") else 0)
    if start == len(text):
        raise TextFault(1, "is empty: write {} into it, or remove it")
    root = reader.value(start, 0)
    rest = reader.gap(root.end)
    if rest < len(text):
        raise reader.fault(rest)
    return root


def value_of(text: str, node: Node) -> Any:
    """What ``node`` says, as :func:`json.loads` gives it."""
    if node.kind == "{":
        return {m.key: value_of(text, m.value) for m in node.members}
    if node.kind == "[":
        return [value_of(text, m.value) for m in node.members]
    return json.loads(text[node.start : node.end])


class _Reader:
    def __init__(self, text: str, gap: re.Pattern[str], comments: bool) -> None:
        self._text = text
        self._gap = gap
        self._comments = comments

    def gap(self, place: int) -> int:
        """Where the next token begins."""
        found = self._gap.match(self._text, place)
        return found.end() if found else place

    def fault(self, place: int) -> TextFault:
        line = line_of(self._text, place)
        if not self._comments and self._text[place : place + 2] in ("//", "/*"):
            return Commented(
                line, "a comment: its client reads nothing of such a file. Take it out"
            )
        found = repr(self._text[place : place + 20].split("\n")[0]) if self._text[place:] else "end"
        return TextFault(line, f"not JSON: unexpected {found}: mend it")

    def value(self, place: int, depth: int) -> Node:
        kind = self._text[place : place + 1]
        if kind in ("{", "["):
            if depth == _DEEPEST:
                raise TextFault(line_of(self._text, place), f"deeper than {_DEEPEST} levels")
            return self._box(kind, place, depth)
        found = (_STRING if kind == '"' else _OTHER).match(self._text, place)
        if not found:
            raise self.fault(place)
        return Node("", place, found.end())

    def _box(self, kind: str, start: int, depth: int) -> Node:
        close = "}" if kind == "{" else "]"
        members: list[Member] = []
        place = self.gap(start + 1)
        while self._text[place : place + 1] != close or not self._may_close(members):
            member = self._member(kind, place, depth)
            members.append(member)
            place = self.gap(member.value.end if member.comma is None else member.comma + 1)
            if member.comma is None and self._text[place : place + 1] != close:
                raise self.fault(place)
        return Node(kind, start, place + 1, tuple(members))

    def _may_close(self, members: list[Member]) -> bool:
        return not members or members[-1].comma is None or self._comments

    def _member(self, kind: str, start: int, depth: int) -> Member:
        key = None
        place = start
        if kind == "{":
            found = _STRING.match(self._text, start)
            if not found:
                raise self.fault(start)
            key = json.loads(found.group())
            colon = self.gap(found.end())
            if self._text[colon : colon + 1] != ":":
                raise self.fault(colon)
            place = self.gap(colon + 1)
        value = self.value(place, depth + 1)
        comma = self.gap(value.end)
        return Member(key, start, value, comma if self._text[comma : comma + 1] == "," else None)
