"""``palace watch``: the index follows the notes while they are written."""

import contextlib
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

import click

from memory_palace.cli.common import report, root_option, say
from memory_palace.core.errors import Busy
from memory_palace.files import locks, roots, tree

if TYPE_CHECKING:
    from memory_palace.index.events import Events
    from memory_palace.index.watch import Keeper, Ran

DEBOUNCE_MS = 200
_LOOK_SECONDS = 1.0  # for how long changes are waited for, before the root is looked at again


@click.command(
    epilog="""\b
Examples:
  palace watch             until Ctrl-C
  palace watch --polling   on a disk that tells of no changes"""
)
@click.option(
    "--debounce",
    metavar="MS",
    type=click.IntRange(20, 5000),
    default=DEBOUNCE_MS,
    help=f"Index when nothing has changed for this long, 20 to 5000 [{DEBOUNCE_MS}].",
)
@click.option("--polling", is_flag=True, help="Look at every file each second, ask no system.")
@root_option
def watch(debounce: int, polling: bool, root: str | None) -> int:
    """Keep the index fresh while notes are written.

    Runs until it is interrupted. Each run is a line on stderr; so is an error in a note when it
    comes up, and when it is mended.
    """
    from memory_palace.index.events import Events  # with numpy and more, which help does not need
    from memory_palace.index.watch import Keeper

    place = roots.find(root)
    tree.look(place)
    ended: list[int] = []
    try:
        with alone(place, "palace watch", "watch", "is watching"), until_terminated(ended):
            events = Events(place, debounce, polling)
            keeper = Keeper(place, say_at, events.waiting)
            say(f"watching {place}; {keeper.choice}")
            try:
                events.start()
                _follow(keeper, events, ended)
            finally:
                events.stop()
    except KeyboardInterrupt:
        if ended:
            return 0
        raise
    return 0


def _follow(keeper: "Keeper", events: "Events", ended: list[int]) -> None:
    again = False
    while not ended:
        paths = events.take(_LOOK_SECONDS)
        news, missed = keeper.news(), keeper.missed()
        if missed:
            events.renew()
        if again or news or missed or keeper.concerned(paths):
            again = _tell(keeper.refresh())


def _tell(ran: "Ran") -> bool:
    if ran.line:
        say_at(ran.line)
    report(ran.problems)
    for path in ran.mended:
        say(f"{path}: mended", "green")
    return ran.again


def say_at(line: str) -> None:
    """A diagnostic with the time of day."""
    say(f"{time.strftime('%H:%M:%S')}  {line}")


@contextlib.contextmanager
def alone(root: Path, command: str, folder: str, does: str) -> Iterator[None]:
    """Held while ``command`` goes on: two of it on one palace would only do everything twice.

    ``folder`` is below `.palace/`. Raises :class:`Busy` with who it is that ``does`` so already.
    """
    place = roots.inside(root, f"{roots.DERIVED}/{folder}")
    with contextlib.ExitStack() as held:
        try:
            held.enter_context(locks.writer(place, command, wait_seconds=0))
        except Busy:
            who = locks.owner(place)
            raise Busy(f"{who} {does} {root} already: leave it, or stop it first") from None
        yield


@contextlib.contextmanager
def until_terminated(ended: list[int]) -> Iterator[None]:
    """SIGTERM interrupts like Ctrl-C, so that vectors made so far are kept; ``ended`` tells."""

    def end(number: int, frame: FrameType | None) -> None:
        ended.append(number)
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, end)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
