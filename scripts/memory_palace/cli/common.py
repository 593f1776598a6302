"""What commands share: the root, the progress bar, problems at the end."""

import contextlib
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from memory_palace.core import dates
from memory_palace.core.errors import BadInput
from memory_palace.core.links import TREE
from memory_palace.core.problems import Problem, printable
from memory_palace.index.progress import Progress

_F = TypeVar("_F", bound=Callable[..., Any])
_T = TypeVar("_T")
_YEARS = (1971, 9000)
SHOWN_PROBLEMS = 50
"""Problems that are listed where not every one is asked for."""
MOST_OF_A_LINE = 4_000
"""Characters of a diagnostic: an argument may have 100,000 and more."""

_palace = "palace"


def root_option(function: _F) -> _F:
    """``--root DIR``, as every command that works on a palace has it."""
    return click.option(
        "--root",
        metavar="DIR",
        help="The palace root [$PALACE_ROOT, else the nearest folder with a palace.yaml].",
    )(function)


def reason_option(function: _F) -> _F:
    """``--reason TEXT``, as every command that writes to the memory has it."""
    return click.option(
        "--reason", metavar="TEXT", default="", help="Why: kept in the event and the commit."
    )(function)


def yes_option(function: _F) -> _F:
    """``--yes``, of commands that ask a person first."""
    return click.option("--yes", is_flag=True, help="Do it without asking.")(function)


def format_option(*formats: str) -> Callable[[_F], _F]:
    """``--format``, the first of ``formats`` by default."""
    return click.option(
        "--format",
        "shape",
        type=click.Choice(formats),
        default=formats[0],
        show_default=True,
        help="How the result is shown.",
    )


class NamedPath(click.Path):
    """A path as a :class:`~pathlib.Path`. An empty one, say of a variable that is not set, is bad
    input: it would be the current folder."""

    def __init__(self) -> None:
        super().__init__(path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if isinstance(value, str) and not value.strip():
            name = ((param.metavar or param.name) if param else "") or "path"
            raise BadInput(f"{name.strip('.').upper()} is empty: name it, `.` for this folder")
        return super().convert(value, param, ctx)


def confirmed(yes: bool, question: str) -> bool:
    """True with ``yes``, or if a person on a terminal says so; never asks anywhere else."""
    if yes or not (sys.stdin.isatty() and sys.stderr.isatty()):
        return yes
    return click.confirm(question, err=True)


def now() -> datetime:
    """The clock, in one place: ``$PALACE_NOW`` where that is set, to show or try what time does.

    Raises :class:`BadInput` if it is no time.
    """
    given = os.environ.get("PALACE_NOW")
    if not given:
        return datetime.now(UTC)
    moment = dates.parse(given)
    if moment is None or not _YEARS[0] <= moment.year <= _YEARS[1]:
        raise BadInput(f"$PALACE_NOW is {given!r}: write {dates.FORMS}, or unset it")
    return moment


def moment(flag: str, text: str | None, end: bool = False) -> datetime | None:
    """The time that ``flag`` was given: a date or time, ``7d``, ``24h``, ``yesterday``; with
    ``end`` a day is its last moment. None where there is none.

    Raises :class:`BadInput` with the flag for anything else.
    """
    from memory_palace.search import recent

    if text is None:
        return None
    found = recent.moment(text, now(), end)
    if found is None:
        raise BadInput(f"{flag} {printable(text)!r} is no date: write {recent.FORMS}")
    return found


def say(line: str, colour: str | None = None) -> None:
    """A diagnostic, on stderr."""
    click.echo(click.style(one_line(line), fg=colour), err=True)


def one_line(text: str) -> str:
    """``text`` as a diagnostic shows it: on one bounded line, its commands as they can be run."""
    line = runnable(printable(text))
    left_out = len(line) - MOST_OF_A_LINE
    if left_out > 0:  # what to do is at the end
        line = f"{line[: MOST_OF_A_LINE - 1000]}[… {left_out:,} characters …]{line[-1000:]}"
    return line


def drop_output(*handles: int) -> None:
    """Send nowhere what is still buffered for these handles, and all that follows."""
    for handle in handles:
        os.dup2(os.open(os.devnull, os.O_WRONLY), handle)


def to_the_end(work: Callable[[], _T]) -> _T:
    """What ``work`` gives. If its reader leaves meanwhile (`| head`), it is done once more without
    output, so it has to be one that goes on where it stopped; then the command ends as others."""
    try:
        return work()
    except BrokenPipeError:
        drop_output(1, 2)
        work()
        raise


def called_as(program: str) -> None:
    """Remember how the user came here: a script's folder, or the command on the path."""
    global _palace
    script = Path(sys.argv[0]).with_name("palace.py")
    with contextlib.suppress(FileNotFoundError):  # the current folder was removed
        script = script.absolute()
        if script.is_relative_to(Path.cwd()):
            script = script.relative_to(Path.cwd())
    _palace = f"python3 {shlex.quote(str(script))}" if program.endswith(".py") else "palace"


def runnable(text: str) -> str:
    """``text`` with each command it tells to run spelled as the user can run it."""
    return text.replace("`palace ", f"`{_palace} ")


def only_asks(root: Path) -> bool:
    """True on a machine without notes, whose questions are answered from Milvus."""
    if (root / TREE).is_dir():
        return False
    from memory_palace.files import config as configs

    return configs.load(root).store == "milvus"


def count(number: int, thing: str) -> str:
    """``1 note``, ``2 notes``, ``2 entries``."""
    many = f"{thing[:-1]}ies" if thing.endswith("ry") else f"{thing}s"
    return f"{number} {thing if number == 1 else many}"


def report(problems: Iterable[Problem], every: bool = False) -> bool:
    """Print problems to stderr, errors last; True if there is an error among them.

    A long list is cut unless ``every`` one is asked for.
    """
    listed = sorted(problems, key=lambda p: p.grade == "error")
    shown = listed if every else listed[-SHOWN_PROBLEMS:]
    if len(shown) < len(listed):
        say(f"{len(listed) - len(shown)} more: `palace index --check` lists all")
    for problem in shown:
        say(str(problem), "red" if problem.grade == "error" else "yellow")
    return any(problem.grade == "error" for problem in listed)


class Terminal(Progress):
    """Progress on a terminal: a bar with rate and time left; lines only, anywhere else."""

    def __init__(self) -> None:
        self._bar: Any = None
        self._task: Any = None

    def say(self, line: str) -> None:
        say(line)

    def start(self, label: str, total: int) -> None:
        if total < 2 or not sys.stderr.isatty():
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar

        self._started = time.monotonic()
        self._done = 0
        self._bar = Bar(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]:.0f}/s"),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._bar.start()
        self._task = self._bar.add_task(label, total=total, rate=0.0)

    def advance(self, steps: int) -> None:
        if self._bar is not None:
            self._done += steps
            passed = max(time.monotonic() - self._started, 1e-6)
            self._bar.update(self._task, advance=steps, rate=self._done / passed)

    def stop(self) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
