"""Sessions of a palace, newest first, each with what it was about."""

from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from memory_palace.core import ledger as forms
from memory_palace.core import summaries
from memory_palace.core.errors import PalaceError, Refused
from memory_palace.core.ledger import Summary
from memory_palace.core.problems import printable
from memory_palace.core.text import did_you_mean
from memory_palace.files import ledgers as files
from memory_palace.files.ledgers import Loaded
from memory_palace.session import ledgers, summary


class About(NamedTuple):
    """A session: its ledger, when its branch began and ended, how many entries that has, the newest
    summary, and what was asked first where no summary says it."""

    path: str
    session: str
    agent: str
    wing: str
    began: datetime | None
    ended: datetime | None
    entries: int
    summary: Summary | None
    request: str
    problems: int


def about(loaded: Loaded) -> About:
    """What a ledger says of its session."""
    branch = forms.branch(loaded.ledger)
    found = summary.newest(loaded.ledger)
    asked = found.parts.get("request", "") if found else ""
    return About(
        loaded.path,
        loaded.session,
        files.names(loaded.path)[0],
        loaded.ledger.wing,
        min((one.at for one in branch), default=None),
        max((one.at for one in branch), default=None),
        len(branch),
        found,
        asked or summaries.request(branch),
        len(loaded.problems),
    )


class Listed(NamedTuple):
    """Sessions, newest first, how many older ones are left out, and what is wrong with ledgers
    that cannot be read."""

    sessions: tuple[About, ...]
    more: int
    faults: tuple[str, ...] = ()


def listed(root: Path, wing: str = "", agent: str = "", limit: int = 0) -> Listed:
    """The newest ``limit`` sessions (0: all), of a wing and an agent where they are named.

    Raises :class:`Refused` for an agent or a wing that no session has, with the nearest.
    """
    found = ledgers.listed(root, "", agent)
    if wing:
        of_wing = [one for one in found if ledgers.is_same(one.wing, wing)]
        if not of_wing:
            hint = did_you_mean(wing, {one.wing for one in found if one.wing})
            raise Refused(f"no session of wing `{printable(wing)}`{hint}")
        found = of_wing
    shown = found[:limit] if limit else found
    read, faults = [], []
    for one in shown:
        try:
            read.append(about(files.load(root, one.path)))
        except PalaceError as error:
            faults.append(str(error))
    never = datetime.min.replace(tzinfo=UTC)
    read.sort(key=lambda one: (one.ended or never, one.path), reverse=True)
    return Listed(tuple(read), len(found) - len(shown), tuple(faults))
