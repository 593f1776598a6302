"""Change a JSON text and leave every other byte of it as it is.

What :func:`cut` takes out is what :func:`put` and :func:`append` put in. A list or object that
was there before, and empty, is filled without a space after its bracket; one that we made has
space there. That is how ``cut`` knows which ones to take out with their last entry.
"""

import re
from typing import Any

from memory_palace.agents.install.jsonstyle import indent_of, laid_out, named, style_of
from memory_palace.agents.install.jsontext import Node, TextFault, line_of, parse

Path = tuple[str | int, ...]
_REMARKS = re.compile(r"(?:[ \t]*+(?:/\*[^\r\n]*?\*/|//[^\r\n]*+))*+")
_KINDS = {"{": "an object", "[": "a list"}


def find(text: str, path: Path, comments: bool = False) -> Node | None:
    """The value at ``path`` (keys, and numbers of list entries), None if there is none.

    Raises :class:`TextFault` for a text that is no JSON, a key on the way that stands twice, and
    a value on the way that has no entries.
    """
    nodes = _walk(text, parse(text, comments), path)
    return nodes[-1] if len(nodes) > len(path) else None


def put(text: str, path: Path, value: Any, comments: bool = False) -> str:
    """``text`` with ``value`` at ``path``: in the place of what is there, else at the end of the
    object that it belongs to; objects on the way are made. Raises as :func:`find`."""
    root = parse(text, comments)
    nodes = _walk(text, root, path)
    if len(nodes) > len(path):
        node = nodes[-1]
        indent = indent_of(text, node.start)
        new = laid_out(value, style_of(text, root), indent)
        return text[: node.start] + new + text[node.end :]
    known = len(nodes) - 1
    keys = [str(step) for step in path[known:]]
    for key in reversed(keys[1:]):
        value = {key: value}
    return _inserted(text, root, nodes[-1], keys[0], value)


def append(text: str, path: Path, value: Any) -> str:
    """``text`` with ``value`` at the end of the list at ``path``, which is made if it has to be.
    Raises as :func:`find`, and for a value that is no list."""
    root = parse(text)
    nodes = _walk(text, root, path)
    if len(nodes) <= len(path):
        return put(text, path, [value])
    box = nodes[-1]
    _check(text, box, "[", path[-1])
    return _inserted(text, root, box, None, value)


def cut(text: str, path: Path, comments: bool = False) -> str | None:
    """``text`` without the entry at ``path``, and without what we made around it if that is empty
    now; None if nothing else is left of the whole text."""
    nodes = _walk(text, parse(text, comments), path)
    level = len(path)
    while level and _made_for(text, nodes[level - 1]):
        level -= 1
    if not level:
        root = nodes[0]
        rest = text[: root.start] + text[root.end :]
        return None if not rest.strip("\ufeff \t\r\n") else rest
    box = nodes[level - 1]
    number = next(n for n, m in enumerate(box.members) if m.value is nodes[level])
    return _without(text, box, number)


def _walk(text: str, root: Node, path: Path) -> list[Node]:
    """The values on the way, the root first, as far as they are there."""
    nodes = [root]
    name: str | int = "the file"
    for step in path:
        _check(text, nodes[-1], "{" if isinstance(step, str) else "[", name)
        members = nodes[-1].members
        if isinstance(step, int):
            found = [members[step]] if step < len(members) else []
        else:
            found = [m for m in members if m.key == step]
        if len(found) > 1:
            line = line_of(text, found[1].start)
            raise TextFault(line, f"{step!r} stands here a second time: remove one of the two")
        if not found:
            break
        nodes.append(found[0].value)
        name = step
    return nodes


def _check(text: str, node: Node, kind: str, name: str | int) -> None:
    if node.kind != kind:
        where = name if name == "the file" else repr(name)
        raise TextFault(line_of(text, node.start), f"{where} is not {_KINDS[kind]}: mend it")


def _inserted(text: str, root: Node, box: Node, key: str | None, value: Any) -> str:
    style = style_of(text, root)
    if not box.members:
        body = named(key, value, style, indent_of(text, box.start))
        return text[: box.start + 1] + body + text[box.start + 1 :]
    last = box.members[-1]
    before = box.members[-2].value.end if len(box.members) > 1 else box.start
    own_line = style.unit is not None and "\n" in text[before : last.start]
    indent = indent_of(text, last.start)
    lead = style.newline + indent if own_line else style.comma[1:]
    body = named(key, value, style, indent)
    end = last.value.end if last.comma is None else last.comma + 1
    place = end
    if own_line:
        remarks = _REMARKS.match(text, end)
        place = remarks.end() if remarks else end
    if last.comma is None:
        return text[:end] + "," + text[end:place] + lead + body + text[place:]
    return text[:place] + lead + body + "," + text[place:]


def _made_for(text: str, box: Node) -> bool:
    """True if we made ``box``, and it holds one entry and not a word besides."""
    if len(box.members) != 1 or text[box.start + 1] not in " \t\r\n":
        return False
    member = box.members[0]
    around = text[box.start + 1 : member.start] + text[member.value.end : box.end - 1]
    return not around.replace(",", "").strip(" \t\r\n")


def _without(text: str, box: Node, number: int) -> str:
    member = box.members[number]
    start = member.start
    while text[start - 1] in " \t\r\n":
        start -= 1
    if member.comma is not None:
        end = member.comma + 1
        if number == 0 and len(box.members) > 1:
            after = box.members[1].start
            if not text[end:after].strip(" \t\r\n"):
                start, end = member.start, after
        return text[:start] + text[end:]
    if number:
        comma = box.members[number - 1].comma
        assert comma is not None
        text = text[:comma] + text[comma + 1 :]
        return text[: start - 1] + text[member.value.end - 1 :]
    return text[:start] + text[member.value.end :]
