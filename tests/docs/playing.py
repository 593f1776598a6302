"""Plays what the documents show: commands with their output, files, Python.

In a ``console`` block a line after ``$ `` is run; below it stands what a terminal would show.
Nothing there means that only the exit code is looked at, which has to be 0 unless ``$ echo $?``
follows. ``…`` stands for any text, and alone on a line for any lines; scores, dates, durations,
rates and how many notes and chunks there are in all are compared by their form.
"""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path
from unittest import mock

from memory_palace.cli.main import main
from memory_palace.embed import registry
from support.palaces import REPOSITORY, SCRIPTS

ANY = "…"
_FORMS = (
    (re.compile(r"\b\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\dZ)?\b"), "<date>"),
    (re.compile(r"\b\d+\.\d+ s\b"), "<time> s"),
    (re.compile(r"\(\d+/s\)"), "(<rate>/s)"),
    (re.compile(r"\b\d+ (notes|chunks|unchanged)\b"), r"<count> \1"),
    (re.compile(r"\b\d+\.\d{2,6}\b"), "<score>"),
)


@dataclass(slots=True)
class Step:
    """A command, and the lines shown below it."""

    command: str
    shown: list[str] = field(default_factory=list)


def steps(text: str) -> list[Step]:
    """The commands of a ``console`` block."""
    found: list[Step] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:]))
        else:
            assert found, f"a console block starts with a command, not with: {line}"
            found[-1].shown.append(line)
    return found


def fits(shown: list[str], real: list[str]) -> bool:
    """True if ``real`` is what ``shown`` says, by the rules above."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == ANY else _pattern(line) + r"\n"
        for line in map(form, shown)
    )
    return re.fullmatch(pattern, "".join(form(line) + "\n" for line in real)) is not None


def form(line: str) -> str:
    """The line with what varies replaced by its kind."""
    for pattern, kind in _FORMS:
        line = pattern.sub(kind, line)
    return line.rstrip()


def _pattern(line: str) -> str:
    return ".*".join(re.escape(part) for part in line.split(ANY))


class Session:
    """A shell of the documents' kind in ``root``: ``cd``, ``export`` and ``$?`` last from step to
    step."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.code = 0
        self.exported: dict[str, str] = {}

    def run(self, command: str) -> list[str]:
        """What a terminal shows of ``command``."""
        if command == "echo $?":
            code, self.code = self.code, 0
            return [str(code)]
        words = shlex.split(command, comments=True)
        shell = any(c in command for c in "|<>&;*")
        if words[0] == "export":
            name, _, value = words[1].partition("=")
            self.exported[name] = value
            return []
        if words[0] == "cd":
            self.root = (self.root / words[1]).resolve()
            return []
        if words[0] == "make":
            return self._in_process(*made(words[1:]))
        if words[0] == "palace" and not shell:
            return self._in_process("palace", "", words[1:])
        if words[0] == "python3" and words[1].startswith("scripts/") and not shell:
            script = SCRIPTS / Path(words[1]).name
            stands_for = command_of(script)
            if stands_for is not None:
                return self._in_process(script.name, stands_for, words[2:])
        return self._in_shell(command)

    def _in_process(self, program: str, command: str, arguments: list[str]) -> list[str]:
        written = io.BytesIO()
        screen = io.TextIOWrapper(written, "utf-8", write_through=True)
        with (
            mock.patch.dict(os.environ, self.exported),
            contextlib.chdir(self.root),
            contextlib.redirect_stdout(screen),
            contextlib.redirect_stderr(screen),
        ):
            self.code = main(arguments, program=program, command=command or None)
            # A model may still be loading, and the runtime reads the environment meanwhile.
            for thread in threading.enumerate():
                if isinstance(thread, registry._Loading):
                    thread.join()
        return written.getvalue().decode().splitlines()

    def _in_shell(self, command: str) -> list[str]:
        tools = self.root / ".tools"
        tools.mkdir(exist_ok=True)
        for name, line in (
            ("python3", f'exec "{sys.executable}" "$@"'),
            ("palace", f'exec "{sys.executable}" "{SCRIPTS / "palace.py"}" "$@"'),
        ):
            (tools / name).write_text(f"#!/bin/sh\n{line}\n")
            (tools / name).chmod(0o755)
        done = subprocess.run(
            ["sh", "-c", command],
            cwd=self.root,
            env=os.environ | self.exported | {"PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=60,
            check=False,
        )
        self.code = done.returncode
        return done.stdout.decode().splitlines()


def command_of(script: Path) -> str | None:
    """The command that a script stands for: empty for all of them, None if it is no such script."""
    found = re.search(r'^run\((?:"([\w-]+)")?\)$', script.read_text(), re.MULTILINE)
    return (found[1] or "") if found else None


def targets() -> dict[str, str]:
    """The Makefile's targets that `make help` lists, and the recipe of each."""
    text = (REPOSITORY / "Makefile").read_text()
    found = re.findall(r"^([a-z-]+):.*## .*\n((?:\t.*\n)*)", text, re.MULTILINE)
    return dict(found)


def made(words: list[str]) -> tuple[str, str, list[str]]:
    """What ``make`` would run: program, command, arguments, from the recipe of its target."""
    values = dict(word.split("=", 1) for word in words if "=" in word)
    (target,) = [word for word in words if "=" not in word]
    found = re.search(r"scripts/(\w+\.py)(.*)", targets()[target])
    assert found, f"`make {target}` runs no script: show it in a sh block"
    command = command_of(SCRIPTS / found[1])
    assert command is not None, target
    rest: list[str] = []
    for word in shlex.split(found[2].replace("$$", "$")):
        if word == "$(ARGS)":
            rest += shlex.split(values.get("ARGS", ""))
        else:
            rest.append(values.get("Q", "") if word == "$PALACE_QUESTION" else word)
    return found[1], command, rest


def python(text: str, root: Path) -> list[str]:
    """What a Python block prints when it is run in ``root``."""
    screen = io.StringIO()
    with contextlib.chdir(root), contextlib.redirect_stdout(screen):
        exec(compile(text, "<document>", "exec"), {"__name__": "__main__"})
    return screen.getvalue().splitlines()
