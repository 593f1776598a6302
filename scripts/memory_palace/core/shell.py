"""Shell commands taken apart: which simple commands would run, whatever stands around them.

Pipelines, lists, groups, control flow, substitutions, ``bash -c`` and ``eval`` texts, here-strings
and here-documents given to a shell, and what stands behind ``sudo``, ``env`` and the like. Comments
and other here-documents are no commands. What is put together while it runs stays as typed.
"""

import re
from typing import NamedTuple

from memory_palace.core import shell_words

LONGEST = 64_000
"""Characters of a command that is parsed; a longer one is searched as plain text."""

DEEPEST = 8
"""Texts inside texts (``bash -c "bash -c …"``) that are parsed; a deeper one is plain text."""

MOST_PARSED = 2 * LONGEST
"""Characters that are parsed of a command and of all texts in it; what is beyond is plain text."""

MOST_COMMANDS = 2_000
"""Simple commands that are looked at; where there are more, all is plain text too."""

MOST_SEARCHED = 200_000
"""Characters that are searched as plain text, all together; what is beyond is not looked at."""


class Simple(NamedTuple):
    """One simple command: its words without quotes, the first its name; ``beside`` it assignments
    and the targets of redirections."""

    words: tuple[str, ...]
    beside: tuple[str, ...] = ()


class Parsed(NamedTuple):
    """What would run, in order, and the texts that could not be parsed, without their quotes."""

    commands: tuple[Simple, ...]
    plain: tuple[str, ...] = ()


def parse(command: str) -> Parsed:
    """Take ``command`` apart. Never raises for any text."""
    found = _Found()
    _parse(command, 0, found)
    return Parsed(tuple(found.commands), tuple(found.plain))


class _Found:
    """What is known so far, and how much more may be looked at."""

    def __init__(self) -> None:
        self.commands: list[Simple] = []
        self.plain: list[str] = []
        self.parsed = self.searched = 0

    def aside(self, text: str) -> None:
        text = text[: MOST_SEARCHED - self.searched]
        self.searched += len(text)
        if text:
            self.plain.append(_joined(text))


def _parse(text: str, depth: int, found: _Found) -> None:
    too_much = found.parsed + len(text) > MOST_PARSED or len(found.commands) >= MOST_COMMANDS
    if len(text) > LONGEST or depth > DEEPEST or too_much:
        found.aside(text)
        return
    found.parsed += len(text)
    from memory_palace.core import shell_tree

    tree = shell_tree.read(text)
    if not tree.whole:
        found.aside(text)
    for script in tree.texts:
        _parse(script, depth + 1, found)
    for statement in tree.statements:
        beside = statement.beside
        if not statement.words:
            found.commands.append(Simple((), beside))
        for words in shell_words.levels(statement.words):
            found.commands.append(Simple(words, beside))
            beside = ()
            inner = shell_words.scripts(words)
            if shell_words.base(words[0]) in shell_words.SHELLS:
                inner += statement.fed
            for script in inner:
                _parse(script, depth + 1, found)


def contains(parsed: Parsed, text: str) -> bool:
    """Whether ``bash_contains text`` holds.

    Several words stand in one simple command in order, each a whole word, the first the command's
    own name (with its folder or without) unless it is an option. One word is part of any word
    without spaces. In what could not be parsed the words only have to stand in one line.
    """
    wanted = words_of(text)
    if not wanted:
        return False
    if len(wanted) == 1:
        return any(_holds_part(command, wanted[0]) for command in parsed.commands) or any(
            wanted[0] in text for text in parsed.plain
        )
    if any(_in_command(command.words, wanted) for command in parsed.commands):
        return True
    near = (text for text in parsed.plain if all(word in text for word in wanted))
    lines = (line for text in near for line in text.split("\n") if wanted[0] in line)
    return any(_in_order(_WORDS.findall(line), wanted) for line in lines)


def words_of(text: str) -> list[str]:
    """The words that a trigger looks for; quotes count as little as in a command."""
    return text.replace('"', "").replace("'", "").split()


_WORDS = re.compile(r"[^\s;|&()<>`]+")


def _joined(text: str) -> str:
    text = text.replace("\\\n", "").replace("$'", "'").replace('$"', '"')
    return text.translate(_QUOTES)


def _holds_part(command: Simple, part: str) -> bool:
    return any(
        part in word and len(word.split()) == 1 for word in (*command.words, *command.beside)
    )


def _in_command(words: tuple[str, ...], wanted: list[str]) -> bool:
    if not words:
        return False
    if wanted[0].startswith("-"):
        return _in_order(list(words), wanted)
    own = wanted[0] in (words[0], shell_words.base(words[0]))
    return own and _in_order(list(words[1:]), wanted[1:])


def _in_order(words: list[str], wanted: list[str]) -> bool:
    rest = iter(words)
    return all(one in rest for one in wanted)


def squeezed(command: str) -> str | None:
    """``command`` without quotes, backslashes and line continuations, for :func:`may_contain`;
    None where letters may be written as escapes (``$'\\x67it'``)."""
    if "$" in command and _ESCAPED.search(command):
        return None
    return command.replace("\\\n", "").translate(_QUOTES)


_QUOTES = str.maketrans("", "", "'\"\\")
_ESCAPED = re.compile(r"""(?<!['"\\])['"]*\\['"\\]*[xuU0-7]""")


def may_contain(squeezed_command: str | None, text: str) -> bool:
    """False if :func:`contains` cannot hold, known without parsing."""
    if squeezed_command is None:
        return True
    return all(word.translate(_QUOTES) in squeezed_command for word in text.split())
