"""Commands and flags: those that the documents write, and those that there are."""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click

from docs import documents, playing
from memory_palace.cli.main import palace
from support.palaces import SCRIPTS

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*|(?<![\w-])-[a-zA-Z](?![\w-])")
_OPEN = re.compile(r"[A-Z]+|…|\[.*")
"""Words that stand for others: NAME, an omission, a choice."""


_ALSO_ARGUMENTS = {("review",)}
"""Groups whose first word may be an argument of their own."""


@dataclass(frozen=True, slots=True)
class Use:
    """A command as a document writes it: its words, and where."""

    words: tuple[str, ...]
    place: str


@cache
def commands() -> dict[tuple[str, ...], frozenset[str]]:
    """Every command by its words, with its flags (`-h` and `--help` left out)."""
    return dict(_below(palace, ()))


def _below(
    command: click.Command, words: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], frozenset[str]]]:
    options = [p for p in command.params if isinstance(p, click.Option)]
    yield words, frozenset(name for option in options for name in option.opts)
    if isinstance(command, click.Group):
        ctx = click.Context(command)
        for name in command.list_commands(ctx):
            inner = command.get_command(ctx, name)
            assert inner is not None
            yield from _below(inner, (*words, name))


def uses() -> Iterator[Use]:
    """Every command in the documents' console and sh blocks and in their code spans."""
    for path in documents.paths():
        lines = []
        for block in documents.blocks(path):
            place = f"{documents.name(path)}:{block.line}"
            if block.language == "console":
                lines += [(step.command, place) for step in playing.steps(block.text)]
            elif block.language == "sh":
                lines += [(line, place) for line in block.text.splitlines()]
        lines += [(code, documents.name(path)) for code in documents.inline_code(path)]
        for line, place in lines:
            for part in re.split(r"[|;]|&&", line):
                words = _words(part)
                if words:
                    yield Use(tuple(words), place)


def _words(part: str) -> list[str]:
    try:
        words = shlex.split(part, comments=True)
    except ValueError:  # a half of something quoted
        return []
    while words and re.match(r"[A-Z_]+=", words[0]):
        words.pop(0)
    return words


def palace_words(words: tuple[str, ...]) -> list[str] | None:
    """The words after ``palace``, whichever way it is called; None for any other program."""
    if words[0] == "palace":
        return list(words[1:])
    if re.fullmatch(r"(.*/)?python3?[\d.]*", words[0]) and words[1:2]:
        script = SCRIPTS / Path(words[1]).name
        if words[1].startswith("scripts/"):
            assert script.is_file(), words
            command = playing.command_of(script)
            if command is not None:
                return [*command.split(), *words[2:]]
    return None


def called(words: list[str]) -> tuple[tuple[str, ...], list[str]] | None:
    """The command that the words call and the flags they give it; None if they leave it open."""
    name: tuple[str, ...] = ()
    while words and (*name, words[0]) in commands():
        name = (*name, words.pop(0))
    known = [c for c in commands() if c[: len(name)] == name and c != name]
    known = [] if name in _ALSO_ARGUMENTS else known
    if words and known and not words[0].startswith("-") and not _OPEN.fullmatch(words[0]):
        raise AssertionError(f"no command {' '.join(name)} {words[0]}")
    end = words.index("--") if "--" in words else len(words)
    flags = [w.split("=")[0] for w in words[:end] if FLAG.fullmatch(w.split("=")[0])]
    return name, flags
