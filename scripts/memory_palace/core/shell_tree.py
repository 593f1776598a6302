"""The simple commands in a shell text, by tree-sitter's grammar of bash."""

import bisect
import re
from typing import TYPE_CHECKING, Any, NamedTuple

from memory_palace.core.shell_words import SHELLS

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_STATEMENTS = 2_000
"""Simple commands of one text that are read."""


class Statement(NamedTuple):
    """One simple command as it stands: its words without quotes; ``beside`` it assignments and
    the targets of redirections; ``fed`` are the texts of its here-strings and here-documents."""

    words: tuple[str, ...]
    beside: tuple[str, ...] = ()
    fed: tuple[str, ...] = ()


class Tree(NamedTuple):
    """The commands of one text. ``whole`` is False if a part of it was not understood, or there
    are more than :data:`MOST_STATEMENTS`; ``texts`` are commands that it takes for text."""

    statements: tuple[Statement, ...]
    whole: bool
    texts: tuple[str, ...] = ()


def read(text: str) -> Tree:
    """The simple commands of ``text``, in the order in which they begin."""
    tree = _read(text)
    if tree.whole or "<<" not in text:
        return tree
    without, bodies = _without_documents(text)
    shorter = _read(without)
    return shorter._replace(texts=(*shorter.texts, *bodies)) if shorter.whole else tree


# The grammar takes `time if …` and `! while …` for commands named `time` and `while`, and
# `coproc X {` for one with the argument `{`.
_BEFORE_A_GROUP = re.compile(
    r"(\A|(?:[;&|(){`\n]|\b(?:then|do|else|elif|if|while|until)[ \t])[ \t]*)"
    r"(?:(?:time(?:[ \t]+-p)?|!|coproc(?:[ \t]+(?!time\b|coproc\b)\w+)?)[ \t]+)+"
    r"(?=(?:if|while|until|for|case|select)[ \t\n]|\{[ \t\n]|\()"
)


def _read(text: str) -> Tree:
    root = _parsed(_spelled(_BEFORE_A_GROUP.sub(r"\1", text)))
    found: list[Statement] = []
    texts: list[str] = []
    stack, outer = [root], dict[int, "Node"]()
    while stack and len(found) < MOST_STATEMENTS:
        node = stack.pop()
        last = _last_command(node) if node.type == "redirected_statement" else None
        if last is not None:
            outer[last.id] = node
        statement = _statement(node, outer) if last is None else None
        if statement is not None:
            found.append(statement)
        given = _texts(node) if node.type in _BACKQUOTED and b"`" in (node.text or b"") else []
        texts += given
        if not (given and node.type == "command_substitution"):
            stack += reversed(node.children)
    return Tree(tuple(found), not root.has_error and not stack, tuple(texts))


_BACKQUOTED = frozenset({"command_substitution", "heredoc_redirect", "word"})
_BACKQUOTES = re.compile(r"\\.|`((?:[^`\\]|\\.)*)`", re.DOTALL)


def _texts(node: "Node") -> list[str]:
    """The commands in backquotes that the grammar does not see: those inside other backquotes, in
    a here-document, and in the word of ``${x:-…}``."""
    text = _text(node)
    if node.type == "command_substitution" and not (text[0] == "`" and "\\" in text):
        return []
    if node.type == "heredoc_redirect":
        head, _, text = text.partition("\n")
        if re.match(r"<<-?[ \t]*[^\s|;&<>]*['\"\\]", head):
            return []
    inside = (found[1] for found in _BACKQUOTES.finditer(text))
    escaped = r'\\([\\`$"])' if node.parent and node.parent.type == "string" else r"\\([\\`$])"
    return [re.sub(escaped, r"\1", one) for one in inside if one]


_DOCUMENT = re.compile(r"(?<!<)<<(?!<)-?[ \t]*(['\"]?)(\w+)\1")
_NAME = re.compile(r"[\w.-]+")


def _without_documents(text: str) -> tuple[str, list[str]]:
    """``text`` without its here-documents, and the lines of those that a shell may read; all of it
    if one has commands in it. The grammar stumbles where one is followed by ``;`` or ``2>&1 |``."""
    kept: list[str] = []
    ends: list[tuple[str, str]] = []
    body: list[str] = []
    bodies: list[str] = []
    read = False
    lines = iter(text.split("\n"))
    for line in lines:
        if ends:
            quote, word = ends[0]
            if line.lstrip("\t") == word:
                ends.pop(0)
                bodies += ["\n".join(body)] if read else []
                body = []
            elif not quote and ("`" in line or "$(" in line):
                return text, []
            else:
                body.append(line)
            continue
        parts = [line]
        while (len(parts[-1]) - len(parts[-1].rstrip("\\"))) % 2:
            parts[-1] = parts[-1][:-1]
            parts.append(next(lines, ""))
        line = "".join(parts)
        found = _DOCUMENT.findall(line)
        if found:
            read = not SHELLS.isdisjoint(_NAME.findall(line))
            line = _DOCUMENT.sub("", line)
            ends = found
        kept.append(line)
    return (text, []) if ends else ("\n".join(kept), bodies)


# The grammar's scanner asks the C library about each character as if it had one byte, and reads
# beyond its tables for others: they are spelled in ASCII, as parts of words.
_NOT_ASCII = re.compile(r"[^\x00\x01\x04-\x7f]")
_SPELLED = re.compile(r"\x02([0-9a-f]+)\x03")


def _spelled(text: str) -> bytes:
    return _NOT_ASCII.sub(lambda found: f"\x02{ord(found[0]):x}\x03", text).encode("ascii")


def _parsed(data: bytes) -> "Node":
    """The tree of ``data`` without its line continuations, at which the grammar takes a word
    apart, and without a backslash that begins a line, which it joins to the command before."""
    import tree_sitter
    import tree_sitter_bash

    parser = tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
    root = parser.parse(data).root_node
    cuts = _joined(root) if b"\n\\" in data else []
    kept = sorted(_kept(root)) if b"\\\n" in data else []
    for found in re.finditer(rb"(?<!\\)(\\+)\n", data):
        at = found.end() - 2
        before = bisect.bisect_right(kept, (at, len(data)))
        if len(found[1]) % 2 and not (before and at < kept[before - 1][1]):
            cuts.append((at, found.end()))
    if not cuts:
        return root
    parts, last = [], 0
    for start, end in sorted(cuts):
        parts.append(data[last:start])
        last = end
    parts.append(data[last:])
    return parser.parse(b"".join(parts)).root_node


def _joined(root: "Node") -> list[tuple[int, int]]:
    """The backslashes of words like ``\\git`` that begin a line."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        stack += node.children
        if node.type == "word" and (begin := re.match(rb"\n+\\(?=\w)", node.text or b"")):
            at = node.start_byte + begin.end()
            found.append((at - 1, at))
    return found


def _kept(root: "Node") -> list[tuple[int, int]]:
    """The bytes in which a backslash before a line feed is no continuation."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        if node.type in ("raw_string", "comment"):
            found.append((node.start_byte, node.end_byte))
        elif node.type == "heredoc_body":  # but in a command that it holds, it is one
            inner = [child for child in node.children if child.type == "command_substitution"]
            starts = [node.start_byte, *(child.end_byte for child in inner)]
            ends = [*(child.start_byte for child in inner), node.end_byte]
            found += zip(starts, ends, strict=True)
            stack += inner
        else:
            stack += node.children
    return found


def _statement(node: "Node", outer: dict[int, "Node"]) -> Statement | None:
    """The simple command that ``node`` is, if it is one. ``outer`` has the redirections around
    it by its id."""
    words: list[str] = []
    beside: list[str] = []
    fed: list[str] = []
    around = outer[node.id].children if node.id in outer else []
    if node.type == "command":
        for child in (*node.children, *around):
            if child.type == "variable_assignment":
                beside.append(_value(child))
            elif child.type.endswith("_redirect"):
                targets, more = _redirection(child)
                beside += targets
                words += more
                fed += _given(child)
            elif child.type not in _BODIES:
                words.append(_value(child))
    elif node.type in ("declaration_command", "unset_command"):
        words = [_value(child) for child in node.children]
    elif node.type == "test_command":
        words = _text(node).replace('"', "").replace("'", "").split()
    elif node.type == "variable_assignment" and not _inside_a_command(node):
        beside = [_value(node)]
    elif node.type == "redirected_statement":
        beside = [target for child in node.children for target in _redirection(child)[0]]
    return Statement(tuple(words), tuple(beside), tuple(fed)) if words or beside else None


_BODIES = frozenset({"command", "pipeline", "list", "negated_command"})


def _inside_a_command(node: "Node") -> bool:
    parent = node.parent
    return parent is not None and parent.type in ("command", "declaration_command")


def _last_command(node: "Node") -> "Node | None":
    """The simple command that a redirected statement redirects; None for a group or a loop."""
    body = node.child_by_field_name("body")
    while body is not None and body.type in _BODIES and body.type != "command":
        body = body.named_children[-1] if body.named_children else None
    return body if body is not None and body.type == "command" else None


def _given(node: "Node") -> list[str]:
    if node.type == "herestring_redirect":
        return [_value(child) for child in node.named_children]
    if node.type == "heredoc_redirect":
        # Not the body's node: the grammar takes a body that begins with a backslash for arguments.
        return [_text(node).partition("\n")[2].rpartition("\n")[0]]
    return []


def _redirection(node: "Node") -> tuple[list[str], list[str]]:
    """Where a redirection leads, and the words of the command behind it: the grammar takes these
    for further targets, or for a part of the here-document."""
    if node.type == "file_redirect":
        targets = [_value(child) for child in node.children_by_field_name("destination")]
        return targets[:1], targets[1:]
    targets, words = list[str](), list[str]()
    if node.type == "heredoc_redirect":
        for at, child in enumerate(node.children):
            if child.start_point.row > node.start_point.row:  # the body, see _given
                break
            found = _redirection(child)
            targets += found[0]
            words += found[1]
            if node.field_name_for_child(at) == "argument":
                words.append(_value(child))
    return targets, words


def _text(node: "Node") -> str:
    said = (node.text or b"").decode("ascii")
    return _SPELLED.sub(lambda found: chr(int(found[1], 16)), said)


def _value(node: "Node") -> str:
    """A word as the command gets it, without quotes; what is put in while it runs, as typed."""
    kind = node.type
    if kind == "concatenation":
        return "".join(_value(child) for child in node.children)
    if kind == "command_name" and node.child_count == 1:
        return _value(node.children[0])
    if kind == "variable_assignment":
        return "".join(_value(child) for child in node.children)
    text = _text(node)
    if kind == "word":
        return re.sub(r"\\(.?)", r"\1", text, flags=re.DOTALL)
    if kind == "raw_string":
        return text[1:-1]
    if kind == "string":
        return re.sub(r'\\([\\"$`\n])', _unescaped, text[1:-1])
    if kind == "translated_string":
        return re.sub(r'\\([\\"$`\n])', _unescaped, text[2:-1])
    if kind == "ansi_c_string":
        return _ANSI.sub(_ansi, text[2:-1])
    return text


def _unescaped(found: "re.Match[str]") -> str:
    return "" if found[1] == "\n" else found[1]


_ANSI = re.compile(
    r"\\(?:x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|([0-7]{1,3})|(.))", re.DOTALL
)
_NAMED: dict[str, Any] = {
    **{"a": "\a", "b": "\b", "e": "\x1b", "E": "\x1b", "f": "\f"},
    **{"n": "\n", "r": "\r", "t": "\t", "v": "\v"},
}


def _ansi(found: "re.Match[str]") -> str:
    for group, base in ((1, 16), (2, 16), (3, 16), (4, 8)):
        if found[group]:
            code = int(found[group], base)
            return chr(code) if code < 0x110000 else found[0]
    return str(_NAMED.get(found[5], found[5]))
